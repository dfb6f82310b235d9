/** What users can allow an app to do with their OAuth 2.0 token, in neutral names. */
import type { Wire } from "./Vocabulary.ts"

/** Every scope. */
export const scopes = [
  "post.read",
  "post.write",
  "post.moderate.write",
  "users.read",
  "follows.read",
  "follows.write",
  "offline.access",
  "space.read",
  "mute.read",
  "mute.write",
  "like.read",
  "like.write",
  "list.read",
  "list.write",
  "block.read",
  "block.write",
  "bookmark.read",
  "bookmark.write",
  "dm.read",
  "dm.write",
  "media.write",
  "timeline.read",
  "broadcast.read",
  "broadcast.write"
] as const

/** One scope. */
export type Scope = (typeof scopes)[number]

/** The name of a scope on a wire: `post.read` is `tweet.read` for X. */
export const onWire = (wire: Wire, scope: Scope): string =>
  wire === "neutral" ? scope : scope.replace(/^post\./, "tweet.")

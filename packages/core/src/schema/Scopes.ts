/** The permissions that users can grant to an app's OAuth 2.0 token, in neutral names. */
import type { WireName } from "./WireName.ts"

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

/** The permissions of each scope, in words for the user who grants it. */
export const meanings: Readonly<Record<Scope, string>> = {
  "post.read": "Read the posts that you can see, also those of protected accounts",
  "post.write": "Create, repost and delete posts as you",
  "post.moderate.write": "Hide and unhide replies to your posts",
  "users.read": "Look up the accounts that you can see, and your own",
  "follows.read": "See whom you follow and who follows you",
  "follows.write": "Follow and unfollow accounts as you",
  "offline.access": "Stay signed in until you revoke it",
  "space.read": "See the spaces that you can join",
  "mute.read": "See whom you have muted",
  "mute.write": "Mute and unmute accounts as you",
  "like.read": "See the posts that you have liked",
  "like.write": "Like posts and take likes back as you",
  "list.read": "See your lists, also private ones, with their members and followers",
  "list.write": "Create, change and delete your lists",
  "block.read": "See whom you have blocked",
  "block.write": "Block and unblock accounts as you",
  "bookmark.read": "See your bookmarks",
  "bookmark.write": "Add bookmarks and remove them",
  "dm.read": "Read all your direct messages",
  "dm.write": "Send and manage direct messages as you",
  "media.write": "Upload photos and videos as you",
  "timeline.read": "See the custom timelines that you can see",
  "broadcast.read": "See your live broadcasts and their chat",
  "broadcast.write": "Manage your live broadcasts and chat as you"
}

/** The name of a scope in a name set: `post.read` is `tweet.read` for X. */
export const onWire = (wire: WireName, scope: Scope): string =>
  wire === "neutral" ? scope : scope.replace(/^post\./, "tweet.")

/** The scopes in a text that a service sent, in our order. Scopes that this version does not know are ignored. */
export const fromWire = (text: string): ReadonlyArray<Scope> => {
  const names = new Set(text.split(" ").map((name) => name.replace(/^tweet\./, "post.")))
  return scopes.filter((scope) => names.has(scope))
}

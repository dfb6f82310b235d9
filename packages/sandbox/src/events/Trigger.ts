/** Makes events of any type: by doing what they are about where the sandbox can, otherwise with an example as payload. */
import type { EventType } from "@postwire/core/schema/models/Activity"
import { randomUUID } from "node:crypto"
import type { Store } from "../store/Store.ts"
import * as Users from "../store/Users.ts"
import type { Changes, Events, Triggered } from "./Events.ts"
import * as Happenings from "./Happenings.ts"

/** The event to make. */
export interface Request {
  readonly event_type: EventType
  /** The user whom it is about. */
  readonly user_id: string
  /** The text of a post or message, the new value of a profile; otherwise values at dotted paths of the payload. */
  readonly set?: Changes | undefined
}

/** Throws a `RangeError` if the user does not exist. */
export const trigger = (
  scene: Happenings.Scene,
  events: Events,
  { event_type: type, set = {}, user_id: userId }: Request
): Triggered => {
  const user = scene.store.users.byId(userId)
  if (user === undefined) throw new RangeError(`There is no user ${userId}`)
  const act = actionOf(scene, type, user, set)
  const { after: _after, text: _text, ...others } = set
  return act === undefined
    ? events.triggered(type, userId, set, () => events.emit(exampleOf(scene, type, user)))
    : events.triggered(type, userId, others, () => scene.store.transaction(act))
}

const actionOf = (
  scene: Happenings.Scene,
  type: EventType,
  user: Users.User,
  set: Changes
): (() => void) | undefined => {
  const { id, username } = user
  const { now, store } = scene
  const { blocks, follows, likes, messages, mutes, posts, spaces, users } = store
  const text = (otherwise: string) => String(set["text"] ?? otherwise)
  const post = (authorId: string, words: string, more: object = {}) =>
    posts.insert({ authorId, createdAt: now(), text: text(words), ...more })
  const latest = () =>
    users.byId(id)?.most_recent_post_id ?? posts.insert({ authorId: id, createdAt: now(), text: "Hello" })
  const other = (isSuitable: (userId: string) => boolean = () => true) => stranger(store, id, now(), isSuitable)
  const message = (from: string, to: string) =>
    messages.insert({ conversationId: messages.open(from, to), senderId: from, createdAt: now(), text: text("Hello") })
  const actions: { readonly [T in EventType]?: () => void } = {
    "post.create": () => post(id, "Hello"),
    "post.delete": () => posts.delete(post(id, "Hello")),
    "post.mention.create": () => {
      const words = text("Hello")
      posts.insert({
        authorId: other(),
        createdAt: now(),
        text: words.includes(`@${username}`) ? words : `@${username} ${words}`
      })
    },
    "post.reply.create": () => post(other(), "Hello", { inReplyToPostId: latest() }),
    "post.quote.create": () => post(other(), "Hello", { quotedPostId: latest() }),
    "post.repost.create": () => {
      const postId = latest()
      const authorId = other((userId) => posts.repostBy(userId, postId) === undefined)
      posts.insert({
        authorId,
        createdAt: now(),
        text: `RT @${username}: ${posts.byId(postId)?.text}`,
        repostedPostId: postId
      })
    },
    "like.create": () => {
      const postId = latest()
      likes.set(other((userId) => !likes.has(userId, postId)), postId, true)
    },
    "follow.follow": () => follows.set(other((userId) => follows.state(userId, id) === "none"), id, "following"),
    "follow.unfollow": () => {
      const [follower] = follows.followers({ userId: id, limit: 1 }).items
      const otherId = follower?.id ?? other()
      follows.set(otherId, id, "following")
      follows.set(otherId, id, "none")
    },
    "mute.mute": () => mutes.set(id, other((userId) => !mutes.has(id, userId)), true),
    "mute.unmute": () => {
      const otherId = mutes.targets({ userId: id, limit: 1 }).items[0]?.id ?? other()
      mutes.set(id, otherId, true)
      mutes.set(id, otherId, false)
    },
    "block.block": () => blocks.set(id, other((userId) => !blocks.has(id, userId)), true),
    "block.unblock": () => {
      const otherId = blocks.targets({ userId: id, limit: 1 }).items[0]?.id ?? other()
      blocks.set(id, otherId, true)
      blocks.set(id, otherId, false)
    },
    "dm.received": () => message(other(), id),
    "dm.sent": () => message(id, other()),
    "spaces.start": () =>
      spaces.insert({ creatorId: id, createdAt: now(), startedAt: now(), people: { host_ids: [id] } }),
    "spaces.end": () => {
      const live = () => spaces.byCreators([id], now()).find(({ state }) => state === "live")
      if (live() === undefined) {
        spaces.insert({ creatorId: id, createdAt: now(), startedAt: now(), people: { host_ids: [id] } })
      }
      const space = live()
      if (space !== undefined) spaces.end(space, now())
    }
  }
  return Users.isProfilePart(type) ? () => users.update(id, type, profileOf(type, user, set["after"])) : actions[type]
}

/** A known, public user other than `id`, or a new one if none is suitable. */
const stranger = (
  { users }: Store["Service"],
  id: string,
  now: number,
  isSuitable: (userId: string) => boolean
): string =>
  users.foremost(100).find((user) => user.id !== id && !user.protected && !user.suspended && isSuitable(user.id))?.id ??
    users.insert({ username: `stranger${randomUUID().slice(0, 7)}`, name: "Stranger", createdAt: now })

const profileOf = (type: Users.ProfilePart, { verified_type }: Users.User, after: unknown): string => {
  if (after !== undefined) return String(after)
  const different = randomUUID().slice(0, 8)
  if (type === "profile.update.handle") return `user_${different}`
  if (type === "profile.update.verified_badge") return verified_type === "business" ? "none" : "business"
  return type === "profile.update.url" || type === "profile.update.profile_picture"
    ? `https://example.com/${different}`
    : `Changed to ${different}`
}

/** An event about which the sandbox has no more than an example. */
const exampleOf = (scene: Happenings.Scene, type: EventType, { id }: Users.User): Happenings.Happening => {
  const { now, store } = scene
  const at = now()
  const { activity } = store
  const user = Happenings.someone(scene, id)
  const broadcast_id = "1a2b3c4d5e6fG"
  const conversation = { conversation_id: `${id}-1`, sender_id: "1", created_at: new Date(at).toISOString() }
  const about = { created_timestamp: `${at}`, sender_id: "1", target: { recipient_id: id } }
  const keywords = activity.matching("news.new", undefined).map(({ filter }) => filter.keyword).join(", ")
  const examples: { readonly [T in EventType]?: object } = {
    "dm.read": { direct_message_mark_read_events: [{ ...about, last_read_event_id: "1" }] },
    "dm.indicate_typing": { direct_message_indicate_typing_events: [about] },
    "broadcast.start": { broadcast_id, title: "Example", broadcast_state: "RUNNING", language: "en", user, start: at },
    "broadcast.end": { broadcast_id, title: "Example", broadcast_state: "ENDED", language: "en", user, end: at },
    "broadcast.chat": { broadcast_id, message_id: `${at}`, message: "Hello", author: user },
    "news.new": {
      id: `${at}`,
      name: `News: ${keywords}`,
      category: "News",
      summary: "An example",
      updated_at: `${at}`
    },
    "oauth.revoke": { date_time: new Date(at).toISOString(), user_id: id, app_id: "1" },
    "profile.update.banner_picture": { before: "", after: `https://example.com/${at}` },
    "profile.update.affiliate_badge": { before: "", after: "https://example.com/badge.png" }
  }
  const payload = examples[type] ?? conversation
  return {
    type,
    parties: type === "news.new" ? [] : [{ userId: id }],
    ...type === "news.new" && { keywords },
    content: () => ({ payload: { ...payload } })
  }
}

/** The events that a change of the store makes, before they are addressed to subscriptions. */
import type { EventType } from "@postwire/core/schema/models/Activity"
import { Post } from "@postwire/core/schema/models/Post"
import { User } from "@postwire/core/schema/models/User"
import * as Response from "@postwire/core/schema/Response"
import * as Predicate from "effect/Predicate"
import * as Broadcast from "../projection/Broadcast.ts"
import * as Projection from "../projection/Projection.ts"
import { likeId } from "../store/Reactions.ts"
import * as Snowflake from "../store/Snowflake.ts"
import type { Store } from "../store/Store.ts"
import type { StoreEvent } from "../store/StoreEvents.ts"

export type Direction = "inbound" | "outbound"

/** A user whom an event is about; without a direction, nobody else is. */
export interface Party {
  readonly userId: string
  readonly direction?: Direction
}

export interface Content {
  readonly payload: object
  readonly includes?: object | undefined
}

/** Something that happened. */
export interface Happening {
  readonly type: EventType
  /** None: it is about no user. */
  readonly parties: ReadonlyArray<Party>
  /** The only app that learns of it. */
  readonly appId?: string
  /** The text that has the keyword of a subscription. */
  readonly keywords?: string
  /** Undefined if nobody may see it. */
  readonly content: () => Content | undefined
}

/** Everything that a payload depends on. */
export interface Scene {
  readonly store: Store["Service"]
  /** In milliseconds. */
  readonly now: () => number
  readonly baseUrl: () => string
}

const selection: Projection.Selection = {
  expansions: ["author_id", "in_reply_to_user_id", "referenced_posts.id"],
  post_fields: [
    ..."attachments author_id conversation_id created_at entities geo in_reply_to_user_id lang note_post".split(" "),
    ..."possibly_sensitive public_metrics referenced_posts reply_settings source".split(" ")
  ],
  user_fields: "created_at description location profile_image_url protected public_metrics url verified".split(" ")
}

const projected = ({ baseUrl, now, store }: Scene, result: Response.Result, data: object): Projection.Projected =>
  Projection.project(
    { store, now: now(), viewer: { userId: undefined }, origin: baseUrl(), wire: "neutral" },
    result,
    selection,
    data
  )

const between = (source: string, target: string): ReadonlyArray<Party> => [
  { userId: source, direction: "outbound" },
  { userId: target, direction: "inbound" }
]

/** A user as payloads have one. */
export const someone = (scene: Scene, id: string): { readonly data: unknown } => {
  const user = scene.store.users.byId(id)
  return { data: user === undefined ? { id } : projected(scene, Response.one(User), user).data }
}

export const ofChange = (change: StoreEvent, scene: Scene): ReadonlyArray<Happening> => {
  const { now, store: { posts, users } } = scene
  switch (change._tag) {
    case "Posted":
      return ofPost(change.id, scene)
    case "Deleted": {
      const { authorId, id } = change
      const content = () =>
        users.byId(authorId)?.protected === true ? undefined : { payload: { id, author_id: authorId } }
      return [{ type: "post.delete", parties: [{ userId: authorId }], content }]
    }
    case "Liked": {
      const { postId, userId } = change
      const author = posts.byId(postId)?.author_id
      if (author === undefined) return []
      const at = now()
      const payload = {
        id: likeId(userId, postId),
        liked_post_id: postId,
        liked_post_author_id: author,
        created_at: new Date(at).toISOString(),
        timestamp_ms: at
      }
      return [{ type: "like.create", parties: between(userId, author), content: () => ({ payload }) }]
    }
    case "Related": {
      const { sourceId, targetId, type } = change
      const parties = type.startsWith("follow.") ? between(sourceId, targetId) : [{ userId: sourceId }]
      const content = () => ({ payload: { source: someone(scene, sourceId), target: someone(scene, targetId) } })
      return [{ type, parties, content }]
    }
    case "Profiled": {
      const { after, before, type, userId } = change
      return [{ type, parties: [{ userId }], content: () => ({ payload: { before, after } }) }]
    }
    case "Messaged":
      return ofMessage(change.id, scene)
    case "Chatted":
      return ofChat(change.id, scene)
    case "Joined":
      return ofJoin(change.eventId, change.userIds, scene)
    case "Talked": {
      const { id, type, userId } = change
      const content = () => ({ payload: { user: someone(scene, userId), broadcast_id: id, event_type: type } })
      return [{ type, parties: [{ userId }], content }]
    }
    case "Broadcast":
      return ofBroadcast(change.type, change.id, scene)
    case "BroadcastMessage":
      return ofBroadcastMessage(change.id, scene)
    case "Revoked": {
      const { appId, userId } = change
      const payload = { date_time: new Date(now()).toISOString(), user_id: userId, app_id: appId }
      return [{ type: "oauth.revoke", parties: [{ userId }], appId, content: () => ({ payload }) }]
    }
    default:
      return []
  }
}

const ofBroadcast = (
  type: "broadcast.start" | "broadcast.end",
  id: string,
  scene: Scene
): ReadonlyArray<Happening> => {
  const broadcast = scene.store.documents.byId("broadcast", id)
  if (broadcast === undefined) return []
  const { body, ownerId } = broadcast
  const { end, start } = Broadcast.timesOf(body)
  const content = () => ({
    payload: {
      user: someone(scene, ownerId),
      broadcast_id: Broadcast.idOf(id),
      title: body.title,
      language: body["locale"],
      available_for_replay: body["available_for_replay"],
      start,
      ...type === "broadcast.start" ? { broadcast_state: Broadcast.running } : { broadcast_state: Broadcast.ended, end }
    }
  })
  return [{ type, parties: [{ userId: ownerId }], content }]
}

/** The owner of a broadcast gets the messages of its chat. */
const ofBroadcastMessage = (id: string, scene: Scene): ReadonlyArray<Happening> => {
  const { documents } = scene.store
  const message = documents.byId("broadcast_message", id)
  const broadcast = message && documents.byId("broadcast", message.key)
  if (message === undefined || broadcast === undefined) return []
  const { body: { text }, key, ownerId } = message
  const content = () => ({
    payload: { broadcast_id: Broadcast.idOf(key), message_id: id, message: text, author: someone(scene, ownerId) }
  })
  return [{ type: "broadcast.chat", parties: [{ userId: broadcast.ownerId }], content }]
}

const ofPost = (id: string, scene: Scene): ReadonlyArray<Happening> => {
  const { posts } = scene.store
  const post = posts.byId(id)
  if (post === undefined) return []
  const { author_id: author, entities, in_reply_to_user_id, note_post, referenced_posts = [] } = post
  const content = () => {
    // Posts of protected accounts are never delivered.
    const [visible] = posts.byIds([id], { userId: undefined })
    if (visible === undefined) return undefined
    const { data, includes } = projected(scene, Response.one(Post), visible)
    return Predicate.isObject(data) ? { payload: data, includes } : undefined
  }
  const authorOf = (type: string): string | undefined => {
    const reference = referenced_posts.find((reference) => reference.type === type)
    return reference && posts.byId(reference.id)?.author_id
  }
  const to = (type: EventType, targets: ReadonlyArray<string | undefined>): ReadonlyArray<Happening> => {
    const others = new Set(targets.filter((target) => target !== undefined && target !== author))
    const inbound = Array.from(others, (target) => ({ userId: `${target}`, direction: "inbound" as const }))
    return others.size === 0
      ? []
      : [{ type, parties: [...inbound, { userId: author, direction: "outbound" }], content }]
  }
  const isRepost = referenced_posts.some(({ type }) => type === "reposted")
  const { mentions = [] } = (note_post === undefined ? entities : note_post.entities) ?? {}
  return [
    { type: "post.create", parties: [{ userId: author }], content },
    ...to("post.mention.create", isRepost ? [] : mentions.map((mention) => mention.id)),
    ...to("post.reply.create", [in_reply_to_user_id]),
    ...to("post.quote.create", [authorOf("quoted")]),
    ...to("post.repost.create", [authorOf("reposted")])
  ]
}

const ofMessage = (id: string, scene: Scene): ReadonlyArray<Happening> => {
  const { messages, users } = scene.store
  const message = messages.byId(id)
  const people = message && messages.conversation(message.dm_conversation_id)?.participantIds
  if (message === undefined || people === undefined) return []
  const { attachments, sender_id: sender, text = "" } = message
  const others = people.filter((person) => person !== sender)
  const content = (recipient: string | undefined) => () => ({
    payload: {
      direct_message_events: [{
        type: "message_create",
        id,
        created_timestamp: `${Snowflake.toMillis(BigInt(id))}`,
        message_create: {
          target: { recipient_id: recipient },
          sender_id: sender,
          message_data: {
            text,
            entities: { hashtags: [], symbols: [], user_mentions: [], urls: [] },
            ...attachments && { attachment: { type: "media", media: { media_key: attachments.media_keys[0] } } }
          }
        }
      }],
      users: Object.fromEntries(
        users.byIds(people).map(({ id, name, username }) => [id, { data: { id, name, username } }])
      )
    }
  })
  return [
    { type: "dm.sent", parties: [{ userId: sender }], content: content(others[0]) },
    ...others.map((userId) => ({ type: "dm.received" as const, parties: [{ userId }], content: content(userId) }))
  ]
}

/** An event of an encrypted conversation as each user gets it, with the change of the key that it needs. */
const inChat = (id: string, { store: { chats } }: Scene) => {
  const event = chats.event(id)
  const conversation = event && chats.conversation(event.conversation_id)
  if (event === undefined || conversation === undefined) return undefined
  const { encoded_event, sender_id } = event
  const { id: conversationId, key_version, member_ids } = conversation
  const content = (userId: string) => () => ({
    payload: {
      conversation_id: conversationId.replace(":", "-"),
      sender_id,
      encoded_event,
      conversation_key_version: key_version,
      conversation_key_change_event: chats.keyEvents(conversationId, userId).at(-1)?.encoded_event
    }
  })
  return { content, members: member_ids, sender: sender_id }
}

const ofChat = (id: string, scene: Scene): ReadonlyArray<Happening> => {
  const chat = inChat(id, scene)
  if (chat === undefined) return []
  return chat.members.map((userId) => ({
    type: userId === chat.sender ? "chat.sent" : "chat.received",
    parties: [{ userId }],
    content: chat.content(userId)
  }))
}

/** The type has two names. Those whom another user has added join. */
const ofJoin = (id: string, users: ReadonlyArray<string>, scene: Scene): ReadonlyArray<Happening> => {
  const chat = inChat(id, scene)
  if (chat === undefined) return []
  return users.filter((userId) => userId !== chat.sender).flatMap((userId) =>
    (["chat.conversation_join", "chat.conversation.join"] as const).map((type) => ({
      type,
      parties: [{ userId }],
      content: chat.content(userId)
    }))
  )
}

/** Events of the activity API: what happens on accounts that an app has subscribed to. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"
import type { ReadRow } from "../Price.ts"
import type { Scope } from "../Scopes.ts"
import { Includes } from "./Includes.ts"
import { Post } from "./Post.ts"
import { User } from "./User.ts"

/** The price of each type of event; some are our reading, because the service prices events by the thing that they are about. */
export const eventPrices = {
  "post.create": "post",
  "post.delete": "free",
  "post.mention.create": "post",
  "post.reply.create": "post",
  "post.quote.create": "post",
  "post.repost.create": "post",
  "like.create": "like",
  "follow.follow": "followingOrFollower",
  "follow.unfollow": "followingOrFollower",
  "mute.mute": "mute",
  "mute.unmute": "mute",
  "block.block": "block",
  "block.unblock": "block",
  "profile.update.bio": "profileUpdate",
  "profile.update.profile_picture": "profileUpdate",
  "profile.update.banner_picture": "profileUpdate",
  "profile.update.screenname": "profileUpdate",
  "profile.update.handle": "profileUpdate",
  "profile.update.geo": "profileUpdate",
  "profile.update.url": "profileUpdate",
  "profile.update.verified_badge": "profileUpdate",
  "profile.update.affiliate_badge": "profileUpdate",
  "dm.received": "dmEvent",
  "dm.sent": "free",
  "dm.read": "free",
  "dm.indicate_typing": "free",
  "chat.received": "dmEvent",
  "chat.sent": "free",
  "chat.conversation_join": "free",
  "chat.conversation.join": "free",
  "chat.conversation.member_added": "free",
  "chat.conversation.member_removed": "free",
  "chat.conversation.admin_added": "free",
  "chat.conversation.admin_removed": "free",
  "chat.update.group_name": "free",
  "chat.update.restrictions": "free",
  "spaces.start": "space",
  "spaces.end": "space",
  "broadcast.start": "free",
  "broadcast.end": "free",
  "broadcast.chat": "free",
  "news.new": "note",
  "oauth.revoke": "free"
} as const satisfies Readonly<Record<string, ReadRow | "free">>

/** A type of event that this version knows. */
export type EventType = keyof typeof eventPrices

/** Every type of event that this version knows. */
export const eventTypes: ReadonlyArray<EventType> = /*#__PURE__*/ Object.keys(eventPrices).filter(isEventType)

/** Tests whether this version knows a type of event. */
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventPrices, type)
}

/** The scope that private events need; undefined for public ones. */
export const scopeOf = (type: EventType): Scope | undefined => {
  const [family = "", kind = ""] = type.split(".")
  if (family === "post") return kind === "create" || kind === "delete" ? undefined : "post.read"
  return type === "broadcast.chat" ? "broadcast.read" : scopes.get(family)
}

const scopes = /*#__PURE__*/ new Map<string, Scope>([
  ["like", "like.read"],
  ["mute", "mute.read"],
  ["block", "block.read"],
  ["dm", "dm.read"],
  ["chat", "dm.read"]
])

/** A type of event that this version does not list. Take it as a `string` to compare it. */
export type UnlistedEventType = Unlisted

// A string of which the compiler knows that it is none of the listed types; a branded string would select every type of event.
declare enum Unlisted {
  any = "a type that is not listed"
}

/** What a subscription selects events by. */
export const ActivityFilter = /*#__PURE__*/ Schema.Struct({
  user_id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  keyword: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  direction: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.known("inbound", "outbound"))
})

const optional = /*#__PURE__*/ Schema.optionalKey(Schema.String)

/** An event of some types with a payload. */
const event = <const Types extends ReadonlyArray<EventType>, Payload extends Schema.Top>(
  types: Types,
  payload: Payload
) =>
  Model.essential(
    Schema.Struct({ ...common, event_type: Schema.Literals(types), payload }),
    "event_uuid",
    "event_type"
  )

/** A post of an event, with the fields that the service sent. */
export interface ActivityPost extends Schema.Schema.Type<typeof Post.schema> {}

/** A user of an event, with the fields that the service sent. */
export interface ActivityUser extends Schema.Schema.Type<typeof User.schema> {}

// Without these types, declarations would have all members of a post for each type of event.
const included: Schema.Codec<Includes, unknown> = Includes
const post: Schema.Codec<ActivityPost, unknown> = Post.schema
const user: Schema.Codec<ActivityUser, unknown> = User.schema

const common = {
  /** A 64-bit integer, which may be negative. */
  event_uuid: Schema.String,
  filter: /*#__PURE__*/ Schema.optionalKey(ActivityFilter),
  /** The label of the subscription. */
  tag: optional,
  /** Objects that the payload refers to. */
  includes: /*#__PURE__*/ Schema.optionalKey(included)
}

/** A post of the account, or one that mentions, answers, quotes or reposts it. */
export const PostActivity = /*#__PURE__*/ event(
  ["post.create", "post.mention.create", "post.reply.create", "post.quote.create", "post.repost.create"],
  post
)
/** A post of the account, or one that mentions, answers, quotes or reposts it. */
export interface PostActivity extends Schema.Schema.Type<typeof PostActivity> {}

/** A post of the account was deleted. */
export const PostDeletion = /*#__PURE__*/ event(
  ["post.delete"],
  /*#__PURE__*/ Model.essential(/*#__PURE__*/ Schema.Struct({ id: Schema.String, author_id: optional }), "id")
)
/** A post of the account was deleted. */
export interface PostDeletion extends Schema.Schema.Type<typeof PostDeletion> {}

/** A post of the account was liked, or the account liked one. */
export const LikeActivity = /*#__PURE__*/ event(
  ["like.create"],
  /*#__PURE__*/ Schema.Struct({
    id: optional,
    liked_post_id: optional,
    liked_post_author_id: optional,
    created_at: optional,
    timestamp_ms: /*#__PURE__*/ Schema.optionalKey(Schema.Int)
  })
)
/** A post of the account was liked, or the account liked one. */
export interface LikeActivity extends Schema.Schema.Type<typeof LikeActivity> {}

const someone = /*#__PURE__*/ Model.essential(/*#__PURE__*/ Schema.Struct({ data: user }), "data")

/** One account followed, muted or blocked another, or no longer does. */
export const RelationActivity = /*#__PURE__*/ event(
  ["follow.follow", "follow.unfollow", "mute.mute", "mute.unmute", "block.block", "block.unblock"],
  /*#__PURE__*/ Model.essential(/*#__PURE__*/ Schema.Struct({ source: someone, target: someone }), "source", "target")
)
/** One account followed, muted or blocked another, or no longer does. */
export interface RelationActivity extends Schema.Schema.Type<typeof RelationActivity> {}

/** The profile of the account changed. `screenname` is the display name, `handle` the @name. */
export const ProfileActivity = /*#__PURE__*/ event(
  [
    "profile.update.bio",
    "profile.update.profile_picture",
    "profile.update.banner_picture",
    "profile.update.screenname",
    "profile.update.handle",
    "profile.update.geo",
    "profile.update.url",
    "profile.update.verified_badge",
    "profile.update.affiliate_badge"
  ],
  /*#__PURE__*/ Schema.Struct({
    before: /*#__PURE__*/ Schema.optionalKey(Model.Json),
    after: /*#__PURE__*/ Schema.optionalKey(Model.Json)
  })
)
/** The profile of the account changed. */
export interface ProfileActivity extends Schema.Schema.Type<typeof ProfileActivity> {}

const message = /*#__PURE__*/ Model.essential(
  /*#__PURE__*/ Schema.Struct({
    id: Schema.String,
    /** `message_create`, for example. */
    type: optional,
    /** Milliseconds, as text. */
    created_timestamp: optional,
    message_create: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Struct({
      target: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Struct({ recipient_id: optional })),
      sender_id: optional,
      message_data: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Struct({
        text: optional,
        attachment: /*#__PURE__*/ Schema.optionalKey(Model.Json)
      }))
    }))
  }),
  "id"
)

/** A direct message was received, sent or read, or someone is typing one. The service still sends the form of its first API. */
export const DirectMessageActivity = /*#__PURE__*/ event(
  ["dm.received", "dm.sent", "dm.read", "dm.indicate_typing"],
  /*#__PURE__*/ Schema.Struct({
    direct_message_events: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Array(message)),
    /** The people in the messages, by id. */
    users: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Record(Schema.String, Model.Json))
  })
)
/** A direct message was received, sent or read, or someone is typing one. */
export interface DirectMessageActivity extends Schema.Schema.Type<typeof DirectMessageActivity> {}

/** Something in an encrypted conversation. The payload is as it came. */
export const ChatActivity = /*#__PURE__*/ event(
  [
    "chat.received",
    "chat.sent",
    "chat.conversation_join",
    "chat.conversation.join",
    "chat.conversation.member_added",
    "chat.conversation.member_removed",
    "chat.conversation.admin_added",
    "chat.conversation.admin_removed",
    "chat.update.group_name",
    "chat.update.restrictions"
  ],
  Model.Json
)
/** Something in an encrypted conversation. The payload is as it came. */
export interface ChatActivity extends Schema.Schema.Type<typeof ChatActivity> {}

/** A space of the account began or ended. */
export const SpaceActivity = /*#__PURE__*/ event(
  ["spaces.start", "spaces.end"],
  /*#__PURE__*/ Schema.Struct({
    user: /*#__PURE__*/ Schema.optionalKey(someone),
    broadcast_id: optional,
    event_type: optional
  })
)
/** A space of the account began or ended. */
export interface SpaceActivity extends Schema.Schema.Type<typeof SpaceActivity> {}

/** A broadcast of the account began or ended. Times are in milliseconds. */
export const BroadcastActivity = /*#__PURE__*/ event(
  ["broadcast.start", "broadcast.end"],
  /*#__PURE__*/ Schema.Struct({
    broadcast_id: optional,
    title: optional,
    broadcast_state: optional,
    language: optional,
    user: /*#__PURE__*/ Schema.optionalKey(Model.Json),
    thumbnail_url: optional,
    available_for_replay: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean)
  })
)
/** A broadcast of the account began or ended. */
export interface BroadcastActivity extends Schema.Schema.Type<typeof BroadcastActivity> {}

/** A message in the chat of a broadcast. */
export const BroadcastMessage = /*#__PURE__*/ event(
  ["broadcast.chat"],
  /*#__PURE__*/ Schema.Struct({
    broadcast_id: optional,
    message_id: optional,
    message: optional,
    author: /*#__PURE__*/ Schema.optionalKey(someone)
  })
)
/** A message in the chat of a broadcast. */
export interface BroadcastMessage extends Schema.Schema.Type<typeof BroadcastMessage> {}

/** News about a subscribed keyword. The service's documents have two forms: `name` and `summary`, or `headline`. */
export const NewsActivity = /*#__PURE__*/ event(
  ["news.new"],
  /*#__PURE__*/ Schema.Struct({
    id: optional,
    name: optional,
    headline: optional,
    category: optional,
    hook: optional,
    summary: optional,
    updated_at: optional,
    disclaimer: optional,
    contexts: /*#__PURE__*/ Schema.optionalKey(Model.Json)
  })
)
/** News about a subscribed keyword. */
export interface NewsActivity extends Schema.Schema.Type<typeof NewsActivity> {}

/** A user has withdrawn the app's access. */
export const RevocationActivity = /*#__PURE__*/ event(
  ["oauth.revoke"],
  /*#__PURE__*/ Schema.Struct({ date_time: optional, user_id: optional, app_id: optional })
)
/** A user has withdrawn the app's access. */
export interface RevocationActivity extends Schema.Schema.Type<typeof RevocationActivity> {}

/** An event of a type that this version does not list, with its payload as it came. */
export interface UnlistedActivity extends Schema.Struct.Type<typeof common> {
  readonly event_type: UnlistedEventType
  readonly payload?: Schema.Json
}

/** An event of a type that this version does not list, with its payload as it came. */
export const UnlistedActivity: Schema.Codec<UnlistedActivity, unknown> = /*#__PURE__*/ Model.essential(
  /*#__PURE__*/ Schema.Struct({
    ...common,
    event_type: /*#__PURE__*/ Schema.declare((type): type is UnlistedEventType =>
      typeof type === "string" && !isEventType(type)
    ),
    payload: /*#__PURE__*/ Schema.optionalKey(Model.Json)
  }),
  "event_uuid",
  "event_type"
)

/** Something that happened. `event_type` selects the type of its payload. */
export type ActivityEvent =
  | PostActivity
  | PostDeletion
  | LikeActivity
  | RelationActivity
  | ProfileActivity
  | DirectMessageActivity
  | ChatActivity
  | SpaceActivity
  | BroadcastActivity
  | BroadcastMessage
  | NewsActivity
  | RevocationActivity
  | UnlistedActivity

/** Something that happened. `event_type` selects the type of its payload. */
export const ActivityEvent: Schema.Codec<ActivityEvent, unknown> = /*#__PURE__*/ Schema.Union([
  PostActivity,
  PostDeletion,
  LikeActivity,
  RelationActivity,
  ProfileActivity,
  DirectMessageActivity,
  ChatActivity,
  SpaceActivity,
  BroadcastActivity,
  BroadcastMessage,
  NewsActivity,
  RevocationActivity,
  UnlistedActivity
])
/**
 * Brings the forms in which the service delivers an event to one: related objects are in the event, and a number that comes as
 * text, too, comes once: as text where it is an id. Changes the body.
 */
export const normalise = (body: object): void => {
  if (!Predicate.hasProperty(body, "data") || !Predicate.isObject(body.data)) return
  if (Predicate.hasProperty(body, "includes") && body.includes !== undefined) {
    body.data["includes"] ??= body.includes
    delete body.includes
  }
  withoutTwins(body.data)
  const { payload } = body.data
  if (body.data["event_type"] === "like.create" && Predicate.isObject(payload)) {
    // The documentation names the author of the post in one way, the OpenAPI document in another.
    if (payload["liked_tweet_author_id"] !== undefined) {
      payload["tweet_author_id"] ??= payload["liked_tweet_author_id"]
      delete payload["liked_tweet_author_id"]
    }
  }
}

const twin = "_str"

const withoutTwins = (value: object): void => {
  const pending: Array<object> = [value]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!Array.isArray(next)) {
      for (const [key, text] of Object.entries(next)) {
        if (!key.endsWith(twin) || typeof text !== "string") continue
        const name = key.slice(0, -twin.length)
        const number: unknown = Reflect.get(next, name)
        if (typeof number !== "number") continue
        if (isId(name) || !Number.isSafeInteger(number)) Reflect.set(next, name, text)
        Reflect.deleteProperty(next, key)
      }
    }
    for (const inner of Object.values(next)) if (typeof inner === "object" && inner !== null) pending.push(inner)
  }
}

const isId = (name: string): boolean => name === "id" || name.endsWith("_id")

/** A subscription to events of one type. */
export const ActivitySubscription = /*#__PURE__*/ Model.essential(
  /*#__PURE__*/ Schema.Struct({
    subscription_id: Schema.String,
    event_type: /*#__PURE__*/ Model.known(...eventTypes),
    filter: ActivityFilter,
    tag: optional,
    /** The webhook that gets the events; the stream has them in any case. */
    webhook_id: optional,
    created_at: optional,
    updated_at: optional
  }),
  "subscription_id"
)
/** A subscription to events of one type. */
export interface ActivitySubscription extends Schema.Schema.Type<typeof ActivitySubscription> {}

/** A subscription after a change, and the number of the app's subscriptions. */
export const SubscriptionChange = /*#__PURE__*/ Schema.Struct({
  subscription: ActivitySubscription,
  total_subscriptions: /*#__PURE__*/ Schema.optionalKey(Schema.Int)
})
/** A subscription after a change, and the number of the app's subscriptions. */
export interface SubscriptionChange extends Schema.Schema.Type<typeof SubscriptionChange> {}

/** Brings the two documented forms of a change to one. The other one is the subscription itself, or a list of it. */
export const normaliseChange = (body: object): void => {
  if (!Predicate.hasProperty(body, "data")) return
  const data: unknown = Array.isArray(body.data) ? body.data[0] : body.data
  if (!Predicate.isObject(data) || data["subscription_id"] === undefined) return
  const total = Predicate.hasProperty(body, "meta") && Predicate.isObject(body.meta)
    ? body.meta["total_subscriptions"]
    : undefined
  body.data = { subscription: data, ...(total === undefined ? {} : { total_subscriptions: total }) }
}

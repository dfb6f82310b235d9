/**
 * Deliveries as events: those of the activity API, and what else the service sends to a webhook.
 *
 * @stability experimental
 */
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Anomaly } from "../schema/Anomaly.ts"
import { type ActivityEvent, ActivityEvent as Activity, normalise } from "../schema/models/Activity.ts"
import type { Includes } from "../schema/models/Includes.ts"
import { Post } from "../schema/models/Post.ts"
import * as Response from "../schema/Response.ts"
import type { MatchingRule } from "../schema/StreamItem.ts"
import { digestOf } from "../storage/VersionedRecord.ts"
import * as ResponseDecoder from "../wire/ResponseDecoder.ts"
import * as Wire from "../wire/Wire.ts"

/** A post of the filtered stream that is linked to the webhook. Its `event_uuid` is the id of the post. */
export interface StreamedPost {
  readonly event_type: "stream.post"
  readonly event_uuid: string
  readonly payload: Post
  /** Objects that the post refers to. */
  readonly includes?: Includes
  readonly matching_rules: ReadonlyArray<MatchingRule>
}

/** A replay of past events has ended. */
export interface ReplayEnded {
  readonly event_type: "replay_job_status"
  readonly event_uuid: string
  readonly payload: {
    readonly webhook_id?: string
    readonly job_id?: string
    /** `Complete`, or `Incomplete`: request it again. */
    readonly job_state?: string
    readonly job_state_description?: string
  }
}

/** A delivery of another kind, as it came. Its `event_uuid` is a digest of it. */
export interface OtherDelivery {
  readonly event_type: "other"
  readonly event_uuid: string
  readonly payload: Schema.Json
}

/** A delivery. `event_type` selects the type of its payload. */
export type WebhookEvent = ActivityEvent | StreamedPost | ReplayEnded | OtherDelivery

/** The parts of a delivery by which it is kept. */
export interface Identity {
  /** Equal for deliveries of the same event to the same user. */
  readonly id: string
  /** The user that the event is for. Events of one user are handled in order. */
  readonly user: string
  /** When it happened, in milliseconds, if the delivery says so. */
  readonly at: number | undefined
}

/** Reads the identity of a delivery. */
export const identify = (body: object, text: string): Identity => {
  const { data, for_user_id: forUser } = membersOf(body)
  if (!Predicate.isObject(data)) {
    return { id: `${keyOf(body, text)}`, user: typeof forUser === "string" ? forUser : "", at: undefined }
  }
  const { author_id: author, created_at: created, filter } = data
  const user = Predicate.hasProperty(filter, "user_id") ? filter.user_id : isEvent(data) ? "" : author
  const type = data["event_type"]
  return {
    // Two users of one conversation get an event each.
    id: `${keyOf(body, text)} ${typeof user === "string" ? user : ""}`,
    user: typeof user === "string" ? user : "",
    at: typeof type === "string" ? eventTime(type, data["payload"]) : timeOf(created)
  }
}

interface Members {
  readonly [name: string]: unknown
}

const membersOf = (body: object): Members => Predicate.isObject(body) ? body : {}

const isEvent = (data: Members): boolean =>
  typeof data["event_type"] === "string" && typeof data["event_uuid"] === "string"

const keyOf = (body: object, text: string): string => {
  const { data, replay_job_status: status } = membersOf(body)
  if (Predicate.isObject(data)) {
    if (isEvent(data)) return String(data["event_uuid"])
    if (typeof data["id"] === "string") return data["id"]
  }
  return Predicate.isObject(status) ? `replay ${status["job_id"]} ${status["job_state"]}` : digestOf(text)
}

/** The types whose payload is a post that was created by the event itself; a repost may be of an old post. */
const creations = ["post.create", "post.mention.create", "post.reply.create", "post.quote.create"]

const eventTime = (type: string, payload: unknown): number | undefined => {
  if (!Predicate.isObject(payload)) return undefined
  if (creations.includes(type)) return timeOf(payload["created_at"])
  if (type === "oauth.revoke") return timeOf(payload["date_time"])
  if (type !== "dm.received" && type !== "dm.sent") return undefined
  const messages = payload["direct_message_events"]
  const first: unknown = Array.isArray(messages) ? messages[0] : undefined
  const millis = Predicate.hasProperty(first, "created_timestamp") ? Number(first.created_timestamp) : Number.NaN
  return Number.isFinite(millis) ? millis : undefined
}

const timeOf = (date: unknown): number | undefined => {
  const millis = typeof date === "string" ? Date.parse(date) : Number.NaN
  return Number.isNaN(millis) ? undefined : millis
}

/** A decoded delivery. */
export interface Decoded {
  readonly event: WebhookEvent
  /** Parts that did not match the schema and were omitted; usually none. */
  readonly anomalies: ReadonlyArray<Anomaly>
}

/** Decodes a delivery from its text, in the names of any version of the service. A parsed body is changed. */
export const decode = (text: string, body: object = JSON.parse(text)): Decoded => {
  const { data, matching_rules: rules, replay_job_status: status } = membersOf(body)
  const key = keyOf(body, text)
  if (Predicate.isObject(data)) {
    if (isEvent(data)) {
      const response = read<ActivityEvent>(activity, text, body)
      if (response?.data !== undefined) return { event: response.data, anomalies: response.anomalies }
    } else if (typeof data["id"] === "string") {
      const response = read<Post>(post, text, body)
      if (response?.data !== undefined) {
        return {
          event: {
            event_type: "stream.post",
            event_uuid: key,
            payload: response.data,
            ...(response.body.includes === undefined ? {} : { includes: response.body.includes }),
            matching_rules: Array.isArray(rules) ? rules : []
          },
          anomalies: response.anomalies
        }
      }
    }
  }
  return Predicate.isObject(status)
    ? { event: { event_type: "replay_job_status", event_uuid: key, payload: status }, anomalies: [] }
    : { event: { event_type: "other", event_uuid: key, payload: JSON.parse(text) }, anomalies: [] }
}

const activity = { result: /*#__PURE__*/ Response.value(Activity, normalise) }

const post = { result: /*#__PURE__*/ Response.one(Post) }

// The declaration of the result is the only source of the type of its data.
function read<A>(
  definition: { readonly result: Response.Result },
  text: string,
  body: object
): Response.Response<A, Includes> | undefined
function read(definition: { readonly result: Response.Result }, text: string, body: object): unknown {
  // The service has the names of February in deliveries, whatever those of its answers; this name set reads all of them.
  const response = ResponseDecoder.decode(definition, Wire.x, text, {}, "lenient", () => body)
  return response instanceof ResponseDecoder.Undecodable ? undefined : response
}

/** The events of the likes and compliance streams. No table holds them, so the most recent ones are kept in memory. */
import type { Endpoint } from "@postwire/core/schema/models/Connection"
import type { Like } from "@postwire/core/schema/models/Like"
import type { ReadRow } from "@postwire/core/schema/Price"
import { likeId } from "../store/Reactions.ts"
import type { Store } from "../store/Store.ts"
import type { StoreEvent } from "../store/StoreEvents.ts"
import type { Source } from "./Sources.ts"

export interface StreamEvent {
  /** The id that determines the partition. */
  readonly id: string
  /** Milliseconds. */
  readonly at: number
  /** The streams that deliver it: those of likes, or one compliance or label stream. */
  readonly on: "likes" | Endpoint
  readonly data: object
  /** The only app that gets it. */
  readonly appId?: string
  /** The price row of an event of activity. */
  readonly row?: ReadRow | undefined
}

/** True if a stream delivers an event. */
export const isOn = (
  { appId, on }: StreamEvent,
  connection: { readonly appId: string; readonly endpoint: Endpoint; readonly source: Source }
): boolean =>
  on === (connection.source.of === "likes" ? "likes" : connection.endpoint) &&
  (appId === undefined || appId === connection.appId)

/** The event of a change; undefined if no stream delivers it. */
export const fromChange = (change: StoreEvent, { posts }: Store["Service"], at: number): StreamEvent | undefined => {
  const event_at = new Date(at).toISOString()
  const event = (on: StreamEvent["on"], id: string, data: object): StreamEvent => ({ id, at, on, data })
  switch (change._tag) {
    case "Posted": {
      const { editOf, id } = change
      if (editOf === undefined) return undefined
      const { author_id, edit_history_post_ids = [id] } = posts.byId(id) ?? {}
      const initial_post_id = edit_history_post_ids[0]
      const post_edit = { post: { id, author_id }, event_at, initial_post_id, edit_post_ids: edit_history_post_ids }
      return event("posts_compliance_stream", id, { post_edit })
    }
    case "Deleted": {
      const { authorId, id, quotedId } = change
      const quote = quotedId !== undefined && { quote_post_id: quotedId }
      return event("posts_compliance_stream", id, { delete: { post: { id, author_id: authorId }, event_at, ...quote } })
    }
    case "GeoScrubbed": {
      const { authorId, id } = change
      const scrub_geo = { user: { id: authorId }, event_at, up_to_post_id: id }
      return event("users_compliance_stream", authorId, { scrub_geo })
    }
    case "Liked": {
      const { postId, userId } = change
      const post = posts.byId(postId)
      const like: Like & { readonly attachments?: object } = {
        id: likeId(userId, postId),
        created_at: event_at,
        timestamp_ms: at,
        liked_post_id: postId,
        ...(post !== undefined && { liked_post_author_id: post.author_id }),
        ...(post?.attachments?.media_keys !== undefined && {
          attachments: post.attachments,
          attachments_media_keys: post.attachments.media_keys
        })
      }
      return event("likes", like.id, like)
    }
    case "Unliked": {
      const { postId: id, userId: user_id } = change
      return event("likes_compliance_stream", id, { delete: { favorite: { id, user_id }, event_at } })
    }
    case "Suspended":
    case "Unsuspended": {
      const { _tag, userId: id } = change
      const name = _tag === "Suspended" ? "user_suspend" : "user_unsuspend"
      return event("users_compliance_stream", id, { [name]: { user: { id }, event_at } })
    }
    default:
      return undefined
  }
}

/** Limits of the events kept for backfill and recovery. */
const maxEvents = 100_000
const maxAge = 24 * 3_600_000

/** The most recent events. */
export class RecentEvents {
  #events: Array<StreamEvent> = []

  add(event: StreamEvent): void {
    this.#events.push(event)
    // Old events are dropped in batches.
    if (this.#events.length > maxEvents * 1.1) {
      this.#events = this.#events.filter(({ at }) => at > event.at - maxAge).slice(-maxEvents)
    }
  }

  between(from: number, to: number): ReadonlyArray<StreamEvent> {
    return this.#events.filter(({ at }) => at >= from && at < to)
  }

  clear(): void {
    this.#events = []
  }
}

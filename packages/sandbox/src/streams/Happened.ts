/** What streams of likes and of compliance bring, and the latest of it: what happens is in no table. */
import type { Endpoint } from "@postwire/core/schema/models/Connection"
import type { Like } from "@postwire/core/schema/models/Like"
import * as Crypto from "node:crypto"
import type { Store } from "../store/Store.ts"
import type { StoreEvent } from "../store/StoreEvents.ts"
import type { Source } from "./Sources.ts"

/** Something that happened. */
export interface Event {
  /** What decides the part of a stream that it is in. */
  readonly id: string
  /** Milliseconds. */
  readonly at: number
  /** The streams that bring it: those of likes, or one of events. */
  readonly on: "likes" | Endpoint
  readonly data: object
}

/** Whether a stream brings an event. */
export const isOn = ({ on }: Event, endpoint: Endpoint, { of }: Source): boolean =>
  on === (of === "likes" ? of : endpoint)

/** What happened to a post, a like or a user, as its stream tells it. */
export const of = (event: StoreEvent, { posts }: Store["Service"], at: number): Event | undefined => {
  const event_at = new Date(at).toISOString()
  switch (event._tag) {
    case "Posted": {
      const { editOf, id } = event
      if (editOf === undefined) return undefined
      const { author_id, edit_history_post_ids = [id] } = posts.byId(id) ?? {}
      return {
        id,
        at,
        on: "posts_compliance_stream",
        data: {
          post_edit: {
            post: { id, author_id },
            event_at,
            initial_post_id: edit_history_post_ids[0],
            edit_post_ids: edit_history_post_ids
          }
        }
      }
    }
    case "Deleted": {
      const { authorId, id, quotedId } = event
      const post = { id, author_id: authorId }
      return {
        id,
        at,
        on: "posts_compliance_stream",
        data: { delete: { post, event_at, ...(quotedId !== undefined && { quote_post_id: quotedId }) } }
      }
    }
    case "GeoScrubbed": {
      const { authorId, id } = event
      return {
        id: authorId,
        at,
        on: "users_compliance_stream",
        data: { scrub_geo: { user: { id: authorId }, event_at, up_to_post_id: id } }
      }
    }
    case "Liked": {
      const { postId, userId } = event
      const post = posts.byId(postId)
      const like: Like & { readonly attachments?: object } = {
        id: Crypto.hash("md5", `${userId} ${postId}`),
        created_at: event_at,
        timestamp_ms: at,
        liked_post_id: postId,
        ...(post !== undefined && { liked_post_author_id: post.author_id }),
        ...(post?.attachments?.media_keys !== undefined && {
          attachments: post.attachments,
          attachments_media_keys: post.attachments.media_keys
        })
      }
      return { id: like.id, at, on: "likes", data: like }
    }
    case "Unliked": {
      const { postId, userId } = event
      return {
        id: postId,
        at,
        on: "likes_compliance_stream",
        data: { delete: { favorite: { id: postId, user_id: userId }, event_at } }
      }
    }
    case "Suspended":
    case "Unsuspended": {
      const { _tag, userId } = event
      const told = { user: { id: userId }, event_at }
      return {
        id: userId,
        at,
        on: "users_compliance_stream",
        data: _tag === "Suspended" ? { user_suspend: told } : { user_unsuspend: told }
      }
    }
  }
}

/** So much is remembered, for those who ask for what was before they came. */
const maxEvents = 100_000
const maxAge = 24 * 3_600_000

/** The latest of what happened. */
export class Latest {
  #events: Array<Event> = []

  add(event: Event): void {
    this.#events.push(event)
    // What is too old goes with the next thousands.
    if (this.#events.length > maxEvents * 1.1) {
      this.#events = this.#events.filter(({ at }) => at > event.at - maxAge).slice(-maxEvents)
    }
  }

  between(from: number, to: number): ReadonlyArray<Event> {
    return this.#events.filter(({ at }) => at >= from && at < to)
  }

  clear(): void {
    this.#events = []
  }
}

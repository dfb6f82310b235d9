/** Events about posts, users and what they do, published after their transaction commits. Streams and webhooks deliver them. */
import type { EventType } from "@postwire/core/schema/models/Activity"
import type { Database } from "./Database.ts"

/** A committed change. */
export type StoreEvent =
  /** A post, or another version of one, was created. */
  | { readonly _tag: "Posted"; readonly id: string; readonly editOf: string | undefined }
  | { readonly _tag: "Deleted"; readonly id: string; readonly authorId: string; readonly quotedId: string | undefined }
  /** The location of a post was removed. */
  | { readonly _tag: "GeoScrubbed"; readonly id: string; readonly authorId: string }
  | { readonly _tag: "Liked" | "Unliked"; readonly userId: string; readonly postId: string }
  | { readonly _tag: "Suspended" | "Unsuspended"; readonly userId: string }
  /** One user follows, mutes or blocks another, or no longer does. */
  | { readonly _tag: "Related"; readonly type: Relation; readonly sourceId: string; readonly targetId: string }
  /** A part of a profile changed. */
  | {
    readonly _tag: "Profiled"
    readonly type: ProfileUpdate
    readonly userId: string
    readonly before: string | undefined
    readonly after: string | undefined
  }
  | { readonly _tag: "Messaged"; readonly id: string }
  /** A message of an encrypted conversation. */
  | { readonly _tag: "Chatted"; readonly id: string }
  /** Users became members of an encrypted group, by an event of its conversation. */
  | { readonly _tag: "Joined"; readonly eventId: string; readonly userIds: ReadonlyArray<string> }
  /** A space began or ended. */
  | {
    readonly _tag: "Talked"
    readonly type: "spaces.start" | "spaces.end"
    readonly id: string
    readonly userId: string
  }
  /** A broadcast was planned, or its plan changed. */
  | { readonly _tag: "Planned" }
  /** A broadcast began or ended. */
  | { readonly _tag: "Broadcast"; readonly type: "broadcast.start" | "broadcast.end"; readonly id: string }
  /** A message in the chat of a broadcast. */
  | { readonly _tag: "BroadcastMessage"; readonly id: string }
  /** A user withdrew an app's access. */
  | { readonly _tag: "Revoked"; readonly appId: string; readonly userId: string }

/** The event type of a relation that begins or ends. */
export type Relation = Extract<EventType, `follow.${string}` | `mute.${string}` | `block.${string}`>

/** The event type of a change of a profile. */
export type ProfileUpdate = Extract<EventType, `profile.update.${string}`>

export type EventPublisher = ReturnType<typeof make>

export const make = (database: Database) => {
  const listeners = new Set<(event: StoreEvent) => void>()
  return {
    /** Calls the listener for every later event, in order. Returns a function that unsubscribes. */
    subscribe: (listener: (event: StoreEvent) => void) => {
      listeners.add(listener)
      return (): void => void listeners.delete(listener)
    },
    publish: (event: StoreEvent): void => {
      if (listeners.size === 0) return
      database.afterCommit(() => {
        for (const listener of listeners) listener(event)
      })
    }
  }
}

/** Events about posts, likes and users, published after their transaction commits. Streams deliver them. */
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

export interface StoreEvents {
  /** Calls the listener for every later event, in order. Returns a function that unsubscribes. */
  readonly subscribe: (listener: (event: StoreEvent) => void) => () => void
}

/** Adds the publishing side. */
export interface EventPublisher extends StoreEvents {
  readonly publish: (event: StoreEvent) => void
}

export const make = (database: Database): EventPublisher => {
  const listeners = new Set<(event: StoreEvent) => void>()
  return {
    subscribe: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    publish: (event) => {
      if (listeners.size === 0) return
      database.afterCommit(() => {
        for (const listener of listeners) listener(event)
      })
    }
  }
}

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

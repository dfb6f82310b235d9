/** What happens to posts, likes and users, told once it is written for good: what streams bring. */
import type { Database } from "./Database.ts"

/** Something that happened. */
export type Happening =
  /** A post, or another version of one, was made. */
  | { readonly _tag: "Posted"; readonly id: string; readonly editOf: string | undefined }
  | { readonly _tag: "Deleted"; readonly id: string; readonly authorId: string; readonly quotedId: string | undefined }
  /** Its places were taken away. */
  | { readonly _tag: "GeoScrubbed"; readonly id: string; readonly authorId: string }
  | { readonly _tag: "Liked" | "Unliked"; readonly userId: string; readonly postId: string }
  | { readonly _tag: "Suspended" | "Unsuspended"; readonly userId: string }

/** What happens in a store. */
export interface Happenings {
  /** Tells everything from now on, in its order. Returns what ends it. */
  readonly listen: (listener: (happening: Happening) => void) => () => void
}

/** The same, for those who make it happen. */
export interface Teller extends Happenings {
  readonly tell: (happening: Happening) => void
}

/** What happens in a database. */
export const make = (database: Database): Teller => {
  const listeners = new Set<(happening: Happening) => void>()
  return {
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    tell: (happening) => {
      if (listeners.size === 0) return
      database.afterCommit(() => {
        for (const listener of listeners) listener(happening)
      })
    }
  }
}

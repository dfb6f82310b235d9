/** Bookmark folders. A bookmark may be in several, and is always in the list of all bookmarks. */
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as Records from "./Records.ts"
import * as Relation from "./Relation.ts"
import * as Visibility from "./Visibility.ts"

const folder = Records.record("f", { id: Records.id(), name: Records.text() })

/** The input of `insert`. */
export interface NewBookmarkFolder {
  readonly userId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

export const make = (database: Database) => {
  const nextId = ids(database, "bookmark_folders")
  const byId = database.select(folder, "FROM bookmark_folders f WHERE f.id = :id AND f.user_id = :user")
  const contents = Relation.make(database, "bookmark_folder_posts", ["folder_id", "post_id"])
  const of = pager(database, folder, { from: "bookmark_folders f", where: "f.user_id = :user", key: "f.id" })
  const posts = Post.pages(database, {
    from: "bookmark_folder_posts b JOIN posts p ON p.id = b.post_id",
    where: `b.folder_id = :folder AND ${Visibility.post("p")}`,
    key: "b.key"
  })

  return {
    /** Returns the id. */
    insert: ({ createdAt, name, userId }: NewBookmarkFolder): string => {
      const id = nextId(createdAt)
      database.insert("bookmark_folders", { id, user_id: userId, name })
      return String(id)
    },
    /** A folder of this user; folders of others are not found. */
    byId: (userId: string, id: string) => byId.get({ id, user: userId }),
    /** The folders of a user, latest first. */
    of: ({ userId: user, ...request }: PageRequest & { readonly userId: string }) => of({ user }, unbounded, request),
    /** Adds a bookmarked post to a folder. Idempotent. */
    add: (folderId: string, postId: string): void => void contents.set(folderId, postId, true),
    /** The posts in a folder, latest addition first. */
    posts: ({ folderId: folder, viewer, ...request }: PageRequest & {
      readonly folderId: string
      readonly viewer?: Visibility.Viewer | undefined
    }) => posts({ folder, viewer: Visibility.valueOf(viewer) }, unbounded, request)
  }
}

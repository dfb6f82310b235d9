/** Bookmark folders. A bookmark may be in several, and is always in the list of all bookmarks. */
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Visibility from "./Visibility.ts"

export interface BookmarkFolder {
  readonly id: string
  readonly name: string
}

/** The input of `insert`. */
export interface NewBookmarkFolder {
  readonly userId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

export interface BookmarkFolders {
  /** Returns the id. */
  readonly insert: (folder: NewBookmarkFolder) => string
  /** A folder of this user; folders of others are not found. */
  readonly byId: (userId: string, id: string) => BookmarkFolder | undefined
  /** The folders of a user, latest first. */
  readonly of: (options: PageRequest & { readonly userId: string }) => Page<BookmarkFolder>
  /** Adds a bookmarked post to a folder. Idempotent. */
  readonly add: (folderId: string, postId: string) => void
  /** The posts in a folder, latest addition first. */
  readonly posts: (
    options: PageRequest & { readonly folderId: string; readonly viewer?: Visibility.Viewer | undefined }
  ) => Page<Post.Post>
}

export const make = (database: Database): BookmarkFolders => {
  const nextId = ids(database, "bookmark_folders")
  const insert = database.command("INSERT INTO bookmark_folders (id, user_id, name) VALUES (:id, :user, :name)")
  const byId = database.query<BookmarkFolder>(
    `SELECT ${columns} FROM bookmark_folders f WHERE f.id = :id AND f.user_id = :user`
  )
  const add = database.command(
    "INSERT OR IGNORE INTO bookmark_folder_posts (folder_id, post_id) VALUES (:folder, :post)"
  )
  const of = pager<BookmarkFolder, BookmarkFolder>(database, {
    select: columns,
    from: "bookmark_folders f",
    where: "f.user_id = :user",
    key: "f.id"
  }, ({ id, name }) => ({ id, name }))
  const posts = Post.pages(database, {
    from: "bookmark_folder_posts b JOIN posts p ON p.id = b.post_id",
    where: `b.folder_id = :folder AND ${Visibility.post("p")}`,
    key: "b.key"
  })

  return {
    insert: ({ createdAt, name, userId }) => {
      const id = nextId(createdAt)
      insert({ id, user: Snowflake.parse(userId), name })
      return String(id)
    },
    byId: (userId, id) => byId.get({ id: Snowflake.parse(id), user: Snowflake.parse(userId) }),
    of: ({ userId, ...request }) => of({ user: Snowflake.parse(userId) }, unbounded, request),
    add: (folderId, postId) => void add({ folder: Snowflake.parse(folderId), post: Snowflake.parse(postId) }),
    posts: ({ folderId, viewer, ...request }) =>
      posts({ folder: Snowflake.parse(folderId), viewer: Visibility.valueOf(viewer) }, unbounded, request)
  }
}

const columns = "CAST(f.id AS TEXT) AS id, f.name"

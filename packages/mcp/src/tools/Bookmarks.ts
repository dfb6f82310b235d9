import { getBookmarkFolderPosts, getBookmarkFolders, getBookmarks } from "@postwire/core/operations/Bookmarks"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import * as Tool from "../session/Tool.ts"

/** `bookmarks`: the bookmarked posts of the account, and its folders. */
export const tool = Tool.make({
  name: "bookmarks",
  title: "Read bookmarks",
  description: "Reads the account's bookmarks, its folders, or the ids of the posts in a folder.",
  toolset: "bookmarks",
  effect: "read",
  operations: [getBookmarks.definition, getBookmarkFolders.definition],
  inputs: { show: Parameters.choice(["posts", "folders"]), folder_id: Parameters.id, ...Inputs.listing },
  run: ({ detail, folder_id, rows, show }) =>
    folder_id !== undefined
      ? Page.read(getBookmarkFolderPosts.definition, { folder_id }, { detail, rows })
      : Page.read((show === "folders" ? getBookmarkFolders : getBookmarks).definition, {}, { detail, rows })
})

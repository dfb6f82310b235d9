import type { Handlers } from "../Handler.ts"
import * as Bookmarks from "./Bookmarks.ts"
import * as DirectMessages from "./DirectMessages.ts"
import * as Likes from "./Likes.ts"
import * as Posts from "./Posts.ts"
import * as QuotePosts from "./QuotePosts.ts"
import * as Search from "./Search.ts"
import * as Timelines from "./Timelines.ts"
import * as Users from "./Users.ts"

/** The handler of every operation. */
export const handlers: Handlers = {
  ...Bookmarks.handlers,
  ...DirectMessages.handlers,
  ...Likes.handlers,
  ...Posts.handlers,
  ...QuotePosts.handlers,
  ...Search.handlers,
  ...Timelines.handlers,
  ...Users.handlers
}

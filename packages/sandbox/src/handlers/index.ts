import * as AccountActivity from "./AccountActivity.ts"
import * as Activity from "./Activity.ts"
import * as Analytics from "./Analytics.ts"
import * as Articles from "./Articles.ts"
import * as Broadcasts from "./Broadcasts.ts"
import * as Chat from "./Chat.ts"
import * as Communities from "./Communities.ts"
import * as CommunityNotes from "./CommunityNotes.ts"
import * as Compliance from "./Compliance.ts"
import * as Connections from "./Connections.ts"
import * as Counts from "./Counts.ts"
import * as DirectMessages from "./DirectMessages.ts"
import * as Document from "./Document.ts"
import * as Follows from "./Follows.ts"
import type { Handlers } from "./Handler.ts"
import * as Lists from "./Lists.ts"
import * as Media from "./Media.ts"
import * as News from "./News.ts"
import * as Posts from "./Posts.ts"
import * as Reactions from "./Reactions.ts"
import * as Reposts from "./Reposts.ts"
import * as Search from "./Search.ts"
import * as Spaces from "./Spaces.ts"
import * as StreamRules from "./StreamRules.ts"
import * as Timelines from "./Timelines.ts"
import * as Trends from "./Trends.ts"
import * as Usage from "./Usage.ts"
import * as Users from "./Users.ts"
import * as Webhooks from "./Webhooks.ts"

/** The handlers of all operations but streams. */
export const handlers: Handlers = {
  ...AccountActivity.handlers,
  ...Activity.handlers,
  ...Analytics.handlers,
  ...Articles.handlers,
  ...Broadcasts.handlers,
  ...Chat.handlers,
  ...Communities.handlers,
  ...CommunityNotes.handlers,
  ...Compliance.handlers,
  ...Connections.handlers,
  ...Counts.handlers,
  ...DirectMessages.handlers,
  ...Follows.handlers,
  ...Lists.handlers,
  ...Media.handlers,
  ...News.handlers,
  ...Posts.handlers,
  ...Reactions.handlers,
  ...Reposts.handlers,
  ...Search.handlers,
  ...Spaces.handlers,
  ...StreamRules.handlers,
  ...Timelines.handlers,
  ...Trends.handlers,
  ...Usage.handlers,
  ...Users.handlers,
  ...Webhooks.handlers,
  getOpenApiDocument: Document.getOpenApiDocument
}

/** The tools that a server offers. */
import type { Scope } from "@postwire/core/schema/Scopes"
import type { Settings } from "../session/Session.ts"
import type { Tool } from "../session/Tool.ts"
import * as Bookmarks from "../tools/Bookmarks.ts"
import * as CallOperation from "../tools/CallOperation.ts"
import * as FindOperation from "../tools/FindOperation.ts"
import * as Jobs from "../tools/Jobs.ts"
import * as Lists from "../tools/Lists.ts"
import * as Messages from "../tools/Messages.ts"
import * as ReadPosts from "../tools/ReadPosts.ts"
import * as ReadThread from "../tools/ReadThread.ts"
import * as ReadUser from "../tools/ReadUser.ts"
import * as Search from "../tools/Search.ts"
import * as Spend from "../tools/Spend.ts"
import * as Timeline from "../tools/Timeline.ts"
import * as Trends from "../tools/Trends.ts"
import * as Act from "../writing/Act.ts"
import * as PreparePost from "../writing/PreparePost.ts"
import * as Publish from "../writing/Publish.ts"

const reading: ReadonlyArray<Tool> = [
  Search.tool,
  ReadThread.tool,
  ReadPosts.tool,
  ReadUser.tool,
  Timeline.tool,
  Lists.tool,
  Bookmarks.tool,
  Trends.tool,
  Messages.tool,
  Jobs.tool,
  Spend.tool,
  FindOperation.tool,
  CallOperation.tool
]

/** Tools that write, in the toolset `writes`. */
const writing: ReadonlyArray<Tool> = [PreparePost.tool, Publish.tool, Act.tool]

/** The scopes that the tools can use. */
export const scopesOf = (allowWrites: boolean): ReadonlyArray<Scope> =>
  of({ allowWrites }).flatMap(({ operations }) => operations.flatMap(({ scopes }) => scopes))

/** The tools for these settings, in a fixed order: hosts cache the list. */
export const of = ({ allowWrites = false, scopes, toolsets }: Settings): ReadonlyArray<Tool> =>
  [...reading, ...allowWrites ? writing : []].filter(({ operations, toolset }) =>
    (toolset === undefined || toolsets === undefined || toolsets.includes(toolset)) &&
    (scopes === undefined || operations.length === 0 ||
      operations.some((operation) => operation.scopes.every((scope) => scopes.includes(scope))))
  )

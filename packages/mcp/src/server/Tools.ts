/** The tools that a server offers. */
import type { Scope } from "@postwire/core/schema/Scopes"
import type { Settings } from "../session/Session.ts"
import type { Tool } from "../session/Tool.ts"
import * as Catalogue from "../tools/Catalogue.ts"
import * as Jobs from "../tools/Jobs.ts"
import * as Reading from "../tools/Reading.ts"
import * as ReadThread from "../tools/ReadThread.ts"
import * as Act from "../writing/Act.ts"
import * as PreparePost from "../writing/PreparePost.ts"
import * as Publish from "../writing/Publish.ts"

const reading: ReadonlyArray<Tool> = [
  Reading.search,
  ReadThread.tool,
  Reading.readPosts,
  Reading.readUser,
  Reading.timeline,
  Reading.lists,
  Reading.bookmarks,
  Reading.trends,
  Reading.messages,
  Jobs.tool,
  Reading.spend,
  Catalogue.find,
  Catalogue.call
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

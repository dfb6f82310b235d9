/**
 * A conversation as the source of an export: the results of a search for its replies, and posts that the search misses and others
 * reply to. Posts that the service does not show are partial errors.
 *
 * ```ts
 * const source = yield* Conversation.make("1460323737035677698")
 * const { status } = yield* Export.run(source, { sink: Parquet.make("conversation.parquet"), mode: "resume" })
 * ```
 */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import { searchAllPosts, searchRecentPosts } from "@postwire/core/operations/Search"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Core from "@postwire/core/workflows/Conversation"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as reach from "./Reach.ts"
import type { Source } from "./Source.ts"

/** Finds the conversation of a post with one or two requests. A resumed export does this again. */
export const make = (
  id: string | number | bigint,
  options: Core.Options = {}
): Effect.Effect<Source, AnyError, Client> => Effect.map(Core.open(id, options), (opened) => of(opened, options))

/** The source of a conversation. */
export const of = (opened: Core.Opened, options: Core.Options): Source => {
  const definition = definitionOf(options)
  const parameters = {
    ...opened.query,
    ...Object.fromEntries(Object.entries(opened.selection).filter(([, names]) => names.length > 0)),
    ...(opened.archive || options.user_auth === undefined ? {} : { user_auth: options.user_auth })
  }
  return {
    definition,
    parameters,
    fingerprint: { conversation: opened.id },
    pages: (cursor, { prefetch } = {}) => {
      // Also reports what a search that ends early could have returned.
      const search: Core.Search = (token) =>
        reach.pages(definition, parameters, token, { prefetch }, opened.since).pipe(
          Stream.map((page) => ({ ...page, items: page.items.filter(Core.isPost) }))
        )
      return Core.pages(opened, options, cursor, search)
    }
  }
}

/** The search operation for a conversation. */
export const definitionOf = ({ archive = false }: Core.Options): Definition =>
  archive ? searchAllPosts.definition : searchRecentPosts.definition

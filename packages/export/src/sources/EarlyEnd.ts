/**
 * Lists that the live service ends early where a page may have more items than it lists completely. Whether such a list has ended
 * early is known from one more reading of its last page, in smaller pages.
 */
import type { Client } from "@postwire/core/client/Client"
import * as Pagination from "@postwire/core/client/Pagination"
import type { AnyError } from "@postwire/core/errors/Errors"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Page, PageOptions } from "../rows/Page.ts"

type Pages = Stream.Stream<Page, AnyError, Client>

/** The pages from a cursor; the last one reports as a partial error that the list has more items. */
export const reported = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  cursor: string | undefined,
  options: PageOptions | undefined,
  pages: Pages
): Pages => {
  const { paging } = definition
  const size = Number(parameters["max_results"])
  if (paging?.completeUpTo === undefined || !(size > paging.completeUpTo)) return pages
  const smaller = { ...parameters, max_results: paging.completeUpTo }
  let token = cursor
  let left = options?.limit ?? Infinity
  return Stream.mapEffect(pages, (page) => {
    const last = token === undefined ? smaller : { ...smaller, [paging.token]: token }
    token = page.next
    left -= page.items.length
    if (page.next !== undefined || left <= 0) return Effect.succeed(page)
    const known = page.items.length
    return Pagination.stream(
      definition,
      last,
      { limit: known + 1 },
      ({ position, response }) => Pagination.itemsAt(position, response)
    ).pipe(
      Stream.runCount,
      Effect.map((count) =>
        count > known ? { ...page, errors: [...page.errors, ended(size, smaller.max_results)] } : page
      )
    )
  })
}

const type = "postwire:ended-early"

/** Checks whether a partial error reports a list that ended early. */
export const isEnded = (problem: object): boolean => "type" in problem && problem.type === type

const ended = (size: number, complete: number) => ({
  type,
  title: "Ended early",
  detail: `The service ended the list after a page of up to ${size} items, although it has more. ` +
    `Export it again with pages of ${complete}, the default.`
})

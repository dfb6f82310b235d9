/** The pages that a source passes to a sink. */
import type * as Pagination from "@postwire/core/client/Pagination"
import type { RateLimitInfo } from "@postwire/core/schema/RateLimitHeaders"

/** Counts of malformed or missing members, by their place in the responses, such as `data[].lang`. */
export interface Anomalies {
  readonly [place: string]: number
}

/** The sum of both; `undefined` if there are none. */
export const sumOf = (some: Anomalies = {}, others: Anomalies = {}): Anomalies | undefined => {
  const places = Object.keys({ ...some, ...others })
  return places.length === 0
    ? undefined
    : Object.fromEntries(places.map((place) => [place, (some[place] ?? 0) + (others[place] ?? 0)]))
}

/** The outcome of a row of the input file. */
export interface Outcome {
  /** The number of the row, from 1. */
  readonly row: number
  /** The value as written in the file. */
  readonly value: string
  /** `found`, or why there is no result. */
  readonly outcome: string
  /** Details from the service, if it gives any. */
  readonly detail?: string | undefined
}

/** A page of a source. */
export interface Page {
  readonly items: ReadonlyArray<object>
  /** The included objects, by bucket. */
  readonly includes: Readonly<Record<string, ReadonlyArray<object>>>
  /** Partial errors. */
  readonly errors: ReadonlyArray<object>
  /** Counts of malformed or missing members, by place (`data[].lang`). Default none. */
  readonly anomalies?: Anomalies | undefined
  /** The outcomes of rows, in order, for a table of their own. Only from sources with `outcomes`. */
  readonly outcomes?: ReadonlyArray<Outcome> | undefined
  /** Leads to the next page; `undefined` on the last page. */
  readonly next: string | undefined
  readonly rateLimit: RateLimitInfo | undefined
  /** Requests sent for this page by other clients. Default 0. */
  readonly requests?: number
  /** Their cost in micro-dollars. Default 0. */
  readonly spent?: number
}

/** How to fetch pages: the most items wanted, and whether to fetch one page ahead. */
export type PageOptions = Pick<Pagination.PageOptions, "limit" | "prefetch">

/** A page without items, and without a next page. */
export const emptyPage: Page = { items: [], includes: {}, errors: [], next: undefined, rateLimit: undefined }

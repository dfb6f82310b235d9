/** What passes from a source to a sink. */
import type * as Pagination from "@postwire/core/client/Pagination"
import type { RateLimitInfo } from "@postwire/core/schema/RateLimitHeaders"

/** How many members were malformed or missing, by their place in the answers, such as `data[].lang`. */
export interface Anomalies {
  readonly [place: string]: number
}

/** Both together; `undefined` where there are none. */
export const sumOf = (some: Anomalies = {}, others: Anomalies = {}): Anomalies | undefined => {
  const places = Object.keys({ ...some, ...others })
  return places.length === 0
    ? undefined
    : Object.fromEntries(places.map((place) => [place, (some[place] ?? 0) + (others[place] ?? 0)]))
}

/** What became of a row of the file that an export is made of. */
export interface Outcome {
  /** Which row it is, from 1. */
  readonly row: number
  /** What it asks for, as the file has it. */
  readonly value: string
  /** `found`, or why there is nothing. */
  readonly outcome: string
  /** What the service says of it, where it says more. */
  readonly detail?: string | undefined
}

/** A page on its way from a source to a sink. */
export interface Page {
  readonly items: ReadonlyArray<object>
  /** What expansions brought, by bucket. */
  readonly includes: Readonly<Record<string, ReadonlyArray<object>>>
  /** Partial errors. */
  readonly errors: ReadonlyArray<object>
  /** How many members were malformed or missing, by place (`data[].lang`). Default none. */
  readonly anomalies?: Anomalies | undefined
  /** What became of rows, in their order; they are a table of their own. Only from sources that have `outcomes`. */
  readonly outcomes?: ReadonlyArray<Outcome> | undefined
  /** Leads to the page after this one; none at the end. */
  readonly next: string | undefined
  readonly rateLimit: RateLimitInfo | undefined
  /** Requests that were spent on it before, by others. Default 0. */
  readonly requests?: number
  /** What they were charged, in micro-dollars. Default 0. */
  readonly spent?: number
}

/** How pages are fetched: how many items are wanted at most, and whether one page ahead. */
export type PageOptions = Pick<Pagination.PageOptions, "limit" | "prefetch">

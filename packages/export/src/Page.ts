/** What passes from a source to a sink. */
import type { Budget } from "@postwire/core/Errors"
import type * as Pagination from "@postwire/core/Pagination"

/** A page on its way from a source to a sink. */
export interface Page {
  readonly items: ReadonlyArray<object>
  /** What expansions brought, by bucket. */
  readonly includes: Readonly<Record<string, ReadonlyArray<object>>>
  /** Partial errors. */
  readonly errors: ReadonlyArray<object>
  /** Leads to the page after this one; none at the end. */
  readonly next: string | undefined
  readonly rateLimit: Budget | undefined
  /** Requests that were spent on it before, by others. Default 0. */
  readonly requests?: number
}

/** How pages are fetched: how many items are wanted at most, and whether one page ahead. */
export type PageOptions = Pick<Pagination.PageOptions, "limit" | "prefetch">

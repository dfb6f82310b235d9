/** Where pages come from: any paged operation, from any place in it. */
import type { Client } from "@postwire/core/Client"
import type { AnyError, Budget } from "@postwire/core/Errors"
import type { Arguments, Definition, Paged, SelectionOf } from "@postwire/core/Operation"
import * as Pagination from "@postwire/core/Pagination"
import type { Result } from "@postwire/core/Response"
import type { Selection } from "@postwire/core/Selection"
import * as Stream from "effect/Stream"
import type { ExportError } from "./ExportErrors.ts"

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
}

/** Pages of an operation with its parameters. */
export interface Source {
  readonly definition: Definition
  readonly parameters: Readonly<Record<string, unknown>>
  /** What else makes the pages these. */
  readonly fingerprint?: Readonly<Record<string, string>>
  /** Requests that were spent before the first page. Default 0. */
  readonly requests?: number
  /** The pages from the beginning, or from the place that a cursor leads to. */
  readonly pages: (cursor: string | undefined) => Stream.Stream<Page, AnyError | ExportError, Client>
}

/** The pages of an operation, of the largest size unless `max_results` is given. */
export const make = <P, R extends Result, Sel extends keyof Selection, E, const S extends SelectionOf<R, Sel>>(
  operation: Paged<P, R, Sel, E>,
  ...[parameters]: Arguments<P, Sel, S, never>
): Source => fromDefinition(operation.definition, { ...parameters })

/** As `make`, of parameters that are known only at run time: a mistake in them fails the first page. */
export const fromDefinition = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>
): Source => {
  const size = definition.query?.["max_results"]?.bounds
  const all = size?.of === "value" ? { max_results: size.maximum, ...parameters } : parameters
  return { definition, parameters: all, pages: (cursor) => pages(definition, all, cursor) }
}

/** The one place that knows how a run of pages is taken up in the middle. */
const pages = (definition: Definition, parameters: object, cursor: string | undefined) =>
  Stream.map(
    Pagination.streams(definition).pages(
      cursor === undefined || definition.paging === undefined
        ? parameters
        : { ...parameters, [definition.paging.token]: cursor }
    ),
    ({ response }): Page => ({
      items: Pagination.itemsOf(response) as ReadonlyArray<object>,
      includes: response.includes as Page["includes"],
      errors: response.errors,
      next: response.meta.next_token || undefined,
      rateLimit: response.rateLimit
    })
  )

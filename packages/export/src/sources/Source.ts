/** The pages of a paged operation, from any place in it. */
import type { Client } from "@postwire/core/client/Client"
import type { Arguments, Paged, SelectionOf } from "@postwire/core/client/Operation"
import type { AnyError } from "@postwire/core/errors/Errors"
import { type Definition, largestPageOf } from "@postwire/core/schema/Definition"
import type { Result } from "@postwire/core/schema/Response"
import type { Selection } from "@postwire/core/schema/Selection"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ExportError } from "../files/ExportErrors.ts"
import type { Page, PageOptions } from "../rows/Page.ts"
import type { Column } from "../rows/Table.ts"
import * as earlyEnd from "./EarlyEnd.ts"
import * as reach from "./Reach.ts"

export { type Anomalies, type Outcome, type Page, type PageOptions, sumOf } from "../rows/Page.ts"

/** Pages of an operation with its parameters. */
export interface Source<out E = never> {
  readonly definition: Definition
  readonly parameters: Readonly<Record<string, unknown>>
  /** Members that the source adds to items to name their origin; they become the first columns. */
  readonly marks?: ReadonlyArray<Column>
  /** True if items can share an id, so that a table of them has no key. Default no. */
  readonly isRepeated?: boolean
  /** Additional or clearer parts of the identity. */
  readonly fingerprint?: Readonly<Record<string, string>>
  /** Parameters that differ per request, with placeholder values; they are not in the fingerprint. */
  readonly perRequest?: Readonly<Record<string, unknown>>
  /** True if pages have outcomes of rows. Default no. */
  readonly hasOutcomes?: boolean
  /** True if the source has kept state of its own to resume from before its first page. Default no. */
  readonly hasKept?: Effect.Effect<boolean>
  /**
   * The pages from the beginning or from a cursor. The bounds are those of the first page: cursors keep them, and anything that the
   * service no longer reaches is reported among the errors.
   */
  readonly pages: (cursor: string | undefined, options?: PageOptions) => Stream.Stream<
    Page,
    AnyError | ExportError | E,
    Client
  >
}

/** The pages of an operation, of the largest size with which the list is complete unless `max_results` is given. */
export const make = <P, R extends Result, Sel extends keyof Selection, E, const S extends SelectionOf<P, R, Sel>>(
  operation: Paged<P, R, Sel, E>,
  ...[parameters]: Arguments<P, R, Sel, S, never>
): Source => fromDefinition(operation.definition, { ...parameters })

/**
 * As `make`, for parameters known only at run time: invalid ones fail the first page. `since` is the planned start of the list:
 * anything that has gone out of reach by the first page is then reported.
 */
export const fromDefinition = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  since?: string
): Source => {
  const largest = largestPageOf(definition)
  const all = largest === undefined ? parameters : { max_results: largest, ...parameters }
  return {
    definition,
    parameters: all,
    pages: (cursor, options) =>
      earlyEnd.reported(definition, all, cursor, options, reach.pages(definition, all, cursor, options, since))
  }
}

/** Where pages come from: any paged operation, from any place in it. */
import type { Client } from "@postwire/core/client/Client"
import type { Arguments, Paged, SelectionOf } from "@postwire/core/client/Operation"
import type { AnyError } from "@postwire/core/errors/Errors"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Result } from "@postwire/core/schema/Response"
import type { Selection } from "@postwire/core/schema/Selection"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ExportError } from "../files/ExportErrors.ts"
import type { Page, PageOptions } from "../rows/Page.ts"
import type { Column } from "../rows/Table.ts"
import * as reach from "./Reach.ts"

export { type Anomalies, type Outcome, type Page, type PageOptions, sumOf } from "../rows/Page.ts"

/** Pages of an operation with its parameters. */
export interface Source<out E = never> {
  readonly definition: Definition
  readonly parameters: Readonly<Record<string, unknown>>
  /** Members that the source gives to items of its own accord, to say where they are from: columns before all others. */
  readonly marks?: ReadonlyArray<Column>
  /** What else makes the pages these, or says it better than the parameters do. */
  readonly fingerprint?: Readonly<Record<string, string>>
  /** Parameters of which every request has its own, with values that stand for all of them: none is in the fingerprint. */
  readonly perRequest?: Readonly<Record<string, unknown>>
  /** Whether pages tell what became of the rows of a file. Default no. */
  readonly hasOutcomes?: boolean
  /** Whether it has kept pages itself, for a run that goes on, though none was given out yet. Default no. */
  readonly hasKept?: Effect.Effect<boolean>
  /**
   * The pages from the beginning, or from the place that a cursor leads to. Bounds are those of the first page: cursors hold
   * them, and what the service no longer reaches by the last page is among its errors.
   */
  readonly pages: (cursor: string | undefined, options?: PageOptions) => Stream.Stream<
    Page,
    AnyError | ExportError | E,
    Client
  >
}

/** The pages of an operation, of the largest size unless `max_results` is given. */
export const make = <P, R extends Result, Sel extends keyof Selection, E, const S extends SelectionOf<P, R, Sel>>(
  operation: Paged<P, R, Sel, E>,
  ...[parameters]: Arguments<P, R, Sel, S, never>
): Source => fromDefinition(operation.definition, { ...parameters })

/**
 * As `make`, of parameters that are known only at run time: a mistake in them fails the first page. `since` is where the
 * list began when it was planned: what has gone out of reach by the first page is told then.
 */
export const fromDefinition = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  since?: string
): Source => {
  const size = definition.query?.["max_results"]?.bounds
  const all = size?.of === "value" ? { max_results: size.maximum, ...parameters } : parameters
  return {
    definition,
    parameters: all,
    pages: (cursor, options) => reach.pages(definition, all, cursor, options, since)
  }
}

/**
 * Posts or users of a file of ids as the source of an export: the found ones are its items, and the outcome of every row is in a
 * table beside them. The cursor is the place in the file; an export is not resumed with another file.
 *
 * ```ts
 * const rows = yield* Rows.open("ids.txt", { kind: Hydration.posts })
 * const source = Hydration.source(rows, "posts", { post_fields: ["created_at"] })
 * const { progress } = yield* Export.run(source, { sink: Parquet.make("posts.parquet"), mode: "resume" })
 * ```
 */
import type { Client } from "@postwire/core/client/Client"
import { type AnyError, InvalidParameters } from "@postwire/core/errors/Errors"
import * as Anomaly from "@postwire/core/schema/Anomaly"
import type { Response } from "@postwire/core/schema/Response"
import * as Hydrate from "@postwire/core/workflows/Hydrate"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { lookUp, type Of, unanswered } from "../rows/LookUp.ts"
import { emptyPage, type Outcome, type Page, sumOf } from "../rows/Page.ts"
import * as Rows from "../rows/Rows.ts"
import * as Plan from "./Plan.ts"
import type { Source } from "./Source.ts"

export type { Of } from "../rows/LookUp.ts"

/** Files of post ids. Rows with anything else have the outcome `invalid`. */
export const posts: Rows.Kind = { ...Rows.posts, read: (text, column) => Rows.posts.read(text, column) ?? text }

/** Files of user ids and names. Rows with anything else have the outcome `invalid`. */
export const users: Rows.Kind = { ...Rows.users, read: (text, column) => Rows.users.read(text, column) ?? text }

/** The parameters, and the field that shows whether an object is withheld. */
export const parametersOf = (of: Of, parameters: unknown): Readonly<Record<string, unknown>> | InvalidParameters =>
  Hydrate.parametersOf(Hydrate.lookups[of], parameters)

/** The cost of a hydration. */
export interface Estimate {
  readonly rows: number
  /** At least this many. */
  readonly requests: number
  /** The least duration, in milliseconds. */
  readonly duration: number
  readonly limits: Plan.Limits
}

/** Estimates a hydration without a request. */
export const estimate = ({ definition, parameters }: Source<unknown>, rows: Rows.Rows): Estimate => {
  const requests = Math.ceil(rows.count / Hydrate.idsPerRequest)
  const limits = { requests: Plan.usualRequests({ definition, parameters }), from: "usual" } as const
  return { rows: rows.count, requests, duration: requests === 0 ? 0 : Plan.durationOf(requests, limits, 0), limits }
}

/** The posts or users of a file. `parameters` are those of the request, without ids; invalid ones fail the first page. */
export const source = (
  rows: Rows.Rows,
  of: Of,
  parameters: Readonly<Record<string, unknown>> = {},
  options: Hydrate.Options = {}
): Source<Rows.RowsUnusable> => {
  const lookup = Hydrate.lookups[of]
  const own = parametersOf(of, parameters)
  const { concurrency = Hydrate.defaultConcurrency, ...each } = options
  const pages = (from: string | undefined, own: Readonly<Record<string, unknown>>) =>
    rows.batches(Hydrate.idsPerRequest, from).pipe(
      Stream.mapEffect((batch) => pageOf(of, batch, rows.count, own, each), { concurrency })
    )
  return {
    definition: lookup.definition,
    parameters: own instanceof InvalidParameters ? parameters : own,
    perRequest: { [lookup.parameter]: ["1"] },
    fingerprint: { file: rows.sha256, ...(rows.column === undefined ? {} : { column: rows.column }) },
    hasOutcomes: true,
    pages: (cursor) => {
      if (own instanceof InvalidParameters) return Stream.fail(own)
      const refused = Hydrate.refusalOf(lookup, options)
      if (refused !== undefined) return Stream.fail(refused)
      return rows.count === 0 ? Stream.make(emptyPage) : pages(cursor, own)
    }
  }
}

/** The page of a batch of rows. */
const pageOf = Effect.fnUntraced(function*(
  of: Of,
  batch: ReadonlyArray<Rows.Row>,
  count: number,
  parameters: Readonly<Record<string, unknown>>,
  options: Omit<Hydrate.Options, "concurrency">
): Effect.fn.Return<Page, AnyError, Client> {
  const { answers, results } = yield* lookUp(of, batch, parameters, options)
  const items: Array<object> = []
  const outcomes = batch.map(({ number: row, text: value }, i): Outcome => {
    const { data, outcome, problem } = results[i] ?? unanswered
    if (Predicate.isObject(data)) items.push(data)
    const detail = problem?.detail ?? problem?.title
    return detail === undefined ? { row, value, outcome } : { row, value, outcome, detail }
  })
  const last = batch.at(-1)
  const page: Page = {
    items,
    outcomes,
    includes: {},
    errors: answers.flatMap(({ errors }) => errors),
    next: last === undefined || last.number >= count ? undefined : last.next,
    rateLimit: undefined
  }
  return answers.flatMap(({ response }) => response ?? []).reduce(withAnswer, page)
})

/** Adds the other parts of a response to a page. */
const withAnswer = (page: Page, response: Response<unknown, unknown>): Page => ({
  ...page,
  includes: joined(page.includes, response.body.includes ?? {}),
  anomalies: sumOf(page.anomalies, Object.fromEntries(Anomaly.countsOf(response.anomalies))),
  rateLimit: response.rateLimit ?? page.rateLimit
})

const joined = (one: Page["includes"], other: object): Page["includes"] => {
  const all = new Map(Object.entries(one))
  for (const [bucket, objects] of Object.entries(other)) {
    if (Array.isArray(objects)) all.set(bucket, [...all.get(bucket) ?? [], ...objects])
  }
  return Object.fromEntries(all)
}

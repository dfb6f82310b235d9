/**
 * One operation for each row of a file: timelines, followers or liked posts of many users, or many searches. Results come in the
 * order of the file, and every item names its row. Errors of a row, such as a suspended user, are partial errors, and the other
 * rows continue.
 *
 * ```ts
 * const rows = yield* Rows.open("users.csv", { kind: Rows.users })
 * const posts = Each.make(getUsersPosts, rows, { post_fields: ["created_at"] }, { limitEach: 100 })
 * const { progress } = yield* Export.run(posts, { sink: Parquet.make("posts.parquet"), mode: "resume" })
 * ```
 */
import type { Client } from "@postwire/core/client/Client"
import type { Arguments, Paged, SelectionOf } from "@postwire/core/client/Operation"
import type { AnyError } from "@postwire/core/errors/Errors"
import { type Definition, parametersOf, partsOf } from "@postwire/core/schema/Definition"
import type * as Model from "@postwire/core/schema/models/Problem"
import type { Result } from "@postwire/core/schema/Response"
import type { Selection } from "@postwire/core/schema/Selection"
import * as Hydrate from "@postwire/core/workflows/Hydrate"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ExportError } from "../files/ExportErrors.ts"
import { emptyPage, type Page, type PageOptions } from "../rows/Page.ts"
import * as Rows from "../rows/Rows.ts"
import type { Column } from "../rows/Table.ts"
import * as Source from "./Source.ts"

/** The parameter that a row fills, and the kind of the rows. */
export interface Target {
  readonly parameter: "id" | "query"
  readonly kind: Rows.Kind
}

/** The parameter of an operation that rows can fill: its `id` or a query. `undefined` if it has neither. */
export const targetOf = (definition: Definition): Target | undefined => {
  if (definition.paging === undefined) return undefined
  if (definition.query?.["query"]?.required === true) return { parameter: "query", kind: Rows.queries }
  if (definition.path?.["id"] === undefined || typeof definition.route !== "string") return undefined
  const [of = ""] = /(?<=^\/2\/)[a-z_]+(?=\/:id\b)/.exec(partsOf(definition.route)[1]) ?? []
  return { parameter: "id", kind: kinds[of] ?? Rows.ids(`the id of one of ${of}`, []) }
}

const kinds: Readonly<Record<string, Rows.Kind>> = {
  users: Rows.users,
  posts: Rows.posts,
  lists: Rows.ids("the id of a list", ["list_id"]),
  spaces: {
    what: "the id of a space",
    columns: ["space_id", "id"],
    read: (text) => /^[\w-]{1,64}$/.test(text) ? text : undefined
  },
  communities: Rows.ids("the id of a community", ["community_id"])
}

/** How to process rows. */
export interface Options {
  /** The number of items at which a row is done. Default: all items. */
  readonly limitEach?: number | undefined
}

/** The parameters that rows fill. */
type OfRow = "id" | "query"

/** The pages of an operation for each row. The other parameters are those given, or columns of the rows. */
export const make = <
  P,
  R extends Result,
  Sel extends keyof Selection,
  E,
  const S extends SelectionOf<Omit<P, OfRow>, R, Sel>
>(
  operation: Paged<P, R, Sel, E>,
  rows: Rows.Rows,
  ...[parameters, options]: Arguments<Omit<P, OfRow>, R, Sel, S, Options>
): Source.Source<Rows.RowsUnusable> => fromDefinition(operation.definition, rows, { ...parameters }, options)

/** The columns that name the row of an item. */
const marks: ReadonlyArray<Column> = [
  { name: "_row", path: ["_row"], type: "integer" },
  { name: "_each", path: ["_each"], type: "text" }
]

/** Placeholders for the rows' values where the parameters are checked as a whole. */
const standing = { id: "0", query: "each" }

/** As `make`, for parameters known only at run time. */
export const fromDefinition = (
  definition: Definition,
  rows: Rows.Rows,
  parameters: Readonly<Record<string, unknown>>,
  options: Options = {}
): Source.Source<Rows.RowsUnusable> => {
  const target = targetOf(definition)
  const { limitEach = Infinity } = options
  const common = Source.fromDefinition(definition, parameters).parameters
  return {
    definition,
    parameters: common,
    perRequest: target === undefined ? {} : { [target.parameter]: standing[target.parameter] },
    marks,
    hasOutcomes: true,
    fingerprint: {
      route: String(definition.route),
      each: rows.sha256,
      column: rows.column ?? "the line",
      "limit of each": limitEach === Infinity ? "none" : String(limitEach)
    },
    pages: (cursor, pageOptions) =>
      target === undefined
        ? Stream.die(new Error(`${definition.name} has neither an id nor a query parameter`))
        : pages({ definition, target, rows, common, limitEach }, cursor, pageOptions)
  }
}

interface Job {
  readonly definition: Definition
  readonly target: Target
  readonly rows: Rows.Rows
  readonly common: Readonly<Record<string, unknown>>
  readonly limitEach: number
}

/** The rows fetched ahead, each keeping up to two pages. With a `limit` there are none: their items might not be wanted. */
const rowsAhead = 3

/** The progress: the cursor, as JSON. */
const Place = Schema.Struct({
  /** The place of the current row; absent at the beginning. */
  row: Schema.optionalKey(Schema.String),
  /** The cursor within the row, after its first page. */
  within: Schema.optionalKey(Schema.String),
  /** The items of the row so far. */
  items: Schema.Int
})

type Place = typeof Place.Type

const placeText = (place: Place): string => JSON.stringify(place)

const decodePlace = Schema.decodeUnknownOption(Schema.fromJsonString(Place))

type Pages = Stream.Stream<Page, AnyError | ExportError | Rows.RowsUnusable, Client>

/** A row and its value; `undefined` if there is no such user. */
interface Part {
  readonly row: Rows.Row
  readonly value: string | Problem
  /** Its starting place. */
  readonly place: Place
}

type Problem = Pick<Model.Problem, "type" | "title" | "detail" | "status">

const pages = (job: Job, cursor: string | undefined, { limit, prefetch = 0 }: PageOptions = {}): Pages => {
  if (job.rows.count === 0) return Stream.make(emptyPage)
  const place: Place = Option.getOrElse(decodePlace(cursor), () => ({ items: 0 }))
  const parts = partsFrom(job, place)
  if (limit !== undefined && limit !== Infinity) {
    let left = limit
    return Stream.flatMap(parts, (part) =>
      left <= 0 ? Stream.empty : Stream.tap(
        partPages(job, part, { limit: left, prefetch }),
        ({ items }) => Effect.sync(() => left -= items.length)
      ))
  }
  return Stream.unwrap(Effect.map(Effect.scope, (scope) => {
    const begun = Effect.fnUntraced(function*(part: Part) {
      // One scope per row: a shared one would grow with every row.
      const own = yield* Scope.fork(scope)
      const queue = yield* Scope.provide(Stream.toQueue(partPages(job, part, { prefetch: 0 }), { capacity: 2 }), own)
      return Stream.ensuring(Stream.fromQueue(queue), Scope.close(own, Exit.void))
    })
    return parts.pipe(
      Stream.mapEffect(begun),
      Stream.buffer({ capacity: rowsAhead - 1 }),
      Stream.flatMap((pages) => pages)
    )
  }))
}

/** The rows from a place on, with the ids of named users. */
const partsFrom = ({ common, rows }: Job, from: Place): Stream.Stream<Part, AnyError | Rows.RowsUnusable, Client> => {
  let place = from
  return rows.batches(Hydrate.idsPerRequest, from.row).pipe(
    Stream.mapEffect((batch) =>
      Effect.map(usersOf(rows.names > 0 ? batch : [], common), (users) =>
        batch.map((row): Part => {
          const part: Part = { row, place, value: users.get(row.value) ?? row.value }
          place = { row: row.next, items: 0 }
          return part
        }))
    ),
    Stream.flattenIterable
  )
}

/** Looks up the ids of the names among some rows, or the reasons why there is none. */
const usersOf = Effect.fnUntraced(function*(
  batch: ReadonlyArray<Rows.Row>,
  { user_auth }: Job["common"]
): Effect.fn.Return<ReadonlyMap<string, string | Problem>, AnyError, Client> {
  const names = batch.flatMap(({ value }) => value.startsWith("@") ? [value] : [])
  if (names.length === 0) return new Map()
  const { results } = yield* Hydrate.lookUp(Hydrate.lookups.usernames, names, { user_auth }, {})
  return new Map(results.map(({ data, id, problem }): [string, string | Problem] => [
    id,
    Predicate.hasProperty(data, "id")
      ? String(data.id)
      : problem ?? { title: "Not Found", detail: `The service does not say who ${id} is.` }
  ]))
})

/** The pages of a row; the last one leads to the next row. */
const partPages = (job: Job, { place, row, value }: Part, { limit = Infinity, prefetch = 0 }: PageOptions): Pages => {
  const { common, definition, limitEach, rows, target } = job
  const mark = { _row: row.number, _each: row.text }
  const after = row.number === rows.count ? undefined : placeText({ row: row.next, items: 0 })
  /** The last page of the row. */
  const last = (page: Omit<Page, "next">, problem?: Problem): Page => {
    const outcome = problem && Hydrate.outcomeOf(problem)
    return {
      ...page,
      next: after,
      outcomes: [{
        row: row.number,
        value: row.text,
        outcome: outcome === undefined ? "done" : outcome === "unknown" ? "refused" : outcome,
        detail: problem?.detail
      }]
    }
  }
  const told = (problem: Problem): object => ({ ...problem, ...mark, _line: row.line })
  const ended = (problem: Problem) => Stream.succeed(last({ ...emptyPage, errors: [told(problem)] }, problem))
  if (typeof value !== "string") return ended(value)
  const own = ownOf(definition, target, row)
  const source = Source.fromDefinition(definition, { ...common, ...own, [target.parameter]: value })
  let { items } = place
  return source.pages(place.within, { limit: Math.min(limit, limitEach - items), prefetch }).pipe(
    Stream.map((page): Page => {
      items += page.items.length
      const marked = { ...page, items: page.items.map((item) => ({ ...mark, ...item })), errors: page.errors.map(told) }
      return page.next === undefined || items >= limitEach
        ? last(marked, items === 0 ? page.errors[0] : undefined)
        : { ...marked, next: placeText({ ...place, within: page.next, items }) }
    }),
    Stream.catchIf((error) => isOfRow(error, target, own), (error) => ended(problemOf(error)))
  )
}

/** The parameters for which a row has columns, besides its target. */
export const ownOf = (
  definition: Definition,
  { parameter }: Target,
  { cells }: Rows.Row
): Readonly<Record<string, unknown>> => {
  const declared = parametersOf(definition)
  const own: Record<string, unknown> = {}
  for (const [name, cell] of Object.entries(cells)) {
    const kind = declared[name]?.kind
    if (kind === undefined || name === parameter || name === definition.paging?.token || cell === "") continue
    own[name] = kind === "integer" && typeof cell === "string"
      ? Number(cell)
      : kind === "boolean" && typeof cell === "string"
      ? cell === "true"
      : cell
  }
  return own
}

/** Checks whether an error is specific to a row, so that other rows can succeed. */
const isOfRow = (error: AnyError | ExportError, { parameter }: Target, own: object): error is RowError => {
  switch (error._tag) {
    case "NotFound":
      return true
    case "BadRequest":
      return error.otherWire === undefined
    case "Forbidden":
      return !isOfApp(error.type) && !error.problems.some(({ type }) => isOfApp(type))
    case "InvalidParameters":
      return error.parameter === parameter || error.parameter in own
    default:
      return false
  }
}

type RowError = Extract<AnyError, { readonly _tag: "BadRequest" | "NotFound" | "Forbidden" | "InvalidParameters" }>

/** Checks whether an error concerns the app or its credential, whatever the request. */
const isOfApp = (type: string | undefined): boolean =>
  type !== undefined && /\/(client-forbidden|unsupported-authentication|usage-capped)$/.test(type)

const problemOf = (error: RowError): Problem => {
  if (error._tag === "InvalidParameters") {
    return { title: "Invalid Request", detail: `${error.parameter} ${error.rule}.` }
  }
  const { detail = error.problems[0]?.message ?? error.message, status, title = error._tag, type } = error
  return { ...(type === undefined ? {} : { type }), title, detail, status }
}

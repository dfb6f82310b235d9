/** Pages of an operation as Streams. Only a missing token ends them; an empty or short page does not. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { PaginationStuck } from "./Errors.ts"
import type { Definition } from "./Operation.ts"
import type { Response } from "./Response.ts"

/** What paging needs to know of an operation. */
type Paged = Pick<Definition, "name" | "paging">

/** Where a run of pages stands: the token of the page to fetch, and those already used. */
export interface Position {
  readonly token: string | undefined
  readonly seen: Set<string>
}

/** The first page, or the one that the token among the parameters leads to. */
export const start = ({ paging }: Paged, parameters: object): Position => {
  const token = paging && (parameters as Readonly<Record<string, unknown>>)[paging.token]
  return typeof token === "string" ? { token, seen: new Set([token]) } : { token: undefined, seen: new Set() }
}

/** The parameters of the page at a position. */
export const parametersAt = (definition: Paged, parameters: object, position: Position): object =>
  position.token === undefined || definition.paging === undefined
    ? parameters
    : { ...parameters, [definition.paging.token]: position.token }

/** The position after a page: `undefined` at the end, an error when the service repeats a token. */
export const advance = (
  definition: Paged,
  position: Position,
  page: Response<unknown, unknown>
): Position | PaginationStuck | undefined => {
  const token = page.meta.next_token
  if (token === undefined || token === "") return undefined
  if (position.seen.has(token)) return new PaginationStuck({ operation: definition.name, token })
  position.seen.add(token)
  return { token, seen: position.seen }
}

/** Every page. `fetch` runs one call of the operation. */
export const pages = <E, R>(
  definition: Paged,
  parameters: object,
  fetch: (parameters: object) => Effect.Effect<Response<unknown, unknown>, E, R>
): Stream.Stream<Response<unknown, unknown>, E | PaginationStuck, R> =>
  stream(definition, parameters, fetch, (page) => [page])

/** Every item of every page. */
export const items = <E, R>(
  definition: Paged,
  parameters: object,
  fetch: (parameters: object) => Effect.Effect<Response<unknown, unknown>, E, R>
): Stream.Stream<unknown, E | PaginationStuck, R> => stream(definition, parameters, fetch, itemsOf)

/** The items of a page; an empty page has no `data`. */
export const itemsOf = (page: Response<unknown, unknown>): ReadonlyArray<unknown> =>
  Array.isArray(page.data) ? page.data : []

type Step<A> = readonly [items: ReadonlyArray<A>, next: Option.Option<Position | PaginationStuck>]

const stream = <A, E, R>(
  definition: Paged,
  parameters: object,
  fetch: (parameters: object) => Effect.Effect<Response<unknown, unknown>, E, R>,
  project: (page: Response<unknown, unknown>) => ReadonlyArray<A>
): Stream.Stream<A, E | PaginationStuck, R> => {
  // The caller may change the object between pages.
  const own = { ...parameters }
  const step = (position: Position | PaginationStuck): Effect.Effect<Step<A>, E | PaginationStuck, R> =>
    position instanceof PaginationStuck ? Effect.fail(position) : Effect.map(
      fetch(parametersAt(definition, own, position)),
      (page) => [project(page), Option.fromUndefinedOr(advance(definition, position, page))]
    )
  return Stream.suspend(() => Stream.paginate(start(definition, own), step))
}

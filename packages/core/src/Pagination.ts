/** Pages of an operation as Streams. Only a missing token ends them; an empty or short page does not. */
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Client } from "./Client.ts"
import { type AnyError, InvalidParameters, PaginationStuck } from "./Errors.ts"
import * as Executor from "./Executor.ts"
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

/** A page as it came and as it reads. */
export interface Page {
  readonly raw: HttpClientResponse
  readonly response: Response<unknown, unknown>
}

type Streams<A> = (parameters: object) => Stream.Stream<A, AnyError, Client>

/** The Streams of an operation that pages. */
export const streams = (definition: Definition): {
  readonly pages: Streams<Page>
  readonly items: Streams<unknown>
  readonly joined: Streams<unknown>
} => ({
  pages: (parameters) => stream(definition, parameters, (page) => [page]),
  items: (parameters) => stream(definition, parameters, ({ response }) => itemsOf(response)),
  joined: (parameters) => stream(definition, parameters, ({ response }) => response.joined())
})

/** The items of a page; an empty page has no `data`. */
export const itemsOf = (page: Response<unknown, unknown>): ReadonlyArray<unknown> =>
  Array.isArray(page.data) ? page.data : []

type Step<A> = readonly [items: ReadonlyArray<A>, next: Option.Option<Position | PaginationStuck>]

const stream = <A>(
  definition: Definition,
  parameters: object,
  project: (page: Page) => ReadonlyArray<A>
): Stream.Stream<A, AnyError, Client> => {
  // The caller may change the object between pages.
  const own = Executor.own(definition, parameters)
  if (own instanceof InvalidParameters) return Stream.fail(own)
  const step = (position: Position | PaginationStuck): Effect.Effect<Step<A>, AnyError, Client> =>
    position instanceof PaginationStuck ? Effect.fail(position) : Effect.map(
      fetch(definition, parametersAt(definition, own, position)),
      (page) => [project(page), Option.fromUndefinedOr(advance(definition, position, page.response))]
    )
  return Stream.suspend(() => Stream.paginate(start(definition, own), step))
}

const fetch = (definition: Definition, parameters: object): Effect.Effect<Page, AnyError, Client> =>
  Effect.flatMap(
    Client,
    (client) =>
      Effect.flatMap(client.request(definition, parameters), (raw) =>
        Effect.map(client.read(definition, raw), (response) => ({ raw, response })))
  )

/**
 * Pages of an operation as Streams. They end with a missing token or at the given limit, not with an empty or short page.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type AnyError, invalidParameter, InvalidParameters, PaginationStuck } from "../errors/Errors.ts"
import type { Definition, Direction, Form } from "../schema/Definition.ts"
import { markPage, type Response } from "../schema/Response.ts"
import * as ExtraParameters from "../wire/ExtraParameters.ts"
import * as RequestEncoder from "../wire/RequestEncoder.ts"
import { type CallOptions, checkOptions, optionNames } from "./CallOptions.ts"
import { Client } from "./Client.ts"

/** The options of pagination. Timeouts apply to each page. */
export interface PageOptions<out D extends Direction = Direction> extends CallOptions {
  /**
   * The maximum number of items across all pages, from 0; unlimited by default. The last page requests no more items than needed,
   * as far as the operation's smallest page size allows; `.pages` yields it whole.
   */
  readonly limit?: number | undefined
  /**
   * 1 fetches the next page while this one is used; default 0. At most one page more than needed is fetched, which counts
   * towards rate limits.
   */
  readonly prefetch?: 0 | 1 | undefined
  /** `backward` follows the previous tokens, from the token among the parameters. Default `forward`. */
  readonly direction?: D | undefined
}

/** The state of a pagination. */
export interface Position {
  /** The token of the page to fetch; `undefined` for the first. */
  readonly token: string | undefined
  /** Recently used tokens. */
  readonly seen: Set<string>
  /** Items still wanted. */
  readonly left: number
}

/** A cycle of tokens is short; remembering every token of a long run would cost memory. */
const maxRememberedTokens = 10_000

const pageOptionNames = [...optionNames, "limit", "prefetch", "direction"]

/** The first page, or the page of the token among the parameters; `undefined` if the limit is 0. */
export const start = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  options: PageOptions = {}
): Position | InvalidParameters | undefined => {
  const invalid = checkOptions(definition, options, pageOptionNames)
  if (invalid !== undefined) return invalid
  const { direction = "forward", limit = Infinity, prefetch = 0 } = options
  const refuse = (parameter: string, rule: string, value?: unknown) =>
    invalidParameter(definition.name, parameter, rule, value)
  const misplaced = pageOptionNames.find((name) => Object.hasOwn(parameters, name))
  if (misplaced !== undefined) {
    return refuse(misplaced, "is an option, not a parameter: pass it in the object after the parameters")
  }
  if (limit !== Infinity && !(Number.isSafeInteger(limit) && limit >= 0)) {
    return refuse("limit", "must be a whole number from 0", limit)
  }
  if (prefetch !== 0 && prefetch !== 1) return refuse("prefetch", "must be 0 or 1", prefetch)
  if (direction !== "forward" && (direction !== "backward" || definition.paging?.directions !== "both")) {
    const rule = definition.paging?.directions === "both" ? "must be forward or backward" : "must be forward"
    return refuse("direction", rule, direction)
  }
  const given = definition.paging && (parameters[definition.paging.token] ?? parameters["pagination_token"])
  const token = typeof given === "string" ? given : undefined
  return limit === 0 ? undefined : { token, seen: new Set(token === undefined ? [] : [token]), left: limit }
}

/** The parameters of the page at a position: its token and size, which is no more than the limit leaves. */
export const parametersAt = (
  { paging, query }: Pick<Definition, "paging" | "query">,
  parameters: Readonly<Record<string, unknown>>,
  { left, token }: Position
): object => {
  const size = query?.["max_results"]
  const chosen = parameters["max_results"] ?? paging?.completeUpTo
  const usual = chosen ?? size?.default
  const smallest = size?.bounds?.of === "value" ? size.bounds.minimum : 1
  const wanted = Math.max(left, smallest)
  // Some operations accept the token under either name, but not under both.
  const isUnderOther = paging?.token === "next_token" && (parameters["next_token"] ?? undefined) === undefined &&
    (parameters["pagination_token"] ?? undefined) !== undefined
  return {
    ...parameters,
    ...(isUnderOther && token !== undefined ? { pagination_token: undefined } : {}),
    ...(token === undefined || paging === undefined ? {} : { [paging.token]: token }),
    ...(typeof usual === "number" && wanted < usual
      ? { max_results: wanted }
      : chosen === undefined
      ? {}
      : { max_results: chosen })
  }
}

/** The items of a page within the limit; an empty page has no `data`. */
export const itemsAt = (position: Position, page: Response<unknown, unknown>): ReadonlyArray<unknown> =>
  Array.isArray(page.data) ? upTo(position, page.data) : []

/** The same, joined with their related objects. */
export const joinedAt = (position: Position, page: Response<unknown, unknown>): ReadonlyArray<unknown> =>
  upTo(position, page.joined())

const upTo = <A>({ left }: Position, items: ReadonlyArray<A>): ReadonlyArray<A> =>
  items.length <= left ? items : items.slice(0, left)

/**
 * The position after a page, whose tokens are set on it: `undefined` at the end, an error if the service repeats a token.
 */
export const advance = (
  definition: Pick<Definition, "name">,
  { direction }: PageOptions,
  position: Position,
  page: Response<unknown, unknown>
): Position | PaginationStuck | undefined => {
  const announced = direction === "backward" ? page.meta.previous_token : page.meta.next_token
  const token = announced === "" ? undefined : announced
  markPage(page, { token: position.token, next: token })
  const { seen } = position
  const left = position.left - itemsAt(position, page).length
  if (token === undefined || left === 0) return undefined
  if (seen.has(token)) return new PaginationStuck({ operation: definition.name, token })
  seen.add(token)
  const [oldest] = seen.size > maxRememberedTokens ? seen : []
  if (oldest !== undefined) seen.delete(oldest)
  return { token, seen, left }
}

/** The call options of each page, copied because the caller may change them between pages. */
export const callOptionsOf = ({ extraBody, extraQuery, retries, timeout }: PageOptions): CallOptions => ({
  timeout,
  retries,
  ...(extraQuery === undefined ? {} : { extraQuery: ExtraParameters.copied(extraQuery) }),
  ...(extraBody === undefined ? {} : { extraBody: ExtraParameters.copied(extraBody) })
})

/** A page, raw and decoded, and the position that it was fetched at. */
export interface Page {
  readonly raw: HttpClientResponse
  readonly response: Response<unknown, unknown>
  readonly position: Position
}

/** A page in a return type. */
export const inForm = (form: Form, { raw, response }: Page): unknown =>
  form === "raw" ? raw : form === "response" ? response : response.body

/** A Stream of the projections of each page; with prefetch, the next page is requested before a page is emitted. */
export const stream = <A>(
  definition: Definition,
  parameters: object,
  options: PageOptions | undefined,
  project: (page: Page) => ReadonlyArray<A>
): Stream.Stream<A, AnyError, Client> => {
  // The caller may change the objects between pages.
  const own = RequestEncoder.ownProperties(definition, parameters)
  if (own instanceof InvalidParameters) return Stream.fail(own)
  const chosen: PageOptions = { ...options }
  const { prefetch } = chosen
  const ofPage = callOptionsOf(chosen)
  const fetchAt = (position: Position) => fetchPage(definition, parametersAt(definition, own, position), ofPage)

  const step = (scope: Scope.Scope) => ({ page, position }: State): Effect.Effect<Step<A>, AnyError, Client> =>
    position instanceof PaginationStuck ? Effect.fail(position) : Effect.flatMap(page, ([raw, response]) => {
      const next = advance(definition, chosen, position, response)
      const items = project({ raw, response, position })
      if (next === undefined) return Effect.succeed([items, Option.none()])
      if (next instanceof PaginationStuck || prefetch !== 1) return Effect.succeed([items, Option.some(at(next))])
      // The consumer of this page may block the thread: yielding lets the next request be sent before.
      return Effect.map(
        Effect.tap(Effect.forkIn(fetchAt(next), scope, { startImmediately: true }), () => Effect.yieldNow),
        (fiber) => [items, Option.some({ position: next, page: Fiber.join(fiber) })]
      )
    })

  const at = (position: Position | PaginationStuck): State => ({
    position,
    page: position instanceof PaginationStuck ? Effect.fail(position) : fetchAt(position)
  })

  return Stream.unwrap(Effect.map(Effect.scope, (scope) => {
    const first = start(definition, own, options)
    return first === undefined
      ? Stream.empty
      : first instanceof InvalidParameters
      ? Stream.fail(first)
      : Stream.paginate(at(first), step(scope))
  }))
}

type Fetched = readonly [HttpClientResponse, Response<unknown, unknown>]

interface State {
  readonly position: Position | PaginationStuck
  readonly page: Effect.Effect<Fetched, AnyError, Client>
}

type Step<A> = readonly [items: ReadonlyArray<A>, next: Option.Option<State>]

/** Fetches and decodes one page. */
export const fetchPage = (
  definition: Definition,
  parameters: object,
  options: CallOptions
): Effect.Effect<Fetched, AnyError, Client> =>
  Effect.flatMap(
    Client,
    (client) =>
      Effect.flatMap(client.request(definition, parameters, options), (raw) =>
        Effect.map(client.read(definition, raw), (response) => [raw, response]))
  )

/** Pages of an operation as async iterables: each is fetched when it is needed or, with `prefetch`, one page ahead. */
import * as Predicate from "effect/Predicate"
import * as CallErrors from "../client/CallErrors.ts"
import * as Pagination from "../client/Pagination.ts"
import { InvalidParameters, PaginationStuck } from "../errors/Errors.ts"
import type { Definition, Direction } from "../schema/Definition.ts"
import * as RequestEncoder from "../wire/RequestEncoder.ts"
import * as Calls from "./Calls.ts"

/** The options of iterating over pages. */
export interface PageOptions<out D extends Direction = Direction> extends Pagination.PageOptions<D> {
  /** Aborts the iteration immediately; the loop is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** A function from parameters to an iterable over `itemsOf` of every page. Each loop starts over. */
export const iterable = <A>(
  context: Calls.Context,
  definition: Definition,
  itemsOf: (page: Pagination.Page) => ReadonlyArray<A>
) =>
(parameters: object = {}, options?: PageOptions): AsyncIterable<A> => {
  // The caller may change the objects between pages.
  const own = RequestEncoder.ownProperties(definition, parameters)
  const chosen = Predicate.isObject(options) ? { ...options } : options
  return { [Symbol.asyncIterator]: () => run(context, definition, itemsOf, own, chosen) }
}

// One generator yields the items of all pages: one more per page would cost more than fetching them. Between two steps nothing
// refers to it, so an abandoned loop is collected.
async function* run<A>(
  context: Calls.Context,
  definition: Definition,
  itemsOf: (page: Pagination.Page) => ReadonlyArray<A>,
  own: ReturnType<typeof RequestEncoder.ownProperties>,
  chosen: PageOptions | undefined
): AsyncGenerator<A> {
  const [given, rest] = Calls.split(definition, chosen)
  given?.throwIfAborted()
  if (own instanceof InvalidParameters) throw Calls.startingAt(own, run)
  const first = Pagination.start(definition, own, rest)
  if (first === undefined) return
  if (first instanceof InvalidParameters) throw Calls.startingAt(first, run)
  const { prefetch } = rest ?? {}
  const ofPage = Pagination.callOptionsOf(rest ?? {})
  const ended = prefetch === 1 ? new AbortController() : undefined
  const signal = ended === undefined || given === undefined
    ? ended?.signal ?? given
    : AbortSignal.any([given, ended.signal])
  const fetchAt = async (position: Pagination.Position) => {
    const here = Pagination.parametersAt(definition, own, position)
    return Calls.run(context, definition, Pagination.fetchPage(definition, here, ofPage), signal)
  }
  let position: Pagination.Position = first
  let pending = fetchAt(position)
  try {
    while (true) {
      const [raw, response] = Calls.valueOf(await pending, signal, run)
      const here = position
      const next = Pagination.advance(definition, rest ?? {}, here, response)
      const isLast = next === undefined || next instanceof PaginationStuck
      if (!isLast && prefetch === 1) {
        pending = fetchAt(next)
        // The loop may end before it reaches this page.
        pending.catch(() => {})
        // The loop body may block the thread: a turn of the event loop sends the request first.
        await context.platform.turn()
      }
      for (const item of itemsOf({ raw, response, position: here })) {
        yield item
        given?.throwIfAborted()
        if (context.closing.aborted) throw Calls.startingAt(CallErrors.closed(definition), run)
      }
      if (next === undefined) return
      if (next instanceof PaginationStuck) throw Calls.startingAt(next, run)
      position = next
      if (prefetch !== 1) pending = fetchAt(next)
    }
  } finally {
    ended?.abort()
  }
}

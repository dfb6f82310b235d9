/** Posts and users by their ids, however many: batches are sent ahead of the loop, which blocks until the next one is there. */
import * as CallErrors from "@postwire/core/client/CallErrors"
import type { Arguments, ItemOf, Operation, SelectionOf } from "@postwire/core/client/Operation"
import type { getPosts } from "@postwire/core/operations/Posts"
import type { getUsers } from "@postwire/core/operations/Users"
import type { Included, Selection } from "@postwire/core/schema/Selection"
import * as Hydrate from "@postwire/core/workflows/Hydrate"
import * as Calls from "./internal/calls.ts"
import * as Received from "./internal/received.ts"

/** Ids, or usernames. */
export type HydrateIds = Iterable<string | number | bigint>

/** Hydrates ids of one kind, as a blocking method: in the order of the ids, each with what became of it. */
export interface HydrateMethod<out R, Sel extends keyof Selection> {
  <const S extends SelectionOf<Hydrate.Parameters, R, Sel>>(
    ids: HydrateIds,
    ...args: Arguments<Hydrate.Parameters, R, Sel, S, Hydrate.Options>
  ): Iterable<Hydrate.Hydrated<ItemOf<R, S>, Included<S>>>
}

type MethodBy<O> = O extends Operation<infer _P, infer R, infer Sel, infer _E, infer _F> ? HydrateMethod<R, Sel> : never

/** Hydrates posts; `users` and `usernames` hydrate users. */
export interface HydrateMethods extends MethodBy<typeof getPosts> {
  readonly users: MethodBy<typeof getUsers>
  readonly usernames: MethodBy<typeof getUsers>
}

/** What becomes of many ids, as methods of a client. */
export interface Hydrating {
  /** Posts by their ids, a hundred a request, several requests at the same time; of every id what became of it. */
  readonly hydrate: HydrateMethods
}

/** The methods of a client. */
export const make = (context: Calls.Context): Hydrating => {
  const method =
    (lookup: Hydrate.Lookup) => (ids: HydrateIds, parameters: object = {}, options: Hydrate.Options = {}) => {
      // The caller may change the objects between requests.
      const own = Hydrate.parametersOf(lookup, parameters)
      const chosen = { ...options }
      return { [Symbol.iterator]: () => run(context, lookup, ids, own, chosen) }
    }
  return { hydrate: methodsBy(method) }
}

function methodsBy(method: (lookup: Hydrate.Lookup) => object): HydrateMethods
// The declaration above is the only source of the types.
function methodsBy(method: (lookup: Hydrate.Lookup) => object): unknown {
  const { posts, usernames, users } = Hydrate.lookups
  return Object.assign(method(posts), { users: method(users), usernames: method(usernames) })
}

interface Begun {
  readonly ids: ReadonlyArray<string>
  /** None where no id can be one. */
  readonly pending: Calls.Pending | Error | undefined
}

function* run(
  context: Calls.Context,
  lookup: Hydrate.Lookup,
  ids: HydrateIds,
  given: ReturnType<typeof Hydrate.parametersOf>,
  options: Hydrate.Options
): Generator<Hydrate.Hydrated<unknown, unknown>> {
  const { definition, parameter } = lookup
  const own = Calls.orThrow(given, run)
  Calls.orThrow(Hydrate.refusalOf(lookup, options), run)
  const { concurrency = Hydrate.defaultConcurrency, ...each } = options
  const begin = (ids: ReadonlyArray<string>): Begun => {
    const keys = Hydrate.keysIn(lookup, ids)
    const pending = keys.length === 0
      ? undefined
      : Calls.begin(context, definition, { ...own, [parameter]: keys }, each, true)
    return { ids, pending }
  }
  const source = batches(ids)
  const line: Array<Begun> = []
  const fill = () => {
    while (line.length < concurrency) {
      const next = source.next()
      if (next.done === true) return
      line.push(begin(next.value))
    }
  }
  try {
    for (fill(); line.length > 0; fill()) {
      const [first] = line
      if (first === undefined) return
      const { ids, pending } = first
      const received = pending === undefined
        ? undefined
        : Calls.orThrow(Calls.receive(Calls.orThrow(pending, run)), run)
      line.shift()
      const response = received && Calls.orThrow(Received.read(context, definition, received), run)
      for (const result of Hydrate.answered(lookup, ids, response).results) {
        yield result
        if (context.connection.isClosed) Calls.orThrow(CallErrors.closed(definition), run)
      }
    }
  } finally {
    // The loop may end while others are on their way.
    for (const { pending } of line) {
      if (pending !== undefined && !(pending instanceof Error)) pending.bridge.abandon(pending.id)
    }
    source.return(undefined)
  }
}

/** As many ids as a request takes, at a time. */
function* batches(ids: HydrateIds): Generator<ReadonlyArray<string>> {
  let batch: Array<string> = []
  for (const id of ids) {
    batch.push(String(id))
    if (batch.length === Hydrate.idsPerRequest) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

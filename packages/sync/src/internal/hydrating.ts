/** Hydrates ids of posts and users: batches are sent ahead of the loop, which blocks until the next batch has arrived. */
import * as CallErrors from "@postwire/core/client/CallErrors"
import type { HydrateMethods } from "@postwire/core/promise/Methods"
import * as Hydrate from "@postwire/core/workflows/Hydrate"
import type { Blocking } from "./blocking.ts"
import * as Calls from "./calls.ts"
import * as Received from "./received.ts"

type Ids = Blocking["ids"]

/** The methods of a client. */
export const make = (context: Calls.Context): HydrateMethods<Blocking> => {
  const method = (lookup: Hydrate.Lookup) => (ids: Ids, parameters: object = {}, options: Hydrate.Options = {}) => {
    // The caller may change the objects between requests.
    const own = Hydrate.parametersOf(lookup, parameters)
    const chosen = { ...options }
    return { [Symbol.iterator]: () => run(context, lookup, ids, own, chosen) }
  }
  return methodsBy(method)
}

function methodsBy(method: (lookup: Hydrate.Lookup) => object): HydrateMethods<Blocking>
// The declaration above is the only source of the types.
function methodsBy(method: (lookup: Hydrate.Lookup) => object): unknown {
  const { posts, usernames, users } = Hydrate.lookups
  return Object.assign(method(posts), { users: method(users), usernames: method(usernames) })
}

interface Begun {
  readonly ids: ReadonlyArray<string>
  readonly keys: Hydrate.Keys
  /** `undefined` if none of the ids is valid. */
  readonly pending: Calls.Pending | Error | undefined
}

function* run(
  context: Calls.Context,
  lookup: Hydrate.Lookup,
  ids: Ids,
  given: ReturnType<typeof Hydrate.parametersOf>,
  options: Hydrate.Options
): Generator<Hydrate.Hydrated<unknown, unknown>> {
  const { definition, parameter } = lookup
  const own = Calls.orThrow(given, run)
  Calls.orThrow(Hydrate.refusalOf(lookup, options), run)
  const { concurrency = Hydrate.defaultConcurrency, ...each } = options
  const begin = (ids: ReadonlyArray<string>): Begun => {
    const keys = Hydrate.keysIn(lookup, ids)
    const pending = keys.value === undefined
      ? undefined
      : Calls.begin(context, definition, { ...own, [parameter]: keys.value }, each, true)
    return { ids, keys, pending }
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
      const { ids, keys, pending } = first
      const received = pending === undefined
        ? undefined
        : Calls.orThrow(Calls.receive(Calls.orThrow(pending, run)), run)
      line.shift()
      const response = received && Calls.orThrow(Received.read(context, definition, received), run)
      for (const result of Hydrate.answered(lookup, ids, keys, response).results) {
        yield result
        if (context.connection.isClosed) Calls.orThrow(CallErrors.closed(definition), run)
      }
    }
  } finally {
    // The loop may end while other batches are in flight.
    for (const { pending } of line) {
      if (pending !== undefined && !(pending instanceof Error)) pending.bridge.abandon(pending.id)
    }
    source.return(undefined)
  }
}

/** Batches of as many ids as one request accepts. */
function* batches(ids: Ids): Generator<ReadonlyArray<string>> {
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

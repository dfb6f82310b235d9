/** Hydrates ids of posts and users with Promises: batches of ids are looked up ahead of the loop, and returned in order. */
import * as CallErrors from "../client/CallErrors.ts"
import { InvalidParameters } from "../errors/Errors.ts"
import * as Hydrate from "../workflows/Hydrate.ts"
import * as Calls from "./Calls.ts"

type Ids = Calls.Promises["ids"]

type Options = Calls.Signalled<Hydrate.Options>

/** The ids that hydrating accepts. */
export type Kind = keyof typeof Hydrate.lookups

/** The arguments of a method. */
export type Arguments = [ids: Ids, parameters?: object, options?: Options]

/** Hydrates ids of a kind. */
export const hydrate = (context: Calls.Context, kind: Kind, ...[ids, parameters, options]: Arguments) => {
  const lookup: Hydrate.Lookup = Hydrate.lookups[kind]
  // The caller may change the objects between requests.
  const own = Hydrate.parametersOf(lookup, parameters ?? {})
  const chosen = { ...options }
  return { [Symbol.asyncIterator]: () => run(context, lookup, ids, own, chosen) }
}

async function* run(
  context: Calls.Context,
  lookup: Hydrate.Lookup,
  ids: Ids,
  own: ReturnType<typeof Hydrate.parametersOf>,
  options: Options
): AsyncGenerator<Hydrate.Hydrated<unknown, unknown>> {
  const { definition } = lookup
  const [given, rest = {}] = Calls.split(definition, options)
  given?.throwIfAborted()
  if (own instanceof InvalidParameters) throw Calls.startingAt(own, run)
  const refused = Hydrate.refusalOf(lookup, rest)
  if (refused !== undefined) throw Calls.startingAt(refused, run)
  const { concurrency = Hydrate.defaultConcurrency, ...each } = rest
  const left = new AbortController()
  const signal = given === undefined ? left.signal : AbortSignal.any([given, left.signal])
  const source = batches(ids)
  let reading: ReturnType<typeof source.next> | undefined
  let isRead = false
  const pending: Array<ReturnType<typeof lookUp>> = []
  const lookUp = (ids: ReadonlyArray<string>) =>
    Calls.run(context, definition, Hydrate.lookUp(lookup, ids, own, each), signal)
  try {
    while (true) {
      const [first] = pending
      if (!isRead && pending.length < concurrency) {
        reading ??= source.next()
        // The source of the ids may be slower than the service.
        const read = await (first === undefined ? reading : Promise.race([reading, first.then(() => undefined)]))
        if (read !== undefined) {
          reading = undefined
          isRead = read.done === true
          if (read.done !== true) {
            const begun = lookUp(read.value)
            // The loop may end before it reaches this batch.
            begun.catch(() => {})
            pending.push(begun)
          }
          continue
        }
      }
      if (first === undefined) return
      pending.shift()
      for (const result of Calls.valueOf(await first, given, run).results) {
        yield result
        given?.throwIfAborted()
        if (context.closing.aborted) throw Calls.startingAt(CallErrors.closed(definition), run)
      }
    }
  } finally {
    left.abort()
    const closed = source.return(undefined)
    // A pending read of ids would delay the end of the loop.
    if (reading === undefined) await closed
    else for (const promise of [reading, closed]) promise.catch(() => {})
  }
}

/** Batches of as many ids as one request accepts. */
async function* batches(ids: Ids): AsyncGenerator<ReadonlyArray<string>> {
  let batch: Array<string> = []
  for await (const id of ids) {
    batch.push(String(id))
    if (batch.length === Hydrate.idsPerRequest) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/** Fetches the items that were missed while there was no connection. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import type { Client } from "../../client/Client.ts"
import { type AnyError, TransportFailure } from "../../errors/Errors.ts"
import type { Definition, Live } from "../../schema/Definition.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"
import { verdictOf } from "../StreamFailure.ts"
import type { Recover } from "../StreamOptions.ts"
import * as BackfillSearch from "./backfillSearch.ts"
import { Backoff } from "./backoff.ts"
import type { StreamClock } from "./clock.ts"
import * as Connection from "./connection.ts"
import { isItem } from "./decodeLines.ts"
import * as Gaps from "./gaps.ts"

/** The stream whose items are fetched. */
export interface Terms {
  readonly definition: Definition & { readonly live: Live }
  readonly parameters: object
  readonly recover: Recover
  /** In milliseconds. */
  readonly silence: number
  readonly clock: StreamClock
  /** Waits until another connection is within the service's limit. */
  readonly spread: Effect.Effect<void>
}

/** The consumers of the fetched items. */
export interface Receiver {
  /** Only items that rules with these tags match; all items if `undefined`. */
  readonly tags: ReadonlySet<string> | undefined
  /** Takes items, once there is room for them. */
  readonly take: (items: ReadonlyArray<AnyItem>) => Effect.Effect<void>
  /** True if all consumers have left. */
  readonly isGone: () => boolean
}

/** Fetches a part of a gap, and returns why it is incomplete, if it is. */
export const fetchPart = (
  terms: Terms,
  part: Gaps.Part,
  receiver: Receiver
): Effect.Effect<string | undefined, never, Client> => {
  if (part.by === undefined) return Effect.succeed(part.why)
  const fetched = part.by === "search" ? searched(terms, part, receiver) : Effect.catch(
    recovered(terms, part, receiver),
    // The app may have no access to recovery.
    (error) => terms.definition.live.rules === true ? searched(terms, part, receiver) : Effect.fail(error)
  )
  const wait = Effect.suspend(() => Effect.sleep(Math.max(0, part.to + Gaps.indexMillis - terms.clock.service())))
  return Effect.catch(Effect.andThen(wait, fetched), (error) => Effect.succeed(error.message))
}

const timesOf = ({ from, to }: Gaps.Span): { readonly start_time: string; readonly end_time: string } => ({
  start_time: secondOf(Math.floor(from / 1000)),
  end_time: secondOf(Math.ceil(to / 1000))
})

const secondOf = (second: number): string => new Date(second * 1000).toISOString().replace(".000Z", "Z")

/** Retries with the pauses of connections until the effect succeeds or fails permanently. */
const retrying = <A>(
  { clock }: Terms,
  effect: Effect.Effect<A, AnyError, Client>,
  { isGone }: Receiver
): Effect.Effect<A, AnyError, Client> => {
  const backoff = new Backoff()
  const attempt: Effect.Effect<A, AnyError, Client> = Effect.catch(effect, (error) => {
    const verdict = verdictOf(error, true)
    if (isGone() || verdict._tag === "Final") return Effect.fail(error)
    return Effect.gen(function*() {
      const isAgain = verdict._tag === "Again"
      const pause = backoff.after(isAgain ? verdict.fault : "limit", false, yield* Random.next)
      const notBefore = isAgain ? verdict.notBefore?.getTime() ?? 0 : 0
      yield* Effect.sleep(Math.max(pause, notBefore - clock.wall()))
      return yield* attempt
    })
  })
  return attempt
}

const searched = (
  terms: Terms,
  part: Gaps.Span,
  receiver: Receiver
): Effect.Effect<string | undefined, AnyError, Client> =>
  Effect.gen(function*() {
    const { refused, searchable } = yield* retrying(terms, BackfillSearch.rulesOf(receiver.tags), receiver)
    const search = new BackfillSearch.RuleSearch(searchable, {
      ...BackfillSearch.selectionOf(terms.parameters),
      ...timesOf(part),
      max_results: 100
    })
    while (!search.isDone && !receiver.isGone()) {
      const found = yield* Effect.catch(
        retrying(terms, search.next(), receiver),
        (error) => Effect.andThen(receiver.take(search.rest()), Effect.fail(error))
      )
      if (found.length > 0) yield* receiver.take(found)
    }
    const missing = [...refused, ...search.refused]
    return missing.length === 0 ? undefined : `some rules cannot be searched for: ${missing.join("; ")}`
  })

/** After this many disconnect notices, a recovery is given up. */
const maxBreaks = 5

/** Requests a past period as a stream, which the service ends when it has sent everything. */
const recovered = (
  terms: Terms,
  part: Gaps.Span,
  receiver: Receiver
): Effect.Effect<string | undefined, AnyError, Client> => {
  const { definition, parameters, silence, spread } = terms
  const { backfill_minutes: _, ...rest }: { readonly backfill_minutes?: unknown } = parameters
  let breaks = 0
  let { from } = part
  /** The creation time of the newest item. */
  let newest = -Infinity
  const connection = Effect.scoped(Effect.gen(function*() {
    yield* spread
    const { entries } = yield* Connection.open(definition, { ...rest, ...timesOf({ ...part, from }) })
    let disconnect: string | undefined
    yield* entries.pipe(
      Stream.timeoutOrElse({ duration: silence, orElse: () => Stream.fail(silent(definition.name, silence)) }),
      Stream.runForEachArray((entries) => {
        const items = entries.filter(isItem)
        for (const entry of entries) {
          if (!isItem(entry) && entry._tag === "Problems") disconnect = entry.disconnectType ?? disconnect
        }
        if (items.length === 0) return Effect.void
        // Older posts come first, by and large, so that the next connection can start near the last item.
        return Effect.map(receiver.take(items), () => {
          from = Math.max(from, Gaps.reached(items, part, definition.live))
          newest = Math.max(newest, ...items.map((item) => Gaps.timeOf(item) ?? newest))
        })
      })
    )
    if (disconnect === undefined) return undefined
    const reason = `the service ended its recovery early (${disconnect})`
    return ++breaks < maxBreaks
      ? yield* new TransportFailure({ operation: definition.name, phase: "body", timeout: undefined, reason })
      : reason
  }))
  const whole: typeof connection = Effect.suspend(() => {
    const before = newest
    return Effect.flatMap(retrying(terms, connection, receiver), (why) => {
      const isNear = newest >= part.to - Gaps.lateMillis(definition.live)
      // A broken connection may end like a complete one. Then the next one brings newer items.
      return why === undefined && newest > before && !isNear && !receiver.isGone() ? whole : Effect.succeed(why)
    })
  })
  return whole
}

/** The failure of a connection over which nothing came for too long. */
export const silent = (operation: string, silence: number): TransportFailure =>
  new TransportFailure({ operation, phase: "body", timeout: "idle", reason: `no data within ${silence} ms` })

/** Fetches what was missed while there was no connection. */
import * as Clock from "effect/Clock"
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
import * as Connection from "./connection.ts"
import { isItem } from "./decodeLines.ts"
import * as Gaps from "./gaps.ts"
import { timeOf } from "./serviceTime.ts"

/** What fetching needs to know of a stream. */
export interface Terms {
  readonly definition: Definition & { readonly live: Live }
  readonly parameters: object
  readonly recover: Recover
  /** In milliseconds. */
  readonly silence: number
  /** The time by the service's clock. */
  readonly serviceNow: () => number
  /** Waits until another connection keeps the limit of the service. */
  readonly connect: Effect.Effect<void>
}

/** Who waits for what was missed. */
export interface Waiting {
  /** Only what rules with these tags match; everything without. */
  readonly tags: ReadonlySet<string> | undefined
  /** Takes items. It waits while there is no room for more. */
  readonly take: (items: ReadonlyArray<AnyItem>) => Effect.Effect<void>
  /** Whether nobody does any more. */
  readonly isGone: () => boolean
}

/** Fetches a part of a gap, and gives the reason why not all of it is there, where it is not. */
export const fetchPart = (
  terms: Terms,
  part: Gaps.Part,
  waiting: Waiting
): Effect.Effect<string | undefined, never, Client> => {
  if (part.by === undefined) return Effect.succeed(part.why)
  const fetched = part.by === "search" ? searched(terms, part, waiting) : Effect.catch(
    recovered(terms, part, waiting),
    // The app may not have it.
    (error) => terms.definition.live.rules === true ? searched(terms, part, waiting) : Effect.fail(error)
  )
  return Effect.catch(
    Effect.andThen(until(terms, part.to + Gaps.indexMillis), fetched),
    (error) => Effect.succeed(error.message)
  )
}

/** Waits for a time of the service's clock. */
const until = ({ serviceNow }: Terms, time: number): Effect.Effect<void> =>
  Effect.suspend(() => Effect.sleep(Math.max(0, time - serviceNow())))

const spanOf = ({ from, to }: Gaps.Span): { readonly start_time: string; readonly end_time: string } => ({
  start_time: secondOf(Math.floor(from / 1000)),
  end_time: secondOf(Math.ceil(to / 1000))
})

const secondOf = (second: number): string => new Date(second * 1000).toISOString().replace(".000Z", "Z")

/** Repeats what failed, as connections are repeated, until it succeeds or cannot. */
const again = <A>(
  effect: Effect.Effect<A, AnyError, Client>,
  { isGone }: Waiting
): Effect.Effect<A, AnyError, Client> => {
  const backoff = new Backoff()
  const attempt: Effect.Effect<A, AnyError, Client> = Effect.catch(effect, (error) => {
    const verdict = verdictOf(error, true)
    if (isGone() || verdict._tag === "Final") return Effect.fail(error)
    return Effect.gen(function*() {
      const fault = verdict._tag === "Again" ? verdict.fault : "limit"
      const now = yield* Clock.currentTimeMillis
      const told = verdict._tag === "Again" ? verdict.notBefore?.getTime() ?? now : now
      yield* Effect.sleep(Math.max(backoff.after(fault, false, yield* Random.next), told - now))
      return yield* attempt
    })
  })
  return attempt
}

const searched = (
  { parameters }: Terms,
  part: Gaps.Span,
  waiting: Waiting
): Effect.Effect<string | undefined, AnyError, Client> =>
  Effect.gen(function*() {
    const { refused, searchable } = yield* again(
      BackfillSearch.rulesOf(BackfillSearch.rulesPage, waiting.tags),
      waiting
    )
    const search = new BackfillSearch.RuleSearch(searchable, {
      ...BackfillSearch.selectionOf(parameters),
      ...spanOf(part),
      max_results: 100
    })
    while (!search.isDone && !waiting.isGone()) {
      const found = yield* Effect.catch(
        again(search.next(BackfillSearch.postsPage), waiting),
        (error) => Effect.andThen(waiting.take(search.rest()), Effect.fail(error))
      )
      if (found.length > 0) yield* waiting.take(found)
    }
    const missing = [...refused, ...search.refused]
    return missing.length === 0 ? undefined : `a search cannot look for some rules: ${missing.join("; ")}`
  })

/** The service sends it as the stream does, and ends the connection when it has sent all. */
const recovered = (
  { connect, definition, parameters, silence }: Terms,
  part: Gaps.Span,
  waiting: Waiting
): Effect.Effect<string | undefined, AnyError, Client> => {
  const { backfill_minutes: _, ...rest }: { readonly backfill_minutes?: unknown } = parameters
  let breaks = 0
  let { from } = part
  /** When the last item was made. */
  let last = -Infinity
  const job = Effect.scoped(Effect.gen(function*() {
    yield* connect
    const { entries } = yield* Connection.open(definition, { ...rest, ...spanOf({ ...part, from }) })
    let said: string | undefined
    yield* entries.pipe(
      Stream.timeoutOrElse({
        duration: silence,
        orElse: () => Stream.fail(silent(definition.name, silence))
      }),
      Stream.runForEachArray((entries) => {
        const items = entries.filter(isItem)
        for (const entry of entries) {
          if (!isItem(entry) && entry._tag === "Problems") said = entry.disconnectType ?? said
        }
        if (items.length === 0) return Effect.void
        // Older posts come first, by and large: what is broken off goes on near where it was.
        return Effect.map(waiting.take(items), () => {
          from = Math.max(from, Gaps.reached(items, part, definition.live))
          last = Math.max(last, Math.max(...items.map((item) => timeOf(item) ?? last)))
        })
      })
    )
    // Who has sent all has nothing more to say.
    if (said === undefined) return undefined
    const reason = `the service broke its recovery off (${said})`
    return ++breaks < mostBreaks
      ? yield* new TransportFailure({ operation: definition.name, phase: "body", timeout: undefined, reason })
      : reason
  }))
  const whole: typeof job = Effect.suspend(() => {
    const before = last
    return Effect.flatMap(again(job, waiting), (why) => {
      const isNear = last >= part.to - Gaps.lateMillis(definition.live)
      // A cut line may end like one that has sent all. Then the next one brings something new.
      return why === undefined && last > before && !isNear && !waiting.isGone() ? whole : Effect.succeed(why)
    })
  })
  return whole
}

/** So often a recovery is begun anew that the service ends with a reason. */
const mostBreaks = 5

/** Nothing came for so long that the line counts as lost. */
export const silent = (operation: string, silence: number): TransportFailure =>
  new TransportFailure({
    operation,
    phase: "body",
    timeout: "idle",
    reason: `nothing came within ${silence} ms`
  })

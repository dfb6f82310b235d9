/**
 * Brings the working copy up to date, then reads what changed in it since the places of the streams. A place is one number: the time at
 * which the copy was made, in thousandths of a millisecond, plus the number of a transaction. So the places of a later copy are larger,
 * and a place of another copy is known as such: its stream is read from the beginning, without a request to the service. So is a place
 * that came after the backup from which the copy was put back: the copy does not have its run.
 */
import * as Changes from "@postwire/archive/copy/Changes"
import * as Copy from "@postwire/archive/copy/Copy"
import * as Sync from "@postwire/archive/sync/Sync"
import type { Client } from "@postwire/core/client/Client"
import { dollarsOf } from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type Config, isSigned } from "../config/Config.ts"
import * as streams from "./Streams.ts"

/** The state of a stream: its position, and the time at which the run began that reached it. */
export const Place = Schema.Struct({ position: Schema.Int, run: Schema.optional(Schema.String) })
/** The state of a stream. */
export interface Place extends Schema.Schema.Type<typeof Place> {}

/** A record, or the place that all streams have reached. */
export type Event =
  | { readonly _tag: "Record"; readonly stream: streams.Stream; readonly record: streams.StreamRecord }
  | { readonly _tag: "Place"; readonly place: Place }

/** A line of a log. */
export type Log = (level: "INFO" | "WARN", line: string) => Effect.Effect<void>

/** Records between two places. */
const recordsPerPlace = 1_000

const baseOf = (copy: Copy.Copy) => Effect.map(Copy.createdAt(copy), (millis) => millis * 1_000)

/** The commit that each stream has reached in the copy; 0 is the beginning. */
const reachedIn = Effect.fnUntraced(function*(copy: Copy.Copy, places: ReadonlyMap<streams.Stream, Place>, log: Log) {
  const base = yield* baseOf(copy)
  const before = base + (yield* Copy.lastCommit(copy))
  const reached = new Map<string, readonly [streams.Stream, number]>()
  let isPassed = false
  for (const [stream, { position, run }] of places) {
    const isOwn = position > base && position <= before && run !== undefined && (yield* Copy.hasRun(copy, run))
    if (position > 0 && !isOwn) {
      yield* log("WARN", `${stream.name}: its state is of another working copy, so all records follow`)
      isPassed ||= position > base
    }
    reached.set(stream.name, [stream, isOwn ? position - base : 0])
  }
  // Later positions must be larger than those that a destination has.
  if (isPassed) yield* Copy.renew(copy)
  return reached
})

/** The events of selected streams, each with its place; position 0 is the beginning. */
export const read = (
  config: Config,
  places: ReadonlyMap<streams.Stream, Place>,
  log: Log
): Stream.Stream<Event, Sync.SyncError, Client | Copy.Current> =>
  Stream.unwrap(Effect.gen(function*() {
    const copy = yield* Copy.Current
    const known = yield* reachedIn(copy, places, log)
    yield* sync(config, log)
    const [base, last, run] = [yield* baseOf(copy), yield* Copy.lastCommit(copy), yield* Copy.lastRun(copy)]
    const place = (commit: number): Event => ({ _tag: "Place", place: { position: base + commit, run } })
    return Changes.since(Math.min(last, ...Array.from(known.values(), ([, commit]) => commit))).pipe(
      Stream.filter(({ commit, table }) => commit > (known.get(table)?.[1] ?? Infinity)),
      Stream.mapAccum(() => ({ commit: 0, records: 0 }), (state, change: Changes.Change) => {
        const [stream] = known.get(change.table) ?? []
        const isDue = change.commit > state.commit && state.records >= recordsPerPlace
        return [
          { commit: change.commit, records: isDue ? 1 : state.records + 1 },
          [
            ...isDue ? [place(state.commit)] : [],
            ...stream === undefined
              ? []
              : [{ _tag: "Record" as const, stream, record: streams.recordOf(stream, change, base + change.commit) }]
          ]
        ] as const
      }),
      Stream.concat(Stream.succeed(place(last)))
    )
  }))

const sync = Effect.fnUntraced(function*(
  config: Config,
  log: Log
): Effect.fn.Return<void, Sync.SyncError, Client | Copy.Current> {
  const { added, changed, problems, requests, spent = 0, status } = yield* Sync.run({
    sources: config.sources,
    deletions: config.deletions,
    userAuth: isSigned(config),
    onPage: ({ items, source }) => log("INFO", `${source}: ${items} items`)
  })
  yield* log("INFO", `${status}: ${added} new and ${changed} changed rows, ${requests} requests, $${dollarsOf(spent)}`)
  for (const { reason, source, subject } of problems) yield* log("WARN", `${source} of ${subject}: ${reason}`)
  if (status === "budget") yield* log("WARN", "The budget is used up. The next run continues.")
})

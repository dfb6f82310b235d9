/**
 * Brings the working copy up to date, then reads what changed in it since the places of the streams. A place is one number: the time at
 * which the copy was made, in thousandths of a millisecond, plus the number of a transaction. So the places of a later copy are larger,
 * and a place of another copy is known as such: its stream is read from the beginning, without a request to the service.
 */
import * as Changes from "@postwire/archive/copy/Changes"
import * as Copy from "@postwire/archive/copy/Copy"
import * as Sync from "@postwire/archive/sync/Sync"
import type { Client } from "@postwire/core/client/Client"
import { dollarsOf } from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type Config, isSigned } from "../config/Config.ts"
import * as streams from "./Streams.ts"

/** A record, or the place that all streams have reached. */
export type Event =
  | { readonly _tag: "Record"; readonly stream: streams.Stream; readonly record: streams.StreamRecord }
  | { readonly _tag: "Place"; readonly position: number }

/** A line of a log. */
export type Log = (level: "INFO" | "WARN", line: string) => Effect.Effect<void>

/** Records between two places. */
const recordsPerPlace = 1_000

/** The events of selected streams, each with its place; 0 is the beginning. */
export const read = (
  config: Config,
  places: ReadonlyMap<streams.Stream, number>,
  log: Log
): Stream.Stream<Event, Sync.SyncError, Client | Copy.Current> =>
  Stream.unwrap(Effect.gen(function*() {
    const copy = yield* Copy.Current
    const base = (yield* Copy.createdAt(copy)) * 1_000
    const before = base + (yield* Copy.lastCommit(copy))
    const known = new Map<string, readonly [streams.Stream, number]>()
    for (const [stream, place] of places) {
      const isOwn = place > base && place <= before
      if (place > 0 && !isOwn) {
        yield* log("WARN", `${stream.name}: its state is of another working copy, so all records follow`)
      }
      known.set(stream.name, [stream, isOwn ? place - base : 0])
    }
    yield* sync(config, log)
    const last = yield* Copy.lastCommit(copy)
    return Changes.since(Math.min(last, ...Array.from(known.values(), ([, commit]) => commit))).pipe(
      Stream.filter(({ commit, table }) => commit > (known.get(table)?.[1] ?? Infinity)),
      Stream.mapAccum(() => ({ commit: 0, records: 0 }), (state, change: Changes.Change) => {
        const [stream] = known.get(change.table) ?? []
        const isDue = change.commit > state.commit && state.records >= recordsPerPlace
        return [
          { commit: change.commit, records: isDue ? 1 : state.records + 1 },
          [
            ...isDue ? [place(base + state.commit)] : [],
            ...stream === undefined
              ? []
              : [{ _tag: "Record" as const, stream, record: streams.recordOf(stream, change, base + change.commit) }]
          ]
        ] as const
      }),
      Stream.concat(Stream.succeed(place(base + last)))
    )
  }))

const place = (position: number): Event => ({ _tag: "Place", position })

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

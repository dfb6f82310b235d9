/**
 * Texts and sets by key, shared by every process that uses the same storage. The rules (`rate-limit/Ledger`, `spend/Bill`) work on
 * these texts, so that they are written once and a backend only reads, compares and writes.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { StorageFault } from "../errors/StorageErrors.ts"
import { IdSet } from "../internal/idSet.ts"
import * as Monotonic from "../runtime/Monotonic.ts"

/** The keys of one step. They have the same `{hash tag}`, so that a Redis cluster keeps them together. */
export interface Target {
  readonly texts: ReadonlyArray<string>
  /** Members to add to sets, if the step changes a text. A set expires `setMillis` after it was changed last. */
  readonly sets?: ReadonlyArray<{ readonly key: string; readonly members: ReadonlyArray<string> }>
}

/** Texts in the order of their keys; `undefined` where there is none. */
export interface Snapshot {
  readonly texts: ReadonlyArray<string | undefined>
  /** Milliseconds of the storage's clock. */
  readonly now: number
}

/** The state before a step. */
export interface Before extends Snapshot {
  /** For each set of the target, the members that it does not have yet. */
  readonly absent: ReadonlyArray<ReadonlySet<string>>
}

/** The outcome of a step. */
export interface Step<A> {
  readonly result: A
  /** The new texts in the order of the keys; `undefined` keeps a text, and `""` removes it. Without it, nothing changes. */
  readonly texts?: ReadonlyArray<string | undefined>
  /** The time until which the texts have to be kept, by the storage's clock. Default: forever. */
  readonly until?: number
}

/**
 * A storage could not run a step, or its result was lost: the step may have happened. A storage of your own fails with it; `fault` says
 * whether a retry may succeed.
 */
export class StorageUnavailable extends /*#__PURE__*/ Data.TaggedError("StorageUnavailable")<{
  readonly reason: string
  /** Default: it is unavailable, and a retry may succeed. */
  readonly fault?: StorageFault | undefined
}> {
  override get message(): string {
    return `The storage does not respond: ${this.reason}`
  }
}

/** A storage. */
export interface Storage<E = StorageUnavailable> {
  readonly get: (keys: ReadonlyArray<string>) => Effect.Effect<Snapshot, E>
  /** Runs an atomic step. A backend may run `f` again when another process was faster. */
  readonly modify: <A>(target: Target, f: (before: Before) => Step<A>) => Effect.Effect<A, E>
  /** The keys with a prefix that have a text. */
  readonly keys: (prefix: string) => Effect.Effect<ReadonlyArray<string>, E>
}

/** Time for which a set is kept after its last change: three days, in milliseconds. */
export const setMillis = 3 * 86_400_000

/** A storage for one process, with its first texts. */
export const makeMemory = (given?: ReadonlyMap<string, string>): Storage<never> => {
  const texts = new Map(given)
  const sets = new Map<string, { readonly members: IdSet; until: number }>()
  const snapshot = (keys: ReadonlyArray<string>, clock: Clock.Clock): Snapshot => ({
    texts: keys.map((key) => texts.get(key)),
    now: Monotonic.millisUnsafe(clock)
  })
  return {
    get: (keys) => Clock.clockWith((clock) => Effect.succeed(snapshot(keys, clock))),
    modify: (target, f) =>
      Clock.clockWith((clock) => {
        const { sets: changed = [], texts: keys } = target
        const before = snapshot(keys, clock)
        const absent = changed.map(({ key, members }) =>
          new Set(members.filter((member) => sets.get(key)?.members.has(member) !== true))
        )
        const step = f({ ...before, absent })
        step.texts?.forEach((text, index) => {
          const key = keys[index] ?? ""
          if (text === "") texts.delete(key)
          else if (text !== undefined) texts.set(key, text)
        })
        if (step.texts !== undefined && changed.length > 0) {
          for (const [key, { until }] of sets) if (until < before.now) sets.delete(key)
          for (const { key, members } of changed) {
            const set = sets.get(key) ?? { members: new IdSet(), until: 0 }
            for (const member of members) set.members.add(member)
            set.until = before.now + setMillis
            sets.set(key, set)
          }
        }
        return Effect.succeed(step.result)
      }),
    keys: (prefix) => Effect.sync(() => [...texts.keys()].filter((key) => key.startsWith(prefix)))
  }
}

/**
 * A storage in Redis, by its clock. A step reads its texts, and writes them if no other client has changed them meanwhile. The
 * steps that arrive during one exchange share the next, so that a distant Redis does not make them wait for each other.
 */
import * as Storage from "@postwire/core/storage/Storage"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as RedisConnection from "./redisConnection.ts"
import type { Script } from "./redisScripts.ts"

type Sets = ReadonlyArray<{ readonly key: string; readonly members: Iterable<string> }>

const prefix = "postwire:"

const keysOf = (texts: ReadonlyArray<string>, sets: Sets) =>
  [...texts, ...sets.map(({ key }) => key)].map((key) => prefix + key)

const counted = (sets: Sets) => sets.flatMap(({ members }) => [[...members].length, ...members])

interface Change {
  readonly keys: ReadonlyArray<string>
  readonly before: ReadonlyArray<string | undefined>
  readonly after: ReadonlyArray<string | undefined>
  readonly sets: Sets
}

const readScript: Script<
  [texts: ReadonlyArray<string>, sets: Sets],
  readonly [now: string, texts: ReadonlyArray<string | null>, absent: ReadonlyArray<ReadonlyArray<string>>]
> = {
  numberOfKeys: (texts, sets) => texts.length + sets.length,
  params: (texts, sets) => [...keysOf(texts, sets), texts.length, ...counted(sets)],
  lua: `
local time = redis.call("TIME")
local count, at, texts, absent = tonumber(ARGV[1]), 2, {}, {}
for i = 1, count do texts[i] = redis.call("GET", KEYS[i]) end
for i = count + 1, #KEYS do
  local missing = {}
  for j = at + 1, at + tonumber(ARGV[at]) do
    if redis.call("SISMEMBER", KEYS[i], ARGV[j]) == 0 then missing[#missing + 1] = ARGV[j] end
  end
  at = at + tonumber(ARGV[at]) + 1
  absent[i - count] = missing
end
return { string.format("%.0f", tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)), texts, absent }`
}

const writeScript: Script<[change: Change], 0 | 1> = {
  numberOfKeys: ({ keys, sets }) => keys.length + sets.length,
  params: ({ after, before, keys, sets }) => [
    ...keysOf(keys, sets),
    keys.length,
    ...before.map((text) => text ?? ""),
    ...after.map((text) => text === undefined ? "" : `=${text}`),
    ...counted(sets)
  ],
  lua: `
local count = tonumber(ARGV[1])
for i = 1, count do
  if (redis.call("GET", KEYS[i]) or "") ~= ARGV[1 + i] then return 0 end
end
for i = 1, count do
  local change = ARGV[1 + count + i]
  if change == "=" then redis.call("DEL", KEYS[i])
  elseif change ~= "" then redis.call("SET", KEYS[i], string.sub(change, 2)) end
end
local at = 2 + 2 * count
for i = count + 1, #KEYS do
  for j = at + 1, at + tonumber(ARGV[at]) do redis.call("SADD", KEYS[i], ARGV[j]) end
  redis.call("PEXPIRE", KEYS[i], ${Storage.setMillis})
  at = at + tonumber(ARGV[at]) + 1
end
return 1`
}

const keysScript: Script<[prefix: string], ReadonlyArray<string>> = {
  numberOfKeys: 0,
  params: (start) => [`${prefix + start}*`],
  lua: `
local cursor, found = "0", {}
repeat
  local page = redis.call("SCAN", cursor, "MATCH", ARGV[1], "COUNT", 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do found[#found + 1] = key end
until cursor == "0"
return found`
}

/** A step that waits for its turn. */
interface Pending {
  readonly target: Storage.Target
  /** Runs the step, and returns the new texts if it changes any. */
  readonly run: (before: Storage.Before) => Storage.Step<unknown>["texts"]
  readonly done: Deferred.Deferred<void, Storage.StorageUnavailable>
}

/** Steps in one exchange. */
const mostTogether = 100

/** The storage. */
export const make = (evaluate: RedisConnection.Evaluate): Storage.Storage => {
  const read = evaluate(readScript)
  const write = evaluate(writeScript)
  const keys = evaluate(keysScript)
  let waiting: ReadonlyArray<Pending> = []
  let isRunning = false

  const attempt = (batch: ReadonlyArray<Pending>): Effect.Effect<0 | 1, Storage.StorageUnavailable> => {
    const keys = [...new Set(batch.flatMap(({ target }) => target.texts))]
    const wanted = new Map<string, Set<string>>()
    for (const { key, members } of batch.flatMap(({ target }) => target.sets ?? [])) {
      wanted.set(key, new Set([...wanted.get(key) ?? [], ...members]))
    }
    const sets = [...wanted].map(([key, members]) => ({ key, members }))
    return Effect.flatMap(read(keys, sets), ([now, texts, absent]) => {
      const before = texts.map((text) => text ?? undefined)
      const state = new State(keys, before, new Map(sets.map(({ key }, index) => [key, new Set(absent[index])])))
      for (const pending of batch) state.apply(pending, Number(now))
      const after = keys.map((key, index) =>
        state.texts.get(key) === before[index] ? undefined : state.texts.get(key) ?? ""
      )
      if (state.added.size === 0 && after.every((text) => text === undefined)) return Effect.succeed(1)
      return (
        write({ keys, before, after, sets: [...state.added].map(([key, members]) => ({ key, members })) })
      )
    })
  }

  const runAll: Effect.Effect<void> = Effect.suspend(() => {
    const key = waiting[0]?.target.texts[0]
    // Those of one key, which a cluster keeps together.
    const batch = waiting.filter(({ target }) => target.texts[0] === key).slice(0, mostTogether)
    if (batch.length === 0) {
      isRunning = false
      return Effect.void
    }
    waiting = waiting.filter((pending) => !batch.includes(pending))
    return Effect.flatMap(
      Effect.exit(Effect.asVoid(Effect.repeat(attempt(batch), { until: (isWritten) => isWritten === 1 }))),
      (exit) => {
        for (const { done } of batch) Deferred.doneUnsafe(done, exit)
        return runAll
      }
    )
  })

  return {
    keys: (start) => Effect.map(keys(start), (found) => [...new Set(found)].map((key) => key.slice(prefix.length))),
    get: (keys) =>
      Effect.map(
        read(keys, []),
        ([now, texts]) => ({ now: Number(now), texts: texts.map((text) => text ?? undefined) })
      ),
    modify: <A>(target: Storage.Target, f: (before: Storage.Before) => Storage.Step<A>) =>
      Effect.suspend(() => {
        let step: Storage.Step<A> | undefined
        const run = (before: Storage.Before) => (step = f(before)).texts
        const pending: Pending = { target, run, done: Deferred.makeUnsafe() }
        waiting = [...waiting, pending]
        const start = isRunning ? Effect.void : Effect.forkDetach(runAll, { startImmediately: true })
        isRunning = true
        return Effect.andThen(start, Deferred.await(pending.done)).pipe(
          Effect.onInterrupt(() =>
            Effect.sync(() => {
              waiting = waiting.filter((other) => other !== pending)
            })
          ),
          Effect.map(() => step!.result)
        )
      })
  }
}

/** The texts and sets of a batch while its steps are run one after the other. */
class State {
  readonly texts: Map<string, string | undefined>
  readonly added = new Map<string, Set<string>>()
  readonly #absent: ReadonlyMap<string, Set<string>>

  constructor(
    keys: ReadonlyArray<string>,
    before: ReadonlyArray<string | undefined>,
    absent: ReadonlyMap<string, Set<string>>
  ) {
    this.texts = new Map(keys.map((key, index) => [key, before[index]]))
    this.#absent = absent
  }

  apply({ run, target: { sets = [], texts } }: Pick<Pending, "run" | "target">, now: number): void {
    const absent = sets.map(({ key, members }) =>
      new Set(members.filter((member) => this.#absent.get(key)?.has(member)))
    )
    const changed = run({ texts: texts.map((key) => this.texts.get(key)), now, absent })
    if (changed === undefined) return
    changed.forEach((text, index) => void (text === undefined || this.texts.set(texts[index] ?? "", text || undefined)))
    sets.forEach(({ key }, index) => {
      const added = this.added.get(key) ?? new Set()
      for (const member of absent[index] ?? []) {
        this.#absent.get(key)?.delete(member)
        added.add(member)
      }
      this.added.set(key, added)
    })
  }
}

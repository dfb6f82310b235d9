/**
 * Checks whether what a copy has is still shown: by compliance jobs, which are free and need the bearer token of the app, or by
 * lookups with the account's own eyes, which cost what any read costs. A check that is stopped is continued by the next run.
 */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import type * as Compliance from "@postwire/core/workflows/Compliance"
import * as CheckJob from "@postwire/export/sources/CheckJob"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as Copy from "../copy/Copy.ts"
import * as layout from "../copy/Layout.ts"
import { type Deletions, isDue, millisOf } from "../sources/SyncFile.ts"
import * as completion from "./Completion.ts"
import * as gone from "./Gone.ts"

/** The name of its progress, which no source of a file can have. */
const source = " deletions"

const State = Schema.Struct({
  /** The end of the last complete check, in milliseconds since the epoch. */
  doneAt: Schema.optionalKey(Schema.Finite),
  /** The check that has begun: the ids up to this one are checked. */
  after: Schema.optionalKey(Schema.String),
  /** A job, its last id, and the last transaction before it was made. */
  job: Schema.optionalKey(
    Schema.Struct({ ...CheckJob.Noted.fields, last: Schema.String, knownAt: Schema.Int })
  )
})

type State = typeof State.Type

const json = Schema.fromJsonString(State)

const progressOf = (name: gone.Name, state: State): Copy.Progress => ({
  source,
  subject: name,
  state: Schema.encodeSync(json)(state)
})

/** The errors of a check. */
export type CheckError = AnyError | Compliance.CheckError | SqlError

/** Checks users and posts, if it is time to. */
export const run = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  { by, every }: Deletions,
  userAuth: boolean
): Effect.fn.Return<void, CheckError, Client> {
  const known = yield* Copy.progressOf(copy, source)
  for (const name of ["users", "posts"] as const) {
    const state = Option.getOrElse(Schema.decodeUnknownOption(json)(known.get(name)), (): State => ({}))
    const now = yield* Clock.currentTimeMillis
    const { after, doneAt, job } = state
    const isOpen = after !== undefined || job !== undefined || doneAt === undefined
    if (!isOpen && !isDue(doneAt, millisOf(every), now)) continue
    yield* by === "compliance" ? byJobs(copy, name, state) : byLookups(copy, name, state, userAuth)
    const progress = progressOf(name, { doneAt: yield* Clock.currentTimeMillis })
    yield* Copy.write(copy, { objects: {}, progress })
  }
})

/** The ids of a table after one, in the order of ids. */
const idsAfter = ({ dialect, sql }: Copy.Copy, name: gone.Name, after: string, limit: number, last?: string) => {
  const [a, b] = layout.placeholders(dialect, 2)
  return Effect.map(
    sql.unsafe<{ readonly id: string }>(
      `SELECT id FROM ${name} WHERE gone IS NULL AND id > ${a} ${last === undefined ? "" : `AND id <= ${b}`}
        ORDER BY id LIMIT ${limit}`,
      last === undefined ? [after] : [after, last]
    ),
    (rows) => rows.map(({ id }) => id)
  )
}

const idsPerJob = 1_000_000

/** The last id of the next job; `undefined` if there are none. */
const lastAfter = ({ dialect, sql }: Copy.Copy, name: gone.Name, after: string) =>
  Effect.map(
    sql.unsafe<{ readonly id: string | null }>(
      `SELECT max(id) AS id FROM (SELECT id FROM ${name} WHERE gone IS NULL AND id > ${layout.parameters(dialect, 1)}
        ORDER BY id LIMIT ${idsPerJob}) AS ids`,
      [after]
    ),
    ([row]) => row?.id ?? undefined
  )

/** Ids that are read, and results that are applied, together. */
const some = 1_000

/** A job that takes longer is left to the next run. */
const maxWait = 300_000

const byJobs = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  name: gone.Name,
  state: State
): Effect.fn.Return<void, CheckError, Client> {
  let { after = "", job } = state
  while (true) {
    const knownAt = job?.knownAt ?? (yield* Copy.lastCommit(copy))
    const last = job?.last ?? (yield* lastAfter(copy, name, after))
    if (last === undefined) return yield* gone.follow(copy)
    const at = after
    yield* CheckJob.run(job, {
      type: name,
      ids: Stream.paginate(
        at,
        (from) =>
          Effect.map(
            idsAfter(copy, name, from, some, last),
            (ids) => [ids, Option.fromUndefinedOr(ids.at(-1))] as const
          )
      ),
      maxWait,
      note: (noted) =>
        Copy.write(copy, {
          objects: {},
          progress: progressOf(name, { ...state, after: at, job: { ...noted, knownAt, last } })
        }),
      use: (results) =>
        results.pipe(Stream.grouped(some), Stream.runForEach((results) => apply(copy, name, results, knownAt)))
    })
    after = last
    job = undefined
  }
})

/** Applies results of a job. */
const apply = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  name: gone.Name,
  results: ReadonlyArray<Compliance.Result>,
  knownAt: number
): Effect.fn.Return<void, SqlError> {
  const of = Object.groupBy(
    results,
    ({ reason }) => reason === "scrub_geo" ? "scrubbed" : reason === "protected" && name === "users" ? "hidden" : "gone"
  )
  const ids = (results: ReadonlyArray<Compliance.Result> = []) => results.map(({ id }) => id)
  yield* gone.scrub(copy, ids(of.scrubbed))
  yield* gone.hide(copy, ids(of.hidden))
  yield* gone.mark(
    copy,
    name,
    (of.gone ?? []).map(({ action, id, reason }) => ({ id, why: reason ?? action })),
    knownAt
  )
})

const byLookups = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  name: gone.Name,
  state: State,
  userAuth: boolean
): Effect.fn.Return<void, CheckError, Client> {
  let { after = "" } = state
  while (true) {
    const ids = yield* idsAfter(copy, name, after, completion.idsPerLookup)
    if (ids.length === 0) return
    const { includes, items, outcomes } = yield* completion.lookUp(name, ids, userAuth)
    yield* gone.mark(copy, name, outcomes)
    if (name === "posts") {
      yield* gone.scrub(copy, items.flatMap((item) => "id" in item && !("geo" in item) ? [String(item.id)] : []))
    }
    after = ids[items.length + outcomes.length - 1] ?? after
    const progress = progressOf(name, { ...state, after })
    yield* Copy.write(copy, { objects: { ...includes, [name]: items }, isContext: true, progress })
  }
})

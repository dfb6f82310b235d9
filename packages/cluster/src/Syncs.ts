/**
 * Syncs of many accounts on many machines. A run of a sync is a durable workflow that ends with a durable pause and starts the next run.
 * Each copy is a schema of the database, `sync_` and the name. A run that reaches a rate limit gives up its place on the worker until
 * the reset, so that no account waits for another's.
 */
import * as Copy from "@postwire/archive/copy/Copy"
import * as SyncFile from "@postwire/archive/sources/SyncFile"
import * as Sync from "@postwire/archive/sync/Sync"
import * as Account from "@postwire/core/accounts/Account"
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import type { RateLimitStore } from "@postwire/core/rate-limit/RateLimitStore"
import * as Spend from "@postwire/core/spend/Spend"
import { SpendStore } from "@postwire/core/spend/SpendStore"
import { StorageUnavailable } from "@postwire/core/storage/Storage"
import type { TokenStore } from "@postwire/core/storage/TokenStore"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Clock from "effect/Clock"
import type { MessageStorage } from "effect/cluster/MessageStorage"
import type { Sharding } from "effect/cluster/Sharding"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Struct from "effect/Struct"
import * as Activity from "effect/workflow/Activity"
import * as DurableClock from "effect/workflow/DurableClock"
import * as Workflow from "effect/workflow/Workflow"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { answered } from "./Answered.ts"
import * as Clients from "./Clients.ts"
import * as Database from "./Database.ts"
import { isTransient, refusedFor } from "./internal/failures.ts"
import * as PostgresSpendStore from "./PostgresSpendStore.ts"
import { clearExecution, durable, WorkerName } from "./Workflow.ts"

/** The file of `postwire sync` without a target. `account` names the credentials, as those of an export. */
const File = SyncFile.SyncFile.mapFields(Struct.pick(["account", "budget", "deletions", "every", "sources"]))

export interface File extends Schema.Schema.Type<typeof File> {}

const json = Schema.fromJsonString(File)

/** A sync. */
export interface Status {
  readonly name: string
  /** As a run ends, or `waiting` for a worker, `running`, `limited` by a rate limit, `retrying`, `failed` or `stopped`. */
  readonly state: Sync.Summary["status"] | "waiting" | "running" | "limited" | "retrying" | "failed" | "stopped"
  /** The worker that ran it last. */
  readonly worker: string | null
  /** When it continues, in milliseconds since the epoch. */
  readonly due: number | null
  readonly problem: string | null
}

const SyncWorkflow = Workflow.make("postwire/Sync", {
  payload: { sync: Schema.String, run: Schema.Int },
  idempotencyKey: ({ run, sync }) => `${sync}/${run}`
})

type Payload = typeof SyncWorkflow.payloadSchema.Type

/** Starts a sync now, or replaces its file and starts it now. It runs again after the time `every` of the file, by default a day. */
export const start = Effect.fnUntraced(function*(
  name: string,
  file: File
): Effect.fn.Return<void, InvalidSettings | SqlError, SqlClient.SqlClient | WorkflowEngine> {
  yield* Account.checkName(name)
  const [problem] = SyncFile.problemsOf(file)
  if (problem !== undefined) return yield* new InvalidSettings({ setting: "sources", rule: problem })
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly run: number }>`
    INSERT INTO postwire_syncs (name, file, run, state) VALUES (${name}, ${Schema.encodeSync(json)(file)}, 1, 'waiting')
    ON CONFLICT (name) DO UPDATE
      SET file = excluded.file, run = postwire_syncs.run + 1, state = 'waiting', spent = 0
    RETURNING run`
  yield* SyncWorkflow.execute({ sync: name, run: row?.run ?? 1 }, { discard: true })
})

/** Stops a sync after the run in progress. Its copy stays. */
export const stop = (name: string): Effect.Effect<void, SqlError, SqlClient.SqlClient> =>
  SqlClient.SqlClient.use((sql) =>
    sql`UPDATE postwire_syncs SET run = run + 1, state = 'stopped', due = NULL WHERE name = ${name}`
  )

/** All syncs. */
export const status: Effect.Effect<ReadonlyArray<Status>, SqlError, SqlClient.SqlClient> = SqlClient.SqlClient.use(
  (sql) =>
    sql<
      Status
    >`SELECT name, state, worker, CAST(due AS double precision) AS due, problem FROM postwire_syncs ORDER BY name`
)

/** Settings of a worker. */
export interface Options {
  readonly url: Redacted.Redacted
  /** Runs at the same time. Default 4. */
  readonly concurrency?: number | undefined
}

/** The result of an attempt, and the pause after it in milliseconds. */
const Outcome = Schema.Struct({ next: Schema.Literals(["none", "attempt", "run"]), pause: Schema.Finite })

/** A copy in a schema. */
const layerCopy = (url: Redacted.Redacted, schema: string) =>
  Layer.unwrap(Effect.as(
    SqlClient.SqlClient.use((sql) => sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`),
    Layer.provide(Copy.layer(schema), Layer.fresh(Database.layerPostgres({ url, schema })))
  ))

const day = 86_400_000

/** The step that records the spending of a run: it adds what the total of an attempt has gained since the step before. */
const recording = ({ run, sync }: Payload, total: typeof Spend.Total.Service) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    let recorded = total.spent
    return Semaphore.makeUnsafe(1).withPermits(1)(Effect.suspend(() => {
      const now = total.spent + total.inDoubt + total.reserved
      return Effect.map(
        sql`UPDATE postwire_syncs SET spent = spent + ${now - recorded} WHERE name = ${sync} AND run = ${run}`,
        () => {
          recorded = now
        }
      )
    }))
  })

/** A store that records the spending of a run before each request, since its worker may be killed during the request. */
const layerRecording = (record: Effect.Effect<void, SqlError>) =>
  Layer.effect(
    SpendStore,
    Effect.map(SpendStore, (store) => ({
      ...store,
      // The total has the reservation by now.
      reserve: (...reservation) =>
        Effect.andThen(
          Effect.mapError(record, ({ message }) => new StorageUnavailable({ reason: message })),
          store.reserve(...reservation)
        )
    }))
  )

type AttemptError = Effect.Error<ReturnType<typeof attempt>>

/** Runs a sync until it ends, or reaches a limit. */
const attempt = (
  { url }: Options,
  name: string,
  { account = Clients.unnamed, budget = {}, deletions, sources }: File,
  total: typeof Spend.Total.Service,
  record: Effect.Effect<void, SqlError>
) =>
  Sync.run({ sources, deletions }).pipe(Effect.provide([
    Clients.layerNamed(account).pipe(
      Layer.provide(Spend.layer({ spendLimit: { perDay: budget.day, perMonth: budget.month, total: budget.run } })),
      Layer.provide([Layer.succeed(Spend.Total, total), layerRecording(record)])
    ),
    layerCopy(url, `sync_${name}`)
  ]))

/** The state after an error, and when it is attempted again; undefined if that is not soon. */
const after = (error: AttemptError, account: string, now: number) =>
  error._tag === "RateLimitWaitTooLong"
    ? { state: "limited" as const, problem: error.message, pause: Math.max(1_000, error.resetAt.getTime() - now) }
    : error._tag === "SyncRunning" || isSqlError(error)
    ? { state: "retrying" as const, problem: error.message, pause: 5_000 }
    : error._tag === "CopyUnusable" || error._tag === "SubjectUnavailable"
    ? { state: "failed" as const, problem: error.message, pause: undefined }
    : isTransient(error)
    ? { state: "retrying" as const, problem: error.message, pause: 60_000 }
    : { state: "failed" as const, problem: refusedFor(account, error).reason, pause: undefined }

/** Attempts a run that is still wanted, and records how it ended. */
const attempting = Effect.fnUntraced(function*(options: Options, payload: Payload) {
  const { run, sync } = payload
  const sql = yield* SqlClient.SqlClient
  const worker = yield* WorkerName
  const [row] = yield* answered(sql<{ readonly file: string; readonly spent: number }>`
    UPDATE postwire_syncs SET state = 'running', worker = ${worker}, due = NULL
    WHERE name = ${sync} AND run = ${run} AND state <> 'stopped'
    RETURNING file, CAST(spent AS double precision) AS spent`)
  if (row === undefined) return { next: "none" as const, pause: 0 }
  const file = yield* Effect.orDie(Schema.decodeUnknownEffect(json)(row.file))
  const total = { spent: row.spent, inDoubt: 0, reserved: 0 }
  const record = yield* recording(payload, total)
  const ended = yield* Effect.result(attempt(options, sync, file, total, record))
  yield* answered(record)
  const now = yield* Clock.currentTimeMillis
  const { pause, problem, state } = Result.isSuccess(ended)
    ? { state: ended.success.status, problem: ended.success.problems[0]?.reason, pause: undefined }
    : after(ended.failure, file.account ?? Clients.unnamed, now)
  const wait = pause ?? (file.every === undefined ? day : SyncFile.millisOf(file.every))
  yield* answered(sql`
    UPDATE postwire_syncs SET state = ${state}, problem = ${problem ?? null}, due = ${now + wait}
    WHERE name = ${sync} AND run = ${run} AND state <> 'stopped'`)
  return { next: pause === undefined ? "run" as const : "attempt" as const, pause: wait }
})

/** Deletes the messages of the run before. */
const clear = Effect.fnUntraced(function*({ run, sync }: Payload) {
  const id = yield* SyncWorkflow.executionId({ sync, run: run - 1 })
  yield* clearExecution(SyncWorkflow._tag, id, yield* SyncWorkflow.poll(id))
})

/** One run: attempts until it has ended, a pause, and the next run. */
const running = Effect.fnUntraced(function*(
  options: Options,
  place: Semaphore.Semaphore,
  payload: Payload
) {
  const { run, sync } = payload
  for (let count = 0;; count++) {
    const outcome: typeof Outcome.Type = yield* durable(Activity.make({
      name: `attempt/${count}`,
      success: Outcome,
      execute: place.withPermits(1)(attempting(options, payload))
    }))
    yield* DurableClock.sleep({ name: `pause/${count}`, duration: outcome.pause })
    if (outcome.next === "none") return
    if (outcome.next === "run") break
  }
  const sql = yield* SqlClient.SqlClient
  yield* answered(sql`UPDATE postwire_syncs SET run = ${run + 1}, spent = 0 WHERE name = ${sync} AND run = ${run}`)
  yield* Effect.ignore(clear(payload))
  yield* durable(SyncWorkflow.execute({ sync, run: run + 1 }, { discard: true, detached: true }))
})

/** The longest wait for a rate limit in its place. */
const maxWaitMillis = 2_000

/** Runs syncs. */
export const layer = (
  options: Options
): Layer.Layer<
  never,
  InvalidSettings | SqlError,
  WorkflowEngine | SqlClient.SqlClient | TokenStore | RateLimitStore | Sharding | MessageStorage
> =>
  Layer.unwrap(Effect.map(
    Semaphore.make(options.concurrency ?? 4),
    (place) => SyncWorkflow.toLayer((payload) => running(options, place, payload))
  )).pipe(
    Layer.provide([
      UndiciHttpClient.layer(),
      PostgresSpendStore.layer,
      RateLimit.layerWait({ maxWait: maxWaitMillis })
    ])
  )

/**
 * An export as durable workflows: one execution per part, each page an activity that returns the state of the part and never the
 * data. With any engine (`Engine`), a part resumes after its last page wherever its process ended, and a second start of the same
 * export joins the first.
 */
import {
  type AnyError,
  type ConflictingIdentifiers,
  type InvalidParameters,
  type InvalidSettings,
  statementOf
} from "@postwire/core/errors/Errors"
import type { ExportError } from "@postwire/export/files/ExportErrors"
import * as Partitions from "@postwire/export/Partitions"
import * as Plan from "@postwire/export/sources/Plan"
import * as Cause from "effect/Cause"
import type { PersistenceError } from "effect/cluster/ClusterError"
import * as EntityAddress from "effect/cluster/EntityAddress"
import * as EntityId from "effect/cluster/EntityId"
import * as EntityType from "effect/cluster/EntityType"
import { MessageStorage } from "effect/cluster/MessageStorage"
import { Sharding } from "effect/cluster/Sharding"
import * as Singleton from "effect/cluster/Singleton"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { answered, complain, untilItAnswers } from "./Answered.ts"
import { Clients } from "./Clients.ts"
import { ExportFailed, failed, isTransient, refusedFor } from "./internal/failures.ts"
import { check, type Query, sourceOf } from "./Query.ts"
import { rowsOf } from "./Rows.ts"
import { type ExportStatus, type Job, type PartKey, Tables } from "./Tables.ts"

export { ExportFailed } from "./internal/failures.ts"

/** The name of this process, for others. */
export const WorkerName = Context.Reference<string>("@postwire/cluster/Workflow/WorkerName", {
  defaultValue: () => "this process"
})

/** The state of a part after a page. */
const Step = Schema.Struct({
  pages: Schema.Int,
  token: Schema.optional(Schema.String),
  state: Schema.Literals(["waiting", "running", "done", "failed"]),
  /** The items of the page. */
  count: Schema.Int
})

/** An export: plans its parts and starts them. The payload names it; the query is in the tables. */
export const ExportWorkflow = Workflow.make("postwire/Export", {
  payload: { export: Schema.String, attempt: Schema.Int },
  idempotencyKey: (payload) => `${payload.export}/${payload.attempt}`,
  error: ExportFailed
})

/** One part of an export. */
export const PartWorkflow = Workflow.make("postwire/Part", {
  payload: { export: Schema.String, part: Schema.Int, attempt: Schema.Int },
  idempotencyKey: (payload) => `${payload.export}/${payload.part}/${payload.attempt}`,
  success: Schema.Struct({ pages: Schema.Int }),
  error: ExportFailed
})

/** At most a minute between two attempts, without end. */
const untilItWorks = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("1 minute")]).pipe(
  Schedule.jittered
)

/** The engine reports an unavailable database as a defect. */
const isOfDatabase = (defect: unknown): boolean =>
  isSqlError(defect) || (Predicate.hasProperty(defect, "_tag") && defect._tag === "PersistenceError")

/** A step of the engine, which is retried while the database is unavailable. */
export const durable = <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  step.pipe(
    Effect.sandbox,
    Effect.retry({
      schedule: untilItAnswers,
      while: ({ reasons }) => {
        const defect = reasons.find((reason) => reason._tag === "Die" && isOfDatabase(reason.defect))
        return Effect.as(defect?._tag === "Die" ? complain(defect.defect) : Effect.void, defect !== undefined)
      }
    }),
    Effect.catch((cause) => Effect.failCause(cause))
  )

/** Queries the service until it responds, with the client for the credentials. */
const asked = <A, E extends AnyError | ExportError | Plan.NotPlannable, R>(
  query: Query,
  use: Effect.Effect<A, E, R>,
  note: (problem: string) => Effect.Effect<unknown, never, Tables>
) =>
  use.pipe(
    Effect.provide(Clients.get(query.credentials)),
    Effect.tapError((error) => isTransient(error) ? note(statementOf(error)) : Effect.void),
    Effect.retry({ schedule: untilItWorks, while: isTransient }),
    Effect.mapError((error) => refusedFor(query.credentials, error))
  )

/** Divides a search into the requested number of parts; other operations are one part. */
const plan = Effect.fnUntraced(function*({ id, query, wanted }: ExportStatus) {
  const tables = yield* Tables
  const source = yield* Effect.mapError(sourceOf(query), failed)
  if (wanted === 1) return yield* answered(tables.plan(id, [undefined]))
  const { buckets } = yield* asked(query, Plan.estimate(source), () => Effect.void)
  const partitions = Partitions.planPartitions(source, buckets, wanted)
  if (partitions instanceof Plan.NotPlannable) return yield* failed(partitions)
  yield* answered(tables.plan(id, partitions))
})

/** Plans once, then starts every part. */
const runExport = Effect.fnUntraced(function*(id: string) {
  const tables = yield* Tables
  const [standing] = yield* answered(tables.status(id))
  if (standing === undefined) return yield* new ExportFailed({ reason: "There is no such export" })
  if (standing.state === "planning") {
    yield* durable(Activity.make({ name: "plan", error: ExportFailed, execute: plan(standing) }))
  }
  const [planned = standing] = yield* answered(tables.status(id))
  yield* Effect.forEach(
    planned.parts.filter(({ state }) => state === "waiting" || state === "running"),
    ({ attempt, part }) =>
      durable(PartWorkflow.execute({ export: id, part, attempt }, { discard: true, detached: true })),
    { concurrency: 8, discard: true }
  )
})

/** Fetches and stores the page after `after` pages, unless another worker did. */
const step = Effect.fnUntraced(function*(job: Job, after: number) {
  const tables = yield* Tables
  const standing = yield* answered(tables.cursor(job))
  if (standing.pages !== after || standing.state !== "running") return { ...standing, count: 0 }
  const whole = yield* Effect.mapError(sourceOf(job.query), failed)
  const source = job.partition === undefined ? whole : Partitions.sourceOf(whole, job.partition)
  const page = yield* asked(
    job.query,
    Effect.flatMap(
      Stream.runHead(source.pages(standing.token)),
      Option.match({
        onNone: () => Effect.die(new Error("The service gave no page")),
        onSome: Effect.succeed
      })
    ),
    (problem) => answered(tables.note(job, after, problem, "running"))
  )
  const rows = rowsOf(source, page, { part: job.part, page: after })
  return (yield* answered(tables.commit(job, after, page, rows, yield* WorkerName)))
    ? {
      pages: after + 1,
      token: page.next,
      state: page.next === undefined ? "done" as const : "running" as const,
      count: page.items.length
    }
    : { ...(yield* answered(tables.cursor(job))), count: 0 }
})

/** Reads pages until the part is done. Stored pages are not requested again: the tables have the state of the part. */
const runPart = Effect.fnUntraced(function*(key: PartKey) {
  const tables = yield* Tables
  const job = yield* answered(Effect.flatMap(WorkerName, (worker) => tables.begin(key, worker)))
  if (job === undefined) return yield* new ExportFailed({ reason: "There is no such part" })
  let { pages, state } = job.cursor
  while (state === "running") {
    const after = pages
    const stands = yield* durable(Activity.make({
      name: `page/${after}`,
      success: Step,
      error: ExportFailed,
      execute: step(job, after)
    })).pipe(Effect.catchCause(Effect.fnUntraced(function*(cause) {
      // Another worker may have stored the page meanwhile, and may have the next one in progress.
      const isFailed = Cause.hasInterruptsOnly(cause) ||
        (yield* answered(tables.note(job, after, reasonOf(Cause.squash(cause)), "failed")))
      return isFailed ? yield* Effect.failCause(cause) : yield* answered(tables.cursor(job))
    })))
    pages = stands.pages
    state = stands.state
  }
  return { pages }
})

const reasonOf = (error: unknown): string => error instanceof Error ? error.message || error.name : String(error)

/** Runs exports. */
export const layer: Layer.Layer<never, never, WorkflowEngine | Tables | Clients> = Layer.merge(
  ExportWorkflow.toLayer(({ export: id }) =>
    Effect.tapCause(runExport(id), (cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.void
        : Tables.use((tables) => answered(tables.refuse(id, reasonOf(Cause.squash(cause))))))
  ),
  PartWorkflow.toLayer(runPart)
)

/** Options of an export. */
export interface Options {
  /** The number of time spans into which a search is divided. Default: 1. */
  readonly parts?: number | undefined
}

/**
 * Starts an export, or returns its status if it was started before; failed parts run again. Returns immediately: the parts run on
 * any workers.
 */
export const start = Effect.fnUntraced(function*(
  query: Query,
  options: Options = {}
): Effect.fn.Return<
  ExportStatus,
  InvalidParameters | ConflictingIdentifiers | InvalidSettings | SqlError,
  Tables | WorkflowEngine
> {
  const tables = yield* Tables
  const standing = yield* tables.add(yield* check(query), options.parts ?? 1)
  if (standing.state !== "done") {
    yield* ExportWorkflow.execute({ export: standing.id, attempt: standing.attempt }, { discard: true })
  }
  return standing
})

/** Deletes the messages of an execution. Returns false if it has not ended. */
export const clearExecution = Effect.fnUntraced(function*(
  tag: string,
  id: string,
  result: Option.Option<Workflow.Result<unknown, unknown>>
): Effect.fn.Return<boolean, PersistenceError, Sharding | MessageStorage> {
  // Its last message is written a moment after its last page.
  if (result._tag === "None" || result.value._tag !== "Complete") return false
  const sharding = yield* Sharding
  const storage = yield* MessageStorage
  const entityId = EntityId.make(id)
  yield* storage.clearAddress(EntityAddress.make({
    // The engine's name for the entities of a workflow.
    entityType: EntityType.make(`Workflow/${tag}`),
    entityId,
    shardId: sharding.getShardId(entityId, "default")
  }))
  return true
})

/** Deletes the messages of ended parts. */
export const clear: Effect.Effect<
  void,
  SqlError | PersistenceError,
  Sharding | MessageStorage | WorkflowEngine | Tables
> = Effect.gen(function*() {
  const tables = yield* Tables
  for (const ended of yield* tables.uncleared) {
    const id = yield* PartWorkflow.executionId(ended)
    if (yield* clearExecution(PartWorkflow._tag, id, yield* PartWorkflow.poll(id))) yield* tables.setCleared(ended)
  }
})

/** Runs `clear` every half minute, on one of the workers. */
export const layerClear: Layer.Layer<never, never, Sharding | MessageStorage | WorkflowEngine | Tables> = Singleton
  .make(
    "postwire/clear",
    clear.pipe(
      Effect.catchCause((cause) => Effect.logDebug("Messages were not cleared", cause)),
      Effect.repeat(Schedule.spaced("30 seconds")),
      Effect.asVoid
    )
  )

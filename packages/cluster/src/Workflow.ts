/**
 * An export as durable workflows: one execution per part, each page an activity that returns where the part stands and
 * never what was read. Whatever engine is under it (`Engine`), a part goes on from its last page wherever its process
 * ended, and a second start of the same export is the first.
 */
import type { AnyError, ConflictingIdentifiers, InvalidParameters, InvalidSettings } from "@postwire/core/Errors"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as EntityAddress from "effect/cluster/EntityAddress"
import * as EntityId from "effect/cluster/EntityId"
import * as EntityType from "effect/cluster/EntityType"
import { MessageStorage } from "effect/cluster/MessageStorage"
import { Sharding } from "effect/cluster/Sharding"
import * as Singleton from "effect/cluster/Singleton"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import * as Activity from "effect/workflow/Activity"
import * as Workflow from "effect/workflow/Workflow"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { checkName, Clients } from "./Clients.ts"
import * as Page from "./Page.ts"
import * as Plan from "./Plan.ts"
import { type ExportStatus, type Job, type PartKey, Tables } from "./Tables.ts"

/** A part cannot go on. The same export, started again, tries once more. */
export class PartFailed extends Schema.TaggedError<PartFailed>("@postwire/cluster/Workflow/PartFailed")("PartFailed", {
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** The name by which others see this process. */
export const WorkerName = Context.Reference<string>("@postwire/cluster/Workflow/WorkerName", {
  defaultValue: () => "this process"
})

/** Where a part stands after a page. */
const Step = Schema.Struct({
  pages: Schema.Int,
  token: Schema.optional(Schema.String),
  state: Schema.Literals(["waiting", "running", "done", "failed"]),
  /** The items of the page. */
  count: Schema.Int
})

/** One part of an export. Its payload names it; what to read is in the tables, the credentials are with the worker. */
export const PartWorkflow = Workflow.make("postwire/Part", {
  payload: { export: Schema.String, part: Schema.Int, attempt: Schema.Int },
  idempotencyKey: (payload) => `${payload.export}/${payload.part}/${payload.attempt}`,
  success: Schema.Struct({ pages: Schema.Int }),
  error: PartFailed
})

/** A minute at most between two attempts, for as long as it takes. */
const untilItWorks = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("1 minute")]).pipe(
  Schedule.jittered
)

/** A database that restarts is back soon. */
const untilItAnswers = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("2 seconds")])

const answered = <A, R>(use: Effect.Effect<A, SqlError, R>): Effect.Effect<A, never, R> =>
  use.pipe(
    Effect.tapError((error) => Effect.logWarning(`The database does not do its part: ${error.message}`)),
    Effect.retry(untilItAnswers),
    Effect.orDie
  )

/** What may be better in a while. */
const isTransient = (error: AnyError): boolean => {
  switch (error._tag) {
    case "TransportFailure":
    case "ServerFailure":
    case "UndecodableResponse":
    case "RateLimitWaitTooLong":
      return true
    case "RateLimited":
      // A usage cap lasts for days or weeks.
      return error.type?.endsWith("/usage-capped") !== true
    default:
      return false
  }
}

/** Fetches and keeps the page after so many, unless somebody else did. */
const step = Effect.fnUntraced(function*(job: Job, after: number) {
  const tables = yield* Tables
  const worker = yield* WorkerName
  const standing = yield* answered(tables.cursor(job))
  if (standing.pages !== after || standing.state !== "running") return { ...standing, count: 0 }
  const definition = yield* Effect.mapError(Plan.definitionOf(job.query.operation), failed)
  const page = yield* Page.fetch(
    definition,
    Plan.parametersOf(job.query, job),
    standing.token,
    `${job.part}/${after}`
  ).pipe(
    Effect.tapError((error) => isTransient(error) ? answered(tables.note(job, error.message, "running")) : Effect.void),
    Effect.retry({ schedule: untilItWorks, while: isTransient }),
    Effect.mapError(failed)
  )
  return (yield* answered(tables.commit(job, after, page, worker)))
    ? {
      pages: after + 1,
      token: page.next,
      state: page.next === undefined ? "done" as const : "running" as const,
      count: page.count
    }
    : { ...(yield* answered(tables.cursor(job))), count: 0 }
})

const failed = (error: { readonly message: string }) => new PartFailed({ reason: error.message })

/** Pages until the part is done. What was read before is not asked again: the tables know where the part stands. */
const run = Effect.fnUntraced(function*(key: PartKey) {
  const tables = yield* Tables
  const job = yield* answered(Effect.flatMap(WorkerName, (worker) => tables.begin(key, worker)))
  if (job === undefined) return yield* new PartFailed({ reason: "There is no such part" })
  let { pages, state } = job.cursor
  while (state === "running") {
    const after = pages
    const stands = yield* Activity.make({
      name: `page/${after}`,
      success: Step,
      error: PartFailed,
      execute: step(job, after).pipe(
        Effect.provide(Clients.get(job.query.credentials)),
        Effect.catchTags({
          ConfigError: (error) => Effect.fail(noCredentials(job, error)),
          InvalidSettings: (error) => Effect.fail(noCredentials(job, error))
        })
      )
    })
    pages = stands.pages
    state = stands.state
  }
  return { pages }
})

const noCredentials = ({ query }: Job, { message }: { readonly message: string }) =>
  new PartFailed({ reason: `The worker cannot use the credentials ${query.credentials}: ${message}` })

/** Runs parts. */
export const layer: Layer.Layer<never, never, WorkflowEngine | Tables | Clients> = PartWorkflow.toLayer((key) =>
  Effect.tapCause(run(key), (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.void
      : Effect.flatMap(Tables, (tables) => answered(tables.note(key, reasonOf(cause), "failed"))))
)

const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

/** How an export is started. */
export interface Options {
  /** How many spans of time a search is split into. Default 1. */
  readonly parts?: number | undefined
}

/**
 * Starts an export, or says how it stands when it was started before. Parts that had failed run again. Returns at once;
 * the parts run wherever there are workers.
 */
export const start = Effect.fnUntraced(function*(
  query: Plan.Query,
  options: Options = {}
): Effect.fn.Return<
  ExportStatus,
  InvalidParameters | ConflictingIdentifiers | InvalidSettings | SqlError,
  Tables | WorkflowEngine
> {
  const tables = yield* Tables
  yield* checkName(query.credentials)
  const definition = yield* Plan.definitionOf(query.operation)
  const checked = yield* Plan.check(definition, query)
  const parts = yield* Plan.split(definition, checked, {
    parts: options.parts ?? 1,
    now: yield* Clock.currentTimeMillis
  })
  const status = yield* tables.add(checked, parts)
  yield* Effect.forEach(
    status.parts.filter(({ state }) => state === "waiting" || state === "running"),
    ({ attempt, export: id, part }) => PartWorkflow.execute({ export: id, part, attempt }, { discard: true }),
    { concurrency: 8, discard: true }
  )
  return status
})

/** Forgets the messages of parts that have ended: one worker of all does it, every half minute. */
export const layerClear: Layer.Layer<never, never, Sharding | MessageStorage | WorkflowEngine | Tables> = Singleton
  .make(
    "postwire/clear",
    Effect.suspend(() => clear).pipe(
      Effect.catchCause((cause) => Effect.logDebug("Messages were not cleared", cause)),
      Effect.repeat(Schedule.spaced("30 seconds")),
      Effect.asVoid
    )
  )

const clear = Effect.gen(function*() {
  const tables = yield* Tables
  const sharding = yield* Sharding
  const storage = yield* MessageStorage
  for (const ended of yield* tables.uncleared) {
    const id = yield* PartWorkflow.executionId(ended)
    const result = yield* PartWorkflow.poll(id)
    // Its last message is written a moment after its last page.
    if (result._tag === "None" || result.value._tag !== "Complete") continue
    const entityId = EntityId.make(id)
    yield* storage.clearAddress(EntityAddress.make({
      // The name that the engine gives to the entities of a workflow.
      entityType: EntityType.make(`Workflow/${PartWorkflow._tag}`),
      entityId,
      shardId: sharding.getShardId(entityId, "default")
    }))
    yield* tables.setCleared(ended)
  }
})

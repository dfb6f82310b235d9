/** `postwire export … --cluster`: starts an export for the workers of a database, and watches it. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import type { ExportStatus, Tables } from "@postwire/cluster/Tables"
import * as Monotonic from "@postwire/core/Monotonic"
import type { Definition } from "@postwire/core/Operation"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { Json } from "effect/Schema"
import * as Schema from "effect/Schema"
import * as Cluster from "./Cluster.ts"
import * as Progress from "./Progress.ts"
import * as Report from "./Report.ts"

/** Parts of the export have failed. */
export class PartsFailed extends Schema.TaggedError<PartsFailed>()("PartsFailed", {
  export: Schema.String,
  parts: Schema.Int,
  reason: Schema.String
}) {
  override get message(): string {
    return this.parts === 0
      ? `The export ${this.export} could not be planned: ${this.reason}`
      : `${this.parts} parts of the export ${this.export} failed: ${this.reason}`
  }
  get advice(): string {
    return "What is there stays. The same command tries the rest again."
  }
}

/** The flags that only go with `--cluster`. */
export const flags = {
  cluster: Flag.Redacted("cluster").pipe(
    Flag.withMetavar("ADDRESS"),
    Flag.withDescription("Into the tables of postgres://..., by all workers there; or of sqlite:FILE, by this process"),
    Flag.optional
  ),
  label: Flag.String("label").pipe(
    Flag.withDescription("With --cluster, a name that makes it another export than the last one of the same query"),
    Flag.withDefault("")
  ),
  detach: Flag.Boolean("detach").pipe(
    Flag.withDescription("With --cluster, do not wait for the end"),
    Flag.withDefault(false)
  )
}

/** What the flags say. */
export interface Options {
  readonly label: string
  readonly detach: boolean
  /** The name under which the workers have the credentials. */
  readonly credentials: Option.Option<string>
  readonly partitions: Option.Option<number>
}

/** Starts the export, and waits for its end unless it is to go on by itself. */
export const run = Effect.fnUntraced(function*(
  address: Redacted.Redacted,
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  options: Options
) {
  const Workflow = yield* Effect.promise(() => import("@postwire/cluster/Workflow"))
  const Worker = yield* Effect.promise(() => import("@postwire/cluster/Worker"))
  const Engine = yield* Effect.promise(() => import("@postwire/cluster/Engine"))
  const { Tables } = yield* Effect.promise(() => import("@postwire/cluster/Tables"))
  const { unnamed } = yield* Effect.promise(() => import("@postwire/cluster/Clients"))
  const database = yield* Cluster.database(address)
  const isAlone = database._tag === "Sqlite"
  const begin = Effect.gen(function*() {
    const started = yield* Workflow.start({
      operation: definition.name,
      // Flags make texts, numbers, truth values and lists of texts.
      parameters: parameters as Readonly<Record<string, Json>>,
      credentials: Option.getOrElse(options.credentials, () => unnamed),
      label: options.label
    }, { parts: Option.getOrElse(options.partitions, () => 1) })
    if (options.detach && !isAlone) {
      yield* Console.log(started.id)
      return
    }
    const ended = yield* watch(yield* Tables, started.id, isAlone ? undefined : Engine.workers)
    yield* Console.log(
      `${ended.state}: ${Progress.count(ended.items)} items on ${
        Progress.count(ended.pages)
      } pages in export ${ended.id}`
    )
    if (ended.state === "failed") {
      const failed = ended.parts.filter(({ state }) => state === "failed")
      return yield* new PartsFailed({
        export: ended.id,
        parts: failed.length,
        reason: ended.problem ?? failed[0]?.problem ?? "nobody knows why"
      })
    }
    if (ended.errors > 0) {
      return yield* new Report.PartialErrors({
        operation: definition.name,
        errors: ended.errors,
        advice: `They are in the view postwire_errors (export = '${ended.id}'); everything else is there.`
      })
    }
  })
  // Which of the two is in force decides who does the work.
  return yield* isAlone
    ? Effect.provide(begin, Worker.layer({ database, address: { host: "127.0.0.1", port: 0 } }))
    : Effect.provide(begin, Worker.layerClient(database))
})

/** Looks so often. */
const rhythm = 500
/** A worker has so many milliseconds to appear, and a page to come, before it is said that they do not. */
const patience = { worker: 3_000, page: 60_000 }
/** The same is not said again for so long. */
const pause = 300_000

/**
 * Shows how far the export is until it has ended, and says why where it does not get on. A database that is away is waited
 * for. `workers` are those that are there; where this process does the work by itself, there is nobody to look for.
 */
export const watch = Effect.fnUntraced(function*<E, R>(
  tables: Tables["Service"],
  id: string,
  workers: Effect.Effect<ReadonlyArray<string>, E, R> | undefined
) {
  const screen = Progress.standardError
  const progress = yield* Progress.make(screen, !screen.isTerminal)
  const begun = yield* Monotonic.millis
  const said = new Map<string, number>()
  const say = Effect.fnUntraced(function*(text: string, advice?: string) {
    const now = yield* Monotonic.millis
    if (now - (said.get(text) ?? -pause) < pause) return
    said.set(text, now)
    yield* Report.say(text, advice)
  })
  const away = (error: unknown) => {
    const { advice, reason } = DatabaseProblem.of(error) ??
      { reason: "The database does not answer", advice: undefined }
    return Effect.as(say(`${reason}; it is waited for.`, advice), [])
  }
  let before: number | undefined
  let last = { pages: 0, at: begun }
  while (true) {
    const [status]: ReadonlyArray<ExportStatus> = yield* Effect.catch(tables.status(id), away)
    const now = yield* Monotonic.millis
    if (status !== undefined) {
      before ??= status.items
      const planned = status.parts.reduce((sum, { partition }) => sum + (partition?.posts ?? 0), 0)
      yield* progress.update({
        done: planned === 0 ? undefined : Math.min(status.items / planned, 0.99),
        posts: status.items,
        noun: "items",
        before,
        pages: status.pages,
        remaining: undefined
      })
      if (status.state === "done" || status.state === "failed") {
        yield* progress.end
        return status
      }
      if (status.pages !== last.pages) last = { pages: status.pages, at: now }
      const problem = status.parts.find((part) => part.state !== "done" && part.problem !== undefined)?.problem
      if (problem !== undefined) yield* say(`It is tried again: ${problem}`)
    }
    if (workers !== undefined && status !== undefined && now - last.at >= patience.worker) {
      if ((yield* Effect.orElseSucceed(workers, () => ["nobody knows"])).length === 0) {
        yield* say(
          `The export ${id} waits: there is no worker.`,
          "Run postwire worker on any machine that reaches the database."
        )
      } else if (now - last.at >= patience.page) {
        yield* say(
          `No page of the export ${id} has come for a minute: the rate limit may be exhausted.`,
          "The workers say on their standard error what they wait for."
        )
      }
    }
    yield* Effect.sleep(rhythm)
  }
})

/** The address in the environment, for an export that names no file. */
export const fallback: Effect.Effect<Option.Option<Redacted.Redacted>> = Effect.orElseSucceed(
  Config.option(Config.Redacted(Cluster.variable)),
  () => Option.none()
)

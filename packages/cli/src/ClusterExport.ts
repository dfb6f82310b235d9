/** `postwire export … --cluster`: starts an export for the workers of a database, and watches it. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import type { NotReadable } from "@postwire/cluster/Finished"
import type { Query } from "@postwire/cluster/Query"
import type { ExportStatus, Tables } from "@postwire/cluster/Tables"
import type { Client } from "@postwire/core/Client"
import type { Definition } from "@postwire/core/Definition"
import type { InvalidSettings } from "@postwire/core/Errors"
import * as Monotonic from "@postwire/core/Monotonic"
import type { Source } from "@postwire/export/Source"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Json } from "effect/Schema"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
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

/** Where `--cluster` says that the address is in the environment. */
const inEnvironment = "environment"

/** The flags that only go with `--cluster`. */
export const flags = {
  cluster: Flag.Redacted("cluster").pipe(
    Flag.withMetavar("ADDRESS"),
    Flag.withDescription(
      `By all workers of postgres://..., or by this process in sqlite:FILE; ${inEnvironment} is ${Cluster.variable}`
    ),
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

/** What only a cluster needs is loaded here, and not by every command. */
const load = Effect.promise(async () => ({
  ...await import("@postwire/cluster/Workflow"),
  Engine: await import("@postwire/cluster/Engine"),
  Finished: await import("@postwire/cluster/Finished"),
  Query: await import("@postwire/cluster/Query"),
  Tables: (await import("@postwire/cluster/Tables")).Tables,
  Worker: await import("@postwire/cluster/Worker"),
  unnamed: (await import("@postwire/cluster/Clients")).unnamed
}))

/** Does something with the cluster: as one of its workers where it is this process alone. */
const within = Effect.fnUntraced(
  function*<A, E, R>(address: Redacted.Redacted, make: (isAlone: boolean) => Effect.Effect<A, E, R>) {
    const { Worker } = yield* load
    const database = yield* Cluster.database(address)
    return yield* database._tag === "Sqlite"
      ? Effect.provide(make(true), Worker.layer({ database, address: { host: "127.0.0.1", port: 0 } }))
      : Effect.provide(make(false), Worker.layerClient(database))
  }
)

const queryOf = Effect.fnUntraced(function*(
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  options: Options
) {
  const { unnamed } = yield* load
  return {
    operation: definition.name,
    // Flags make texts, numbers, truth values and lists of texts.
    parameters: parameters as Readonly<Record<string, Json>>,
    credentials: Option.getOrElse(options.credentials, () => unnamed),
    label: options.label
  }
})

/** Starts the export, unless it was started before. */
const begin = Effect.fnUntraced(function*(query: Query, options: Options) {
  const { start } = yield* load
  return yield* start(query, { parts: Option.getOrElse(options.partitions, () => 1) })
})

/** Waits for the end of an export. */
const finish = Effect.fnUntraced(function*(id: string, isAlone: boolean) {
  const { Engine, Tables } = yield* load
  return yield* watch(yield* Tables, id, isAlone ? undefined : Engine.workers)
})

const failureOf = ({ id, parts, problem }: ExportStatus) => {
  const failed = parts.filter(({ state }) => state === "failed")
  return new PartsFailed({
    export: id,
    parts: failed.length,
    reason: problem ?? failed[0]?.problem ?? "nobody knows why"
  })
}

/** Starts the export, and waits for its end unless it is to go on by itself. */
export const run = (
  address: Redacted.Redacted,
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  options: Options
) =>
  within(
    address,
    Effect.fnUntraced(function*(isAlone) {
      const { id } = yield* begin(yield* queryOf(definition, parameters, options), options)
      if (options.detach && !isAlone) return yield* Console.log(id)
      const ended = yield* finish(id, isAlone)
      const { errors, items, pages, state } = ended
      yield* Console.log(`${state}: ${Progress.count(items)} items on ${Progress.count(pages)} pages in export ${id}`)
      if (state === "failed") return yield* failureOf(ended)
      if (errors > 0) {
        return yield* new Report.PartialErrors({
          operation: definition.name,
          errors,
          advice: `They are in the view postwire_errors (export = '${id}'); everything else is there.`
        })
      }
    })
  )

/**
 * Gives the export as a source to `write`. Asked for its first page, it starts the export and waits for its end, so that
 * whoever writes files has refused what can be refused before.
 */
export const use = <A, E, R>(
  address: Redacted.Redacted,
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  options: Options,
  write: (source: Source<SourceError>, client: Layer.Layer<Client>) => Effect.Effect<A, E, R>
) =>
  within(
    address,
    Effect.fnUntraced(function*(isAlone) {
      const { Finished, Query, Tables } = yield* load
      const query = yield* Query.check(yield* queryOf(definition, parameters, options))
      const tables = yield* Tables
      const context = yield* Effect.context<Tables | WorkflowEngine | SqlClient>()
      const pages = (cursor: string | undefined) =>
        Effect.gen(function*() {
          const { id } = yield* begin(query, options)
          const ended = yield* finish(id, isAlone)
          if (ended.state === "failed") return yield* failureOf(ended)
          return Finished.pages(tables, ended, cursor)
        }).pipe(Effect.provideContext(context))
      const source: Source<SourceError> = {
        ...yield* Query.sourceOf(query),
        fingerprint: { cluster: Query.fingerprint(query) },
        pages: (cursor) => Stream.unwrap(pages(cursor))
      }
      return yield* write(source, Finished.layerClient)
    })
  )

/** What an export of a cluster can fail with besides its files. */
type SourceError = PartsFailed | NotReadable | InvalidSettings | SqlError

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

/** The address in the environment, where there is one. */
const fallback: Effect.Effect<Option.Option<Redacted.Redacted>> = Effect.orElseSucceed(
  Config.option(Config.Redacted(Cluster.variable)),
  () => Option.none()
)

/** The address of the cluster, where the export is for one: an export that names no file is for that of the environment. */
export const addressOf = (
  cluster: Option.Option<Redacted.Redacted>,
  out: string
): Effect.Effect<Option.Option<Redacted.Redacted>, Report.Contradiction> =>
  Option.match(cluster, {
    onNone: () => out === "" ? fallback : Effect.succeedNone,
    onSome: (address) =>
      Redacted.value(address) !== inEnvironment ? Effect.succeed(cluster) : Effect.filterOrFail(
        fallback,
        Option.isSome,
        () =>
          new Report.Contradiction({
            reason: `--cluster ${inEnvironment}, but ${Cluster.variable} is not set`,
            advice: "Set it to postgres://user@host/database."
          })
      )
  })

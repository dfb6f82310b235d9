/** `postwire export … --cluster`: starts an export for the workers of a database, and watches it. */
import type { NotReadable } from "@postwire/cluster/Finished"
import type { Query } from "@postwire/cluster/Query"
import type { ExportStatus, Tables } from "@postwire/cluster/Tables"
import type { Client } from "@postwire/core/client/Client"
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Source } from "@postwire/export/sources/Source"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { Json } from "effect/Schema"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import * as Accounts from "../connection/Accounts.ts"
import * as Variables from "../connection/Variables.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as Cluster from "./Cluster.ts"
import { noWorker, watch } from "./ClusterWatch.ts"
import { malformed } from "./ExportProgress.ts"

/** Parts of the export have failed. */
export class PartsFailed extends Schema.TaggedError<PartsFailed>()("PartsFailed", {
  export: Schema.String,
  parts: Schema.Int,
  reason: Schema.String
}) {
  override get message(): string {
    return this.parts === 0
      ? `The export ${this.export} could not be planned: ${this.reason}`
      : `${Text.quantity(this.parts, "parts")} of the export ${this.export} failed: ${this.reason}`
  }
  get advice(): string {
    return "What is there stays. The same command tries the rest again."
  }
}

/** What the flags say. */
export interface Options {
  readonly label: string
  readonly detach: boolean
  /** The name under which the workers have the credentials. */
  readonly credentials: Option.Option<string>
  readonly partitions: Option.Option<number>
  /** Where this process finds accounts, where it does the work itself. */
  readonly tokenStore: Option.Option<string>
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
  function*<A, E, R>(
    address: Redacted.Redacted,
    { tokenStore: flag }: Options,
    make: (isAlone: boolean) => Effect.Effect<A, E, R>
  ) {
    const { Worker } = yield* load
    const database = yield* Cluster.database(address)
    if (database._tag !== "Sqlite" && Option.isSome(flag)) {
      return yield* ErrorReport.refuse(
        "--token-store is for exports of this machine",
        "Workers have their accounts in the database of the cluster, or where their own --token-store says."
      )
    }
    const tokenStore = Accounts.placeOf(flag, yield* Variables.Environment)
    return yield* database._tag === "Sqlite"
      ? Effect.provide(make(true), Worker.layer({ database, address: { host: "127.0.0.1", port: 0 }, tokenStore }))
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
    options,
    Effect.fnUntraced(function*(isAlone) {
      const { id } = yield* begin(yield* queryOf(definition, parameters, options), options)
      if (options.detach && !isAlone) {
        yield* Report.lines(id)
        const { Engine } = yield* load
        if ((yield* Engine.workers).length === 0) yield* Report.say(...noWorker(id))
        return
      }
      const ended = yield* finish(id, isAlone)
      const { errors, items, pages, state } = ended
      const { Tables } = yield* load
      yield* Report.lines(
        `${state}: ${Text.quantity(items, "items")} on ${Text.quantity(pages, "pages")} in export ${id}`,
        ...malformed(yield* (yield* Tables).anomalies(id))
      )
      if (state === "failed") return yield* failureOf(ended)
      if (errors > 0) {
        return yield* new ErrorReport.PartialErrors({
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
    options,
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

/** `postwire export … --cluster`: starts an export on the workers of a database, and shows its progress. */
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

export interface Options {
  readonly label: string
  readonly detach: boolean
  /** The workers' name for the credentials. */
  readonly credentials: Option.Option<string>
  readonly partitions: Option.Option<number>
  /** The store of accounts, if this process does the work. */
  readonly tokenStore: Option.Option<string>
}

/** The modules that only a cluster needs. */
const load = Effect.promise(async () => ({
  ...await import("@postwire/cluster/Workflow"),
  Engine: await import("@postwire/cluster/Engine"),
  Finished: await import("@postwire/cluster/Finished"),
  Query: await import("@postwire/cluster/Query"),
  Tables: (await import("@postwire/cluster/Tables")).Tables,
  Worker: await import("@postwire/cluster/Worker"),
  unnamed: (await import("@postwire/cluster/Clients")).unnamed
}))

/** Runs an effect with the cluster. With a file as the database, this process is its only worker. */
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
        "--token-store is for exports on this machine",
        "Workers use the accounts in the cluster's database or in their own --token-store."
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
    // Flags yield strings, numbers, booleans and lists of strings.
    parameters: parameters as Readonly<Record<string, Json>>,
    credentials: Option.getOrElse(options.credentials, () => unnamed),
    label: options.label
  }
})

/** Starts the export, unless it exists. */
const begin = Effect.fnUntraced(function*(query: Query, options: Options) {
  const { start } = yield* load
  return yield* start(query, { parts: Option.getOrElse(options.partitions, () => 1) })
})

const finish = Effect.fnUntraced(function*(id: string, isAlone: boolean) {
  const { Engine, Tables } = yield* load
  return yield* watch(yield* Tables, id, isAlone ? undefined : Engine.workers)
})

const failureOf = ({ id, parts, problem }: ExportStatus) => {
  const failed = parts.filter(({ state }) => state === "failed")
  const reason = problem ?? failed[0]?.problem ?? "the reason is unknown"
  return new ErrorReport.Failure({
    message: failed.length === 0
      ? `The export ${id} could not be planned: ${reason}`
      : `${Text.quantity(failed.length, "parts")} of the export ${id} failed: ${reason}`,
    advice: "Complete parts are kept. The same command retries the rest."
  })
}

/** Starts the export, and waits for its end unless it is detached. */
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
          advice: `They are in the view postwire_errors (export = '${id}'); everything else is complete.`
        })
      }
    })
  )

/**
 * Passes the export as a source to `write`. The first page starts the export and waits for its end, so that all checks of files
 * come before.
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

/** The errors of an export on a cluster, besides those of files. */
type SourceError = ErrorReport.Failure | NotReadable | InvalidSettings | SqlError

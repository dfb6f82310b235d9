/** `postwire sync start` and `stop`: syncs that the workers of a cluster run. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Target from "../archive/Target.ts"
import * as Cluster from "../exporting/Cluster.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"

const name = Flag.String("name").pipe(
  Args.withDefault("The name of the sync; its copy is the schema sync_NAME", "default")
)

const database = Effect.fnUntraced(function*(cluster: Redacted.Redacted) {
  const database = yield* Cluster.database(cluster)
  return database._tag === "Postgres" ? database : yield* ErrorReport.refuse(
    "A cluster with syncs needs PostgreSQL",
    "Name its address, or run postwire sync --watch on this machine."
  )
})

export const start = Command.make(
  "start",
  { file: Target.file, cluster: Cluster.flag, name },
  Effect.fnUntraced(function*({ cluster, file, name }) {
    const named = yield* Target.read(file)
    const { Syncs, Worker } = yield* modules
    yield* Effect.provide(Syncs.start(name, named), Worker.layerClient(yield* database(cluster)))
    yield* Report.lines(`The sync ${name} has started. postwire status shows it.`)
  })
).pipe(Args.help("Start the sync of a file on the workers of a cluster, or replace its file", "Start it in a cluster"))

export const stop = Command.make(
  "stop",
  { cluster: Cluster.flag, name },
  Effect.fnUntraced(function*({ cluster, name }) {
    const { Syncs, Worker } = yield* modules
    yield* Effect.provide(Syncs.stop(name), Worker.layerWatch(yield* database(cluster)))
    yield* Report.lines(`The sync ${name} has stopped. Its copy stays.`)
  })
).pipe(Args.help("Stop a sync in a cluster after the run in progress", "Stop it in a cluster"))

const modules = Effect.promise(async () => ({
  Syncs: await import("@postwire/cluster/Syncs"),
  Worker: await import("@postwire/cluster/Worker")
}))

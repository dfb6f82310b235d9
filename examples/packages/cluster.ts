import { NodeRuntime } from "@effect/platform-node"
import * as Database from "@postwire/cluster/Database"
import * as Worker from "@postwire/cluster/Worker"
import { Config, Effect, Layer } from "effect"

// Any number of these work off the exports that `postwire export … --cluster` puts into the database.
const worker = Effect.gen(function*() {
  const database = yield* Database.parse(yield* Config.Redacted("POSTWIRE_CLUSTER_URL"))
  return Worker.layer({ database, address: { host: "worker-1.internal", port: 34_431 } })
})
NodeRuntime.runMain(Layer.launch(Layer.unwrap(worker)))

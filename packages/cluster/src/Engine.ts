/**
 * Engines of the workflows: this process alone, with its state in an SQLite file (`layerSingle`), or any number of workers that
 * share a PostgreSQL database (`layerWorker`, and `layerClient` for processes that only start exports).
 */
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import type { PersistenceError } from "effect/cluster/ClusterError"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import type { MessageStorage } from "effect/cluster/MessageStorage"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import type { Sharding } from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SingleRunner from "effect/cluster/SingleRunner"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import type { ConfigError } from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { SocketServerError } from "effect/socket/SocketServer"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"

/** The address at which a process listens for others. */
export interface Address {
  /** The host name or IP address of this machine. */
  readonly host: string
  readonly port: number
}

type Services = WorkflowEngine | Sharding | MessageStorage

const shared: Partial<ShardingConfig.ShardingConfig["Service"]> = {
  // The database releases the locks of a worker that was silent for this time (PostgreSQL 14 and later), and of a killed one
  // immediately. A worker refreshes them three times in that time.
  shardLockExpiration: "6 seconds",
  shardLockRefreshInterval: "2 seconds",
  // Excludes workers that do not respond.
  runnerHealthCheckInterval: "2 seconds",
  refreshAssignmentsInterval: "1 second",
  // The time for pages in progress when a worker hands parts over.
  entityTerminationTimeout: "2 seconds",
  entityMessagePollInterval: "500 millis",
  entityReplyPollInterval: "200 millis",
  // With few for each worker, some of many workers have three times their part of the work.
  shardsPerGroup: 300,
  simulateRemoteSerialization: false
}

/** One of several processes that run parts. A process that ended is detected after 6 seconds. */
export const layerWorker = (
  address: Address,
  options: { /** The address to listen on. Default: all of the machine. */ readonly listen?: string | undefined } = {}
): Layer.Layer<Services, ConfigError | SocketServerError, SqlClient> =>
  ClusterWorkflowEngine.layer.pipe(Layer.provideMerge(NodeClusterSocket.layer({
    storage: "sql",
    shardingConfig: {
      ...shared,
      runnerAddress: Option.some(RunnerAddress.make(address.host, address.port)),
      runnerListenAddress: Option.some(RunnerAddress.make(options.listen ?? "0.0.0.0", address.port))
    }
  })))

/** Starts exports for the workers. */
export const layerClient: Layer.Layer<Services, ConfigError, SqlClient> = ClusterWorkflowEngine.layer.pipe(
  Layer.provideMerge(NodeClusterSocket.layer({
    clientOnly: true,
    storage: "sql",
    shardingConfig: { ...shared, runnerAddress: Option.none() }
  }))
)

/** This process alone. The next process that opens the database continues. */
export const layerSingle: Layer.Layer<Services, ConfigError, SqlClient> = ClusterWorkflowEngine.layer.pipe(
  Layer.provideMerge(SingleRunner.layer({
    // Earlier processes have ended: their locks need not expire.
    runnerStorage: "memory",
    shardingConfig: { ...shared, shardsPerGroup: 10 }
  })),
  Layer.provide(NodeCrypto.layerDigest)
)

/** The running workers. */
export const workers: Effect.Effect<ReadonlyArray<string>, PersistenceError | SqlError, SqlClient> = RunnerStorage.use(
  ({ getRunners }) => getRunners
).pipe(
  Effect.map((runners) => runners.map(([{ address: { host, port } }]) => `${host}:${port}`).sort()),
  Effect.provide(SqlRunnerStorage.layer.pipe(Layer.provide(ShardingConfig.layer(shared))))
)

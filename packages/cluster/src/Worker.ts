/** The layers of processes that run, start or watch exports. */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import * as NodeClient from "@postwire/node/NodeClient"
import * as RedisRateLimitStore from "@postwire/node/RedisRateLimitStore"
import * as Layer from "effect/Layer"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { Clients } from "./Clients.ts"
import * as Database from "./Database.ts"
import * as Engine from "./Engine.ts"
import * as PostgresRateLimitStore from "./PostgresRateLimitStore.ts"
import * as PostgresTokenStore from "./PostgresTokenStore.ts"
import * as Syncs from "./Syncs.ts"
import * as Tables from "./Tables.ts"
import * as Workflow from "./Workflow.ts"

/** Settings of a worker. */
export interface Options {
  readonly database: Database.Database
  /** The address at which other workers reach this one. Not used with SQLite, where there are no others. */
  readonly address: Engine.Address
  /** The address of the machine to listen on. Default: all of them. */
  readonly listen?: string | undefined
  /**
   * The rate limit store of all workers: a `redis://` or `rediss://` address, or `memory` for the only worker with its credentials.
   * Default: the PostgreSQL database; the memory with SQLite.
   */
  readonly rateLimitStore?: string | undefined
  /**
   * The store of accounts, which exports may name: a folder, or a `redis://` or `rediss://` address. Default: the PostgreSQL
   * database; with SQLite the folder of this user.
   */
  readonly tokenStore?: string | undefined
  /** The syncs that this worker runs at the same time. Default 4. */
  readonly syncs?: number | undefined
}

/** A day: no user waits for an export, and a call that gives up loses its turn to later ones. */
const maxWaitMillis = 86_400_000

/** Runs exports while it is in scope. */
export const layer = (options: Options) => {
  const { address, database } = options
  const name = `${address.host}:${address.port}`
  const engine = database._tag === "Sqlite"
    ? Engine.layerSingle
    : Engine.layerWorker(address, { listen: options.listen })
  // One layer, for one pool of connections.
  const postgres = database._tag === "Postgres" ? Database.layerPostgres(database) : undefined
  const syncs = database._tag === "Postgres"
    ? Syncs.layer({ url: database.url, concurrency: options.syncs })
    : Layer.empty
  return Layer.mergeAll(Workflow.layer, Workflow.layerClear, syncs).pipe(
    Layer.provide(Layer.succeed(Workflow.WorkerName, database._tag === "Sqlite" ? "this machine" : name)),
    Layer.provideMerge(engine),
    Layer.provide(Layer.provide(Clients.layer, RateLimit.layerWait({ maxWait: maxWaitMillis }))),
    Layer.provide([layerStore(options), layerTokenStore(options.tokenStore, postgres)]),
    Layer.provideMerge(Tables.layer),
    Layer.provideMerge(postgres ?? Database.layer(database))
  )
}

const layerTokenStore = (
  tokenStore: string | undefined,
  postgres: ReturnType<typeof Database.layerPostgres> | undefined
): Layer.Layer<TokenStore.TokenStore, InvalidSettings | SqlError> =>
  tokenStore !== undefined
    ? NodeClient.layerTokenStore({ tokenStore })
    : postgres !== undefined
    ? Layer.provide(PostgresTokenStore.layer, postgres)
    // A user without a home has no accounts.
    : Layer.catch(NodeClient.layerTokenStore({}), () => TokenStore.layerMemory)

const layerStore = (
  { database, rateLimitStore: store }: Options
): Layer.Layer<RateLimitStore.RateLimitStore, InvalidSettings | SqlError, SqlClient> =>
  store === undefined
    ? database._tag === "Sqlite" ? RateLimitStore.layerMemory : PostgresRateLimitStore.layer
    : store === "memory"
    ? RateLimitStore.layerMemory
    : RedisRateLimitStore.layerUrl({ url: store })

/** Starts and watches exports that other processes run. */
export const layerClient = (database: Database.Database) =>
  Engine.layerClient.pipe(Layer.provideMerge(Tables.layer), Layer.provideMerge(Database.layer(database)))

/** Watches exports. */
export const layerWatch = (database: Database.Database) =>
  Tables.layer.pipe(Layer.provideMerge(Database.layer(database)))

/**
 * Rate limits of several machines, in the PostgreSQL database that they share. While the database is unavailable, requests wait for
 * it: their results could not be stored either.
 */
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import type { StorageUnavailable } from "@postwire/core/storage/Storage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as PostgresStorage from "./internal/postgresStorage.ts"

/** A request granted by the clock of the database is sent by another machine, some milliseconds earlier or later. */
const travelMillis = 250

/** The store, by the clock of the database. Its tables are created if they do not exist. */
export const layer: Layer.Layer<RateLimitStore.RateLimitStore, SqlError, SqlClient.SqlClient> = Layer.effect(
  RateLimitStore.RateLimitStore,
  Effect.map(PostgresStorage.make(), ({ get, keys, modify }) =>
    RateLimitStore.fromStorage({
      get: (texts) => patiently(get(texts)),
      modify: (target, f) => patiently(modify(target, f)),
      keys
    }, travelMillis))
)

const patiently = <A>(step: Effect.Effect<A, StorageUnavailable>) =>
  Effect.orDie(Effect.retry(step, Schedule.spaced("250 millis")))

/** Spending of several machines, in the PostgreSQL database that they share. */
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as PostgresStorage from "./internal/postgresStorage.ts"

/** The store, by the clock of the database. Its tables are created if they do not exist. */
export const layer: Layer.Layer<SpendStore.SpendStore, SqlError, SqlClient.SqlClient> = Layer.effect(
  SpendStore.SpendStore,
  Effect.map(PostgresStorage.make(), (storage) => SpendStore.fromStorage(storage))
)

/** The events that webhooks of several machines have acknowledged, in the PostgreSQL database that they share. */
import type { Storage } from "@postwire/core/storage/Storage"
import type * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as PostgresStorage from "./internal/postgresStorage.ts"

/** The `store` of `@postwire/core/events/Webhook`. Its tables are created if they do not exist. */
export const make: Effect.Effect<Storage, SqlError, SqlClient.SqlClient> = PostgresStorage.make()

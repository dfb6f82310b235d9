/**
 * The accounts of several machines, in the PostgreSQL database that they share, version 14 or later. The texts are not encrypted.
 * The lock of an account expires ten seconds after its holder has died. A client that has lost it does not overwrite newer texts.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Texts from "@postwire/core/storage/Texts"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as PostgresStorage from "./internal/postgresStorage.ts"

/** The store, with the milliseconds for which a lock outlives a holder that died. */
export const make = Effect.fnUntraced(
  function*(lease?: number): Effect.fn.Return<TokenStore.Store, SqlError, PgClient.PgClient> {
    const sql = yield* PgClient.PgClient
    // The number goes up when the columns change.
    const storage = yield* Effect.provideService(PostgresStorage.make("postwire_accounts_2"), SqlClient.SqlClient, sql)
    return Texts.fromStorage(storage, { place: placeOf(sql.config), lease })
  }
)

/** The store. Its table is created if it does not exist. */
export const layer: Layer.Layer<TokenStore.TokenStore, SqlError, PgClient.PgClient> = Layer.effect(
  TokenStore.TokenStore,
  make()
)

/** An address without the user and the password. */
const placeOf = ({ database = "", host = "localhost", port = 5432, url }: PgClient.PgClientConfig): string => {
  if (url === undefined || !URL.canParse(Redacted.value(url))) return `postgres://${host}:${port}/${database}`
  const { host: authority, pathname } = new URL(Redacted.value(url))
  return `postgres://${authority}${pathname}`
}

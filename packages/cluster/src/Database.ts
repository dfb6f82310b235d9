/** The database that an address leads to: `postgres://…` for many machines, `sqlite:FILE` for one. */
import * as PgClient from "@effect/sql-pg/PgClient"
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Sqlite from "./Sqlite.ts"

/** A database, and how many can work with it. */
export type Database =
  | { readonly _tag: "Postgres"; readonly url: Redacted.Redacted }
  | { readonly _tag: "Sqlite"; readonly path: string }

/** Checks an address without showing it: it may hold a password. */
export const parse = (address: Redacted.Redacted): Effect.Effect<Database, InvalidSettings> => {
  const url = Redacted.value(address)
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return Effect.succeed({ _tag: "Postgres", url: address })
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/s.exec(url)?.[1]
  return path === undefined
    ? Effect.fail(
      new InvalidSettings({
        setting: "cluster",
        rule: "must be postgres://user@host/database, or sqlite:FILE for this machine alone"
      })
    )
    : Effect.succeed({ _tag: "Sqlite", path })
}

/** Whether an address holds a password, which a command line would show to everybody on the machine. */
export const hasPassword = (address: Redacted.Redacted): boolean => {
  const url = Redacted.value(address)
  return URL.canParse(url) && (new URL(url).password !== "" || new URL(url).searchParams.has("password"))
}

/** The client of a database. */
export const layer = (database: Database): Layer.Layer<SqlClient, SqlError> =>
  database._tag === "Sqlite" ? Sqlite.layer({ path: database.path }) : layerPostgres(database)

/** The client of a PostgreSQL, with what only that can do. */
export const layerPostgres = (
  { url }: { readonly url: Redacted.Redacted }
): Layer.Layer<PgClient.PgClient | SqlClient, SqlError> =>
  PgClient.layer({
    url,
    applicationName: "postwire",
    // A machine that freezes in the middle of a transaction must not hold up the others.
    startupParameters: { idle_in_transaction_session_timeout: "4000" },
    maxConnections: 10,
    connectTimeout: "5 seconds",
    // A connection that only listens has to notice that the server is gone.
    keepAlive: "10 seconds"
  })

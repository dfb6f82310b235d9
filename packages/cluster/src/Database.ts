/** The database of an address: `postgres://…` for many machines, `sqlite:FILE` for one. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Sqlite from "@postwire/archive/copy/Sqlite"
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** A database. */
export type Database =
  | { readonly _tag: "Postgres"; readonly url: Redacted.Redacted }
  | { readonly _tag: "Sqlite"; readonly path: string }

/** Parses an address without showing it: it may contain a password. */
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

/** Tests whether an address contains a password, which a command line would show to all users of the machine. */
export const hasPassword = (address: Redacted.Redacted): boolean => {
  const url = Redacted.value(address)
  return URL.canParse(url) && (new URL(url).password !== "" || new URL(url).searchParams.has("password"))
}

/** The client of a database. */
export const layer = (database: Database): Layer.Layer<SqlClient, SqlError> =>
  database._tag === "Sqlite" ? Sqlite.layer({ path: database.path }) : layerPostgres(database)

/** The client of a PostgreSQL database, with its specific features. */
export const layerPostgres = (
  { schema, url }: { readonly url: Redacted.Redacted; readonly schema?: string | undefined }
): Layer.Layer<PgClient.PgClient | SqlClient, SqlError> =>
  PgClient.layer({
    url,
    applicationName: "postwire",
    // A machine that freezes during a transaction must not block the others.
    startupParameters: {
      idle_in_transaction_session_timeout: "4000",
      ...schema === undefined ? {} : {
        search_path: `"${schema}"`,
        // The lock of a copy is released soon after a machine is cut off.
        tcp_keepalives_idle: "5",
        tcp_keepalives_interval: "2",
        tcp_keepalives_count: "3"
      }
    },
    maxConnections: schema === undefined ? 10 : 3,
    connectTimeout: "5 seconds",
    // A connection that only listens has to detect that the server is gone.
    keepAlive: "10 seconds"
  })

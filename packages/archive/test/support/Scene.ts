/** What tests of copies share: a folder, a sandbox on a port, a client that counts what it spends. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Spend from "@postwire/core/spend/Spend"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe } from "vitest"
import { missing, type Postgres, postgres } from "../../../cluster/test/support/Postgres.ts"
import * as Copy from "../../src/copy/Copy.ts"
import type { Dialect } from "../../src/copy/Layout.ts"

export const start = Date.UTC(2026, 10, 20, 12)

export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-archive-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

export const sandbox = (posts = 300) => Sandbox.layerServer({ posts, start })

/** A client of the seeded user. */
export const client = (spending: Spend.Settings = {}) =>
  Layer.unwrap(
    Effect.map(Sandbox.Sandbox, ({ baseUrl, seeded }) =>
      NodeClient.layer({ baseUrl, bearerToken: seeded.userBearerToken, appBearerToken: seeded.appBearerToken }).pipe(
        Layer.provide(Spend.layer(spending))
      ))
  )

/** The copy in a file. */
export const copy = (path: string) => Copy.layerSqlite(path)

/** The rows of a query of the copy in a file. */
export const rows = (path: string, query: string): ReadonlyArray<Record<string, unknown>> => {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database.prepare(query).all().map((row) => ({ ...row }))
  } finally {
    database.close()
  }
}

/** A copy, to be opened by each effect that it is provided to. */
export type Place = ReturnType<typeof Copy.layerSqlite>

/** Defines tests with copies in SQLite, and in PostgreSQL where it is installed. `place` makes a new copy. */
export const onEach = (
  title: string,
  define: (place: Effect.Effect<Place, never, Scope.Scope>, dialect: Dialect) => void
): void => {
  describe(`${title}, in SQLite`, () => {
    define(Effect.map(folder, (path) => Copy.layerSqlite(join(path, "own.sqlite"))), "sqlite")
  })
  const skipped = missing === undefined ? "" : `: skipped, it ${missing}`
  describe.skipIf(missing !== undefined)(`${title}, in PostgreSQL${skipped}`, () => {
    let server: Postgres
    beforeAll(async () => {
      server = await postgres()
    })
    afterAll(() => server[Symbol.asyncDispose]())
    let schemas = 0
    define(Effect.sync(() => inSchema(server.url, `own_${++schemas}`)), "pg")
  })
}

/** The copy in a schema of a PostgreSQL database. */
export const inSchema = (url: string, schema: string): Place =>
  Layer.provideMerge(
    Copy.layer(schema),
    PgClient.layer({ url: Redacted.make(`${url}?options=-c%20search_path%3D${schema}`) })
  )

/** The rows of a query in a copy. */
export const rowsIn = (place: Place, query: string) =>
  Copy.Current.use(({ sql }) => sql.unsafe<Record<string, unknown>>(query)).pipe(
    Effect.map((found) => found.map((row) => ({ ...row }))),
    Effect.provide(place)
  )

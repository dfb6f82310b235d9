import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import type { StorageFailure } from "@postwire/core/errors/Errors"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import { Context, Effect, Layer, Redacted } from "effect"
import { inspect } from "node:util"
import { afterAll, beforeAll } from "vitest"
import { contention, contract, type Kind, sharing } from "../../node/test/support/TokenStores.ts"
import * as Database from "../src/Database.ts"
import * as PostgresTokenStore from "../src/PostgresTokenStore.ts"
import { missing, type Postgres, postgres } from "./support/Postgres.ts"

const title = missing === undefined ? "accounts in PostgreSQL" : `accounts in PostgreSQL: skipped, it ${missing}`

describe.skipIf(missing !== undefined)(title, () => {
  let server: Postgres
  let databases = 0
  beforeAll(async () => {
    server = await postgres()
    await Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(PgClient.PgClient, (sql) =>
          Effect.forEach(
            Array.from({ length: 12 }, (_, index) => index + 1),
            (index) => sql.unsafe(`CREATE DATABASE accounts_${index} STRATEGY file_copy`)
          ))
      ).pipe(
        Effect.provide(Database.layerPostgres({ url: Redacted.make(server.url) }))
      )
    )
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const place = () => server.url.replace(/[^/]*$/, `accounts_${++databases}`)

  const clientOf = (url: string, maxConnections: number, options?: Partial<PgClient.PgPoolConfig>) =>
    PgClient.layer({ url: Redacted.make(url), maxConnections, connectTimeout: "5 seconds", ...options })

  const kind: Kind = {
    place,
    // A pool of one connection, which a lock must not keep.
    layer: (url) => Layer.provide(PostgresTokenStore.layer, clientOf(url, 1)),
    program: new URL("support/incrementer.ts", import.meta.url),
    lease: 1_000
  }
  contract(kind)
  sharing(kind)
  contention(kind)

  const storeOf = (url: string, options?: Partial<PgClient.PgPoolConfig>) =>
    Effect.map(
      Layer.build(Layer.fresh(PostgresTokenStore.layer.pipe(Layer.provideMerge(clientOf(url, 2, options))))),
      (context) => ({
        store: Context.get(context, TokenStore.TokenStore),
        sql: Context.get(context, PgClient.PgClient)
      })
    )

  it.live("are saved even if a transaction of the caller fails", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* storeOf(place())
      yield* Effect.flip(sql.withTransaction(Effect.andThen(store.write("ada", "renewed"), Effect.fail("undone"))))
      assert.strictEqual(yield* store.read("ada"), "renewed")
    }))

  it.live("are told to be away, or not for us, or without room, and passwords are not", () =>
    Effect.gen(function*() {
      const url = place()
      const { sql, store } = yield* storeOf(url.replace("postwire@", "postwire:canary-password@"))
      yield* store.write("ada", "canary-text")
      const place_ = `account ada in ${url.replace("postwire@", "")}`
      assert.strictEqual(store.describe("ada"), place_)
      const said = (error: StorageFailure) => error.message.replace(place_, "P")

      yield* sql`CREATE ROLE reader LOGIN`
      yield* sql`GRANT SELECT ON postwire_accounts_2 TO reader`
      const reader = yield* storeOf(url.replace("postwire@", "reader@"))
      assert.strictEqual(yield* reader.store.read("ada"), "canary-text")
      const forbidden = yield* Effect.flip(reader.store.write("ada", "b"))
      const ours =
        "it is not ours to use (The user may not do this in the database). Give this user the right to read " +
        "and write it."
      assert.strictEqual(said(forbidden), `The token store P cannot be locked: ${ours}`)
      const standby = yield* storeOf(url, { startupParameters: { default_transaction_read_only: "on" } })
      assert.deepInclude(yield* Effect.flip(standby.store.write("ada", "b")), {
        fault: "forbidden",
        detail: "The database only reads, as a standby does"
      })
      yield* sql.unsafe(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`)
      yield* sql`CREATE TRIGGER full_disk BEFORE UPDATE ON postwire_accounts_2 FOR EACH ROW EXECUTE FUNCTION full_disk()`
      assert.strictEqual(
        said(yield* Effect.flip(store.write("ada", "b"))),
        "The token store P cannot be written: it is full (The disk of the database is full). Make room, then try again: " +
          "nothing was lost."
      )
      yield* sql`DROP TRIGGER full_disk ON postwire_accounts_2`

      yield* sql`ALTER ROLE reader NOLOGIN`
      const refused = yield* Effect.flip(storeOf(url.replace("postwire@", "reader:canary-password@")))
      yield* sql`ALTER TABLE postwire_accounts_2 RENAME TO elsewhere`
      const gone = yield* Effect.flip(store.read("ada"))
      assert.strictEqual(
        said(gone),
        "The token store P cannot be read: it is unavailable (Tables of the database are missing). Check its place and " +
          "that it can be reached."
      )
      yield* sql`ALTER TABLE elsewhere RENAME TO postwire_accounts_2`
      server.stop()
      const away = yield* Effect.all([
        Effect.flip(store.read("ada")),
        Effect.flip(store.names),
        Effect.flip(Effect.scoped(store.lock("ada"))),
        Effect.flip(store.write("ada", "canary-text"))
      ])
      for (const error of away) assert.strictEqual(error.fault, "unavailable", error.message)
      assert.strictEqual(
        said(away[0]),
        "The token store P cannot be read: it is unavailable (The database does not answer). Check its place and that it " +
          "can be reached."
      )
      server.start()
      assert.strictEqual(yield* store.read("ada"), "canary-text")
      yield* store.write("ada", "after")
      const shown = [store, forbidden, gone, refused, ...away].map((value) =>
        inspect(value, { depth: 9, showHidden: true })
      )
      assert.notInclude(shown.join(), "canary")
    }))
})

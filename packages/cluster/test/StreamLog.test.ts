import { assert, describe, it } from "@effect/vitest"
import * as StreamLog from "@postwire/core/streams/shared/StreamLog"
import { Effect, Layer, Redacted } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { suite } from "../../core/test/support/StreamLogs.ts"
import { layerPostgres } from "../src/Database.ts"
import * as PostgresStreamLog from "../src/PostgresStreamLog.ts"
import * as Postgres from "./support/Postgres.ts"

suite(
  "in PostgreSQL",
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(Postgres.postgres),
        (server) => Effect.promise(async () => await server[Symbol.asyncDispose]())
      ),
      ({ url }) => PostgresStreamLog.layer.pipe(Layer.provide(layerPostgres({ url: Redacted.make(url) })))
    )
  ),
  { skip: Postgres.missing !== undefined }
)

describe.skipIf(Postgres.missing !== undefined)("a log in PostgreSQL", () => {
  it.live("moves a cursor with the transaction that it is moved in", () =>
    Effect.gen(function*() {
      const server = yield* Effect.acquireRelease(
        Effect.promise(Postgres.postgres),
        (server) => Effect.promise(async () => await server[Symbol.asyncDispose]())
      )
      const database = layerPostgres({ url: Redacted.make(server.url) })
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const log = yield* StreamLog.StreamLog
        yield* sql`CREATE TABLE work (id text)`
        const lease = yield* log.acquire({ stream: "a", consumer: "b" }, "one", 60_000)
        if (lease._tag !== "Held") return assert.fail("nobody else has it")
        const work = (position: number) =>
          sql.withTransaction(Effect.andThen(
            sql`INSERT INTO work VALUES (${String(position)})`,
            log.commit("a", "b", lease.token, { position, at: position })
          ))
        yield* work(1)
        const failed = yield* Effect.flip(sql.withTransaction(Effect.andThen(work(2), Effect.fail("undone"))))
        assert.strictEqual(failed, "undone")
        assert.deepStrictEqual(yield* log.cursor("a", "b"), { position: 1, at: 1 })
        assert.deepStrictEqual(yield* sql`SELECT id FROM work`, [{ id: "1" }])
        // Who has lost the place has not done the work either.
        yield* log.release({ stream: "a", consumer: "b" }, lease.token)
        yield* log.acquire({ stream: "a", consumer: "b" }, "other", 60_000)
        assert.instanceOf(yield* Effect.flip(work(3)), StreamLog.LeaseLost)
        assert.deepStrictEqual(yield* sql`SELECT id FROM work`, [{ id: "1" }])
      }).pipe(Effect.provide(Layer.provideMerge(PostgresStreamLog.layer, database)))
    }))
})

import { Effect, Layer, Redacted } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { aged, Aging, agingMillis, suite } from "../../core/test/support/SpendStores.ts"
import { layerPostgres } from "../src/Database.ts"
import * as PostgresSpendStore from "../src/PostgresSpendStore.ts"
import * as Postgres from "./support/Postgres.ts"

const aging = Layer.effect(
  Aging,
  Effect.map(
    SqlClient.SqlClient,
    (sql) =>
      Effect.orDie(Effect.gen(function*() {
        const rows = yield* sql<{ readonly key: string; readonly text: string }>`
          SELECT key, text FROM postwire_texts_1 WHERE key LIKE '%:open'`
        for (const { key, text } of rows) {
          yield* sql`UPDATE postwire_texts_1 SET text = ${aged(text, agingMillis)} WHERE key = ${key}`
        }
      }))
  )
)

suite(
  "in PostgreSQL",
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(Postgres.postgres),
        (server) => Effect.promise(async () => await server[Symbol.asyncDispose]())
      ),
      ({ url }) =>
        Layer.merge(PostgresSpendStore.layer, aging).pipe(Layer.provide(layerPostgres({ url: Redacted.make(url) })))
    )
  ),
  { skip: Postgres.missing !== undefined }
)

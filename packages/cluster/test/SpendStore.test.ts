import { Effect, Layer, Redacted } from "effect"
import { suite } from "../../core/test/support/SpendStores.ts"
import { layerPostgres } from "../src/Database.ts"
import * as PostgresSpendStore from "../src/PostgresSpendStore.ts"
import * as Postgres from "./support/Postgres.ts"

suite(
  "in PostgreSQL",
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(Postgres.postgres),
        (server) => Effect.promise(async () => await server[Symbol.asyncDispose]())
      ),
      ({ url }) => PostgresSpendStore.layer.pipe(Layer.provide(layerPostgres({ url: Redacted.make(url) })))
    )
  ),
  { skip: Postgres.missing !== undefined }
)

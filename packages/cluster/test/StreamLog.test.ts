import { Effect, Layer, Redacted } from "effect"
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

import { Effect, Layer, Redacted, Scope } from "effect"
import { Clients, suite } from "../../core/test/support/Storages.ts"
import { layerPostgres } from "../src/Database.ts"
import * as PostgresStorage from "../src/internal/postgresStorage.ts"
import * as Postgres from "./support/Postgres.ts"

suite(
  "in PostgreSQL",
  Layer.effect(
    Clients,
    Effect.map(
      Effect.all([
        Effect.scope,
        Effect.acquireRelease(
          Effect.promise(Postgres.postgres),
          (server) => Effect.promise(async () => await server[Symbol.asyncDispose]())
        )
      ]),
      ([scope, { url }]) =>
        Effect.flatMap(
          Layer.build(layerPostgres({ url: Redacted.make(url) })),
          (context) => Effect.provide(PostgresStorage.make(), context)
        ).pipe(Effect.provideService(Scope.Scope, scope), Effect.orDie)
    )
  ),
  { skip: Postgres.missing !== undefined }
)

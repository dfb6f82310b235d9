import { afterAll } from "@effect/vitest"
import { Effect, Layer, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Clients, suite } from "../../core/test/support/Storages.ts"
import * as RedisConnection from "../src/internal/redisConnection.ts"
import * as RedisStorage from "../src/internal/redisStorage.ts"
import * as SqliteStorage from "../src/internal/sqliteStorage.ts"
import * as RedisServer from "./support/RedisServer.ts"

const folder = mkdtempSync(join(tmpdir(), "postwire-storage-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

suite(
  "in SQLite",
  Layer.effect(
    Clients,
    Effect.map(Effect.scope, (scope) =>
      SqliteStorage.make({
        path: join(folder, "storage.db"),
        synchronous: "OFF",
        setting: "storage"
      }).pipe(Effect.provideService(Scope.Scope, scope), Effect.orDie))
  )
)

suite(
  "in Redis",
  Layer.effect(
    Clients,
    Effect.map(
      Effect.all([
        Effect.scope,
        Effect.acquireRelease(
          Effect.promise(() => RedisServer.start()),
          (redis) => Effect.promise(() => redis.stop())
        )
      ]),
      ([scope, { url }]) =>
        RedisConnection.connectionOf(url, "storage").pipe(
          Effect.map((redis) => RedisStorage.make(redis)),
          Effect.provideService(Scope.Scope, scope),
          Effect.orDie
        )
    )
  ),
  { skip: !RedisServer.isInstalled }
)

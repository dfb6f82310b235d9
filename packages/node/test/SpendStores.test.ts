import { afterAll } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { suite } from "../../core/test/support/SpendStores.ts"
import * as RedisSpendStore from "../src/RedisSpendStore.ts"
import * as SqliteSpendStore from "../src/SqliteSpendStore.ts"
import * as RedisServer from "./support/RedisServer.ts"

const folder = mkdtempSync(join(tmpdir(), "postwire-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

suite("in SQLite", SqliteSpendStore.layer({ path: join(folder, "spend.db") }))

suite(
  "in Redis",
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(Effect.promise(() => RedisServer.start()), (redis) => Effect.promise(() => redis.stop())),
      ({ url }) => RedisSpendStore.layerUrl({ url })
    )
  ),
  { skip: !RedisServer.isInstalled }
)

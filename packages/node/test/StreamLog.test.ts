import { Effect, Layer } from "effect"
import { suite } from "../../core/test/support/StreamLogs.ts"
import * as RedisStreamLog from "../src/RedisStreamLog.ts"
import * as RedisServer from "./support/RedisServer.ts"

suite(
  "in Redis",
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(Effect.promise(() => RedisServer.start()), (redis) => Effect.promise(() => redis.stop())),
      ({ url }) => RedisStreamLog.layerUrl({ url })
    )
  ),
  { skip: !RedisServer.isInstalled }
)

import { RateLimit } from "@postwire/core"
import { createClient, fromEnvironment, RateLimited } from "@postwire/node"
import * as RedisRateLimitStore from "@postwire/node/RedisRateLimitStore"
import { Layer } from "effect"
import { setTimeout as sleep } from "node:timers/promises"

// #region wait
await using client = createClient({
  ...fromEnvironment(),
  waitOnRateLimit: true,
  maxWait: 15 * 60_000, // milliseconds that a call may wait in all
  onRateLimit: (change) =>
    change._tag === "Waiting" && console.log("waiting until", change.until, "because of", change.reason)
})
const { rateLimit } = await client.getUser({ username: "ada" })
console.log(rateLimit?.remaining, "of", rateLimit?.limit, "requests remaining")
// #endregion

// #region catch
await using impatient = createClient()
try {
  await impatient.getUser({ username: "ada" })
} catch (error) {
  if (!(error instanceof RateLimited)) throw error
  await sleep(error.retryAfter ?? 60_000)
  await impatient.getUser({ username: "ada" })
}
// #endregion

export const shared = () =>
  // #region redis
  createClient({ ...fromEnvironment(), waitOnRateLimit: true, rateLimitStore: "redis://10.0.0.5" })
// #endregion

// #region layer
export const layerLimits = RateLimit.layerWait({ maxWait: 60_000 }).pipe(
  Layer.provide(RedisRateLimitStore.layerUrl({ url: "redis://10.0.0.5" }))
)
// #endregion

import { RateLimit } from "@postwire/core"
import * as RedisRateLimitStore from "@postwire/node/RedisRateLimitStore"
import { Layer } from "effect"

// #region catch
import { createClient, RateLimited } from "@postwire/node"
import { setTimeout as sleep } from "node:timers/promises"

await using impatient = createClient()
const getAda = () => impatient.getUser({ username: "ada" })

const { data: ada } = await getAda().catch(async (error: unknown) => {
  if (!(error instanceof RateLimited)) throw error
  const untilReset = error.resetAt === undefined ? 15 * 60_000 : Math.max(0, error.resetAt.getTime() - Date.now())
  await sleep(error.retryAfter ?? untilReset)
  return getAda()
})
console.log(ada?.name)
// #endregion

// #region wait
await using client = createClient({
  waitOnRateLimit: true,
  maxWait: 15 * 60_000, // milliseconds that a call may wait in all
  onRateLimit: (change) =>
    change._tag === "Waiting" && console.log("waiting until", change.until, "because of", change.reason)
})
const { rateLimit } = await client.getUser({ username: "ada" })
console.log(rateLimit?.remaining, "of", rateLimit?.limit, "requests remaining")
// #endregion

export const shared = () =>
  // #region redis
  createClient({ waitOnRateLimit: true, rateLimitStore: "redis://10.0.0.5" })
// #endregion

// #region layer
export const layerLimits = RateLimit.layerWait({ maxWait: 60_000 }).pipe(
  Layer.provide(RedisRateLimitStore.layerUrl({ url: "redis://10.0.0.5" }))
)
// #endregion

// Programs that are killed while events arrive lose none of them.
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { type Outcome, prove } from "./support/Kills.ts"
import * as RedisServer from "./support/RedisServer.ts"

const isLong = process.env["POSTWIRE_LONG"] === "1"

const check = (
  { letters, lost, ...outcome }: Outcome,
  { events, hopeless, kills }: { readonly events: number; readonly hopeless: number; readonly kills: number }
) => {
  console.log(JSON.stringify({ ...outcome, letters: letters.length, lost: lost.length }))
  assert.deepStrictEqual(lost, [])
  assert.include(outcome, { kills, wrongSums: 0, disordered: 0 })
  // Those that cannot be handled are listed, and few others: an event during which ten programs were killed may be the reason.
  assert.strictEqual(new Set(letters.map(([uuid]) => uuid)).size, letters.length)
  assert.strictEqual(outcome.handled + letters.length, events)
  assert.isAtLeast(letters.length, hopeless)
  assert.isAtMost(letters.length, 1.5 * hopeless)
}

describe("webhooks whose programs are killed", () => {
  const long = { events: 10_000, kills: 100, hopeless: 10 }
  // Without kills, an event is given up after half a minute.
  const short = { events: 600, kills: 3, hopeless: 0 }
  const burst = isLong ? long : short

  it(`handle every one of ${burst.events} events, with a file and ${burst.kills} kills`, async () => {
    check(await prove({ ...burst, storeIn: (folder) => join(folder, "events.db") }), burst)
  }, 300_000)

  // Debian's package is redis-server.
  it.skipIf(!isLong || !RedisServer.isInstalled)(
    "handle every one of 4,000 events, with Redis and 20 kills",
    async () => {
      const redis = await RedisServer.start()
      try {
        const burst = { events: 4_000, kills: 20, hopeless: 2 }
        check(await prove({ ...burst, storeIn: () => redis.url }), burst)
      } finally {
        await redis.stop()
      }
    },
    300_000
  )
})

/**
 * The proof of shared streams: three processes, of which the one that holds the line is killed again and again. Each consumer
 * gets each post that its rules match exactly once, for it keeps its place with its work, and no gap is left.
 */
import { assert, describe, it } from "@effect/vitest"
import * as RedisServer from "../../node/test/support/RedisServer.ts"
import * as KilledHolders from "./support/KilledHolders.ts"
import * as Postgres from "./support/Postgres.ts"

const isLong = process.env["POSTWIRE_LONG"] === "1"

const kills = Number(process.env["POSTWIRE_KILLS"] ?? 3)

const prove = async (log: string, place: string) => {
  const { connects, gaps, reads, takeOvers } = await KilledHolders.run(log, kills)
  const seconds = takeOvers.map((millis) => (millis / 1_000).toFixed(1))
  console.log(JSON.stringify({
    place,
    kills,
    takeOverSeconds: seconds,
    connects,
    posts: reads.map(({ consumer, got, wanted }) => `${consumer} ${got.length} of ${wanted.length}`)
  }))
  assert.strictEqual(gaps, 0)
  for (const { consumer, got, wanted } of reads) {
    assert.isNotEmpty(wanted)
    assert.deepStrictEqual([...got].sort(), [...wanted].sort(), consumer)
  }
  assert.isBelow(Math.max(...takeOvers), 30_000)
}

describe.runIf(isLong)("holders that are killed: npm run test:long", () => {
  it.skipIf(!RedisServer.isInstalled)("nothing is lost and nothing comes twice, in Redis", async () => {
    const redis = await RedisServer.start()
    try {
      await prove(redis.url, "Redis")
    } finally {
      await redis.stop()
    }
  }, 300_000)

  it.skipIf(Postgres.missing !== undefined)("nothing is lost and nothing comes twice, in PostgreSQL", async () => {
    await using server = await Postgres.postgres()
    await prove(server.url, "PostgreSQL")
  }, 300_000)
})

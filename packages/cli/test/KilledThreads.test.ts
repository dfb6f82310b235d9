import { assert, describe, it } from "@effect/vitest"
import { randomInt } from "node:crypto"
import * as KilledThreads from "./support/KilledThreads.ts"

/** What was drawn before can be drawn again. */
const seed = Number(process.env["POSTWIRE_SEED"] ?? randomInt(2 ** 31))

const isLong = process.env["POSTWIRE_LONG"] === "1"

const kills = Number(process.env["POSTWIRE_KILLS"] ?? 40)

describe.runIf(isLong)("publishers of threads that are killed: npm run test:long", () => {
  it(`post each part of each thread once, after ${kills} kills (POSTWIRE_SEED=${seed})`, async () => {
    const { threads, ...figures } = await KilledThreads.run(kills, seed)
    for (const { parts, stands } of threads) {
      assert.deepStrictEqual(stands.texts, parts.map(({ text }) => text))
      assert.isTrue(stands.isChain)
      assert.strictEqual(stands.photos, parts.filter(({ photo }) => photo !== undefined).length)
    }
    assert.isAtLeast(figures.kills, kills)
    console.log(JSON.stringify({ threads: threads.length, ...figures }))
  }, 300_000)
})

import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { randomInt } from "node:crypto"
import * as Proof from "./support/streams/Proof.ts"

/** What was drawn before can be drawn again. */
const seed = Number(process.env["POSTWIRE_SEED"] ?? randomInt(2 ** 31))

/** With `POSTWIRE_POSTS=1000000`, an hour of posts. */
const posts = Number(process.env["POSTWIRE_POSTS"] ?? 60_000)
const perSecond = 1_000_000 / 3_600
const pace = Number(process.env["POSTWIRE_PACE"] ?? 10)

const isLong = process.env["POSTWIRE_LONG"] === "1"

/** Others are only looked at: `POSTWIRE_FOLLOWER=tweepy`. */
const follower = Proof.followers.find((name) => name === process.env["POSTWIRE_FOLLOWER"]) ?? "postwire"

const python = ["python3", "/usr/bin/python3"].find((command) =>
  spawnSync(command, ["-c", "import tweepy"], { stdio: "ignore" }).status === 0
)

describe.runIf(isLong)("a stream on which everything goes wrong: npm run test:long", () => {
  it(`brings ${posts} posts, each once or in a gap that is told (POSTWIRE_SEED=${seed})`, async () => {
    const outcome = await Proof.prove({ follower, seed, posts, perSecond, pace, recover: "recovery", python })
    const consumers = Object.fromEntries(
      Object.entries(outcome.consumers).map(([name, { lost, ...rest }]) => [name, { ...rest, lost: lost.length }])
    )
    console.log(JSON.stringify({ follower, ...outcome, consumers }, undefined, 1))
    if (follower !== "postwire") return
    assert.hasAllKeys(consumers, ["all", "german", "words", "tags"])
    for (const consumer of Object.values(consumers)) {
      assert.include(consumer, { lost: 0, duplicated: 0, foreign: 0 })
      assert.strictEqual(consumer.received + consumer.missing, consumer.matched)
    }
    assert.isBelow(outcome.mostConnects, 50)
  }, 3_600_000)
})

import { assert, describe, it } from "@effect/vitest"
import { randomInt } from "node:crypto"
import * as KilledLists from "./support/KilledLists.ts"

/** What was drawn before can be drawn again. */
const seed = Number(process.env["POSTWIRE_SEED"] ?? randomInt(2 ** 31))

const isLong = process.env["POSTWIRE_LONG"] === "1"

const kills = Number(process.env["POSTWIRE_KILLS"] ?? 15)

describe.runIf(isLong)("changes of lists that are killed: npm run test:long", () => {
  it(`are made, each once but for those under way, after ${kills} kills (POSTWIRE_SEED=${seed})`, async () => {
    const lists = await KilledLists.run(kills, seed)
    for (const { changes, desired, differences, kills, lost, members } of lists) {
      assert.sameMembers([...members], [...desired])
      // Every difference once; one more for each that was killed before it was noted.
      assert.isAtLeast(changes + lost, differences)
      assert.isAtMost(changes, differences + kills)
    }
    const sum = (of: "kills" | "differences" | "changes" | "lost") => lists.reduce((sum, list) => sum + list[of], 0)
    assert.isAtLeast(sum("kills"), kills)
    console.log(JSON.stringify({
      lists: lists.length,
      kills: sum("kills"),
      differences: sum("differences"),
      changes: sum("changes"),
      lost: sum("lost")
    }))
  }, 600_000)
})

import { assert, describe, it } from "@effect/vitest"
import { randomInt } from "node:crypto"
import { places } from "./support/AccountPlaces.ts"
import { names } from "./support/AccountStores.ts"
import * as Renewals from "./support/Renewals.ts"

/** What was drawn before can be drawn again. */
const seed = Number(process.env["POSTWIRE_SEED"] ?? randomInt(2 ** 31))

const isLong = process.env["POSTWIRE_LONG"] === "1"

/** One of so many requests at most can have been answered to a process that was killed. */
const assertRenewedOnce = ({ answered, kills, refreshes, replays, requests }: Renewals.Expiry) => {
  assert.strictEqual(refreshes, 1)
  assert.isAtLeast(answered, 1)
  assert.isAtMost(answered, 1 + kills)
  assert.isAtMost(replays, requests - 1)
}

const assertAlive = ({ errors, expiries, grant }: Renewals.Outcome) => {
  assert.strictEqual(errors, "")
  assert.isTrue(grant?.alive)
  assert.deepStrictEqual([grant?.refreshes, grant?.reuseDetected], [expiries.length, 0])
}

describe.runIf(isLong)("processes that share an account: npm run test:long", () => {
  for (const name of names) {
    const { missing, start } = places[name]
    it.skipIf(missing !== undefined)(
      `renew it once per expiry through ${name}, whatever goes wrong${
        missing === undefined ? ` (POSTWIRE_SEED=${seed})` : `: skipped, it ${missing}`
      }`,
      async () => {
        await using place = await start()
        const outcome = await Renewals.run({ store: name, place: place.address, seed })
        assert.strictEqual(outcome.expiries.length, 11)
        for (const expiry of outcome.expiries) {
          assertRenewedOnce(expiry)
          const needless = expiry.failed.filter((error) =>
            !expiry.mayFail || !/^(ServerFailure|TransportFailure): OAuth2.refresh: /.test(error)
          )
          assert.deepStrictEqual(needless, [], expiry.fault)
        }
        assertAlive(outcome)
      },
      300_000
    )
  }

  it("of which one makes two thousand calls at an expiry renew it once", async () => {
    await using place = await places.file.start()
    const outcome = await Renewals.burst({ store: "file", place: place.address, seed }, 2_000)
    for (const expiry of outcome.expiries) {
      assertRenewedOnce(expiry)
      assert.deepStrictEqual([expiry.requests, expiry.calls, expiry.failed], [1, 2_000, []])
    }
    assert.strictEqual(outcome.expiries[0]?.refused, 0)
    assertAlive(outcome)
  }, 300_000)
})

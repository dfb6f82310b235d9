/**
 * Eight processes that share an account while its tokens expire ten times, requests for others go wrong, and processes are
 * killed; then many calls of one process at an expiry.
 */
import { places } from "../../../packages/cli/test/support/AccountPlaces.ts"
import { names } from "../../../packages/cli/test/support/AccountStores.ts"
import * as Renewals from "../../../packages/cli/test/support/Renewals.ts"
import * as Rounds from "../Rounds.ts"

const seed = 2026

/** What a run showed: the sums over its expiries. */
const reading = ({ expiries, grant }: Renewals.Outcome, begun: number): Rounds.Reading => {
  const sum = (of: (expiry: Renewals.Expiry) => number) => expiries.reduce((sum, expiry) => sum + of(expiry), 0)
  if (grant?.alive !== true || grant.reuseDetected > 0) throw new Error("The login is lost.")
  return {
    failed: sum(({ failed }) => failed.length),
    calls: sum(({ calls }) => calls),
    refreshes: grant.refreshes,
    replays: grant.replays,
    killed: sum(({ kills }) => kills),
    time: (performance.now() - begun) * 1000
  }
}

const run = async (bench: Rounds.Bench): Promise<void> => {
  // Redis waits ten seconds for each process that is killed with the lock.
  const chosen = bench.sections.includes("accounts") ? names : names.slice(0, 1)
  for (const [i, name] of chosen.entries()) {
    const { missing, start } = places[name]
    if (missing !== undefined) {
      console.error(`Without ${name}: it ${missing}.`)
      continue
    }
    await using place = await start()
    const begun = performance.now()
    let done = 0
    const tell = () => bench.say(`accounts: ${name}, expiry ${++done}`, (i + done / 11) / (chosen.length + 1))
    const outcome = await Renewals.run({ store: name, place: place.address, seed }, tell)
    const at = { section: "accounts", scenario: "eight processes, ten expiries" }
    bench.add(...Rounds.rowsOf(at, new Map([[name, [reading(outcome, begun)]]])))
  }
  const calls = bench.sections.includes("accounts") && bench.rounds === undefined ? 10_000 : 1_000
  bench.say(`accounts: ${calls} calls of one process`, 0.9)
  await using place = await places.file.start()
  const begun = performance.now()
  const outcome = await Renewals.burst({ store: "file", place: place.address, seed }, calls)
  const at = { section: "accounts", scenario: `${calls.toLocaleString("en")} calls of one process at an expiry` }
  bench.add(...Rounds.rowsOf(at, new Map([["file", [reading(outcome, begun)]]])))
}

export const section: Rounds.Section = { name: "accounts", seconds: 200, fullSeconds: 40, isExtra: true, run }

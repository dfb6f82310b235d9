/**
 * Eight processes that share an account while its tokens expire ten times, requests for others go wrong, and processes are killed;
 * then ten thousand calls of one process at an expiry:
 *
 *     pnpm bench:accounts [--store file|redis|postgres] [--seed <n>] [--calls <n>]
 */
import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { places } from "../../packages/cli/test/support/AccountPlaces.ts"
import { names } from "../../packages/cli/test/support/AccountStores.ts"
import * as Renewals from "../../packages/cli/test/support/Renewals.ts"

const { values } = parseArgs({
  options: {
    store: { type: "string" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
    calls: { type: "string", default: "10000" }
  }
})
const seed = Number(values.seed)

const failures = (failed: Renewals.Expiry["failed"]) =>
  failed.length === 0
    ? "0"
    : `${failed.length}: ${[...new Set(failed.map((error) => error.split(":")[0]))].join(", ")}`

const columns: ReadonlyArray<readonly [heading: string, width: number, cell: (expiry: Renewals.Expiry) => string]> = [
  ["clocks", 9, ({ clock }) => clock],
  ["what goes wrong", 29, ({ fault }) => fault],
  ["killed", 8, ({ kills }) => String(kills)],
  ["requests", 10, ({ requests }) => String(requests)],
  ["refreshes", 11, ({ refreshes }) => String(refreshes)],
  ["replays", 9, ({ replays }) => String(replays)],
  ["401s", 7, ({ refused }) => String(refused)],
  ["seconds", 9, ({ seconds }) => seconds.toFixed(1)],
  ["calls", 7, ({ calls }) => String(calls)],
  ["failed", 0, ({ failed }) => failures(failed)]
]

const row = (cells: ReadonlyArray<string>) => console.log(cells.map((cell, i) => cell.padEnd(columns[i]![1])).join(""))

const head = () => row(columns.map(([heading]) => heading))

const tell = (expiry: Renewals.Expiry) => row(columns.map(([, , cell]) => cell(expiry)))

const conclude = ({ errors, expiries, grant }: Renewals.Outcome, begun: number) => {
  console.log(
    `${expiries.length} expiries, ${grant?.refreshes} refreshes, ${grant?.replays} replays, ${grant?.reuseDetected} reuses detected, the login is ${
      grant?.alive === true ? "alive" : "lost"
    }; ${((performance.now() - begun) / 1000).toFixed(1)} s${errors === "" ? "" : `\n${errors}`}`
  )
}

for (const name of names) {
  if (values.store !== undefined && values.store !== name) continue
  const { missing, start } = places[name]
  console.log(`\nEight processes, store: ${name} (--seed ${seed})`)
  if (missing !== undefined) {
    console.log(`It ${missing}.`)
    continue
  }
  await using place = await start()
  const begun = performance.now()
  head()
  conclude(await Renewals.run({ store: name, place: place.address, seed }, tell), begun)
}

const calls = Number(values.calls)
if (calls > 0) {
  console.log(`\n${calls} calls at once of one process`)
  await using place = await places.file.start()
  const begun = performance.now()
  head()
  const outcome = await Renewals.burst({ store: "file", place: place.address, seed }, calls)
  outcome.expiries.forEach(tell)
  conclude(outcome, begun)
}

/**
 * Compares the answers of the sandbox with those that others have recorded (scripts/fixtures/exchanges.json), and writes
 * the counts to docs/parity.json: `pnpm parity`. Exits with 1 if an answer deviates in what is not accepted
 * (scripts/parity/AcceptedDeviations.ts), or an accepted deviation does not exist.
 *
 * `--all` lists accepted deviations with their reasons, too. `--read FILE...` prints the exchanges in collections of Postman
 * (`.json`) and pages of documentation (`.mdx`) instead.
 */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { acceptedDeviations, compare } from "./parity/AcceptedDeviations.ts"
import * as Exchange from "./parity/Exchange.ts"
import * as Parity from "./parity/Parity.ts"
import * as Recordings from "./parity/Recordings.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { all: { type: "boolean", default: false }, read: { type: "boolean", default: false } }
})

if (values.read) process.stdout.write(Exchange.write(Recordings.read(positionals)))
else {
  const measured = await Parity.measure(Exchange.read())
  const { accepted, deviating, stale } = compare(measured, acceptedDeviations)
  for (const { deviations, exchange, operation } of [...deviating, ...values.all ? accepted : []]) {
    console.log(`${operation} (${exchange.from}): ${exchange.method} ${exchange.path}`)
    for (const deviation of deviations) console.log(`    ${deviation}`)
  }
  for (const { deviation, operations = ["all"] } of stale) {
    console.log(`Accepted, but not there (stale): ${deviation} (${operations.join(", ")})`)
  }
  const counts = Parity.counts(measured)
  writeFileSync(new URL("../docs/parity.json", import.meta.url), `${JSON.stringify(counts, null, 2)}\n`)
  console.table(counts)
  process.exitCode = deviating.length + stale.length > 0 ? 1 : 0
}

/**
 * Measures Postwire against bare Undici, twitter-api-v2 and synckit:
 *
 *     pnpm bench [--rounds <n>] [--only <name>]... [--json <file>]
 */
import type { Wire } from "@postwire/core/WireNames"
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as Child from "./Child.ts"
import type { Name } from "./Contenders.ts"
import { type Costs, measure, type Scenario } from "./Measurement.ts"
import * as Report from "./Report.ts"

const scenarios: ReadonlyArray<Scenario> = [
  { workload: "one post", inFlight: 1, count: 3000 },
  { workload: "one post", inFlight: 50, count: 6000 },
  { workload: "100 posts", inFlight: 1, count: 300 },
  { workload: "100 posts", inFlight: 50, count: 350 }
]

/** Contenders on the same bodies, of which the first is what the others are compared with. */
interface Group {
  readonly title: string
  readonly wire: Wire
  readonly baseline: Name
  readonly others: ReadonlyArray<Name>
  readonly scenarios: ReadonlyArray<Scenario>
}

const groups: ReadonlyArray<Group> = [
  {
    title: Report.titles.neutral,
    wire: "neutral",
    baseline: "undici",
    others: ["postwire", "postwire-effect"],
    scenarios
  },
  { title: Report.titles.x, wire: "x", baseline: "undici", others: ["postwire", "twitter-api-v2"], scenarios },
  {
    title: Report.titles.blocking,
    wire: "neutral",
    baseline: "postwire",
    others: ["postwire-sync", "synckit"],
    // A caller that blocks has one request in flight.
    scenarios: scenarios.filter(({ inFlight }) => inFlight === 1)
  }
]

const readOptions = () => {
  const selectable: ReadonlyArray<string> = [...new Set(groups.flatMap(({ others }) => others))]
  const { values } = parseArgs({
    args: process.argv.slice(2).filter((argument) => argument !== "--"),
    options: {
      rounds: { type: "string", default: "10" },
      only: { type: "string", multiple: true, default: [...selectable] },
      json: { type: "string" }
    }
  })
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds must be a whole number from 1.")
  if (!values.only.every((name) => selectable.includes(name))) {
    throw new Error(`--only must be one of ${selectable.join(", ")}.`)
  }
  return { ...values, rounds }
}

const main = async () => {
  const { json, only, rounds } = readOptions()
  const server = await Child.start<never, never>("Server.ts")
  const measured = new Map<string, Costs>()
  for (const { baseline, others, scenarios, title, wire } of groups) {
    const chosen = others.filter((name) => only.includes(name))
    if (chosen.length === 0) continue
    const costs = await measure({
      names: [baseline, ...chosen],
      wire,
      // The server's hello is its port.
      port: server.hello as number,
      scenarios,
      rounds,
      progress: (done) => Report.progress(title, done)
    })
    measured.set(title, costs)
  }
  server.end()
  console.log(Report.format(measured, scenarios, rounds))
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(Report.toJson(measured, rounds), undefined, 2)}\n`)
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})

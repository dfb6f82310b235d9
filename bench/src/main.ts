/**
 * Measures Postwire against bare Undici and the clients that people use today:
 *
 *     pnpm bench [--rounds <n>] [--only <name>]... [--json <file>] [--row]
 *
 * `--row` ends with the line for the history in docs/bench.md.
 */
import type { Wire } from "@postwire/core/WireNames"
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as Child from "./Child.ts"
import type { Name } from "./Contenders.ts"
import { type Answer, type Group, measure, python, type Question, type Scenario } from "./Measurement.ts"
import * as Report from "./Report.ts"

const scenarios: ReadonlyArray<Scenario> = [
  { workload: "one post", inFlight: 1, count: 3000 },
  { workload: "one post", inFlight: 50, count: 6000 },
  { workload: "100 posts", inFlight: 1, count: 300 },
  { workload: "100 posts", inFlight: 50, count: 350 }
]

/** Contenders on the same bodies, of which the first is what the others are compared with. */
interface Plan {
  readonly title: string
  readonly wire: Wire
  readonly baseline: Name
  /** Measured whatever is chosen. */
  readonly controls: ReadonlyArray<Name>
  readonly others: ReadonlyArray<Name>
  readonly scenarios: ReadonlyArray<Scenario>
}

const plans: ReadonlyArray<Plan> = [
  {
    title: Report.titles.neutral,
    wire: "neutral",
    baseline: "undici",
    controls: ["undici again"],
    others: ["dispatch", "postwire", "postwire-effect", "postwire-oauth1"],
    scenarios
  },
  {
    title: Report.titles.x,
    wire: "x",
    baseline: "undici",
    controls: ["undici again"],
    others: ["postwire", "fetch", "twitter-api-v2", "xdk", ...(python === undefined ? [] : ["tweepy" as const])],
    scenarios
  },
  {
    title: Report.titles.blocking,
    wire: "neutral",
    baseline: "postwire",
    controls: ["undici", "undici again", "bare pair"],
    others: ["postwire-sync", "synckit"],
    // A caller that blocks has one request in flight.
    scenarios: scenarios.filter(({ inFlight }) => inFlight === 1)
  }
]

const readOptions = () => {
  const selectable: ReadonlyArray<string> = [...new Set(plans.flatMap(({ others }) => others))]
  const { values } = parseArgs({
    args: process.argv.slice(2).filter((argument) => argument !== "--"),
    options: {
      rounds: { type: "string", default: "10" },
      only: { type: "string", multiple: true, default: [...selectable] },
      json: { type: "string" },
      row: { type: "boolean", default: false }
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
  const { json, only, rounds, row } = readOptions()
  if (python === undefined) console.error("Without tweepy: no python3 here can import it.")
  const server = await Child.start<Question, Answer>("Server.ts")
  const measured = new Map<string, Group>()
  for (const { baseline, controls, others, scenarios, title, wire } of plans) {
    const chosen = others.filter((name) => only.includes(name))
    if (chosen.length === 0) continue
    const group = await measure({
      names: [baseline, ...controls, ...chosen],
      wire,
      server,
      // The server's hello is its port.
      port: server.hello as number,
      scenarios,
      rounds,
      say: (what) => Report.progress(title, what)
    })
    measured.set(title, group)
  }
  server.end()
  console.log(Report.format(measured, scenarios, rounds))
  if (row) console.log(`\n${Report.row(measured)}`)
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(Report.toJson(measured, rounds), undefined, 2)}\n`)
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})

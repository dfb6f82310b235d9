/** Measures Postwire against bare Undici and the clients that people use today; `--help` says how. */
import type { WireName } from "@postwire/core/schema/WireName"
import { existsSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import * as Child from "./Child.ts"
import { earlier, isEarlier, type Name } from "./Contenders.ts"
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
  readonly wire: WireName
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
    others: ["dispatch", "postwire", "postwire before", "postwire-effect", "effect before", "postwire-oauth1"],
    scenarios
  },
  {
    title: Report.titles.x,
    wire: "x",
    baseline: "undici",
    controls: ["undici again"],
    others: [
      "postwire",
      "postwire before",
      "fetch",
      "twitter-api-v2",
      "xdk",
      ...(python === undefined ? [] : ["tweepy" as const])
    ],
    scenarios
  },
  {
    title: Report.titles.blocking,
    wire: "neutral",
    baseline: "postwire",
    controls: ["undici", "undici again", "bare pair"],
    others: ["postwire-sync", "sync before", "synckit"],
    // A caller that blocks has one request in flight.
    scenarios: scenarios.filter(({ inFlight }) => inFlight === 1)
  }
]

const selectable: ReadonlyArray<string> = [...new Set(plans.flatMap(({ others }) => others))]
  .filter((name) => !(name in earlier))

const help = `pnpm bench [--rounds <n>] [--only <name>]... [--against <folder>] [--json <file>] [--row]

  --rounds   how often all are measured in turn (default 10)
  --only     these contenders beside the baselines (postwire-sync: blocking calls alone):
             ${selectable.slice(0, 6).join(", ")},
             ${selectable.slice(6).join(", ")}
  --against  another checkout of this repository with its dependencies installed, whose
             clients are measured in the same rounds
  --json     writes every figure
  --row      ends with the line for the history in docs/bench.md`

const readOptions = () => {
  const { values } = parseArgs({
    args: process.argv.slice(2).filter((argument) => argument !== "--"),
    options: {
      rounds: { type: "string", default: "10" },
      only: { type: "string", multiple: true, default: [...selectable] },
      against: { type: "string" },
      json: { type: "string" },
      row: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false }
    }
  })
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds must be a whole number from 1.")
  if (!values.only.every((name) => selectable.includes(name))) {
    throw new Error(`--only must be one of ${selectable.join(", ")}.`)
  }
  const before = values.against === undefined ? undefined : resolve(values.against)
  if (before !== undefined && !existsSync(join(before, "packages/sync/node_modules"))) {
    throw new Error(
      `--against must be a checkout of this repository with its dependencies installed, and ${before} is none.\n` +
        "Install them there with: node scripts/bootstrap.mjs node --version"
    )
  }
  return { ...values, rounds, before }
}

const main = async () => {
  const { before, help: asked, json, only, rounds, row } = readOptions()
  if (asked) return console.log(help)
  if (python === undefined) console.error("Without tweepy: no python3 here can import it.")
  const server = await Child.start<Question, Answer>("Server.ts")
  const measured = new Map<string, Group>()
  for (const { baseline, controls, others, scenarios, title, wire } of plans) {
    const chosen = others.filter((name) =>
      isEarlier(name) ? before !== undefined && only.includes(earlier[name]) : only.includes(name)
    )
    if (chosen.length === 0) continue
    const group = await measure({
      names: [baseline, ...controls, ...chosen],
      wire,
      server,
      // The server's hello is its port.
      port: server.hello as number,
      before,
      scenarios,
      rounds,
      say: (what) => Report.progress(title, what)
    })
    measured.set(title, group)
  }
  server.end()
  console.log(Report.format(measured, scenarios, rounds, before))
  if (row) console.log(`\n${Report.row(measured)}`)
  if (json !== undefined) {
    writeFileSync(json, `${JSON.stringify(Report.toJson(measured, rounds, before), undefined, 2)}\n`)
  }
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})

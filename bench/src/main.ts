/**
 * Measures Postwire against bare Undici and against twitter-api-v2:
 *
 *     pnpm bench [--rounds <n>] [--only <name>]... [--json <file>]
 */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as Child from "./Child.ts"
import { type Name, names } from "./Contenders.ts"
import { measure, type Scenario } from "./Measurement.ts"
import * as Report from "./Report.ts"

const scenarios: ReadonlyArray<Scenario> = [
  { workload: "one post", inFlight: 1, count: 4000 },
  { workload: "one post", inFlight: 50, count: 10000 },
  { workload: "100 posts", inFlight: 1, count: 500 },
  { workload: "100 posts", inFlight: 50, count: 600 }
]

/** Contenders on the same bodies. The first of a group is what the others are compared with. */
interface Group {
  readonly title: string
  readonly wire: "neutral" | "x"
  readonly names: readonly [baseline: Name, ...others: ReadonlyArray<Name>]
  readonly scenarios: ReadonlyArray<Scenario>
}

const groups: ReadonlyArray<Group> = [
  { title: "Neutral names", wire: "neutral", names: ["undici", "postwire", "postwire-effect"], scenarios },
  { title: "X's names", wire: "x", names: ["undici", "postwire", "twitter-api-v2"], scenarios },
  {
    title: "Blocking",
    wire: "neutral",
    names: ["postwire", "postwire-sync"],
    scenarios: scenarios.filter(({ inFlight }) => inFlight === 1)
  }
]

const readOptions = () => {
  const { values } = parseArgs({
    args: process.argv.slice(2).filter((argument) => argument !== "--"),
    options: {
      rounds: { type: "string", default: "8" },
      only: { type: "string", multiple: true, default: [...names] },
      json: { type: "string" }
    }
  })
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds must be a whole number from 1")
  const stranger = values.only.find((name) => !names.some((known) => known === name))
  if (stranger !== undefined) throw new Error(`--only must be one of ${names.join(", ")}, and ${stranger} is none`)
  return { ...values, rounds }
}

const { json, only, rounds } = readOptions()
const server = await Child.start("Server.ts")

const measured: Array<Report.Group> = []
for (const { names: [baseline, ...others], scenarios, title, wire } of groups) {
  const wanted = others.filter((name) => only.includes(name))
  if (wanted.length === 0) continue
  const costs = await measure({
    names: [baseline, ...wanted],
    wire,
    port: server.hello as number,
    scenarios,
    rounds,
    progress: (done) => Report.progress(title, done)
  })
  measured.push({ title, costs })
}
server.end()

console.log(Report.format(measured, scenarios, rounds))
if (json !== undefined) writeFileSync(json, `${JSON.stringify(Report.toJson(measured, rounds), undefined, 2)}\n`)

/**
 * Measures Postwire against bare Undici and against twitter-api-v2:
 *
 *   pnpm bench [--rounds <n>] [--only <name>]... [--json <file>]
 */
import { deepStrictEqual } from "node:assert/strict"
import { fork } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as Bodies from "./Bodies.ts"
import * as Contenders from "./Contenders.ts"
import { measure, type Scenario } from "./Measurement.ts"
import * as Report from "./Report.ts"

const names = ["undici", "postwire", "postwire-effect", "postwire-sync", "twitter-api-v2"]

const { only, json, rounds } = (() => {
  const { values } = parseArgs({
    args: process.argv.slice(2).filter((argument) => argument !== "--"),
    options: {
      rounds: { type: "string", default: "15" },
      only: { type: "string", multiple: true, default: names },
      json: { type: "string" }
    }
  })
  const rounds = Number(values.rounds)
  const unknown = values.only.find((name) => !names.includes(name))
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds takes a whole number from 1")
  if (unknown !== undefined) throw new Error(`--only takes one of ${names.join(", ")}, not ${unknown}`)
  return { ...values, rounds }
})()

const server = fork(new URL("./Server.ts", import.meta.url))
const [port] = await once(server, "message") as [number]

const all: ReadonlyArray<Scenario> = [
  { workload: "one post", inFlight: 1, count: 700 },
  { workload: "one post", inFlight: 50, count: 2500 },
  { workload: "100 posts", inFlight: 1, count: 150 },
  { workload: "100 posts", inFlight: 50, count: 300 }
]

/** Contenders on the same bodies; the first of a group is what the others are compared with. */
const groups = [
  {
    title: "Neutral names",
    wire: "neutral",
    scenarios: all,
    contenders: [Contenders.undici("neutral", port), Contenders.promise("neutral", port), Contenders.effect(port)]
  },
  {
    title: "X's names",
    wire: "x",
    scenarios: all,
    contenders: [Contenders.undici("x", port), Contenders.promise("x", port), Contenders.twitterApiV2(port)]
  },
  {
    title: "Blocking",
    wire: "neutral",
    scenarios: all.filter(({ inFlight }) => inFlight === 1),
    contenders: [Contenders.promise("neutral", port), Contenders.sync(port)]
  }
] as const

const measured: Array<Report.Group> = []
for (const [i, { title, scenarios, wire, ...group }] of groups.entries()) {
  const [baseline, ...others] = group.contenders
  const contenders = [baseline, ...others.filter(({ name }) => only.includes(name))]
  if (contenders.length === 1 && !(i === 0 && only.includes("undici"))) continue
  for (const { body, name } of contenders) {
    for (const workload of ["one post", "100 posts"] as const) {
      // Postwire speaks neutral names on both wires, and the others those of the service.
      const names = name.startsWith("postwire") ? "neutral" : wire
      deepStrictEqual(await body(workload), JSON.parse(Bodies.text(names, workload)), `${title}: ${name}, ${workload}`)
    }
  }
  measured.push({
    title,
    costs: await measure(contenders, scenarios, rounds, (done) => Report.progress(title, done))
  })
}

console.log(Report.format(measured, all, rounds))
if (json !== undefined) writeFileSync(json, `${JSON.stringify(Report.toJson(measured, rounds), undefined, 2)}\n`)

server.disconnect()
// The contenders keep their connections.
process.exit()

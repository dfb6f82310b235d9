/** What was measured, as tables of at most 80 columns and as JSON. */
import { readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { cpus } from "node:os"
import type { Name } from "./Contenders.ts"
import { type Cost, type Costs, median, ratio, type Scenario } from "./Measurement.ts"

/** Contenders that were measured together. The first is what the others are compared with. */
export interface Group {
  readonly title: string
  readonly costs: Costs
}

/** Shows how far a group is, where somebody looks. */
export const progress = (title: string, done: number): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done < 1 ? `${title}: ${Math.round(done * 100)} %` : ""}`)
}

/** The tables and the goals. */
export const format = (groups: ReadonlyArray<Group>, scenarios: ReadonlyArray<Scenario>, rounds: number): string =>
  [
    ...environment,
    "",
    `Ratios to the first of each group, medians of ${rounds} rounds`,
    "cpu: CPU time per request, less is better; rps: requests per second, more is better",
    "",
    ...table(groups, scenarios, ["cpu", "rps"], (costs, baseline) => [
      ratio(costs, baseline, "cpu").toFixed(2),
      ratio(baseline, costs, "wall").toFixed(2)
    ]),
    "",
    "For orientation: CPU time per request in microseconds, requests per second",
    "",
    ...table(groups, scenarios, ["us", "rps"], (costs) => [
      median(costs.map(({ cpu }) => cpu)).toFixed(0),
      (1e6 / median(costs.map(({ wall }) => wall))).toFixed(0)
    ]),
    "",
    "Goals",
    ...goals(groups).flatMap(({ figures, goal, met }) => [
      `  ${met ? "met   " : "missed"}  ${goal}`,
      `          ${figures.map((figure) => figure.toFixed(2)).join(", ")}`
    ])
  ].join("\n")

/** The ratios, and the costs of every round in microseconds. */
export const toJson = (groups: ReadonlyArray<Group>, rounds: number): unknown => ({
  environment,
  rounds,
  groups: groups.map(({ costs, title }) => ({
    title,
    contenders: Array.from(costs, ([name, own]) => ({
      name,
      scenarios: Array.from(own, ([scenario, perRound]) => {
        const baseline = baselineOf(costs).get(scenario)!
        return {
          workload: scenario.workload,
          inFlight: scenario.inFlight,
          cpuRatio: ratio(perRound, baseline, "cpu"),
          rpsRatio: ratio(baseline, perRound, "wall"),
          costs: perRound
        }
      })
    }))
  })),
  goals: goals(groups)
})

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(findPackageJSON(name, import.meta.url)!, "utf8")).version

const environment = [
  `Node ${process.versions.node}, ${
    ["effect", "undici", "twitter-api-v2"].map((name) => `${name} ${versionOf(name)}`).join(", ")
  }`,
  `${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}; loopback, no TLS, no compression`
]

const baselineOf = (costs: Costs) => costs.values().next().value!

const labelWidth = 18
const width = 7

const table = (
  groups: ReadonlyArray<Group>,
  scenarios: ReadonlyArray<Scenario>,
  heads: readonly [string, string],
  cells: (costs: ReadonlyArray<Cost>, baseline: ReadonlyArray<Cost>) => readonly [string, string]
): ReadonlyArray<string> => {
  const line = (label: string, cells: ReadonlyArray<string>, width: number) =>
    (label.padEnd(labelWidth) + cells.map((cell) => cell.padStart(width)).join("")).trimEnd()
  return [
    line("", scenarios.map(({ inFlight, workload }) => inFlight === 1 ? workload : ""), 2 * width),
    line("", scenarios.map(({ inFlight }) => inFlight === 1 ? "one by one" : `${inFlight} in flight`), 2 * width),
    line("", scenarios.flatMap(() => heads), width),
    ...groups.flatMap(({ costs, title }) => [
      title,
      ...Array.from(costs, ([name, own]) =>
        line(
          `  ${name}`,
          scenarios.flatMap((scenario) =>
            own.has(scenario) ? cells(own.get(scenario)!, baselineOf(costs).get(scenario)!) : ["", ""]
          ),
          width
        ))
    ])
  ]
}

interface Goal {
  readonly goal: string
  readonly met: boolean
  readonly figures: ReadonlyArray<number>
}

const goals = (groups: ReadonlyArray<Group>): ReadonlyArray<Goal> => {
  const ratios = (title: string, of: keyof Cost, name: Name, other: Name) => {
    const costs = groups.find((group) => group.title === title)?.costs
    const baseline = costs?.get(other)
    return Array.from(
      baseline === undefined ? [] : costs?.get(name) ?? [],
      ([scenario, own]) => ({ scenario, ratio: ratio(own, baseline!.get(scenario)!, of) })
    )
  }
  const cpu = ratios("Neutral names", "cpu", "postwire", "undici").map(({ ratio }) => ratio)
  const rps = ratios("X's names", "wall", "twitter-api-v2", "postwire")
    .filter(({ scenario }) => scenario.workload === "one post")
    .map(({ ratio }) => ratio)
  return [
    {
      goal: "CPU time per request at most 1.05 times that of bare undici",
      met: cpu.every((figure) => figure <= 1.05),
      figures: cpu
    },
    {
      goal: "one post: at least 1.4 times the requests per second of twitter-api-v2",
      met: rps.every((figure) => figure >= 1.4),
      figures: rps
    }
  ].filter(({ figures }) => figures.length > 0)
}

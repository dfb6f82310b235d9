/** What was measured, as tables of at most 80 columns and as JSON. */
import { readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { cpus } from "node:os"
import type { Name } from "./Contenders.ts"
import { type Cost, type Costs, median, ratio, type Scenario } from "./Measurement.ts"

/** The titles of the groups. */
export const titles = { neutral: "Neutral names", x: "X's names", blocking: "Blocking" } as const

/** The costs of each group by its title. */
export type Measured = ReadonlyMap<string, Costs>

/** Shows how far a group is, where somebody looks. */
export const progress = (title: string, done: number): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done < 1 ? `${title}: ${Math.round(done * 100)} %` : ""}`)
}

/** The tables and the goals. */
export const format = (measured: Measured, scenarios: ReadonlyArray<Scenario>, rounds: number): string =>
  [
    ...environment(),
    "",
    `Ratios to the first of each group, medians of ${rounds} rounds`,
    "cpu: CPU time per request, less is better; rps: requests per second, more is",
    "",
    ...table(measured, scenarios, ["cpu", "rps"], (costs, baseline) => [
      ratio(costs, baseline, "cpu").toFixed(2),
      ratio(baseline, costs, "wall").toFixed(2)
    ]),
    "",
    "For orientation: microseconds of CPU time per request, requests per second",
    "",
    ...table(measured, scenarios, ["us", "rps"], (costs) => [
      median(costs.map(({ cpu }) => cpu)).toFixed(0),
      (1e6 / median(costs.map(({ wall }) => wall))).toFixed(0)
    ]),
    "",
    "Goals",
    ...goals(measured).map(({ figure, goal, met, scenario }) =>
      `  ${met ? "met   " : "missed"} ${figure.toFixed(2)}  ${goal}: ${nameOf(scenario)}`
    )
  ].join("\n")

/** The ratios, and the costs of every round. */
export const toJson = (measured: Measured, rounds: number): unknown => ({
  environment: environment(),
  rounds,
  groups: Array.from(measured, ([title, costs]) => ({
    title,
    contenders: Array.from(costs, ([name, own]) => ({
      name,
      scenarios: Array.from(own, ([scenario, perRound]) => {
        const baseline = baselineOf(costs).get(scenario)!
        return {
          ...scenario,
          cpu: ratio(perRound, baseline, "cpu"),
          rps: ratio(baseline, perRound, "wall"),
          microsecondsPerRequest: perRound
        }
      })
    }))
  })),
  goals: goals(measured)
})

const environment = (): ReadonlyArray<string> => {
  const versions = ["effect", "undici", "twitter-api-v2"].map((name) => {
    const manifest = JSON.parse(readFileSync(findPackageJSON(name, import.meta.url)!, "utf8"))
    return `${name} ${manifest.version}`
  })
  return [
    `Node ${process.versions.node}, ${versions.join(", ")}`,
    `${cpus().length} x ${cpus()[0]?.model ?? "unknown"}; loopback, no TLS, no compression`
  ]
}

const baselineOf = (costs: Costs) => costs.values().next().value!

const nameOf = ({ inFlight, workload }: Scenario): string =>
  `${workload}, ${inFlight === 1 ? "one by one" : `${inFlight} in flight`}`

const table = (
  measured: Measured,
  scenarios: ReadonlyArray<Scenario>,
  heads: readonly [string, string],
  cells: (costs: ReadonlyArray<Cost>, baseline: ReadonlyArray<Cost>) => readonly [string, string]
): ReadonlyArray<string> => {
  const line = (label: string, cells: ReadonlyArray<string>, width: number) =>
    (label.padEnd(18) + cells.map((cell) => cell.padStart(width)).join("")).trimEnd()
  const names = scenarios.map((scenario) => nameOf(scenario).split(", "))
  return [
    line("", names.map(([workload]) => workload!), 14),
    line("", names.map(([, inFlight]) => inFlight!), 14),
    line("", scenarios.flatMap(() => heads), 7),
    ...Array.from(measured).flatMap(([title, costs]) => [
      title,
      ...Array.from(costs, ([name, own]) => {
        const row = scenarios.flatMap((scenario) => {
          const perRound = own.get(scenario)
          return perRound === undefined ? ["", ""] : cells(perRound, baselineOf(costs).get(scenario)!)
        })
        return line(`  ${name}`, row, 7)
      })
    ])
  ]
}

interface Goal {
  readonly goal: string
  readonly scenario: Scenario
  readonly figure: number
  readonly met: boolean
}

const goals = (measured: Measured): ReadonlyArray<Goal> => {
  const compare = (title: string, name: Name, other: Name, of: keyof Cost) => {
    const costs = measured.get(title)
    const baseline = costs?.get(other)
    return Array.from(baseline === undefined ? [] : costs?.get(name) ?? [], ([scenario, perRound]) => ({
      scenario,
      figure: ratio(perRound, baseline!.get(scenario)!, of)
    }))
  }
  return [
    ...compare(titles.neutral, "postwire", "undici", "cpu")
      .map((compared) => ({ ...compared, goal: "cpu <= 1.05 undici", met: compared.figure <= 1.05 })),
    // More wall time per request is fewer requests per second.
    ...compare(titles.x, "twitter-api-v2", "postwire", "wall")
      .filter(({ scenario }) => scenario.workload === "one post")
      .map((compared) => ({ ...compared, goal: "rps >= 1.4 twitter-api-v2", met: compared.figure >= 1.4 })),
    ...compare(titles.blocking, "postwire-sync", "postwire", "wall").map((compared) => {
      const most = compared.scenario.workload === "one post" ? 1.2 : 1.05
      return { ...compared, goal: `latency <= ${most} awaited`, met: compared.figure <= most }
    }),
    ...compare(titles.blocking, "postwire-sync", "synckit", "wall")
      .map((compared) => ({ ...compared, goal: "latency < synckit", met: compared.figure < 1 }))
  ]
}

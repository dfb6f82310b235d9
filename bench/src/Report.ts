/** The results as tables of at most 80 columns and as JSON. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { cpus } from "node:os"
import type { Workload } from "./Bodies.ts"
import { earlier, isEarlier, type Name } from "./Contenders.ts"
import { type Cost, type Found, type Group, median, type Ratio, ratio, type Scenario, spread } from "./Measurement.ts"

/** The titles of the groups. */
export const titles = { neutral: "Neutral names", x: "X's names", blocking: "Blocking" } as const

/** The results of each group by its title. */
export type Measured = ReadonlyMap<string, Group>

/** Shows the progress of a group at a terminal. */
export const progress = (title: string, what: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${what === "" ? "" : `${title}: ${what}`}`)
}

/** The tables and the goals. */
export const format = (
  measured: Measured,
  scenarios: ReadonlyArray<Scenario>,
  rounds: number,
  before: string | undefined
): string => {
  const doubts = doubtsOf(measured)
  return [
    ...environment(before),
    "",
    `CPU time per request relative to the first of each group, less is better:`,
    `medians of ${rounds} rounds, and how far the half in the middle is spread`,
    "",
    ...table(measured, scenarios, (own, baseline) => shown(ratio(own, baseline, "cpu"))),
    "",
    ...before === undefined
      ? []
      : [
        "CPU time per request relative to the same client before",
        "",
        ...table(measured, scenarios, (own, before) => shown(ratio(own, before, "cpu")), earlierOf),
        "",
        "Time per request relative to the same client before",
        "",
        ...table(measured, scenarios, (own, before) => shown(ratio(own, before, "wall")), earlierOf),
        ""
      ],
    "Requests per second relative to the first of each group, more is better",
    "",
    ...table(measured, scenarios, (own, baseline) => ratio(baseline, own, "wall").median.toFixed(2)),
    "",
    "Microseconds of CPU time per request, kB of heap allocated per request",
    "",
    ...table(measured, scenarios, ({ allocated, costs }) => {
      const micros = median(costs.map(({ cpu }) => cpu)).toFixed(0)
      return allocated === undefined ? micros : `${micros} us ${(allocated / 1000).toFixed(1)} kB`
    }),
    "",
    ...doubts.length > 0
      ? ["No conclusions: this machine is too busy.", ...doubts.map((doubt) => `  ${doubt}`), ""]
      : [],
    doubts.length > 0 ? "Goals, by figures that prove nothing" : "Goals",
    ...goals(measured).map(({ figure, goal, met, scenario }) =>
      `  ${met ? "met   " : "missed"} ${figure.toFixed(2).padStart(5)}  ${goal}: ${nameOf(scenario)}`
    )
  ].join("\n")
}

/** One line of the history in docs/bench.md: the Promise client's CPU time relative to bare Undici's. */
export const row = (measured: Measured): string => {
  const cells = [titles.neutral, titles.x].flatMap((title) => {
    const found = measured.get(title)?.found
    return Array.from(
      found?.get("postwire") ?? [],
      ([scenario, own]) => ratio(own, found!.get("undici")!.get(scenario)!, "cpu").median.toFixed(2)
    )
  })
  return `| ${[commitOf("."), ...cells, doubtsOf(measured).length > 0 ? "busy" : "quiet"].join(" | ")} |`
}

const commitOf = (folder: string): string =>
  spawnSync("git", ["-C", folder, "log", "-1", "--format=%cs %h"], { encoding: "utf8" }).stdout.trim()

/** The ratios, and the costs of every round. */
export const toJson = (measured: Measured, rounds: number, before: string | undefined): unknown => ({
  environment: environment(before),
  rounds,
  doubts: doubtsOf(measured),
  groups: Array.from(measured, ([title, { foreign, found }]) => ({
    title,
    foreign,
    contenders: Array.from(found, ([name, own]) => ({
      name,
      scenarios: Array.from(own, ([scenario, of]) => {
        const baseline = baselineOf(found).get(scenario)!
        return {
          ...scenario,
          cpu: ratio(of, baseline, "cpu"),
          rps: ratio(baseline, of, "wall"),
          ...of
        }
      })
    }))
  })),
  goals: goals(measured)
})

const environment = (before: string | undefined): ReadonlyArray<string> => {
  const versions = ["effect", "undici", "twitter-api-v2", "@xdevplatform/xdk"].map((name) => {
    const manifest = JSON.parse(readFileSync(findPackageJSON(name, import.meta.url)!, "utf8"))
    return `${name} ${manifest.version}`
  })
  return [
    `Node ${process.versions.node}, ${versions.join(", ")}`,
    `${cpus().length} x ${cpus()[0]?.model ?? "unknown"}; loopback, no TLS, no compression`,
    ...before === undefined ? [] : [`Now ${commitOf(".")}; before ${commitOf(before)}`]
  ]
}

/** Other programs may have so much of the machine. */
const mostForeign = 0.1
/** So far may the median of the baseline be from itself. */
const mostDrift = 0.05

/** Why the figures prove nothing: what other programs used, and how far the baseline was from itself. */
const doubtsOf = (measured: Measured): ReadonlyArray<string> =>
  Array.from(measured).flatMap(([title, { foreign, found }]) => [
    ...foreign > mostForeign
      ? [`${title}: other programs used ${(foreign * 100).toFixed(0)} % of the machine.`]
      : [],
    ...Array.from(found.get("undici again") ?? []).flatMap(([scenario, own]) => {
      const itself = ratio(own, found.get("undici")!.get(scenario)!, "cpu")
      return Math.abs(itself.median - 1) > mostDrift
        ? [`${title}, ${nameOf(scenario)}: bare Undici was ${shown(itself)} of itself.`]
        : []
    }),
    ...Array.from(found).flatMap(([name, own]) =>
      Array.from(own).flatMap(([scenario, { isWarm, warmUp }]) =>
        isWarm ? [] : [`${title}, ${nameOf(scenario)}: ${name} was still getting faster after ${warmUp} batches.`]
      )
    )
  ])

type Series = ReadonlyMap<Scenario, Found>

const baselineOf = (found: Group["found"]): Series => found.values().next().value!

const earlierOf = (found: Group["found"], name: Name): Series | undefined =>
  Array.from(found).find(([other]) => isEarlier(other) && earlier[other] === name)?.[1]

const shown = ({ high, low, median }: Ratio): string => `${median.toFixed(2)} ±${((high - low) / 2).toFixed(2)}`

const nameOf = ({ inFlight, workload }: Scenario): string =>
  `${workload}, ${inFlight === 1 ? "one by one" : `${inFlight} in flight`}`

/** A line for every contender that has something to be compared with. */
const table = (
  measured: Measured,
  scenarios: ReadonlyArray<Scenario>,
  cell: (own: Found, baseline: Found) => string,
  otherOf: (found: Group["found"], name: Name) => Series | undefined = baselineOf
): ReadonlyArray<string> => {
  const line = (label: string, cells: ReadonlyArray<string>) =>
    (label.padEnd(20) + cells.map((cell) => cell.padStart(15)).join("")).trimEnd()
  const names = scenarios.map((scenario) => nameOf(scenario).split(", "))
  return [
    line("", names.map(([workload]) => workload!)),
    line("", names.map(([, inFlight]) => inFlight!)),
    ...Array.from(measured).flatMap(([title, { found }]) => {
      const lines = Array.from(found).flatMap(([name, own]) => {
        const other = otherOf(found, name)
        if (other === undefined) return []
        const cells = scenarios.map((scenario) => {
          const of = own.get(scenario)
          return of === undefined ? "" : cell(of, other.get(scenario)!)
        })
        return [line(`  ${name}`, cells)]
      })
      return lines.length === 0 ? [] : [title, ...lines]
    })
  ]
}

interface Compared {
  readonly scenario: Scenario
  readonly figure: number
}

interface Goal extends Compared {
  readonly goal: string
  readonly met: boolean
}

/** The most CPU time that a call of ours may take, relative to bare Undici. */
const mostCpu = ({ inFlight, workload }: Scenario): number => workload === "100 posts" ? 1 : inFlight === 1 ? 1.05 : 1.1

/**
 * Blocking calls beside what they cannot go below: the awaited call, and what a bare pair of Atomics takes more than the
 * same request awaited. What waking two threads takes depends on the machine, not on the client.
 */
const toFloor = (measured: Measured): ReadonlyArray<Compared> => {
  const found = measured.get(titles.blocking)?.found
  return Array.from(found?.get("postwire-sync") ?? [], ([scenario, own]) => {
    const [awaited, bare, pair] = (["postwire", "undici", "bare pair"] as const)
      .map((name) => found!.get(name)!.get(scenario)!.costs)
    const ratios = own.costs.map(({ wall }, round) =>
      wall / (awaited![round]!.wall + pair![round]!.wall - bare![round]!.wall)
    )
    return { scenario, figure: spread(ratios).median }
  })
}

const goals = (measured: Measured): ReadonlyArray<Goal> => {
  const compare = (
    title: string,
    name: Name,
    other: Name,
    figure: (own: Found, other: Found) => number
  ): ReadonlyArray<Compared> => {
    const found = measured.get(title)?.found
    const baseline = found?.get(other)
    return Array.from(baseline === undefined ? [] : found?.get(name) ?? []).flatMap(([scenario, own]) => {
      const of = baseline!.get(scenario)
      return of === undefined ? [] : [{ scenario, figure: figure(own, of) }]
    })
  }
  const by = (of: keyof Cost) => (own: Found, other: Found) => ratio(own, other, of).median
  const atMost = (goal: string, most: (scenario: Scenario) => number, figures: ReadonlyArray<Compared>) =>
    figures.map(({ figure, scenario }) => ({
      figure,
      scenario,
      goal: `${goal} <= ${most(scenario)}`,
      met: figure <= most(scenario)
    }))
  const isSmall = ({ scenario }: { readonly scenario: Scenario }) => scenario.workload === "one post"
  const bySize = (small: number, page: number) => ({ workload }: { readonly workload: Workload }) =>
    workload === "one post" ? small : page
  return [
    ...atMost("cpu / undici", mostCpu, compare(titles.neutral, "postwire", "undici", by("cpu"))),
    ...atMost("cpu / undici, X", mostCpu, compare(titles.x, "postwire", "undici", by("cpu"))),
    ...atMost(
      "kB allocated above undici",
      () => 4,
      compare(
        titles.neutral,
        "postwire",
        "undici",
        (own, other) => ((own.allocated ?? Number.NaN) - (other.allocated ?? Number.NaN)) / 1000
      ).filter(isSmall)
    ),
    // More wall time per request is fewer requests per second.
    ...compare(titles.x, "twitter-api-v2", "postwire", by("wall"))
      .filter(isSmall)
      .map((compared) => ({ ...compared, goal: "rps / twitter-api-v2 >= 1.4", met: compared.figure >= 1.4 })),
    ...atMost(
      "latency / awaited",
      bySize(1.3, 1.05),
      compare(titles.blocking, "postwire-sync", "postwire", by("wall"))
    ),
    ...atMost("latency / (awaited + what a bare pair adds to Undici)", () => 1.05, toFloor(measured)),
    ...compare(titles.blocking, "postwire-sync", "synckit", by("wall"))
      .map((compared) => ({ ...compared, goal: "latency / synckit < 1", met: compared.figure < 1 }))
  ]
}

/**
 * Batches of all contenders in turn, each in a process of its own, so that none pays for the garbage or the compiled
 * code of another. Medians of the ratios within a round take out most of what other processes disturb.
 */
import type { WireName } from "@postwire/core/schema/WireName"
import { spawnSync } from "node:child_process"
import { cpus } from "node:os"
import { fileURLToPath } from "node:url"
import type { Workload } from "./Bodies.ts"
import * as Checkout from "./Checkout.ts"
import * as Child from "./Child.ts"
import { bearerToken, earlier, isEarlier, type Name, requests } from "./Contenders.ts"

/** A workload, and how many requests are under way at a time. */
export interface Scenario {
  readonly workload: Workload
  readonly inFlight: number
  /** Requests of one batch. */
  readonly count: number
}

/** The time of one request, in microseconds. */
export interface Cost {
  /** User and system time of the contender's process, all its threads. */
  readonly cpu: number
  readonly wall: number
}

/** A request to a contender: a batch, the bytes that one request allocates, or its CPU time so far in microseconds. */
export type Question =
  | (Scenario & { readonly kind: "batch" | "allocation"; readonly request?: object })
  | { readonly kind: "usage" }

export type Answer = Cost | number

/** The results of one contender in one scenario. */
export interface Found {
  /** The costs of each round. */
  readonly costs: ReadonlyArray<Cost>
  /** Batches before the first round. */
  readonly warmUp: number
  /** True if it had stopped getting faster by then. */
  readonly isWarm: boolean
  /** Bytes of heap per request; `undefined` where that cannot be seen. */
  readonly allocated: number | undefined
}

/** The results of every contender of a group. */
export interface Group {
  readonly found: ReadonlyMap<Name, ReadonlyMap<Scenario, Found>>
  /** The share of the machine's CPU time, 0 to 1, that neither the contenders nor their server used. */
  readonly foreign: number
}

/** A contender is warm when three batches in a row were not faster, by more than this, than the fastest before them. */
const progress = 0.02
/** Batches that are waited for that. */
const longestWarmUp = 20

/** Measures contenders in all scenarios, `rounds` times. */
export const measure = async (options: {
  readonly names: ReadonlyArray<Name>
  readonly wire: WireName
  readonly server: Child.Child<Question, Answer>
  readonly port: number
  /** The folder of the earlier contenders, if there are any. */
  readonly before: string | undefined
  readonly scenarios: ReadonlyArray<Scenario>
  readonly rounds: number
  /** Reports progress. */
  readonly say: (what: string) => void
}): Promise<Group> => {
  const { before: folder, names, port, rounds, say, scenarios, server, wire } = options
  const clients = await Promise.all(names.map((name) => start(name, wire, port, folder)))
  const series = names.map((name) =>
    new Map(scenarios.filter((scenario) => takes(name, scenario)).map((scenario) => [scenario, new Array<Cost>()]))
  )
  const warmUps = names.map(() => new Map<Scenario, number>())
  const turn = async (round: number) => {
    for (const scenario of scenarios) {
      for (const i of order(names.length, round)) {
        const costs = series[i]!.get(scenario)
        if (costs === undefined) continue
        const request = requests[scenario.workload]
        costs.push(await clients[i]!.ask({ kind: "batch", ...scenario, request }) as Cost)
      }
    }
  }
  for (let round = 0; round < longestWarmUp; round++) {
    const cold = series.flatMap((own) => [...own.values()]).filter((costs) => !isWarm(costs)).length
    if (cold === 0) break
    say(`warming up, ${cold} not warm yet`)
    // Warm contenders continue, so that all have the same neighbours.
    await turn(round)
  }
  for (const [i, own] of series.entries()) {
    for (const [scenario, costs] of own) warmUps[i]!.set(scenario, costs.length)
  }
  const before = await used(clients, server)
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`)
    await turn(round)
  }
  const after = await used(clients, server)
  const found = new Map<Name, Map<Scenario, Found>>()
  for (const [i, name] of names.entries()) {
    const own = new Map<Scenario, Found>()
    for (const [scenario, costs] of series[i]!) {
      const warmUp = warmUps[i]!.get(scenario)!
      say(`memory of ${name}`)
      const allocated = await clients[i]!.ask({ kind: "allocation", ...scenario }) as number | null
      own.set(scenario, {
        costs: costs.slice(warmUp),
        warmUp,
        isWarm: isWarm(costs.slice(0, warmUp)),
        allocated: allocated ?? undefined
      })
    }
    found.set(name, own)
  }
  for (const client of clients) client.end()
  say("")
  const busy = after.machine - before.machine
  return { found, foreign: Math.max(0, busy - (after.own - before.own)) / (after.total - before.total) }
}

/** The first interpreter that has tweepy: the one on the path need not be the one that packages are for. */
export const python: string | undefined = ["python3", "/usr/bin/python3"].find((command) =>
  spawnSync(command, ["-c", "import tweepy"], { stdio: "ignore" }).status === 0
)

const start = (
  name: Name,
  wire: WireName,
  port: number,
  before: string | undefined
): Promise<Child.Child<Question, Answer>> =>
  name === "tweepy"
    ? Child.startProgram(
      python!,
      fileURLToPath(new URL("tweepy_client.py", import.meta.url)),
      String(port),
      bearerToken
    )
    : isEarlier(name)
    ? Child.start("Client.ts", earlier[name], wire, String(port), before!)
    : Child.start("Client.ts", name, wire, String(port), Checkout.own)

/** A blocking contender has one request in flight. */
const takes = (name: Name, { inFlight }: Scenario): boolean => name !== "tweepy" || inFlight === 1

const isWarm = (costs: ReadonlyArray<Cost>): boolean => {
  if (costs.length < 6) return false
  const lowest = (some: ReadonlyArray<Cost>) => Math.min(...some.map(({ cpu }) => cpu))
  return lowest(costs.slice(-3)) > lowest(costs.slice(0, -3)) * (1 - progress)
}

/** CPU time in microseconds: of the machine, busy and in all; of this measurement. */
const used = async (clients: ReadonlyArray<Child.Child<Question, Answer>>, server: Child.Child<Question, Answer>) => {
  const shares = await Promise.all([...clients, server].map((child) => child.ask({ kind: "usage" }) as Promise<number>))
  const { system, user } = process.cpuUsage()
  let machine = 0
  let idle = 0
  for (const { times } of cpus()) {
    machine += (times.user + times.nice + times.sys + times.irq) * 1000
    idle += times.idle * 1000
  }
  return { machine, total: machine + idle, own: shares.reduce((sum, share) => sum + share, user + system) }
}

/** The value below which a share `q` of the values lies. */
export const quantile = (values: ReadonlyArray<number>, q: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)]!
  return low + (sorted[Math.ceil(at)]! - low) * (at % 1)
}

/** The middle of what every round says. */
export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

/** One contender's cost relative to another's in the same round: the median, and the quartiles as its spread. */
export interface Ratio {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Compares two contenders, round by round. */
export const ratio = (self: Found, baseline: Found, of: keyof Cost): Ratio =>
  spread(self.costs.map((cost, round) => cost[of] / baseline.costs[round]![of]))

/** The middle of what every round says, and how far the half around it reaches. */
export const spread = (ratios: ReadonlyArray<number>): Ratio => ({
  median: median(ratios),
  low: quantile(ratios, 0.25),
  high: quantile(ratios, 0.75)
})

/** Each round begins with another contender, and every second round goes backwards. */
const order = (length: number, round: number): ReadonlyArray<number> => {
  const turned = Array.from({ length }, (_, i) => (i + (round >> 1)) % length)
  return round % 2 === 0 ? turned : turned.reverse()
}

/**
 * Batches of all contenders in turn, each in a process of its own, so that none pays for the garbage or the compiled
 * code of another. Medians of the ratios within a round take out most of what other processes disturb.
 */
import type { Wire } from "@postwire/core/WireNames"
import type { Workload } from "./Bodies.ts"
import * as Child from "./Child.ts"
import type { Name } from "./Contenders.ts"

/** A workload, and how many requests are under way at a time. */
export interface Scenario {
  readonly workload: Workload
  readonly inFlight: number
  /** Requests of one batch. */
  readonly count: number
}

/** What one request takes, in microseconds. */
export interface Cost {
  /** User and system time of the contender's process, all its threads. */
  readonly cpu: number
  readonly wall: number
}

/** The costs of each round. */
export type Costs = ReadonlyMap<Name, ReadonlyMap<Scenario, ReadonlyArray<Cost>>>

/** In the first rounds, the code is compiled. */
const warmUp = 3

/** Measures contenders in all scenarios, `rounds` times. */
export const measure = async (options: {
  readonly names: ReadonlyArray<Name>
  readonly wire: Wire
  readonly port: number
  readonly scenarios: ReadonlyArray<Scenario>
  readonly rounds: number
  readonly progress: (done: number) => void
}): Promise<Costs> => {
  const { names, port, progress, rounds, scenarios, wire } = options
  const clients = await Promise.all(
    names.map((name) => Child.start<Scenario, Cost>("Client.ts", name, wire, String(port)))
  )
  const costs = names.map(() => new Map(scenarios.map((scenario) => [scenario, new Array<Cost>()])))
  for (let round = 0; round < warmUp + rounds; round++) {
    for (const scenario of scenarios) {
      for (const i of order(names.length, round)) {
        const cost = await clients[i]!.ask(scenario)
        if (round >= warmUp) costs[i]!.get(scenario)!.push(cost)
      }
    }
    progress((round + 1) / (warmUp + rounds))
  }
  for (const client of clients) client.end()
  return new Map(names.map((name, i) => [name, costs[i]!]))
}

/** The middle of what every round says. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The median over the rounds of one contender's cost to another's in the same round. */
export const ratio = (self: ReadonlyArray<Cost>, baseline: ReadonlyArray<Cost>, of: keyof Cost): number =>
  median(self.map((cost, round) => cost[of] / baseline[round]![of]))

/** Each round begins with another contender, and every second round goes backwards. */
const order = (length: number, round: number): ReadonlyArray<number> => {
  const turned = Array.from({ length }, (_, i) => (i + (round >> 1)) % length)
  return round % 2 === 0 ? turned : turned.reverse()
}

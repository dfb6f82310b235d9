/** Batches of all contenders in turn, and what remains of the noise: medians of the ratios within a round. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Workload } from "./Bodies.ts"
import type { Contender } from "./Contenders.ts"

/** A workload, and how many requests are under way at a time. */
export interface Scenario {
  readonly workload: Workload
  readonly inFlight: number
  /** Requests of one batch. */
  readonly count: number
}

/** What one request takes. */
export interface Cost {
  /** User and system time of the whole process, all its threads, in microseconds. */
  readonly cpu: number
  /** In microseconds. */
  readonly wall: number
}

/** The costs of each round by the contender's name and the scenario. */
export type Costs = ReadonlyMap<string, ReadonlyMap<Scenario, ReadonlyArray<Cost>>>

/** The first rounds compile the code and open the connections. */
const warmUp = 3

/** Measures every contender in every scenario, `rounds` times. */
export const measure = async (
  contenders: ReadonlyArray<Contender>,
  scenarios: ReadonlyArray<Scenario>,
  rounds: number,
  progress: (done: number) => void
): Promise<Costs> => {
  const costs = new Map(contenders.map(({ name }) => [
    name,
    new Map(scenarios.map((scenario): [Scenario, Array<Cost>] => [scenario, []]))
  ]))
  for (let round = -warmUp; round < rounds; round++) {
    for (const scenario of scenarios) {
      for (let i = 0; i < contenders.length; i++) {
        const contender = contenders[(i + round + warmUp) % contenders.length]!
        const cost = await batch(contender, scenario)
        if (round >= 0) costs.get(contender.name)!.get(scenario)!.push(cost)
      }
    }
    progress((round + warmUp + 1) / (rounds + warmUp))
  }
  return costs
}

/** The middle of what every round says. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The median of `of` over the rounds, `self` against `baseline` of the same round. */
export const ratio = (self: ReadonlyArray<Cost>, baseline: ReadonlyArray<Cost>, of: keyof Cost): number =>
  median(self.map((cost, round) => cost[of] / baseline[round]![of]))

setFlagsFromString("--expose-gc")
// Nobody pays for the garbage of another.
const collect: () => void = runInNewContext("gc")

const batch = async (contender: Contender, { count, inFlight, workload }: Scenario): Promise<Cost> => {
  collect()
  const start = performance.now()
  const before = process.cpuUsage()
  await contender.run(workload, count, inFlight)
  const used = process.cpuUsage(before)
  const wall = performance.now() - start
  return { cpu: (used.user + used.system) / count, wall: wall * 1000 / count }
}

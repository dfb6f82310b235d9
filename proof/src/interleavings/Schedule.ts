/** Runs one schedule of a subject: its processes, their faults, and what has to hold at the end. */
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { make as random, type Random } from "../../../packages/sandbox/src/text/random.ts"
import { Database, kinds } from "./Database.ts"
import { Faults, type Loss } from "./Faults.ts"
import { type Process, World } from "./World.ts"

/** The place of a schedule. */
export interface Place {
  readonly world: World
  readonly draw: Random
  readonly faults: Faults
  readonly database: Database
  readonly kind: (typeof kinds)[number]
}

/** The work of the processes of a schedule. */
export interface Scenario {
  readonly processes: number
  /** The work of a process, from the beginning after it was killed. It ends when there is nothing left to do. */
  readonly main: (actor: Process, index: number) => Effect.Effect<unknown, unknown>
  /** The rules that were broken. */
  readonly broken: () => ReadonlyArray<string>
  /** Tests whether a loss of the database had consequences, and whether they were noticed. */
  readonly lost?: () => "noticed" | "unnoticed" | "nothing"
}

/** A subject. */
export interface Subject {
  readonly name: string
  /** The rule that its schedules keep, as the page shows it. */
  readonly holds: string
  /** True if promises of the platform have to be given their turn. */
  readonly turns?: boolean
  /** True if the database may lose acknowledged writes. */
  readonly loses?: boolean
  /** The longest time of a schedule in milliseconds. */
  readonly horizon?: number
  readonly prepare: (place: Place) => Scenario | Promise<Scenario>
}

/** The outcome of a schedule. */
export interface Outcome {
  readonly seed: number
  readonly loss: Loss
  readonly lost: "noticed" | "unnoticed" | "nothing"
  readonly broken: ReadonlyArray<string>
  readonly faults: ReadonlyMap<string, number>
  readonly steps: number
}

const dayMillis = 86_400_000

/** Runs the schedule of a seed. */
export const run = async (subject: Subject, seed: number): Promise<Outcome> => {
  const draw = random(seed, subject.name)
  const world = new World(draw)
  const loss = subject.loses === true && draw.chance(0.3) ? draw.pick(["failover", "snapshot"] as const) : "nothing"
  const faults = new Faults(world, loss)
  const database = new Database(world, faults)
  const kind = loss === "nothing" ? draw.pick(kinds) : draw.pick(["redis", "postgres"] as const)
  const scenario = await subject.prepare({ world, draw, faults, database, kind })
  const ends = new Array<Exit.Exit<unknown, unknown> | undefined>(scenario.processes).fill(undefined)
  const begin = (index: number): void => {
    const actor = world.process()
    actor.onKill.push(() => world.at(world.now + 10 + draw.below(3_000), () => begin(index)))
    actor.fork(scenario.main(actor, index), (exit) => {
      if (actor.isAlive) ends[index] = exit
    })
  }
  for (let index = 0; index < scenario.processes; index++) begin(index)
  const isEnded = await world.run(
    () => ends.every((end) => end !== undefined),
    subject.horizon ?? 30 * dayMillis,
    subject.turns === true
  )
  const failures = ends.flatMap((end) =>
    end !== undefined && Exit.isFailure(end) ? [`a process failed: ${Cause.pretty(end.cause)}`] : []
  )
  const broken = [
    ...isEnded ? [] : ["it does not end"],
    ...failures,
    ...isEnded ? scenario.broken() : []
  ]
  return {
    seed,
    loss,
    lost: scenario.lost?.() ?? "nothing",
    broken,
    faults: faults.counts,
    steps: world.steps
  }
}

/** The faults of a schedule, drawn at every operation of a process: at most so many, so that it has an end. */
import type { Random } from "../../../packages/sandbox/src/text/random.ts"
import type { Process, World } from "./World.ts"

/** The fate of a request. `late`: it arrives when its sender has given up. */
export type Fate = "answered" | "unanswered" | "swallowed" | "cut" | "late"

/** The writes that a database may lose: none, the last acknowledged writes, or everything since some time. */
export type Loss = "nothing" | "failover" | "snapshot"

/** A database, as faults see it. */
export interface Target {
  /** Milliseconds by which its clock is ahead. */
  offset: number
  readonly lose: (loss: Loss) => void
}

const second = 1_000
const pauses = [300, 2_500, 6_000, 12_000, 45_000]
const jumps = [1 * second, 30 * second, 600 * second, 3_600 * second, 86_400 * second].flatMap((by) => [by, -by])
const smallJumps = [100, 1_500, 5_000, 60_000].flatMap((by) => [by, -by])
const outages = [1_500, 4_000, 15_000]

interface Kind {
  readonly name: "pause" | "kill" | "wall" | "outage" | "database clock" | "loss" | Exclude<Fate, "answered">
  readonly share: number
}

const ofProcess: ReadonlyArray<Kind> = [
  { name: "pause", share: 3 },
  { name: "kill", share: 3 },
  { name: "wall", share: 2 }
]

const ofNetwork: ReadonlyArray<Kind> = [
  ...ofProcess,
  { name: "unanswered", share: 2 },
  { name: "swallowed", share: 2 },
  { name: "cut", share: 2 },
  { name: "late", share: 2 },
  { name: "outage", share: 1 }
]

/** The faults of a schedule. */
export class Faults {
  readonly loss: Loss
  readonly counts = new Map<string, number>()
  readonly #world: World
  readonly #draw: Random
  readonly #rate: number
  #left: number
  readonly #silentUntil = new Map<Process, number>()

  constructor(world: World, loss: Loss) {
    this.#world = world
    const draw = this.#draw = world.draw
    this.loss = loss
    this.#rate = draw.pick([0.01, 0.03, 0.1])
    // Some schedules show that nothing happens without a fault.
    this.#left = draw.chance(0.1) ? 0 : 1 + draw.below(8)
  }

  /** The number of faults so far. */
  get total(): number {
    return this.#world.steps === 0 ? 0 : [...this.counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** The number of faults of some kinds. */
  of(...names: ReadonlyArray<string>): number {
    return names.reduce((sum, name) => sum + (this.counts.get(name) ?? 0), 0)
  }

  /** No more faults. */
  stop(): void {
    this.#left = 0
    this.#silentUntil.clear()
  }

  /** Draws the fate of a request of a process; without a target, of a step on its own disk. */
  at(actor: Process, target?: Target): Fate {
    const draw = this.#draw
    if (target !== undefined && this.#world.now < (this.#silentUntil.get(actor) ?? 0)) {
      return draw.chance(0.5) ? "swallowed" : "unanswered"
    }
    if (this.#left === 0 || !draw.chance(this.#rate)) return "answered"
    this.#left--
    const { name } = draw.weighted(
      target === undefined ? ofProcess : [
        ...ofNetwork,
        { name: "database clock", share: 1 } as const,
        ...this.loss === "nothing" ? [] : [{ name: "loss", share: 6 } as const]
      ]
    )
    const counted = name === "loss" ? this.loss : name
    this.counts.set(counted, (this.counts.get(counted) ?? 0) + 1)
    return this.#strike(name, actor, target)
  }

  #strike(name: Kind["name"], actor: Process, target: Target | undefined): Fate {
    const draw = this.#draw
    switch (name) {
      case "pause":
        actor.pause(draw.pick(pauses))
        return "answered"
      case "kill": {
        actor.kill()
        return draw.chance(0.5) ? "unanswered" : "swallowed"
      }
      case "wall":
        actor.offset += draw.pick(jumps)
        return "answered"
      case "outage":
        this.#silentUntil.set(actor, this.#world.now + draw.pick(outages))
        return "swallowed"
      case "database clock":
        if (target !== undefined) target.offset += draw.pick(smallJumps)
        return "answered"
      case "loss":
        target?.lose(this.loss)
        return "answered"
      default:
        return name
    }
  }
}

/**
 * Processes in one thread whose time and order a seed decides. Each has its own clock and its own Effect scheduler, so that it can be
 * paused or killed between any two of its steps.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import type { Random as Draw } from "../../../packages/sandbox/src/text/random.ts"

/** The true time at the beginning. */
export const epoch = Date.UTC(2026, 10, 28, 12)

/** The most steps of a schedule. One that takes more does not end. */
const mostStepsOfSchedule = 400_000

interface Event {
  readonly at: number
  readonly run: () => void
}

/** A process. Its fibers run only while it is alive and not paused. */
export class Process {
  /** Milliseconds by which its wall clock is ahead. */
  offset = 0
  isAlive = true
  readonly onKill: Array<() => void> = []
  readonly clock: Clock.Clock
  readonly #world: World
  readonly #context: Context.Context<never>
  readonly #tasks: Array<() => void> = []
  #pausedUntil = 0

  constructor(world: World) {
    this.#world = world
    const wall = () => epoch + world.now + this.offset
    const nanos = (millis: number) => BigInt(Math.round(millis * 1e6))
    const booted = world.draw.below(1e9)
    this.clock = {
      currentTimeMillisUnsafe: wall,
      currentTimeMillis: Effect.sync(wall),
      currentTimeNanosUnsafe: () => nanos(wall()),
      currentTimeNanos: Effect.sync(() => nanos(wall())),
      monotonicTimeNanosUnsafe: () => nanos(booted + world.now),
      monotonicTimeNanos: Effect.sync(() => nanos(booted + world.now)),
      sleep: (duration) =>
        Effect.callback<void>((resume) => {
          const millis = Duration.toMillis(duration)
          if (millis === Infinity) return
          return Effect.sync(this.after(millis, () => resume(Effect.void)))
        })
    }
    const tasks = this.#tasks
    const scheduler: Scheduler.Scheduler = {
      executionMode: "async",
      shouldYield: (fiber) => fiber.currentOpCount >= 2048,
      makeDispatcher: () => ({ scheduleTask: (task) => void tasks.push(task), flush: () => {} })
    }
    this.#context = Context.make(Scheduler.Scheduler, scheduler).pipe(
      Context.add(Clock.Clock, this.clock),
      Context.add(Random.Random, {
        nextDoubleUnsafe: () => world.draw.next(),
        nextIntUnsafe: () => world.draw.below(2 ** 31)
      }),
      Context.add(References.CurrentLoggers, new Set())
    )
  }

  get isPaused(): boolean {
    return this.#world.now < this.#pausedUntil
  }

  get isReady(): boolean {
    return this.isAlive && this.#tasks.length > 0 && !this.isPaused
  }

  step(): void {
    this.#tasks.shift()?.()
  }

  pause(millis: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#world.now + millis)
    // It may have steps that are due.
    this.#world.at(this.#pausedUntil, () => {})
  }

  kill(): void {
    if (!this.isAlive) return
    this.isAlive = false
    for (const end of this.onKill) end()
  }

  /** Calls a function after some time, once the process runs. Returns how to cancel it. */
  after(millis: number, run: () => void): () => void {
    let isWanted = true
    const fire = (): void => {
      if (!isWanted || !this.isAlive) return
      if (this.isPaused) this.#world.at(this.#pausedUntil, fire)
      else this.#tasks.push(run)
    }
    this.#world.at(this.#world.now + Math.max(0, millis), fire)
    return () => {
      isWanted = false
    }
  }

  /** Runs an effect in this process. */
  fork<A, E>(effect: Effect.Effect<A, E>, onExit: (exit: Exit.Exit<A, E>) => void): void {
    this.#tasks.push(() => Effect.runForkWith(this.#context)(effect).addObserver(onExit))
  }
}

/** A world. */
export class World {
  /** Milliseconds since its beginning. */
  now = 0
  steps = 0
  readonly draw: Draw
  readonly #mostSteps: number
  readonly #processes: Array<Process> = []
  /** The next one is the last. */
  readonly #events: Array<Event> = []

  constructor(draw: Draw, mostSteps = mostStepsOfSchedule) {
    this.draw = draw
    this.#mostSteps = mostSteps
  }

  process(): Process {
    const actor = new Process(this)
    this.#processes.push(actor)
    actor.onKill.push(() => this.#processes.splice(this.#processes.indexOf(actor), 1))
    return actor
  }

  at(time: number, run: () => void): void {
    let [low, high] = [0, this.#events.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#events[middle]!.at > time) low = middle + 1
      else high = middle
    }
    this.#events.splice(low, 0, { at: time, run })
  }

  /** Runs until a condition holds; false if there is nothing more to run, or no end of it. `turns` gives promises their turn. */
  async run(until: () => boolean, horizon: number, turns: boolean): Promise<boolean> {
    while (!until()) {
      if (++this.steps > this.#mostSteps) return false
      const ready = this.#processes.filter(({ isReady }) => isReady)
      if (ready.length > 0) {
        this.draw.pick(ready).step()
        continue
      }
      if (turns) {
        await new Promise(setImmediate)
        if (this.#processes.some(({ isReady }) => isReady)) continue
      }
      const next = this.#events.pop()
      if (next === undefined || next.at > horizon) return false
      this.now = Math.max(this.now, next.at)
      next.run()
    }
    return true
  }
}

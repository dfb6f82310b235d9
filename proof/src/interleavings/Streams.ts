/** Processes that share a stream: one holds the connection and writes a log, which one at a time reads as a consumer. */
import * as StreamItem from "@postwire/core/schema/StreamItem"
import * as StreamLog from "@postwire/core/streams/shared/StreamLog"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import type { ResumeFrom } from "@postwire/core/streams/StreamOptions"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Leader from "../../../packages/core/src/streams/shared/internal/leader.ts"
import type * as Lease from "../../../packages/core/src/streams/shared/internal/lease.ts"
import * as LogConsumer from "../../../packages/core/src/streams/shared/internal/logConsumer.ts"
import type { Place, Scenario, Subject } from "./Schedule.ts"
import { epoch, type Process } from "./World.ts"

const posts = 30
const everyMillis = 700
const processes = 3
const lease = 4_000
const quietMillis = 180_000
const stream = "line"

type Step = (store: StreamLog.Store<never>) => Effect.Effect<unknown, StreamLog.LeaseLost>

/** A log in a database that may lose what it has acknowledged: what is left is done again. */
class Log {
  #store = StreamLog.makeMemory()
  #steps: Array<{ readonly step: Step; readonly now: number }> = []
  #isDamaged = false
  readonly #place: Place

  readonly #clock: Clock.Clock

  constructor(place: Place) {
    this.#place = place
    this.#clock = place.world.process().clock
  }

  #run<A, E>(step: (store: StreamLog.Store<never>) => Effect.Effect<A, E>, now: number): Exit.Exit<A, E> {
    const fixed: Clock.Clock = {
      ...this.#clock,
      currentTimeMillisUnsafe: () => now,
      currentTimeMillis: Effect.succeed(now)
    }
    return Effect.runSync(Effect.exit(Effect.provideService(step(this.#store), Clock.Clock, fixed)))
  }

  #serve<A, E extends StreamLog.LeaseLost>(step: (store: StreamLog.Store<never>) => Effect.Effect<A, E>) {
    const { database } = this.#place
    if (this.#isDamaged) {
      this.#isDamaged = false
      this.#store = StreamLog.makeMemory()
      for (const { now, step } of this.#steps) this.#run(step, now)
    }
    const { now } = database
    const length = this.#steps.push({ step, now })
    database.changed(() => {
      this.#steps.length = length - 1
      this.#isDamaged = true
    })
    return this.#run(step, now)
  }

  /** All entries at the end. */
  get entries(): ReadonlyArray<StreamLog.Placed> {
    return Effect.runSync(this.#store.read(stream, 0, 1e6))
  }

  of(actor: Process): StreamLog.Store {
    const { database } = this.#place
    const ask = <A, E extends StreamLog.LeaseLost>(step: (store: StreamLog.Store<never>) => Effect.Effect<A, E>) =>
      database.ask<Effect.Effect<A, E>>(actor, (reply) => reply(this.#serve(step))).pipe(
        Effect.mapError(({ reason }) => new StreamLog.StreamLogUnavailable({ reason })),
        Effect.flatten
      )
    return {
      acquire: (seat, holder, millis) => ask((store) => store.acquire(seat, holder, millis)),
      prolong: (seat, token, millis) => ask((store) => store.prolong(seat, token, millis)),
      release: (seat, token) => ask((store) => store.release(seat, token)),
      append: (...given) => ask((store) => store.append(...given)),
      extent: (name) => ask((store) => store.extent(name)),
      read: (...given) => ask((store) => store.read(...given)),
      wait: () => Effect.sleep(200),
      idsSince: (...given) => ask((store) => store.idsSince(...given)),
      cursor: (...given) => ask((store) => store.cursor(...given)),
      commit: (...given) => ask((store) => store.commit(...given)),
      forget: (...given) => ask((store) => store.forget(...given)),
      trim: (...given) => ask((store) => store.trim(...given))
    }
  }
}

/** The connection: what was posted since it ended last, and then what is posted, up to the last post. */
const events = ({ world }: Place) => (resumeFrom: ResumeFrom | undefined) => {
  const known = new Set(resumeFrom?.ids)
  const since = resumeFrom?.at.getTime() ?? 0
  const numbers = Array.from({ length: posts }, (_, index) => index + 1)
  const timeOf = (number: number) => epoch + 3_000 + number * everyMillis
  const connected = epoch + world.now
  // Later posts arrive on the connection itself.
  const left = numbers.filter((number) => timeOf(number) >= Math.min(since, connected) && !known.has(String(number)))
  return Stream.paginate(0, (sent: number) =>
    Effect.gen(function*() {
      yield* Effect.sleep(sent === 0 ? 50 : 300)
      const at = new Date(yield* Clock.currentTimeMillis)
      const now = epoch + world.now
      const next = left.slice(sent).filter((number) => timeOf(number) <= now)
      const all: Array<StreamEvent<StreamItem.AnyItem>> = [
        ...sent === 0 ? [{ _tag: "Connected", at, attempt: 1 } as const] : [],
        ...next.map((number) => ({
          _tag: "Delivered" as const,
          at,
          item: StreamItem.make(true, { data: { id: String(number), text: "x" } }, [])
        })),
        { _tag: "Watermark", at, until: new Date(now), serviceAt: new Date(now) }
      ]
      const isOver = now > timeOf(posts) + 1_000
      return [all, isOver ? Option.none() : Option.some(sent + next.length)] as const
    }))
}

const prepare = (place: Place): Scenario => {
  const { draw, faults, world } = place
  const log = new Log(place)
  const delivered: Array<string> = []
  let missed = 0
  let active = 0
  // A consumer that waits for its turn has no end of its own.
  const isQuiet = () => lacking() === 0 || world.now > active + quietMillis
  const main = (actor: Process) =>
    Effect.scoped(Effect.gen(function*() {
      const store = log.of(actor)
      const patience: Lease.Patience = { log: store, onAway: () => {}, onBack: () => {} }
      const settings = { ...patience, stream, opened: 0, isPost: true, lease }
      const next = yield* LogConsumer.open({
        ...settings,
        consumer: "one",
        tags: undefined,
        from: "oldest",
        acknowledges: true,
        onMissed: () => void missed++
      })
      const reading = Effect.forever(Effect.andThen(
        Effect.map(next, ([{ item }]) => {
          const { data } = item.body
          active = world.now
          delivered.push(String(Reflect.get(Object(data), "id")))
        }),
        Effect.sleep(draw.below(200))
      )).pipe(Effect.catchCause(() => Effect.void))
      yield* Effect.all([
        Leader.hold({
          ...settings,
          keep: { age: 86_400_000 * 3, items: 1_000_000 },
          resumeFrom: undefined,
          events: events(place),
          onHolding: () => {},
          onLost: () => {}
        }),
        Effect.raceFirst(reading, Effect.repeat(Effect.sleep(1_000), { until: isQuiet }))
      ], { concurrency: "unbounded" })
    }))
  const lacking = () => posts - new Set(delivered).size
  return {
    processes,
    main,
    broken: () => {
      if (faults.loss !== "nothing") return []
      const ids = log.entries.flatMap(({ id }) => id === "" ? [] : [id])
      const twice = delivered.length - new Set(delivered).size
      return [
        ...lacking() > 0 ? [`${lacking()} posts were not delivered, ${missed} gaps were reported`] : [],
        ...ids.length > new Set(ids).size ? ["the log has a post twice"] : [],
        ...faults.total === 0 && twice > 0 ? [`${twice} posts were delivered twice without a fault`] : []
      ]
    },
    lost: () => lacking() === 0 ? "nothing" : missed > 0 ? "noticed" : "unnoticed"
  }
}

export const subject: Subject = {
  name: "shared streams",
  holds: "every post is in the log once and is delivered; without a fault once; a former holder writes nothing",
  loses: true,
  prepare
}

/** Processes that share a queue of deliveries. The sender repeats a delivery until it is acknowledged, and then sends the next. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as DeliveryQueue from "../../../packages/core/src/events/internal/deliveryQueue.ts"
import type { Place, Scenario, Subject } from "./Schedule.ts"
import type { Process } from "./World.ts"

const users = ["ada", "grace", "mary"]
const deliveriesEach = 5
const processes = 3
const quietMillis = 120_000

/** A sender of deliveries, in order for each user, and what became of them. */
class Sender {
  /** The deliveries that were acknowledged. */
  readonly taken = new Set<string>()
  /** Each time that one was handled, in order. */
  readonly handled: Array<string> = []
  readonly dead: Array<string> = []
  readonly queues = new Map<Process, DeliveryQueue.Queue<unknown>>()
  /** When something was acknowledged or handled last. */
  active = 0
  readonly #place: Place

  constructor(place: Place) {
    this.#place = place
    for (const user of users) this.#send(user, 1)
  }

  get isSent(): boolean {
    return this.taken.size === users.length * deliveriesEach
  }

  get missing(): ReadonlyArray<string> {
    return [...this.taken].filter((id) => !this.handled.includes(id))
  }

  #send(user: string, number: number): void {
    if (number > deliveriesEach) return
    const { draw, world } = this.#place
    const id = `${user} ${number}`
    const again = () => world.at(world.now + 3_000, attempt)
    const attempt = (): void => {
      const [actor, queue] = this.queues.size === 0 ? [] : draw.pick([...this.queues])
      if (actor === undefined || queue === undefined) return again()
      let isOver = false
      world.at(world.now + 10_000, () => {
        if (!isOver) again()
        isOver = true
      })
      actor.fork(queue.take({ id, user, text: JSON.stringify({ id, user }) }), (exit) => {
        if (isOver) return
        isOver = true
        if (exit._tag === "Failure" || exit.value === "full") return again()
        this.taken.add(id)
        this.active = world.now
        world.at(world.now + draw.below(4_000), () => this.#send(user, number + 1))
      })
    }
    world.at(world.now + draw.below(2_000), attempt)
  }
}

/** Deliveries of a user that were handled for the first time after a later one. */
const outOfOrder = (handled: ReadonlyArray<string>): number =>
  users.reduce((sum, user) => {
    const firsts = [...new Set(handled.filter((id) => id.startsWith(user)))].map((id) => Number(id.split(" ")[1]))
    return sum + firsts.filter((number, index) => index > 0 && number < firsts[index - 1]!).length
  }, 0)

const prepare = (place: Place): Scenario => {
  const { database, draw, faults, kind, world } = place
  const sender = new Sender(place)
  const isDone = () => sender.isSent && (sender.missing.length === 0 || world.now - sender.active > quietMillis)
  return {
    processes,
    main: (actor) =>
      Effect.scoped(Effect.gen(function*() {
        const queue = yield* DeliveryQueue.open<unknown>({
          storage: database.storage(actor, kind),
          name: "hook",
          lease: 4_000,
          read: (text) => ({ ...JSON.parse(text), text }),
          handle: ({ id }) =>
            Effect.andThen(
              Effect.sync(() => {
                sender.active = world.now
                sender.handled.push(id)
              }),
              Effect.sleep(draw.below(1_500))
            ),
          retry: Schedule.upTo(Schedule.spaced(1_000), { times: 20 }),
          onDead: ({ id }) => Effect.sync(() => void sender.dead.push(id))
        }, true)
        actor.onKill.push(() => sender.queues.delete(actor))
        sender.queues.set(actor, queue)
        yield* Effect.repeat(Effect.sleep(500), { until: isDone })
        sender.queues.delete(actor)
      })),
    broken: () => {
      const twice = sender.handled.length - new Set(sender.handled).size
      if (faults.loss !== "nothing") return []
      return [
        ...sender.missing.length > 0 ? [`${sender.missing.join()} were acknowledged and never handled`] : [],
        ...sender.dead.length > 0 ? [`${sender.dead.join()} were given up`] : [],
        ...faults.total === 0 && twice > 0 ? [`${twice} were handled twice without a fault`] : [],
        ...outOfOrder(sender.handled) > 0 ? [`out of order: ${sender.handled.join()}`] : []
      ]
    },
    lost: () => sender.missing.length > 0 ? "unnoticed" : "nothing"
  }
}

export const subject: Subject = {
  name: "webhook queue",
  holds: "every acknowledged delivery is handled, in the order of its user, and without a fault once",
  loses: true,
  prepare
}

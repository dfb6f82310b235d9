/** Processes that share a rate limit: the service counts what it serves in a window, and what it refuses. */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { getPost } from "@postwire/core/operations/Posts"
import * as Ledger from "@postwire/core/rate-limit/Ledger"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Network from "./Network.ts"
import type { Place, Scenario, Subject } from "./Schedule.ts"
import { epoch, type Process } from "./World.ts"

const limit = 4
const windowMillis = 30_000
const callsEach = 5
const processes = 3

/** Windows of a service, which begin with their first request. */
class Windows {
  refused = 0
  #ends = 0
  #left = 0

  answer(now: number): Network.Answer {
    if (now >= this.#ends) {
      this.#ends = Math.ceil((now + windowMillis) / 1000) * 1000
      this.#left = limit
    }
    const isServed = this.#left > 0
    if (isServed) this.#left--
    else this.refused++
    return {
      status: isServed ? 200 : 429,
      headers: {
        date: new Date(now).toUTCString(),
        "x-rate-limit-limit": String(limit),
        "x-rate-limit-remaining": String(this.#left),
        "x-rate-limit-reset": String(this.#ends / 1000)
      },
      body: isServed ? { data: { id: "1", text: "a" } } : { title: "Too Many Requests" }
    }
  }
}

/** The store of Redis makes a step in one script: the rules, on the state of the server. */
const inRedis = ({ database }: Place, actor: Process): RateLimitStore.Store => {
  const step = <A>(key: string, f: (ledger: Ledger.Ledger, now: number) => A) =>
    database.ask<A>(actor, (reply) => {
      const { now, texts: [text = ""] } = database.snapshot([key])
      const ledger = Ledger.fromText(text, now)
      const result = f(ledger, now)
      database.write({ texts: [key] }, [Ledger.toText(ledger)])
      reply(result)
    })
  return {
    reserve: (key, lease, pace, place) => step(key, (ledger, now) => Ledger.reserve(ledger, now, lease, pace, place)),
    settle: (key, lease, report) => step(key, (ledger, now) => Ledger.settle(ledger, now, lease, report)),
    read: (key) => step(key, Ledger.read)
  }
}

const prepare = (place: Place): Scenario => {
  const { database, draw, faults, kind, world } = place
  const windows = new Windows()
  let served = 0
  const clientOf = (actor: Process) => {
    const store = kind === "redis"
      ? inRedis(place, actor)
      : RateLimitStore.fromStorage(database.storage(actor, kind))
    return Client.layer({ baseUrl: Network.baseUrl, retries: 3 }).pipe(
      Layer.provide([
        Credentials.layer({ bearerToken: "one" }),
        Network.layer(place, actor, () => windows.answer(epoch + world.now)),
        Layer.provide(RateLimit.layerWait(), Layer.succeed(RateLimitStore.RateLimitStore, store))
      ])
    )
  }
  return {
    processes,
    main: (actor) =>
      Effect.gen(function*() {
        for (let call = 0; call < callsEach; call++) {
          yield* Effect.sleep(draw.below(10_000))
          yield* getPost({ id: "1" })
          served++
        }
      }).pipe(Effect.provide(Layer.fresh(clientOf(actor)))),
    broken: () => {
      // While the store does not answer, as with one that was paused in a transaction, each process continues alone.
      const may = faults.total * (processes - 1) * limit
      return [
        ...windows.refused > may ? [`${windows.refused} requests were refused after ${faults.total} faults`] : [],
        ...served < processes * callsEach ? [`${served} calls were served`] : []
      ]
    }
  }
}

export const subject: Subject = {
  name: "rate limits",
  holds:
    "no request is refused without a fault, and for each at most what two processes send alone in a window; every call is served",
  loses: true,
  prepare
}

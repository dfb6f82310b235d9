/** One process that makes calls with many credentials, each with a rate limit of its own, for a month of the service's time. */
import * as CredentialsOf from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { getPost } from "@postwire/core/operations/Posts"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { make as random } from "../../../packages/sandbox/src/text/random.ts"
import { Faults } from "../interleavings/Faults.ts"
import * as Network from "../interleavings/Network.ts"
import { epoch, type Process, World } from "../interleavings/World.ts"

const windowMillis = 900_000

/** The figures of a month. */
export interface Month {
  readonly calls: number
  readonly refused: number
  /** The calls of the credential with the fewest and of that with the most. */
  readonly fewest: number
  readonly most: number
  /** The longest time between two calls of a credential, in milliseconds. */
  readonly longest: number
  /** Microseconds of CPU time per call. */
  readonly cost: number
}

/** A service that serves one request in a window of each credential. */
class Service {
  refused = 0
  readonly #ends = new Map<string, number>()

  answer(authorization: string, now: number): Network.Answer {
    const ends = this.#ends.get(authorization) ?? 0
    const isServed = now >= ends
    const reset = isServed ? Math.ceil((now + windowMillis) / 1000) * 1000 : ends
    this.#ends.set(authorization, reset)
    if (!isServed) this.refused++
    return {
      status: isServed ? 200 : 429,
      headers: {
        date: new Date(now).toUTCString(),
        "x-rate-limit-limit": "1",
        "x-rate-limit-remaining": "0",
        "x-rate-limit-reset": String(reset / 1000)
      },
      body: isServed ? { data: { id: "1", text: "a" } } : { title: "Too Many Requests" }
    }
  }
}

const calling = (world: World, actor: Process, service: Service, end: number, count: number) => {
  const faults = new Faults(world, "nothing")
  faults.stop()
  const http = Network.layer(
    { faults, world },
    actor,
    ({ authorization }) => service.answer(authorization, epoch + world.now)
  )
  const counts = new Array<number>(count).fill(0)
  let longest = 0
  const loop = (index: number) => {
    let last = 0
    const call = Effect.map(getPost({ id: "1" }), () => {
      counts[index] = (counts[index] ?? 0) + 1
      longest = Math.max(longest, world.now - last)
      last = world.now
    })
    return Effect.repeat(call, { until: () => world.now >= end }).pipe(
      Effect.provide(
        Client.layer({ baseUrl: Network.baseUrl, retries: 3 }).pipe(
          Layer.provide([CredentialsOf.layer({ bearerToken: `credential-${index}` }), http]),
          Layer.fresh
        )
      )
    )
  }
  const all = Effect.all(Array.from({ length: count }, (_, index) => loop(index)), {
    concurrency: "unbounded",
    discard: true
  }).pipe(Effect.provide(RateLimit.layerWait()))
  return { all, figures: () => ({ counts, longest }) }
}

/** Runs so many credentials for so many days. */
export const month = async (count: number, days: number, seed: number): Promise<Month> => {
  const world = new World(random(seed, "credentials"), Infinity)
  const actor = world.process()
  const service = new Service()
  const { all, figures } = calling(world, actor, service, days * 86_400_000, count)
  let isEnded = false
  const { system, user } = process.cpuUsage()
  actor.fork(all, (exit) => {
    if (exit._tag === "Failure") throw new Error("A call failed.", { cause: exit.cause })
    isEnded = true
  })
  await world.run(() => isEnded, Infinity, false)
  const spent = process.cpuUsage({ system, user })
  const { counts, longest } = figures()
  const calls = counts.reduce((sum, each) => sum + each, 0)
  return {
    calls,
    refused: service.refused,
    fewest: Math.min(...counts),
    most: Math.max(...counts),
    longest,
    cost: (spent.user + spent.system) / calls
  }
}

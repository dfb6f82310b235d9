/**
 * The id of the authenticated user. With `user_auth` true it is in the access token; otherwise the service is asked once
 * per client and bearer token, however many calls need it at the same time. A failed lookup is not remembered.
 *
 * What a call allows holds for its part in a shared lookup: its total runs from when it joins, its other limits for each
 * request, and its retries for the requests that fail while it waits. Who allows no more gives up alone; the lookup goes
 * on for the others, and ends when nobody waits for it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Monotonic from "./Monotonic.ts"
import * as Transport from "./Transport.ts"

/** The route that tells the id. */
export const route = "GET /2/users/me"

/** A limit of a call is reached. It may be between two requests, so the error holds none that was sent. */
const exceeded = (cause: Transport.TimedOut): HttpClientError =>
  new HttpClientError({ reason: new TransportError({ request: HttpClientRequest.empty, cause }) })

/** The id inside an OAuth 1.0a access token: what stands before the first hyphen. */
export const ofAccessToken = (accessToken: string): string => accessToken.split("-", 1)[0] as string

/** What a call allows for the lookup. */
export interface Terms {
  readonly limits: Transport.Limits
  /** How often a failed request may be sent again. */
  readonly retries: number
  /** Milliseconds left of the total. What the lookup takes is taken off, but for its waits for a rate limit. */
  left: number
}

/** How many ids a client remembers. */
const capacity = 1024

/** Makes the memory of one client. `failureOf` is what a request without an answer leads to. */
export const make = <E>(
  find: (bearerToken: string, lookup: Lookup<E>) => Effect.Effect<string, E>,
  failureOf: (error: HttpClientError) => E
): (bearerToken: string, terms: Terms) => Effect.Effect<string, E> => {
  const ids = new Map<string, string>()
  const lookups = new Map<string, Lookup<E>>()

  const begin = (bearerToken: string): Lookup<E> => {
    const lookup: Lookup<E> = new Lookup(failureOf, () => {
      if (lookups.get(bearerToken) === lookup) lookups.delete(bearerToken)
    })
    lookups.set(bearerToken, lookup)
    return lookup
  }

  const remember = (bearerToken: string, id: string) => {
    if (ids.size >= capacity) ids.delete(ids.keys().next().value as string)
    ids.set(bearerToken, id)
  }

  return (bearerToken, terms) =>
    Effect.withFiber((fiber) => {
      const id = ids.get(bearerToken)
      if (id !== undefined) return Effect.succeed(id)
      return Effect.callback<string, E>((resume) => {
        const known = lookups.get(bearerToken)
        const lookup = known ?? begin(bearerToken)
        const caller = new Caller(terms, fiber.getRef(Clock.Clock), resume)
        lookup.join(caller)
        if (known === undefined) {
          lookup.run(
            Effect.runForkWith(fiber.context)(
              Effect.tap(find(bearerToken, lookup), (id) => Effect.sync(() => remember(bearerToken, id)))
            )
          )
        }
        return Effect.sync(() => lookup.leave(caller))
      })
    })
}

/** A call that waits for a lookup. */
class Caller<E> {
  readonly terms: Terms
  readonly resume: (outcome: Effect.Effect<string, E>) => void
  /** Requests that failed while it waited. */
  failed = 0
  /** The limit of this call that the request under way exceeds. It would be sent again, were it for this call alone. */
  late: Transport.TimedOut | undefined
  readonly #clock: Clock.Clock
  #watch: Transport.Watch | undefined
  #since = 0

  constructor(terms: Terms, clock: Clock.Clock, resume: (outcome: Effect.Effect<string, E>) => void) {
    this.terms = terms
    this.#clock = clock
    this.resume = resume
  }

  /** The time of the call runs from here. */
  start(phase: Transport.Phase, reached: (reason: Transport.TimedOut) => void): void {
    this.#since = Monotonic.millisUnsafe(this.#clock)
    const { left, limits } = this.terms
    this.#watch = new Transport.Watch(this.#clock, {
      limits: this.late !== undefined ? { ...limits, firstByte: Infinity, idle: Infinity } : limits,
      left
    })
    this.#watch.started(reached)
    this.reached(phase)
  }

  reached(phase: Transport.Phase): void {
    this.#watch?.reached(phase)
  }

  stop(): void {
    if (this.#watch === undefined) return
    this.#watch.ended()
    this.#watch = undefined
    this.terms.left -= Monotonic.millisUnsafe(this.#clock) - this.#since
  }
}

/** One lookup, on behalf of all calls that wait for it. It has no limits of its own. */
export class Lookup<E> {
  readonly limits: Transport.Limits = { connect: Infinity, firstByte: Infinity, idle: Infinity, total: Infinity }
  left = Infinity
  sent = 0
  readonly #callers = new Set<Caller<E>>()
  readonly #failureOf: (error: HttpClientError) => E
  readonly #ended: () => void
  /** None while no time of the calls runs. */
  #phase: Transport.Phase | undefined
  #fiber: Fiber.Fiber<string, E> | undefined
  #giveUp: (reason: Transport.TimedOut) => void = () => {}

  constructor(failureOf: (error: HttpClientError) => E, ended: () => void) {
    this.#failureOf = failureOf
    this.#ended = ended
  }

  run(fiber: Fiber.Fiber<string, E>): void {
    this.#fiber = fiber
    fiber.addObserver((exit) => {
      this.#ended()
      for (const caller of this.#callers) this.#settle(caller, exit)
    })
    // Its time may have been up before it began.
    if (this.#callers.size === 0) fiber.interruptUnsafe()
  }

  join(caller: Caller<E>): void {
    this.#callers.add(caller)
    if (this.#phase !== undefined) this.#start(caller, this.#phase)
  }

  leave(caller: Caller<E>): void {
    caller.stop()
    this.#callers.delete(caller)
    if (this.#callers.size === 0) {
      this.#ended()
      this.#fiber?.interruptUnsafe()
    } else {
      this.#look()
    }
  }

  /** Whether a failed request is to be sent again after a pause, for a call that still allows it. The others fail. */
  affords(_tried: number, pause: number, failure: E): boolean {
    for (const caller of this.#callers) {
      if (caller.failed++ >= caller.terms.retries || pause >= caller.terms.left) {
        this.#settle(caller, Effect.fail(failure))
      }
    }
    return this.#callers.size > 0
  }

  pause(millis: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#begin("connect")
      return Effect.map(Effect.sleep(millis), () => this.#end())
    })
  }

  /** Sends the request under the limits of the calls. */
  exchange(
    send: (reached: (phase: Transport.Phase) => void) => Effect.Effect<HttpClientResponse, HttpClientError>
  ): Effect.Effect<HttpClientResponse, HttpClientError> {
    return Effect.suspend(() => {
      const givenUp = Effect.callback<never, HttpClientError>((resume) => {
        this.#giveUp = (reason) => resume(Effect.fail(exceeded(reason)))
      })
      this.#begin("headers")
      const sent = send((phase) => {
        this.#phase = phase
        for (const caller of this.#callers) caller.reached(phase)
      })
      return Effect.onExit(Effect.raceFirst(sent, givenUp), () => Effect.sync(() => this.#end()))
    })
  }

  #begin(phase: Transport.Phase): void {
    this.#phase = phase
    for (const caller of this.#callers) {
      caller.late = undefined
      this.#start(caller, phase)
    }
  }

  #end(): void {
    this.#phase = undefined
    this.#giveUp = () => {}
    for (const caller of this.#callers) caller.stop()
  }

  #start(caller: Caller<E>, phase: Transport.Phase): void {
    caller.start(phase, (reason) => {
      if (reason.limit === "total" || caller.failed >= caller.terms.retries) {
        caller.resume(Effect.fail(this.#failureOf(exceeded(reason))))
        return this.leave(caller)
      }
      caller.stop()
      caller.late = reason
      this.#start(caller, this.#phase ?? phase)
      this.#look()
    })
  }

  /** Gives the request up when it is late for all. */
  #look(): void {
    let late: Transport.TimedOut | undefined
    for (const caller of this.#callers) {
      if (caller.late === undefined) return
      late = caller.late
    }
    if (late !== undefined) this.#giveUp(late)
  }

  #settle(caller: Caller<E>, outcome: Effect.Effect<string, E>): void {
    caller.stop()
    this.#callers.delete(caller)
    caller.resume(outcome)
  }
}

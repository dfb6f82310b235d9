/**
 * The id of the authenticated user. With `user_auth` true it is in the access token; otherwise the service is asked once
 * per client and bearer token, however many calls need it at the same time. A failed lookup is not remembered.
 *
 * A lookup is a part of the call that begins it: it has the limits and the retries of that call. Calls that allow the same
 * share it and its outcome; one that allows something else looks for itself.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { Allowance } from "./Attempt.ts"

/** The route that tells the id. */
export const route = "GET /2/users/me"

/** The id inside an OAuth 1.0a access token: what stands before the first hyphen. */
export const ofAccessToken = (accessToken: string): string => accessToken.replace(/-.*/s, "")

/** A lookup under way. */
interface Shared<E> {
  readonly fiber: Fiber.Fiber<string, E>
  readonly terms: Allowance
  calls: number
}

/** Ids that a client remembers. */
const maxRememberedIds = 1024

/** Makes the memory of one client. */
export const make = <E>(
  lookup: (bearerToken: string, terms: Allowance) => Effect.Effect<string, E>
): (bearerToken: string, terms: Allowance) => Effect.Effect<string, E> => {
  const ids = new Map<string, string>()
  const lookups = new Map<string, Shared<E>>()

  const begin = (
    key: string,
    bearerToken: string,
    terms: Allowance,
    run: <A>(_: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  ) => {
    const shared: Shared<E> = { fiber: run(lookup(bearerToken, terms)), terms, calls: 0 }
    lookups.set(key, shared)
    shared.fiber.addObserver((exit) => {
      if (lookups.get(key) === shared) lookups.delete(key)
      if (Exit.isFailure(exit)) return
      const [oldest] = ids.size >= maxRememberedIds ? ids.keys() : []
      if (oldest !== undefined) ids.delete(oldest)
      ids.set(bearerToken, exit.value)
    })
    return shared
  }

  const find = (bearerToken: string, terms: Allowance): Effect.Effect<string, E> =>
    Effect.withFiber((fiber) => {
      const id = ids.get(bearerToken)
      if (id !== undefined) return Effect.succeed(id)
      const key = `${terms.retries} ${Object.values(terms.limits).join(" ")} ${bearerToken}`
      const underWay = lookups.get(key)
      // One that has more time than this call would hold it up.
      const known = underWay !== undefined && underWay.terms.left <= terms.left ? underWay : undefined
      const shared = known ?? begin(key, bearerToken, terms, Effect.runForkWith(fiber.context))
      shared.calls++
      const outcome = Effect.onExit(Fiber.join(shared.fiber), () => {
        if (--shared.calls > 0) return Effect.void
        if (lookups.get(key) === shared) lookups.delete(key)
        return Fiber.interrupt(shared.fiber)
      })
      return known === undefined ? outcome : join(known, fiber.getRef(Clock.Clock), outcome, bearerToken, terms)
    })

  /** Shares the outcome and what it takes, but not that the time of the call that began it was up. */
  const join = (
    shared: Shared<E>,
    clock: Clock.Clock,
    outcome: Effect.Effect<string, E>,
    bearerToken: string,
    terms: Allowance
  ): Effect.Effect<string, E> => {
    const before = shared.terms.left
    const joined = Monotonic.millisUnsafe(clock)
    return Effect.matchCauseEffect(outcome, {
      onSuccess: (id) => {
        charge()
        return Effect.succeed(id)
      },
      onFailure: (cause) => {
        charge()
        return shared.terms.left <= 0 && terms.left > 0 ? find(bearerToken, terms) : Effect.failCause(cause)
      }
    })
    // What it waited for a rate limit is not in it, nor what was before.
    function charge() {
      terms.left -= Math.min(before - shared.terms.left, Monotonic.millisUnsafe(clock) - joined)
    }
  }

  return find
}

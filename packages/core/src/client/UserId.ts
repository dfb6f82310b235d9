/**
 * The id of the authenticated user. With `user_auth` true it is in the access token; otherwise it is looked up once per client
 * and bearer token, however many calls need it at the same time. A failed lookup is not cached.
 *
 * A lookup is part of the call that starts it and has its timeouts and retries. Calls with the same allowance share it and its
 * outcome; a call with another allowance makes its own lookup.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { Allowance } from "./Attempt.ts"

/** The route of the lookup. */
export const route = "GET /2/users/me"

/** The id in an OAuth 1.0a access token: the part before the first hyphen. */
export const ofAccessToken = (accessToken: string): string => accessToken.replace(/-.*/s, "")

/** A lookup in progress. */
interface Shared<E> {
  readonly fiber: Fiber.Fiber<string, E>
  readonly terms: Allowance
  calls: number
}

/** The maximum number of cached ids. */
const maxRememberedIds = 1024

/** Makes the cache of one client. */
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
      const running = lookups.get(key)
      // A lookup with more time left than this call could delay it.
      const known = running !== undefined && running.terms.left <= terms.left ? running : undefined
      const shared = known ?? begin(key, bearerToken, terms, Effect.runForkWith(fiber.context))
      shared.calls++
      const outcome = Effect.onExit(Fiber.join(shared.fiber), () => {
        if (--shared.calls > 0) return Effect.void
        if (lookups.get(key) === shared) lookups.delete(key)
        return Fiber.interrupt(shared.fiber)
      })
      return known === undefined ? outcome : join(known, fiber.getRef(Clock.Clock), outcome, bearerToken, terms)
    })

  /** Shares the outcome and its duration, except for a timeout of the call that started the lookup. */
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
    // Excludes time before joining, and waiting for a rate limit.
    function charge() {
      terms.left -= Math.min(before - shared.terms.left, Monotonic.millisUnsafe(clock) - joined)
    }
  }

  return find
}

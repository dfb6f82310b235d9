/** Waits for rate limits if the client does not. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Client } from "../../client/Client.ts"
import type { AnyError } from "../../errors/Errors.ts"

/** Milliseconds in which rate limits reset; a longer wait is a usage cap. */
const maxWaitMillis = 16 * 60_000

const waited = <A>(request: Effect.Effect<A, AnyError>): Effect.Effect<A, AnyError> =>
  Effect.catchTag(request, "RateLimited", (error) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const wait = error.retryAfter ?? (error.resetAt === undefined ? undefined : error.resetAt.getTime() - now)
      if (error.waits === true || wait === undefined || wait > maxWaitMillis) return yield* error
      yield* Effect.sleep(Math.max(wait, 1_000))
      return yield* waited(request)
    }))

/** Runs a workflow with a client whose requests wait for rate limits. */
export const waitForLimits = <A, E, R>(workflow: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Client> =>
  Effect.updateService(workflow, Client, (client) => ({
    ...client,
    request: (definition, parameters, options) => waited(client.request(definition, parameters, options))
  }))

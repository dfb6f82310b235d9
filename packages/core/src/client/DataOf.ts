/** The required data of a response. */
import * as Effect from "effect/Effect"
import { UndecodableResponse } from "../errors/Errors.ts"
import type { Response } from "../schema/Response.ts"
import { Client } from "./Client.ts"

/** The data of a response; a response without data is an `UndecodableResponse`. */
export const dataOf = <A, E, R>(
  operation: string,
  call: Effect.Effect<Response<A>, E, R>
): Effect.Effect<A, E | UndecodableResponse, R | Client> =>
  Effect.flatMap(call, ({ body, data, requestId }) =>
    data === undefined
      ? Effect.gen(function*() {
        const redact = yield* (yield* Client).redact
        return yield* new UndecodableResponse({
          operation,
          status: 200,
          reason: "it has no data",
          requestId: requestId && redact(requestId),
          excerpt: redact(JSON.stringify(body)).slice(0, 2000)
        })
      })
      : Effect.succeed(data))

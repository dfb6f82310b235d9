/** Building blocks of admin calls. */
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Schema from "effect/Schema"
import * as Problem from "../http/Problem.ts"
import * as RequestBody from "../journal/RequestBody.ts"
import type { Controls } from "./Controls.ts"

/** Path and query parameters. */
type Parameters = Readonly<Record<string, string | undefined>>

export interface Endpoint {
  readonly answer: (
    sandbox: Controls,
    request: HttpServerRequest.HttpServerRequest,
    parameters: Parameters
  ) => Effect.Effect<unknown, Problem.Problem>
}

/** A call without a body. */
export const call = (
  answer: (sandbox: Controls, parameters: Parameters) => unknown
): Endpoint => ({ answer: (sandbox, _request, parameters) => Effect.sync(() => answer(sandbox, parameters)) })

/** A call without a body that may fail. */
export const fallible = (
  answer: (
    sandbox: Controls,
    parameters: Parameters
  ) => Effect.Effect<unknown, Problem.Problem>
): Endpoint => ({ answer: (sandbox, _request, parameters) => Effect.suspend(() => answer(sandbox, parameters)) })

/** A call with a body; a missing body counts as an empty object. */
export const withBody = <S extends Schema.Codec<unknown, unknown>>(
  schema: S,
  answer: (sandbox: Controls, payload: S["Type"], parameters: Parameters) => unknown
): Endpoint => {
  const decode = Schema.decodeUnknownEffect(schema, { onExcessProperty: "error" })
  return {
    answer: Effect.fnUntraced(function*(sandbox, request, parameters) {
      const body = hasBody(request) ? yield* RequestBody.json(request) : {}
      const payload = yield* Effect.mapError(decode(body), ({ message }) => Problem.invalidRequest(message))
      return yield* Effect.try({
        try: () => answer(sandbox, payload, parameters),
        catch: (error) => {
          // Values that only the state can prove invalid.
          if (error instanceof RangeError) return Problem.invalidRequest(error.message)
          throw error
        }
      })
    })
  }
}

const hasBody = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["content-type"] !== undefined || headers["transfer-encoding"] !== undefined ||
  Number(headers["content-length"] ?? 0) > 0

/**
 * The service as a function from request to response: it provides the service's clock, records every request in the journal
 * and answers every failure with a problem document.
 */
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { randomUUID } from "node:crypto"
import type * as Secrets from "../auth/Secrets.ts"
import * as AuthorizationServer from "../authorization/AuthorizationServer.ts"
import { type ConnectionLost, withoutHeaders } from "../faults/FaultyResponse.ts"
import * as Problem from "../http/Problem.ts"
import { urlOf } from "../http/RequestTarget.ts"
import type * as ServiceClock from "../http/ServiceClock.ts"
import type * as Journal from "../journal/Journal.ts"
import * as Operations from "./Operations.ts"

export interface Parts extends Operations.Parts {
  readonly clock: ServiceClock.ServiceClock
  readonly journal: Journal.Journal
  readonly secrets: Secrets.Secrets
}

/** Answers a request, or breaks the connection. */
export type Service = (
  request: HttpServerRequest.HttpServerRequest
) => Effect.Effect<HttpServerResponse.HttpServerResponse, ConnectionLost>

export const make = Effect.fnUntraced(function*(parts: Parts, options: Operations.Options = {}) {
  const { clock, journal, secrets } = parts
  const operations = yield* Operations.make(parts, options)
  const authorization = yield* AuthorizationServer.make(parts)

  const service: Service = (request) =>
    clock.provide(Effect.gen(function*() {
      const url = urlOf(request)
      const at = yield* Clock.currentTimeMillis
      const begun = yield* Monotonic.millis
      const keep = journal.begin()
      const trace: Journal.Trace = {}
      const refuse = (problem: Problem.Problem) => {
        trace.problem = problem.title
        return Problem.response(problem)
      }
      const answered = url === undefined
        ? Effect.fail(Problem.noRoute())
        : authorization.isFor(request.method, url)
        ? authorization.answer(request, url, trace)
        : operations(request, url, trace)
      return yield* answered.pipe(
        Effect.catchTag("Problem", (problem) => Effect.succeed(refuse(problem))),
        (answer) => Problem.answerDefects(answer, refuse),
        Effect.map((response) =>
          HttpServerResponse.setHeaders(response, {
            date: new Date(at).toUTCString(),
            "x-transaction-id": randomUUID(),
            // Headers set by a fault take precedence.
            ...response.headers
          })
        ),
        Effect.map((response) => withoutHeaders(trace.fault, response)),
        Effect.onExit((exit) =>
          Effect.map(Monotonic.millis, (end) =>
            keep(
              {
                at,
                method: request.method,
                path: url?.pathname ?? request.originalUrl.replace(/[?#].*/s, ""),
                query: Object.fromEntries(url?.searchParams ?? []),
                headers: request.headers,
                body: trace.body,
                operation: trace.operation,
                caller: trace.caller &&
                  { form: trace.caller.form, appId: trace.caller.appId, userId: trace.caller.userId },
                status: Exit.isSuccess(exit) ? exit.value.status : undefined,
                problem: trace.problem,
                fault: trace.fault,
                millis: Math.round(end - begun)
              },
              secrets.of(request.headers["authorization"], trace.secrets),
              Exit.isSuccess(exit) ? exit.value : undefined
            ))
        )
      )
    }))
  return service
})

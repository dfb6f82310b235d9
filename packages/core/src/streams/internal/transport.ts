/** Takes a request to the service whose answer has no end: the response is there with its head, and its body comes as it is made. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { RequestInit } from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Scope from "effect/Scope"
import { Watch } from "../../http/Deadlines.ts"
import { Progress } from "../../http/Timeouts.ts"
import { buffered, type Carrier, limit, noRedirects, Streaming } from "../../http/Transport.ts"

/** The connection is closed with the scope. An answer that is no success is read to its end, within the limits. */
export const make = (scope: Scope.Scope): Carrier => (http, allowance, request, fiber, clock) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Scope.fork(scope), (connection) => {
      const watch = new Watch(clock, allowance)
      const init = Context.getOrUndefined(fiber.context, RequestInit)
      const plain = HttpClientRequest.setHeader(request, "accept-encoding", "identity")
      const opened = Effect.flatMap(HttpClient.withScope(http).execute(plain), (response) => {
        if (response.status >= 200 && response.status < 300) return Effect.succeed(response)
        watch.reached("body")
        return buffered(request, response, watch)
      })
      return Effect.onExit(
        restore(Effect.raceFirst(
          Effect.provideContext(
            opened,
            Context.make(Progress, watch).pipe(
              Context.add(Streaming, connection),
              Context.add(Scope.Scope, connection),
              Context.add(RequestInit, init === undefined ? noRedirects : { ...init, ...noRedirects })
            )
          ),
          limit(watch, request)
        )),
        (exit) =>
          Exit.isSuccess(exit) && exit.value.status >= 200 && exit.value.status < 300
            ? Effect.void
            : Scope.close(connection, exit)
      )
    })
  )

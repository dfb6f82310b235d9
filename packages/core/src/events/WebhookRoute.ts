/**
 * A webhook as a route of Effect's HTTP server.
 *
 * @stability experimental
 */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import type { Webhook } from "./Webhook.ts"

/** Answers the requests to a path. */
export const layer = (path: HttpRouter.PathInput, webhook: Webhook): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  HttpRouter.add("*", path, (request) =>
    HttpServerRequest.toWeb(request).pipe(
      Effect.flatMap(webhook.handle),
      Effect.map(HttpServerResponse.fromWeb),
      Effect.orDie
    ))

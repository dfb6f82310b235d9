/**
 * The server over HTTP on this machine. Any web page and any user of the machine can reach a loopback port: a request needs the
 * token, and a host and an origin of this machine.
 */
import type { Client } from "@postwire/core/client/Client"
import type { Journal } from "@postwire/core/storage/Journal"
import * as McpServer from "effect/ai/McpServer"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import type { Ledger } from "../money/Ledger.ts"
import type * as Session from "../session/Session.ts"
import * as Server from "./Server.ts"

/** Settings of the server over HTTP. */
export interface Settings extends Session.Settings {
  readonly version: string
  /** The bearer token that requests need. */
  readonly token: Redacted.Redacted
}

/** The path of the server. */
export const path = "/mcp"

/** A new random token. */
export const makeToken = (): Redacted.Redacted => Redacted.make(randomBytes(32).toString("base64url"))

/** The server as a route. */
export const layer = (
  { token, ...settings }: Settings
): Layer.Layer<never, never, HttpRouter.HttpRouter | Client | Journal | Ledger> =>
  Layer.merge(
    McpServer.layerHttp({ ...Server.options(settings), path, allowSessionTermination: true }).pipe(Layer.orDie),
    guard(token)
  )

/** Digests have one length, whatever is compared. */
const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest()

/** A name that resolves to this machine may belong to a web page, so only these are right. */
const local = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

/** Refuses requests without the token, and those from web pages. */
const guard = (token: Redacted.Redacted) => {
  const expected = digestOf(`Bearer ${Redacted.value(token)}`)
  return HttpRouter.middleware(
    (answer) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers: { authorization = "", host = "", origin } }) => {
        if (!local.test(host)) return refuse(403, "The header Host must be this machine's: 127.0.0.1 or localhost.")
        if (origin !== undefined) return refuse(403, "Web pages are refused: the header Origin must be absent.")
        return timingSafeEqual(digestOf(authorization), expected)
          ? answer
          : refuse(401, "The token is missing or wrong. Send it as Authorization: Bearer TOKEN.")
      }),
    { global: true }
  )
}

const refuse = (status: 401 | 403, text: string) =>
  Effect.succeed(HttpServerResponse.text(`${text}\n`, {
    status,
    ...status === 401 && { headers: { "www-authenticate": "Bearer" } }
  }))

/** The HTTP server on a port, including responses to requests that Node rejects. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as Problem from "../http/Problem.ts"
import { isLocal, isPrivate } from "./Loopback.ts"
import type { Service } from "./Service.ts"

/** Limits memory, since a connection can send a head and part of a body without a credential. */
const maxConnections = 2_000

/** The address on which no other machine can connect. */
export const loopback = "127.0.0.1"

/** Serves requests on a port until the scope closes; returns the base URL. `requestTimeout` is in milliseconds. */
export const listen = Effect.fnUntraced(function*(
  answer: Service,
  { host, port, requestTimeout }: { readonly host: string; readonly port: number; readonly requestTimeout: number }
) {
  const isExpected = host === loopback ? isLocal : isPrivate
  // A missing host is reported like a foreign one.
  const http = createServer({
    requireHostHeader: false,
    requestTimeout,
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: Math.ceil(Math.min(1_000, requestTimeout / 2))
  })
  http.maxConnections = maxConnections
  const underWay = new WeakMap<Duplex, ServerResponse>()
  const note = ({ socket }: IncomingMessage, response: ServerResponse) => void underWay.set(socket, response)
  http.on("request", note).on("checkContinue", note)
  http.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const response = underWay.get(socket)
    // The response was sent, and only the rest of its request is late.
    if (response?.headersSent === true && !response.req.complete) return void socket.destroy()
    refuse(error, socket)
  })
  http.on("checkExpectation", ({ socket }) => refuse({ code: "EXPECTATION" }, socket))
  const server = yield* NodeHttpServer.make(() => http, { port, host })
  yield* server.serve(Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    isExpected(request.headers)
      // Interrupted when the client disconnects.
      ? Effect.interruptible(Effect.catchTag(answer(request), "ConnectionLost", () => breakOff(request)))
      : Effect.succeed(elsewhere(request))))
  // No other protocol is offered, so upgrade requests are handled like any other.
  http.removeAllListeners("upgrade")
  // An unfinished request must not delay the shutdown.
  yield* Effect.addFinalizer(() => Effect.sync(() => http.closeAllConnections()))
  // No client can connect to the address that stands for all.
  return HttpServer.formatAddress(server.address).replace(/\/\/(0\.0\.0\.0|\[::\])/, "//localhost")
})

/** Sends a problem document for a request that Node cannot parse. */
const refuse = ({ code = "" }: { readonly code?: string | undefined }, socket: Duplex): void => {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  const status = statuses[code] ?? 400
  const { document, title } = Problem.plain(status, STATUS_CODES[status], "This cannot be read as a request.")
  const body = JSON.stringify(document)
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}\r\n` +
      `Connection: close\r\n\r\n${body}`,
    () => socket.destroy()
  )
}

const statuses: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  EXPECTATION: 417,
  HPE_HEADER_OVERFLOW: 431
}

/** Resets the connection of a request like a crash. The returned response is discarded. */
const breakOff = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.sync(() => {
    NodeHttpServerRequest.toIncomingMessage(request).socket.resetAndDestroy()
    return HttpServerResponse.empty()
  })

/** Waits until everything written of a response has left this process. */
export const delivered = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
    // The response writes to the socket at the end of the tick.
    const look = () => socket.destroyed || socket.writableLength === 0 ? resume(Effect.void) : setImmediate(look)
    setImmediate(look)
  })

/** Refuses requests whose host is missing or foreign. */
const elsewhere = ({ headers }: HttpServerRequest.HttpServerRequest): HttpServerResponse.HttpServerResponse =>
  Problem.response(
    headers["host"] === undefined
      ? Problem.invalidRequest("The header host is missing.")
      : Problem.forbidden(
        "The sandbox serves programs on this machine, and with --host those of private names and addresses."
      )
  )

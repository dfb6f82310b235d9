/** A loopback port: what Node makes of connections, and the answers to what is no request that the sandbox serves. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as Problem from "../http/Problem.ts"
import { isLocal } from "./Loopback.ts"
import type { Service } from "./Service.ts"

/** Each connection may hold a head and the beginning of a body, without a credential. */
const maxConnections = 2_000

/** Answers the requests to a port until the scope closes; returns the address. `requestTimeout` is in milliseconds. */
export const listen = Effect.fnUntraced(function*(
  answer: Service,
  { port, requestTimeout }: { readonly port: number; readonly requestTimeout: number }
) {
  // Whoever names no host is told so like whoever names another.
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
    // The answer is out, and only the rest of its request is late.
    if (response?.headersSent === true && !response.req.complete) return void socket.destroy()
    refuse(error, socket)
  })
  http.on("checkExpectation", ({ socket }) => refuse({ code: "EXPECTATION" }, socket))
  const server = yield* NodeHttpServer.make(() => http, { port, host: "127.0.0.1" })
  yield* server.serve(Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    isLocal(request.headers)
      // Whose client has gone away needs no answer any more.
      ? Effect.interruptible(Effect.catchTag(answer(request), "ConnectionLost", () => breakOff(request)))
      : Effect.succeed(elsewhere(request))))
  // There is no other protocol to change to, so such a request is one like any other.
  http.removeAllListeners("upgrade")
  // A client that does not finish its request must not hold up the end.
  yield* Effect.addFinalizer(() => Effect.sync(() => http.closeAllConnections()))
  return HttpServer.formatAddress(server.address)
})

/** Answers what is no request that Node reads, with a problem document as everything else. */
const refuse = ({ code = "" }: { readonly code?: string | undefined }, socket: Duplex): void => {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  const status = statuses[code] ?? 400
  const title = STATUS_CODES[status] ?? ""
  const { document } = new Problem.Problem({
    status,
    title,
    detail: "This cannot be read as a request.",
    type: "about:blank"
  })
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

/** Ends the connection of a request as a crash does. What is then answered goes nowhere. */
const breakOff = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.sync(() => {
    NodeHttpServerRequest.toIncomingMessage(request).socket.resetAndDestroy()
    return HttpServerResponse.empty()
  })

/** Waits until all that was written of an answer has left this process. */
export const delivered = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
    // Writes leave the response for the socket at the end of the tick.
    const look = () => socket.destroyed || socket.writableLength === 0 ? resume(Effect.void) : setImmediate(look)
    setImmediate(look)
  })

/** The answer to whoever names another host than this machine, or none. */
const elsewhere = ({ headers }: HttpServerRequest.HttpServerRequest): HttpServerResponse.HttpServerResponse =>
  Problem.response(
    headers["host"] === undefined
      ? Problem.invalidRequest("The header host is missing.")
      : Problem.forbidden("The sandbox serves programs on this machine only.")
  )

/**
 * The worker's side of the bridge: it runs the Effects, the caller sleeps until the answer is there. A program that
 * bundles the client bundles this module as an entry of its own.
 */
import { Client } from "@postwire/core/Client"
import { AnyError } from "@postwire/core/Errors"
import * as NodeClient from "@postwire/node/NodeClient"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { workerData } from "node:worker_threads"
import { type Answer, leave, place, type Request, share, wake, type WorkerData } from "./internal/Protocol.ts"

const { memory, port } = (workerData as WorkerData).postwire
const shared = share(memory)
const { places, room } = shared
const encodeError = Schema.encodeUnknownSync(Schema.toCodecJson(AnyError))

interface Open {
  readonly client: Client["Service"]
  /** Also says what is logged, and where. */
  readonly context: Context.Context<Client>
  readonly session: UndiciHttpClient.Session
  readonly scope: Scope.Closeable
}

const clients = new Map<number, Open>()
const fibers = new Map<number, Fiber.Fiber<unknown, unknown>>()

const answer = (message: Answer, transfer: Array<ArrayBuffer> = []) => {
  port.postMessage(message, transfer)
  wake(shared)
}

const failed = (id: number, cause: Cause.Cause<unknown>): Answer => {
  const error = Cause.findErrorOption(cause)
  return Option.isSome(error)
    ? { _tag: "Failure", id, error: encodeError(error.value) }
    : { _tag: "Defect", id, message: Cause.pretty(cause) }
}

const open = (settings: Parameters<typeof NodeClient.layer>[0]): Open => {
  const scope = Scope.makeUnsafe()
  const session = new UndiciHttpClient.Session(NodeClient.agentOptionsOf(settings))
  const layer = NodeClient.layer({ ...settings, proxy: undefined, ca: undefined, dispatcher: session })
  const context = Effect.runSync(Layer.buildWithScope(layer, scope))
  return { scope, session, context, client: Context.get(context, Client) }
}

const send = (request: Request & { readonly _tag: "Send" }) => {
  const { id } = request
  const { client, context } = clients.get(request.client) as Open
  const fiber = Effect.runForkWith(context)(client.send(request.prepared, request.options))
  fibers.set(id, fiber)
  fiber.addObserver((exit) => {
    fibers.delete(id)
    if (Exit.isFailure(exit)) return answer(failed(id, exit.cause))
    respond(id, exit.value, !request.ahead)
  })
}

/** Into the memory where there is room; otherwise as a message whose body changes hands. */
const respond = (id: number, response: HttpClientResponse, roomy: boolean) => {
  const { status } = response
  const headers = Object.entries(response.headers).flat().join("\n")
  const body = UndiciHttpClient.bytesOf(response)
  if (roomy && Atomics.load(places, place.answer) === 0 && headers.length * 3 + body.length <= room.length) {
    const size = room.write(headers)
    room.set(body, size)
    places[place.status] = status
    places[place.headers] = size
    places[place.body] = body.length
    Atomics.store(places, place.answer, id)
    return wake(shared)
  }
  // A part of a larger buffer is copied first, as others read the rest.
  const own = body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body)
  answer({ _tag: "Response", id, status, headers, body: own }, [own.buffer])
}

const close = async (request: Request & { readonly _tag: "Close" }) => {
  const open = clients.get(request.client)
  clients.delete(request.client)
  if (open !== undefined) {
    await Effect.runPromise(Scope.close(open.scope, Exit.void))
    await open.session.close()
  }
  answer({ _tag: "Closed", id: request.id })
}

port.on("message", (request: Request) => {
  switch (request._tag) {
    case "Open":
      return clients.set(request.client, open(request.settings))
    case "Send":
      return send(request)
    case "Abort":
      return fibers.get(request.id)?.interruptUnsafe()
    case "Statistics": {
      const { id } = request
      return answer({ _tag: "Statistics", id, statistics: clients.get(request.client)?.session.statistics() ?? {} })
    }
    case "Close":
      return close(request)
  }
})

process.on("exit", () => leave(shared))

setInterval(() => Atomics.add(places, place.heartbeat, 1), 100).unref()
Atomics.store(places, place.state, 1)
wake(shared)

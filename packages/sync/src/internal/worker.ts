/** The worker's side of the bridge: it runs the Effects, the caller sleeps until the answer is there. */
import { Client } from "@postwire/core/Client"
import { AnyError } from "@postwire/core/Errors"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { workerData } from "node:worker_threads"
import { type Answer, place, type Request, type WorkerData } from "./Protocol.ts"

const { memory, port } = workerData as WorkerData
const shared = new Int32Array(memory)
const encodeError = Schema.encodeUnknownSync(Schema.toCodecJson(AnyError))

interface Open {
  readonly client: Client["Service"]
  readonly scope: Scope.Closeable
}

const clients = new Map<number, Open>()
const fibers = new Map<number, Fiber.Fiber<unknown, unknown>>()

const wake = () => {
  Atomics.add(shared, place.answers, 1)
  Atomics.notify(shared, place.answers)
}

const answer = (message: Answer, transfer: Array<ArrayBuffer> = []) => {
  port.postMessage(message, transfer)
  wake()
}

const failed = (id: number, cause: Cause.Cause<unknown>): Answer => {
  const error = Cause.findErrorOption(cause)
  return Option.isSome(error)
    ? { _tag: "Failure", id, error: encodeError(error.value) }
    : { _tag: "Defect", id, message: Cause.pretty(cause) }
}

const open = (settings: Parameters<typeof NodeClient.layer>[0]): Open => {
  const scope = Scope.makeUnsafe()
  const context = Effect.runSync(Layer.buildWithScope(NodeClient.layer(settings), scope))
  return { scope, client: Context.get(context, Client) }
}

const send = (request: Request & { readonly _tag: "Send" }) => {
  const { id } = request
  const { client } = clients.get(request.client) as Open
  const fiber = Effect.runFork(Effect.flatMap(client.send(request.prepared, request.options), (response) =>
    // A body that breaks off has failed inside `send`: the transport of this client buffers.
    Effect.map(
      response.arrayBuffer,
      (bytes) => ({ status: response.status, headers: { ...response.headers }, bytes })
    )))
  fibers.set(id, fiber)
  fiber.addObserver((exit) => {
    fibers.delete(id)
    if (Exit.isFailure(exit)) return answer(failed(id, exit.cause))
    answer({ _tag: "Response", id, ...exit.value }, [exit.value.bytes])
  })
}

const close = async (request: Request & { readonly _tag: "Close" }) => {
  const open = clients.get(request.client)
  clients.delete(request.client)
  if (open !== undefined) await Effect.runPromise(Scope.close(open.scope, Exit.void))
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
    case "Close":
      return close(request)
  }
})

process.on("exit", () => {
  Atomics.store(shared, place.state, 2)
  wake()
})

setInterval(() => Atomics.add(shared, place.heartbeat, 1), 100).unref()
Atomics.store(shared, place.state, 1)
wake()

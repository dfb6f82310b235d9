/**
 * The worker's side of the bridge: it runs the Effects while the caller sleeps until the answer has arrived. A program that bundles
 * the client bundles this module as an entry of its own.
 */
import { lost } from "@postwire/core/client/CallErrors"
import { Client } from "@postwire/core/client/Client"
import { SendGate } from "@postwire/core/client/SendGate"
import { methods, type Name } from "@postwire/core/promise/Methods"
import * as Workflows from "@postwire/core/promise/Workflows"
import type { Definition } from "@postwire/core/schema/Definition"
import { received } from "@postwire/core/schema/RateLimitHeaders"
import { type Cost, costOf } from "@postwire/core/schema/Response"
import { Total } from "@postwire/core/spend/SpendSettings"
import { SpendStore } from "@postwire/core/spend/SpendStore"
import type { Journal } from "@postwire/core/storage/Journal"
import type { Prepared } from "@postwire/core/wire/RequestEncoder"
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
import * as Scope from "effect/Scope"
import { workerData } from "node:worker_threads"
import * as ErrorCodec from "./internal/errorCodec.ts"
import * as LiveBatch from "./internal/liveBatch.ts"
import * as NetworkDefaults from "./internal/networkDefaults.ts"
import * as OwnSpending from "./internal/ownSpending.ts"
import * as Protocol from "./internal/protocol.ts"
import { type Answer, ownName, place, type Request, share, State, wake, type WorkerData } from "./internal/protocol.ts"

const { memory, port } = (workerData as WorkerData)[ownName]
const shared = share(memory)
const { places, room } = shared

interface OpenClient {
  readonly client: Client["Service"]
  /** The services, including the loggers. */
  readonly context: Context.Context<Client | Journal>
  readonly session: UndiciHttpClient.Session
  readonly scope: Scope.Closeable
}

/** The reason why a client could not be opened. */
interface Unopened {
  readonly reason: string
}

const clients = new Map<number, OpenClient | Unopened>()

const clientOf = (client: number): OpenClient | Unopened => clients.get(client) ?? { reason: "the client is closed" }

const fibers = new Map<number, Fiber.Fiber<unknown, unknown>>()

const answer = (message: Answer, transfer: Array<ArrayBuffer> = []) => {
  port.postMessage(message, transfer)
  wake(shared)
}

/** Turns a throw into a `Defect` answer: without an answer the caller would block. */
const answering = (id: number, work: () => unknown): void => {
  const defective = (defect: unknown) => answer({ _tag: "Defect", id, message: messageOf(defect) })
  try {
    const working = work()
    if (working instanceof Promise) working.catch(defective)
  } catch (defect) {
    defective(defect)
  }
}

const messageOf = (defect: unknown): string => {
  try {
    return String(defect)
  } catch {
    return "a defect that cannot be shown"
  }
}

const failed = (id: number, cause: Cause.Cause<unknown>): Answer => {
  const error = Option.flatMap(Cause.findErrorOption(cause), ErrorCodec.encode)
  return Option.isSome(error)
    ? { _tag: "Failure", id, error: error.value }
    : { _tag: "Defect", id, message: Cause.pretty(cause) }
}

const open = ({ client, defaults, settings, spending }: Request & { readonly _tag: "Open" }): OpenClient => {
  NetworkDefaults.apply(defaults)
  const scope = Scope.makeUnsafe()
  const session = new UndiciHttpClient.Session(NodeClient.agentOptionsOf(settings))
  const layer = NodeClient.layer({ ...settings, proxy: undefined, ca: undefined, dispatcher: session })
  const context = Effect.runSync(
    Layer.buildWithScope(layer, scope).pipe(
      Effect.provideService(Total, OwnSpending.totalOf(spending)),
      Effect.provideService(
        SpendStore,
        OwnSpending.storeOf(spending, (texts) => port.postMessage({ _tag: "BillChange", client, texts }))
      )
    )
  )
  return { scope, session, context, client: Context.get(context, Client) }
}

const send = ({ ahead, client, id, options, prepared: given }: Request & { readonly _tag: "Send" }) => {
  if (!ahead && id <= Atomics.load(places, place.withdrawn)) return
  const prepared: Prepared = typeof given === "string" ? JSON.parse(given) : given
  const open = clientOf(client)
  if ("reason" in open) return answer({ _tag: "Unsent", id, reason: open.reason })
  const exchange = Effect.flatMap(
    open.client.send(prepared, options),
    (response) => Effect.map(bodyOf(prepared, response), (body) => ({ response, body, cost: costOf(response) }))
  )
  start(
    id,
    open,
    prepared.effect === "create" ? Effect.provideService(exchange, SendGate, gateOf(id)) : exchange,
    (arrived) => respond(id, arrived, !ahead)
  )
}

/** Runs an effect until it ends or the request is aborted, and answers with its result. */
const start = <A>(
  id: number,
  { context }: OpenClient,
  effect: Effect.Effect<A, unknown, Client | Journal>,
  succeed: (value: A) => void
) => {
  const fiber = Effect.runForkWith(context)(effect)
  fibers.set(id, fiber)
  fiber.addObserver((exit) => {
    fibers.delete(id)
    answering(id, () => Exit.isFailure(exit) ? answer(failed(id, exit.cause)) : succeed(exit.value))
  })
}

/** Publishes in shared memory whether a create is out, so that a caller that gave up can tell: see `Bridge`. */
const gateOf = (id: number): SendGate => ({
  maySend: () => {
    Atomics.store(places, place.out, id)
    if (id > Atomics.load(places, place.withdrawn)) return true
    Atomics.compareExchange(places, place.out, id, 0)
    return false
  },
  // The field may belong to another call by now.
  withoutEffect: () => void Atomics.compareExchange(places, place.out, id, 0)
})

const run = ({ client, gate, id, isWatched, job }: Request & { readonly _tag: "Run" }) => {
  if (Atomics.load(gate, Protocol.gate.withdrawn) === 1) return
  const open = clientOf(client)
  if ("reason" in open) return answer({ _tag: "Unsent", id, reason: open.reason })
  const onProgress = isWatched ? (progress: unknown) => answer({ _tag: "Progress", id, progress }) : undefined
  const effect = Effect.provideService(effectOf(client, job, onProgress), SendGate, gatedBy(gate))
  start(id, open, effect, (value) => answer({ _tag: "Done", id, value }))
}

const effectOf = (
  client: number,
  job: Protocol.Job,
  onProgress: OnProgress | undefined
): Effect.Effect<unknown, unknown, Client | Journal> =>
  Effect.suspend((): Effect.Effect<unknown, unknown, Client | Journal> => {
    switch (job.type) {
      case "call":
        return Workflows.effectOf(job.method, NodeClient.inputOf, watchedBy(onProgress, job))
      case "open": {
        const { stream } = job
        const report = onProgress && ((progress: unknown) => streams.get(stream)?.onProgress?.(progress))
        return openStream(
          stream,
          client,
          Workflows.effectOf(job.method, NodeClient.inputOf, watchedBy(report, job))
        )
      }
      case "openLive":
        return openStream(job.stream, client, openLive(job))
      case "next":
        return nextOf(job.stream, onProgress)
    }
  })

type OnProgress = (progress: unknown) => void

/** The arguments of a method, with a callback among its options. */
const watchedBy = (
  onProgress: OnProgress | undefined,
  { args, method }: Extract<Protocol.Job, { readonly method: Name }>
) =>
  onProgress === undefined
    ? args
    : args.map((arg, index) => index === methods[method].options ? Object.assign({}, arg, { onProgress }) : arg)

/** Reads the next items; `undefined` at the end. */
type Next = Effect.Effect<unknown, unknown, Client | Journal>

interface Opened {
  readonly client: number
  readonly scope: Scope.Closeable
  readonly next: Next
  /** Set by the job that waits for the next items. */
  onProgress: OnProgress | undefined
}

const streams = new Map<number, Opened>()

const openStream = (
  stream: number,
  client: number,
  open: Effect.Effect<Next, unknown, Scope.Scope | Client | Journal>
) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const next = yield* Scope.provide(open, scope).pipe(
      Effect.onExit((exit) => Exit.isFailure(exit) ? Scope.close(scope, exit) : Effect.void)
    )
    streams.set(stream, { client, scope, next, onProgress: undefined })
  })

const openLive = ({ isWhole, operation, options, parameters }: Protocol.Job & { readonly type: "openLive" }) =>
  // Only streams need the declarations of all operations.
  Effect.flatMap(Effect.promise(() => import("@postwire/core/Catalogue")), ({ catalogue }) => {
    const named: Readonly<Record<string, { readonly definition: Definition }>> = catalogue
    const { definition } = named[operation]!
    return isWhole
      ? Effect.map(Workflows.openLiveEvents(definition, parameters, options), batchesBy(LiveBatch.ofEvents))
      : Effect.map(Workflows.openLive(definition, parameters, options), batchesBy(LiveBatch.ofItems))
  })

const batchesBy = <A>(of: (some: ReadonlyArray<A>) => LiveBatch.LiveBatch) =>
  Effect.map((some: ReadonlyArray<A> | undefined) => some === undefined ? undefined : of(some))

const nextOf = (stream: number, onProgress: OnProgress | undefined) => {
  const opened = streams.get(stream)
  if (opened === undefined) return Effect.die(new Error("the stream is closed, or its worker was lost"))
  opened.onProgress = onProgress
  return opened.next
}

const leave = async (stream: number) => {
  const opened = streams.get(stream)
  streams.delete(stream)
  if (opened !== undefined) await Effect.runPromise(Scope.close(opened.scope, Exit.void))
}

/** The gate of a job, as `gateOf` of a call. */
const gatedBy = (gate: Int32Array): SendGate => ({
  maySend: () => {
    Atomics.add(gate, Protocol.gate.out, 1)
    if (Atomics.load(gate, Protocol.gate.withdrawn) === 0) return true
    Atomics.sub(gate, Protocol.gate.out, 1)
    return false
  },
  withoutEffect: () => void Atomics.sub(gate, Protocol.gate.out, 1)
})

const bodyOf = (prepared: Prepared, response: HttpClientResponse) =>
  Effect.mapError(
    UndiciHttpClient.bytesOf(response),
    (cause) => lost(prepared, { phase: "body", sent: true, reason: cause.reason._tag, cause })
  )

interface Arrived {
  readonly response: HttpClientResponse & { readonly [received]?: UndiciHttpClient.IncomingHeaders }
  readonly body: Uint8Array<ArrayBuffer>
  readonly cost: Cost | undefined
}

/** Responds in the shared memory if there is room, otherwise with a message that transfers the body. */
const respond = (id: number, { body, cost, response }: Arrived, mayUseSharedMemory: boolean) => {
  const { status } = response
  // A copy, since headers that were read hide cookies from JSON.
  const headers = JSON.stringify({ ...response[received] ?? response.headers })
  if (
    mayUseSharedMemory && cost === undefined && Atomics.load(places, place.answer) === 0 &&
    // A UTF-16 unit has at most three bytes.
    headers.length * 3 + body.length <= room.length
  ) {
    const size = room.write(headers)
    room.set(body, size)
    places[place.status] = status
    places[place.headers] = size
    places[place.body] = body.length
    Atomics.store(places, place.answer, id)
    return wake(shared)
  }
  // A part of a larger buffer is copied, since other code reads the rest.
  const own = body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body)
  answer({ _tag: "Response", id, status, headers, body: own, cost }, [own.buffer])
}

const close = async ({ client, id }: Request & { readonly _tag: "Close" }) => {
  const open = clientOf(client)
  clients.delete(client)
  await Promise.all(
    [...streams].flatMap(([stream, opened]) => opened.client === client ? [leave(stream)] : [])
  )
  if ("session" in open) {
    await Effect.runPromise(Scope.close(open.scope, Exit.void))
    await open.session.close()
  }
  answer({ _tag: "Closed", id })
}

const redact = async ({ client, id, text }: Request & { readonly _tag: "Redact" }) => {
  const open = clientOf(client)
  if ("reason" in open) throw new Error(open.reason)
  const redact = await Effect.runPromiseWith(open.context)(open.client.redact)
  answer({ _tag: "Redacted", id, text: redact(text) })
}

const statistics = (client: number): Readonly<Record<string, UndiciHttpClient.Statistics>> => {
  const open = clientOf(client)
  return "session" in open ? open.session.statistics() : {}
}

port.on("message", (request: Request) => {
  switch (request._tag) {
    case "Open":
      try {
        return clients.set(request.client, open(request))
      } catch (error) {
        // This message has no answer; every call of the client reports the reason.
        return clients.set(request.client, { reason: messageOf(error) })
      }
    case "Send":
      return answering(request.id, () => send(request))
    case "Run":
      return answering(request.id, () => run(request))
    case "Abort":
      return fibers.get(request.id)?.interruptUnsafe()
    case "Leave":
      // This message has no answer, and an unhandled rejection would end the worker for all clients.
      return void leave(request.stream).catch(() => {})
    case "Statistics":
      return answering(
        request.id,
        () => answer({ _tag: "Statistics", id: request.id, statistics: statistics(request.client) })
      )
    case "Redact":
      return answering(request.id, () => redact(request))
    case "Close":
      return answering(request.id, () => close(request))
  }
})

setInterval(() => Atomics.add(places, place.heartbeat, 1), 100).unref()
Atomics.store(places, place.state, State.ready)
wake(shared)

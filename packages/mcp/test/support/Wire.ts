/** A host at the level of messages, which can be asked: over standard input and output in memory, of either kind of revision. */
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Deferred, Effect, Layer, Queue, Sink, Stdio, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Server from "../../src/server/Server.ts"
import { now, type Options, services } from "./Scene.ts"

type Json = Readonly<Record<string, unknown>>

/** A question to the user. */
export interface Asked {
  readonly message: string
}

/** The second request of a round trip. */
export interface Continuation {
  readonly arguments: Json
  readonly requestState?: string | undefined
  readonly inputResponses?: Json
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Asked
  readonly error?: unknown
  readonly result?: {
    readonly resultType?: string
    readonly inputRequests?: Readonly<Record<string, { readonly params: Asked }>>
    readonly requestState?: string
    readonly content?: ReadonlyArray<{ readonly text?: string }>
    readonly isError?: boolean
  }
}

export interface WireOptions extends Options {
  readonly revision: "2025-11-25" | "2026-07-28"
  /** The user's answer. Without it, the host cannot ask. */
  readonly answers?: (asked: Asked) => Json
  /** The most round trips of a call. Default 1. */
  readonly rounds?: number
  /** Changes the second request of a round trip. */
  readonly meddle?: (continuation: Continuation) => Continuation
}

/** A connected host. */
export interface Wire {
  readonly call: (name: string, input?: Json) => Effect.Effect<{ readonly text: string; readonly isError: boolean }>
  /** What the user was asked. */
  readonly questions: ReadonlyArray<Asked>
  readonly sandbox: Sandbox.Sandbox["Service"]
}

/** Starts a server, and connects a host. */
export const connect = Effect.fnUntraced(function*(options: WireOptions) {
  const { answers, meddle = (continuation) => continuation, revision, rounds = 1 } = options
  yield* TestClock.setTime(now)
  const context = yield* Layer.build(Sandbox.layer({ posts: 0, start: now }))
  const questions: Array<Asked> = []
  const answer = (asked: Asked) => {
    questions.push(asked)
    return answers?.(asked) ?? { action: "cancel" }
  }
  const { request, send, stdio } = yield* pipe(answer)
  const server = Server.layerStdio({ ...options, version: "1" }).pipe(Layer.provide([services(options), stdio]))
  // The end of the server interrupts the fiber that has built it.
  yield* Effect.forkScoped(Effect.provideContext(Layer.launch(server), context))
  const capabilities = answers === undefined ? {} : { elicitation: {} }
  const clientInfo = { name: "host", version: "1" }
  if (revision === "2025-11-25") {
    yield* request("initialize", { protocolVersion: revision, capabilities, clientInfo })
    yield* send({ method: "notifications/initialized" })
  }
  const prefix = "io.modelcontextprotocol"
  const meta = revision === "2025-11-25" ? {} : {
    _meta: {
      [`${prefix}/protocolVersion`]: revision,
      [`${prefix}/clientCapabilities`]: capabilities,
      [`${prefix}/clientInfo`]: clientInfo
    }
  }
  const connected: Wire = {
    call: Effect.fnUntraced(function*(name, input = {}) {
      const params = { name, arguments: input, ...meta }
      let reply = yield* request("tools/call", params)
      for (let round = 0; round < rounds; round++) {
        const { inputRequests = {}, requestState, resultType } = reply.result ?? {}
        if (resultType !== "input_required") break
        const inputResponses = Object.fromEntries(
          Object.entries(inputRequests).map(([key, asked]) => [key, answer(asked.params)])
        )
        const continuation = meddle({ arguments: input, inputResponses, requestState })
        reply = yield* request("tools/call", { ...params, ...continuation })
      }
      return shown(reply)
    }),
    questions,
    sandbox: yield* Effect.provideContext(Sandbox.Sandbox, context)
  }
  return connected
})

const shown = ({ error, result }: Message) => ({
  text: result?.resultType === "input_required"
    ? "asked again"
    : result?.content?.map(({ text = "" }) => text).join("\n") ?? JSON.stringify(error),
  isError: error !== undefined || result?.isError === true
})

/** Standard input and output of a server, and requests over them. */
const pipe = Effect.fnUntraced(function*(answer: (asked: Asked) => Json) {
  const stdin = yield* Queue.unbounded<Uint8Array>()
  const pending = new Map<number, Deferred.Deferred<Message>>()
  const send = (message: Json) =>
    Queue.offer(stdin, new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`))
  const receive = (line: string) =>
    Effect.gen(function*() {
      const message: Message = JSON.parse(line)
      if (message.method === "elicitation/create" && message.params !== undefined) {
        yield* send({ id: message.id, result: answer(message.params) })
      }
      const waiting = message.method === undefined ? pending.get(message.id ?? 0) : undefined
      if (waiting !== undefined) yield* Deferred.succeed(waiting, message)
    })
  const stdio = Stdio.layerTest({
    stdin: Stream.fromQueue(stdin),
    stdout: () =>
      Sink.forEach((written: string | Uint8Array) => {
        const text = typeof written === "string" ? written : new TextDecoder().decode(written)
        return Effect.forEach(text.split("\n").filter((line) => line !== ""), receive, { discard: true })
      })
  })
  const request = Effect.fnUntraced(function*(method: string, params: object) {
    const id = pending.size + 1
    const answered = yield* Deferred.make<Message>()
    pending.set(id, answered)
    yield* send({ id, method, params })
    return yield* Deferred.await(answered)
  })
  return { request, send, stdio }
})

/**
 * A webhook with Promises: answers challenges, checks deliveries, and calls a function with each event.
 *
 * ```ts
 * import { webhook } from "@postwire/node/Webhook"
 * import { createServer } from "node:http"
 *
 * const hook = webhook({ secrets: process.env.CONSUMER_SECRET!, store: "./events.db", onEvent: async (event) => { ... } })
 * createServer(hook.listener).listen(3000)
 * ```
 *
 * @stability experimental
 */
import "@postwire/core/runtime/SupportedNode"
import * as Core from "@postwire/core/events/Webhook"
import * as Promises from "@postwire/core/promise/Webhook"
import * as RenameCompiler from "@postwire/core/wire/RenameCompiler"
import * as ResponseDecoder from "@postwire/core/wire/ResponseDecoder"
import * as WireNames from "@postwire/core/wire/WireNames"
import * as Effect from "effect/Effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import type { IncomingMessage, ServerResponse } from "node:http"
import { checkStore, isAddress } from "./internal/places.ts"
import * as WebhookStore from "./WebhookStore.ts"

export type { Acknowledgement, DeadLetter, Delivery } from "@postwire/core/events/Webhook"
export type * from "@postwire/core/events/WebhookEvent"
export type { DeadLetters } from "@postwire/core/promise/Webhook"

/** Options of a webhook. */
export interface Options extends Promises.Options {
  /**
   * Keeps the events that were acknowledged: the path of an SQLite file, for processes of one machine, or a `redis://` or `rediss://`
   * address, which needs the package `@redis/client`. A path names its folder (`./events`) or ends in `.db` or `.sqlite`. Default: the
   * memory of this process, whose end they do not survive.
   */
  readonly store?: string | undefined
}

/** A webhook: a function that answers a web request. */
export interface Webhook extends Promises.Webhook {
  /** Answers a request of Node's server, or of Express, before a body parser or with `express.raw`. */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void
}

/** Opens a webhook. Throws `InvalidSettings` if an option is invalid. */
export const webhook = ({ store, ...options }: Options): Webhook => {
  // On Node the size of a compiler does not matter.
  ResponseDecoder.compileWith(SchemaJITCompiler.enable)
  WireNames.compileWith(RenameCompiler.compile)
  const { answer, run, webhook: own } = Promises.open(options, {
    store: Effect.andThen(checkStore("store", store, "./events"), openStore(store)),
    warn: (warning) => process.emitWarning(warning, "PostwireWarning")
  }, webhook)
  return Object.assign(own, {
    listener: (request: IncomingMessage, response: ServerResponse) =>
      void run(answer(incomingOf(request))).then(({ body, headers, status }) => {
        response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body)
      })
  })
}

const openStore = (store: string | undefined) =>
  store === undefined
    ? Effect.undefined
    : isAddress(store)
    ? WebhookStore.redis({ url: store })
    : WebhookStore.sqlite({ path: store })

const incomingOf = (request: IncomingMessage): Core.Incoming => ({
  method: request.method ?? "",
  url: request.url ?? "",
  header: (name) => {
    const value = request.headers[name]
    return typeof value === "object" ? value.join(", ") : value
  },
  read: (most, done) => {
    // What Express and its like add.
    const body: unknown = Reflect.get(request, "body")
    const bytes: unknown = Reflect.get(request, "rawBody") ?? body
    if (!(bytes instanceof Uint8Array) && body === undefined && !request.readableDidRead) {
      return readAll(request, most, done)
    }
    done(!(bytes instanceof Uint8Array) ? Core.parsedBody : bytes.length > most ? Core.tooLong : bytes)
    return () => {}
  }
})

const readAll = (
  request: IncomingMessage,
  most: number,
  done: (result: Uint8Array | Core.RequestRefused) => void
): () => void => {
  const pieces: Array<Buffer> = []
  let size = 0
  const stop = () => void request.off("data", take).off("end", end).off("error", cut).off("close", cut)
  const finish = (result: Uint8Array | Core.RequestRefused) => {
    stop()
    done(result)
  }
  const take = (piece: Buffer) => {
    size += piece.length
    if (size > most) finish(Core.tooLong)
    else pieces.push(piece)
  }
  const end = () => finish(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, size))
  const cut = () => finish(Core.truncated)
  // An error without a listener ends the process.
  request.on("error", () => {}).on("data", take).on("end", end).on("error", cut).on("close", cut)
  return stop
}

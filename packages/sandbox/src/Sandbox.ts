/**
 * The sandbox: in process as an `HttpClient` (`layer`), or on a loopback port (`layerServer`).
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { catalogue, type Name } from "@postwire/core/Catalogue"
import type { Wire } from "@postwire/core/WireNames"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as Admin from "./Admin.ts"
import * as Console from "./Console.ts"
import * as Faults from "./Faults.ts"
import * as Fixtures from "./Fixtures.ts"
import * as Journal from "./Journal.ts"
import { isLocal } from "./Loopback.ts"
import * as Nonces from "./Nonces.ts"
import * as Problem from "./Problem.ts"
import * as RateLimits from "./RateLimits.ts"
import * as Secrets from "./Secrets.ts"
import * as Seed from "./Seed.ts"
import * as Service from "./Service.ts"
import * as ServiceClock from "./ServiceClock.ts"
import type { NodeUnsupported } from "./store/Engine.ts"
import { type State, Store, StoreUnavailable } from "./store/Store.ts"

/** What a sandbox is populated with. */
export interface Population {
  /** The number that decides all data. Default 1. */
  readonly seed?: number | undefined
  /** How many posts there are at the start: a whole number from 0 to 1,000,000. Default 1,000. */
  readonly posts?: number | undefined
  /** Where the clock of the service begins. Default: the clock of the program. */
  readonly start?: Date | number | undefined
}

/** Settings of a sandbox. */
export interface Options extends Population {
  /** Where the state is kept; in memory when left out. A file that holds a state already is used as it is. */
  readonly file?: string | undefined
  /** The words of an answer where the request does not tell. Default `neutral`. */
  readonly wire?: Wire | undefined
  /** How many posts a project may read per month with the operations that count. Default 10,000,000. */
  readonly postCap?: number | undefined
  /** The share of requests that go wrong in one way or another, from 0 (default) to 1; the seed decides which. */
  readonly faults?: number | undefined
  /** What `/_sandbox` asks for. Default: a random one. */
  readonly adminToken?: Redacted.Redacted | undefined
}

/** Settings of a sandbox on a port. */
export interface ServerOptions extends Options {
  /** Default 0: any free one. */
  readonly port?: number | undefined
  /**
   * How long a request may take to arrive, body included. Later ones are answered with 408, and the connection ends.
   * Default: 30 seconds.
   */
  readonly requestTimeout?: Duration.Input | undefined
}

/** The port could not be had: it is taken, or not allowed. */
export class PortUnavailable extends Schema.TaggedError<PortUnavailable>("@postwire/sandbox/Sandbox/PortUnavailable")(
  "PortUnavailable",
  { port: Schema.Number, cause: Schema.Defect() }
) {
  override get message() {
    return `Cannot listen on port ${this.port}: choose another one, or 0 for any that is free`
  }
}

/** An option of the sandbox breaks a rule. */
export class InvalidOption extends Schema.TaggedError<InvalidOption>("@postwire/sandbox/Sandbox/InvalidOption")(
  "InvalidOption",
  { option: Schema.String, rule: Schema.String }
) {
  override get message() {
    return `${this.option} ${this.rule}`
  }
}

/** What is left of the limits. */
export interface Budget {
  /** The windows that have begun and not ended. */
  readonly windows: () => ReadonlyArray<RateLimits.Standing>
  /** What projects have read of their posts of the month. */
  readonly posts: () => ReadonlyArray<RateLimits.Usage>
  /** Leaves so many requests in this window of an operation, to the app of the seed and to a user (ada) with it. */
  readonly leave: (operation: Name, remaining: number, user?: { readonly id: string }) => void
  /** Forgets all requests and posts that were counted. */
  readonly clear: () => void
}

/** A sandbox: its state, what one needs to use it, and what one can make it do. */
export class Sandbox extends Context.Service<
  Sandbox,
  Fixtures.Fixtures & {
    /** The address; over a connection with its port. */
    readonly baseUrl: string
    /** What the seed made: the user ada and credentials of every form. */
    readonly seeded: Seed.Seeded
    readonly store: Store["Service"]
    readonly clock: ServiceClock.ServiceClock
    readonly faults: Faults.Faults
    readonly journal: Journal.Journal
    /** What was asked, oldest first: the entries of the journal. */
    readonly requests: ReadonlyArray<Journal.Entry>
    readonly budget: Budget
    /** Lets a program use `/_sandbox`. */
    readonly adminToken: Redacted.Redacted
    /** The state as the bytes of an SQLite file, which `restore` takes and `file` can be. */
    readonly snapshot: () => Uint8Array
    /**
     * Puts the state of a snapshot in the place of this one; throws when it is none. What is in no snapshot begins anew:
     * faults, journal, budget. The clock goes on.
     */
    readonly restore: (snapshot: Uint8Array) => void
    /**
     * Begins anew as the sandbox was made, or with another population. Credentials of another seed are others. What
     * `user`, `app` and `ada` gave before stands for nothing any more.
     */
    readonly reset: (population?: Population) => void
  }
>()("@postwire/sandbox/Sandbox") {}

/** Makes the sandbox and what answers its requests. */
const make = Effect.fnUntraced(function*(
  options: Options,
  { baseUrl, delivered, template }: {
    readonly baseUrl: () => string
    readonly delivered: Service.Parts["delivered"]
    readonly template?: Template | undefined
  }
) {
  const store = yield* Store
  const { faults: faulty = 0, postCap = 10_000_000, seed = 1 } = options
  const clock = yield* ServiceClock.make(options.start)
  const adminToken = options.adminToken ?? Redacted.make(randomBytes(24).toString("base64url"))
  let epoch = 0
  const parts: Service.Parts = {
    store,
    clock,
    faults: Faults.make(seed),
    journal: Journal.make(),
    limits: RateLimits.make(),
    postCap: RateLimits.postCap(postCap),
    nonces: Nonces.make(),
    secrets: Secrets.make(
      () => store.credentials,
      () => [adminToken, seeded.userBearerToken, seeded.appBearerToken]
    ),
    epoch: () => epoch,
    delivered
  }
  const { faults, journal, limits, nonces, postCap: cap } = parts
  if (faulty > 0) faults.add({ probability: faulty })

  /** The state with its seed: made as a whole or not at all, unless it is there already. */
  const populate = (state: State, { posts = 1_000, seed = 1, start }: Population): Seed.Seeded => {
    if (!Seed.isSize(posts)) throw new InvalidOption({ option: "posts", rule: `must be ${Seed.size}` })
    const population: Seed.Options = { seed, posts, start: start === undefined ? clock.now() : Number(start) }
    return state.transaction(() => Seed.existing(state, population) ?? Seed.run(state, population))
  }
  let population: Population = options
  let seeded = yield* Effect.try({
    try: () =>
      template === undefined
        ? populate(store, population)
        : store.restore(template.snapshot, () => template.seeded),
    catch: (cause) => new StoreUnavailable({ file: options.file ?? ":memory:", cause })
  })
  const fixtures = Fixtures.make({ store, clock, seeded: () => seeded, baseUrl })
  const clearBudget = (): void => {
    limits.clear()
    cap.clear()
    nonces.clear()
  }
  const forget = (): void => {
    epoch++
    clearBudget()
    journal.clear()
    faults.clear()
    if (faulty > 0) faults.add({ probability: faulty })
  }

  const sandbox = Sandbox.of({
    user: fixtures.user,
    app: fixtures.app,
    get ada() {
      return fixtures.ada
    },
    get settings() {
      return fixtures.settings
    },
    get requests() {
      return journal.entries()
    },
    get baseUrl() {
      return baseUrl()
    },
    get seeded() {
      return seeded
    },
    store,
    clock,
    faults,
    journal,
    budget: {
      windows: () => limits.standing(clock.now()),
      posts: () => cap.usage(clock.now()),
      leave: (operation, remaining, user = seeded.ada) => {
        if (!Object.hasOwn(catalogue, operation)) throw new TypeError(`There is no operation ${operation}`)
        if (!Number.isInteger(remaining) || remaining < 0) {
          throw new TypeError("remaining must be a whole number from 0")
        }
        const app = store.credentials.appByConsumerKey(seeded.consumerKey)?.id
        for (const key of [`app ${app}`, `user ${app} ${user.id}`]) {
          limits.leave(operation, key, remaining, clock.now())
        }
      },
      clear: clearBudget
    },
    adminToken,
    snapshot: store.snapshot,
    restore: (snapshot) => {
      seeded = store.restore(snapshot, (next) => {
        next.verify()
        // A snapshot of another population: the credentials of this one get to work on it too.
        return Seed.isIn(next, seeded) ? seeded : populate(next, population)
      })
      forget()
    },
    reset: (other = {}) => {
      const next = { ...options, ...other }
      const back = clock.mark()
      try {
        if (next.start === undefined) clock.reset()
        else clock.set(next.start)
        seeded = store.transaction(() => {
          store.clear()
          return populate(store, next)
        })
      } catch (error) {
        back()
        throw error
      }
      population = next
      fixtures.clear()
      forget()
    }
  })
  const service = yield* Service.make(parts, options)
  const admin = Admin.make(sandbox)
  const answer: Service.Service = (request) =>
    request.url.startsWith(`${Admin.root}/`)
      ? admin(request)
      : Console.isFor(request)
      ? Console.answer(request)
      : service(request)
  return { sandbox, answer }
})

/** A population that was made before. */
interface Template {
  readonly snapshot: Uint8Array
  readonly seeded: Seed.Seeded
}

/** What is wrong with the options. */
const wrong = (options: ServerOptions): InvalidOption | undefined => {
  const { faults = 0, port = 0, postCap = 0, posts = 0, requestTimeout = 1, start } = options
  const rules: ReadonlyArray<readonly [option: keyof ServerOptions, isKept: boolean, rule: string]> = [
    ["posts", Seed.isSize(posts), Seed.size],
    ["start", start === undefined || ServiceClock.isInstant(Number(start)), "from 1990 to 2248"],
    ["faults", faults >= 0 && faults <= 1, "from 0 to 1"],
    ["postCap", postCap >= 0, "a number from 0"],
    ["port", Number.isInteger(port) && port >= 0 && port <= 65_535, "a whole number from 0 to 65535"],
    ["requestTimeout", isBetween(requestTimeout, 1, 2 ** 31 - 1), "from a millisecond to 24 days"]
  ]
  const broken = rules.find(([, isKept]) => !isKept)
  return broken && new InvalidOption({ option: broken[0], rule: `must be ${broken[2]}` })
}

const isBetween = (duration: Duration.Input, least: number, most: number): boolean => {
  const millis = Duration.toMillis(duration)
  return millis >= least && millis <= most
}

const layerStore = (
  options: ServerOptions
): Layer.Layer<Store, StoreUnavailable | NodeUnsupported | InvalidOption> =>
  Layer.unwrap(Effect.suspend(() => {
    const error = wrong(options)
    return error === undefined
      ? Effect.succeed(Store.layer({ file: options.file ?? ":memory:" }))
      : Effect.fail(error)
  }))

/** The sandbox in process: an `HttpClient` whose requests go to it and to nothing else. No port is opened. */
export const layer = (
  options: Options = {}
): Layer.Layer<HttpClient.HttpClient | Sandbox, StoreUnavailable | NodeUnsupported | InvalidOption> =>
  Layer.effectContext(Effect.gen(function*() {
    const { answer, sandbox } = yield* make(options, {
      baseUrl: () => "http://localhost",
      delivered: () => Effect.void
    })
    const client = HttpClient.make((request) =>
      // The headers that describe the body are added by whatever sends it.
      answer(HttpServerRequest.fromClientRequest(HttpClientRequest.setBody(request, request.body))).pipe(
        Effect.mapError((cause) =>
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
        ),
        Effect.map((response) => HttpServerResponse.toClientResponse(response, { request }))
      )
    )
    return Context.make(HttpClient.HttpClient, client).pipe(Context.add(Sandbox, sandbox))
  })).pipe(Layer.provide([layerStore(options), NodeCrypto.layer]))

/** The sandbox as a real HTTP server on a loopback port. */
export const layerServer = (
  options: ServerOptions = {}
): Layer.Layer<Sandbox, StoreUnavailable | NodeUnsupported | PortUnavailable | InvalidOption> => serve(options)

const serve = (
  options: ServerOptions,
  template?: Template
): Layer.Layer<Sandbox, StoreUnavailable | NodeUnsupported | PortUnavailable | InvalidOption> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function*() {
      const { port = 0, requestTimeout = 30_000 } = options
      const timeout = Duration.toMillis(requestTimeout)
      let baseUrl = ""
      const { answer, sandbox } = yield* make(options, { baseUrl: () => baseUrl, delivered, template })
      // Whoever names no host is told so like whoever names another.
      const http = createServer({
        requireHostHeader: false,
        requestTimeout: timeout,
        headersTimeout: timeout,
        connectionsCheckingInterval: Math.ceil(Math.min(1_000, timeout / 2))
      })
      // Each may hold a head and the beginning of a body, without a credential.
      http.maxConnections = 2_000
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
      const server = yield* NodeHttpServer.make(() => http, { port, host: "127.0.0.1" }).pipe(
        Effect.mapError(({ cause }) => new PortUnavailable({ port, cause }))
      )
      baseUrl = HttpServer.formatAddress(server.address)
      yield* server.serve(Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        isLocal(request.headers)
          // Whose client has gone away needs no answer any more.
          ? Effect.interruptible(Effect.catchTag(answer(request), "ConnectionLost", () => breakOff(request)))
          : Effect.succeed(elsewhere(request))))
      // There is no other protocol to change to, so such a request is one like any other.
      http.removeAllListeners("upgrade")
      // A client that does not finish its request must not hold up the end.
      yield* Effect.addFinalizer(() => Effect.sync(() => http.closeAllConnections()))
      return sandbox
    })
  ).pipe(Layer.provide([layerStore(options), NodeCrypto.layer]))

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

/** A sandbox on a port, for programs without Effect. It runs until it is stopped or disposed of. */
export type RunningSandbox = Sandbox["Service"] & AsyncDisposable & {
  /** Closes the port and ends what is under way. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a sandbox on a port. What it is populated with is made once per process and copied from then on, so that every
 * test can have its own. Rejects with `PortUnavailable`, `StoreUnavailable`, `InvalidOption` or
 * `NodeUnsupported`.
 */
export const start = async (options: ServerOptions = {}): Promise<RunningSandbox> => {
  const scope = Scope.makeUnsafe()
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const context = await Effect.runPromise(
      Effect.flatMap(templateOf(options), (template) => Layer.buildWithScope(serve(options, template), scope))
    )
    return Object.assign(Context.get(context, Sandbox), { stop, [Symbol.asyncDispose]: stop })
  } catch (error) {
    await stop()
    throw error
  }
}

/** The populations that were made, and until when each can stand for one that begins now. */
const templates = new Map<string, Template & { readonly expires: number }>()

const templateOf = Effect.fnUntraced(function*(options: ServerOptions) {
  const { file, posts = 1_000, seed = 1, start } = options
  // A file may hold a state already, and a copy of very many posts would fill the memory.
  if (file !== undefined || posts > 20_000 || wrong(options) !== undefined) return undefined
  const now = yield* Clock.currentTimeMillis
  const key = JSON.stringify([seed, posts, start === undefined ? null : Number(start)])
  const known = templates.get(key)
  if (known !== undefined && known.expires > now) return known
  const made = yield* Effect.scoped(Effect.map(Store.open({ file: ":memory:" }), (store) => {
    const seeded = store.transaction(() => Seed.run(store, { seed, posts, start: Number(start ?? now) }))
    return { snapshot: store.snapshot(), seeded, expires: start === undefined ? now + 600_000 : Infinity }
  }))
  if (templates.size >= 8) templates.clear()
  templates.set(key, made)
  return made
})

/** Ends the connection of a request as a crash does. What is then answered goes nowhere. */
const breakOff = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.sync(() => {
    NodeHttpServerRequest.toIncomingMessage(request).socket.resetAndDestroy()
    return HttpServerResponse.empty()
  })

/** Waits until all that was written of an answer has left this process. */
const delivered = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
    // Writes leave the response for the socket at the end of the tick.
    const look = () => socket.destroyed || socket.writableLength === 0 ? resume(Effect.void) : setImmediate(look)
    setImmediate(look)
  })

const elsewhere = (
  { headers }: HttpServerRequest.HttpServerRequest
): HttpServerResponse.HttpServerResponse => {
  const { document, status } = headers["host"] === undefined
    ? Problem.invalidRequest("The header host is missing.")
    : Problem.forbidden("The sandbox serves programs on this machine only.")
  return HttpServerResponse.jsonUnsafe(document, { status, contentType: "application/problem+json" })
}

// The same calls through Effect, Promises on Undici and on fetch, and the blocking client: the same values, the same errors. What is called comes
// from the catalogue and from the examples of the documentation, so a new operation joins by itself.
import { assert, describe, it } from "@effect/vitest"
import { catalogue } from "@postwire/core/Catalogue"
import type * as Client from "@postwire/core/client/Client"
import type { Definition, Form } from "@postwire/core/schema/Definition"
import * as Promises from "@postwire/node"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Blocking from "@postwire/sync"
import * as Web from "@postwire/web"
import { Cause, Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { createInterface } from "node:readline"
import * as Timers from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import { parameters as documented } from "../reference/parameters.ts"

type Name = keyof typeof catalogue

type FaceName = "effect" | "promise" | "web" | "sync"
const isLong = process.env["POSTWIRE_LONG"] === "1"
const faces: ReadonlyArray<FaceName> = isLong ? ["effect", "promise", "web", "sync"] : ["effect", "promise", "sync"]

/** What a call comes to, in plain data. */
type Outcome = { readonly value: unknown } | {
  readonly error: {
    readonly tag: unknown
    readonly message: string
    readonly typeError: boolean
    readonly own: unknown
  }
}

/** How a scenario is played. */
interface Play {
  readonly name: Name
  readonly parameters: object
  readonly form?: Form
  /** The iterable of a paged operation to read, and how many elements of it. */
  readonly iterable?: "items" | "pages"
  readonly take?: number
}

type Face = (play: Play) => Promise<Outcome>

/** Methods whose types are erased: a scenario holds whatever a call takes. */
interface Erased {
  (parameters: object, options?: object): unknown
  readonly as: (form: Form) => Erased
  readonly items: (parameters: object) => unknown
  readonly pages: (parameters: object) => unknown
}

const erased = (methods: unknown, name: Name): Erased => (methods as Readonly<Record<Name, Erased>>)[name]

// Of every request another one.
const volatile = new Set(["requestId", "cause"])

const failure = (error: unknown): Outcome => {
  if (!(error instanceof Error)) return { value: error }
  const own = JSON.stringify(error, (key, value) => volatile.has(key) ? undefined : value)
  return {
    error: {
      tag: "_tag" in error ? error._tag : error.name,
      message: error.message,
      typeError: error instanceof TypeError,
      own: JSON.parse(own)
    }
  }
}

const shown = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "rateLimit" in value && "toJSON" in value
    ? JSON.parse(JSON.stringify({ body: value, budget: value.rateLimit, ...value }))
    : JSON.parse(JSON.stringify(value))

const effectFace = async (settings: Settings): Promise<Face> => {
  const layer = NodeClient.layer(settings)
  const context = Effect.runSync(Layer.buildWithScope(layer, Scope.makeUnsafe()))
  return async ({ form = "response", iterable, name, parameters, take = 1e9 }) => {
    const operation = form === "response" ? erased(catalogue, name) : erased(catalogue, name).as(form)
    const program = iterable === undefined
      ? operation(parameters) as Effect.Effect<unknown, unknown, Client.Client>
      : Stream.runCollect(
        Stream.take(operation[iterable](parameters) as Stream.Stream<unknown, unknown, Client.Client>, take)
      )
    const exit = await Effect.runPromiseExit(Effect.provideContext(program, context))
    if (Exit.isFailure(exit)) return failure(Option.getOrElse(Cause.findErrorOption(exit.cause), () => exit.cause))
    if (form !== "raw") return { value: iterable === undefined ? shown(exit.value) : [...exit.value as []].map(shown) }
    const response = exit.value as HttpClientResponse
    return { value: [response.status, await Effect.runPromise(response.text)] }
  }
}

/** Settings that every client has. */
type Settings = Omit<NodeClient.Settings, "journal" | "oauth2" | "tokenStore">

const promiseFace =
  (make: (settings: Settings) => { readonly as: (form: Form) => unknown }) =>
  async (settings: Settings): Promise<Face> => {
    const client = make(settings)
    return async ({ form = "response", iterable, name, parameters, take = 1e9 }) => {
      const method = erased(client.as(form), name)
      try {
        if (iterable !== undefined) {
          const found: Array<unknown> = []
          for await (const one of method[iterable](parameters) as AsyncIterable<unknown>) {
            if (found.push(shown(one)) === take) break
          }
          return { value: found }
        }
        const result = await method(parameters)
        if (form !== "raw") return { value: shown(result) }
        const response = result as Response
        return { value: [response.status, await response.text()] }
      } catch (error) {
        return failure(error)
      }
    }
  }

const syncFace = async (settings: Settings): Promise<Face> => {
  const client = Blocking.createClientSync(settings)
  return async ({ form = "response", iterable, name, parameters, take = 1e9 }) => {
    const method = erased(client.as(form), name)
    try {
      if (iterable !== undefined) {
        const found: Array<unknown> = []
        for (const one of method[iterable](parameters) as Iterable<unknown>) {
          if (found.push(shown(one)) === take) break
        }
        return { value: found }
      }
      const result = method(parameters)
      if (form !== "raw") return { value: shown(result) }
      const response = result as Blocking.RawResponse
      return { value: [response.status, response.text()] }
    } catch (error) {
      return failure(error)
    }
  }
}

const makers: Readonly<Record<FaceName, (settings: Settings) => Promise<Face>>> = {
  effect: effectFace,
  promise: promiseFace(Promises.createClient),
  web: promiseFace(Web.createClient),
  sync: syncFace
}

interface Ready {
  readonly baseUrl: string
  readonly environment: Readonly<Record<string, string>>
  readonly adminToken: string
  readonly ids: Readonly<Record<"user" | "others" | "post" | "list" | "space", string>>
}

let service: ChildProcess
let ready: Ready
let snapshot: Uint8Array<ArrayBuffer>

const admin = async (method: string, path: string, body?: object): Promise<Response> => {
  // The blocking client held the loop: it has not seen yet which connections were closed meanwhile.
  await Timers.setImmediate()
  const response = await fetch(`${ready.baseUrl}/_sandbox${path}`, {
    method,
    headers: {
      authorization: `Bearer ${ready.adminToken}`,
      ...(body === undefined || body instanceof Uint8Array ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined
      ? {}
      : { body: body instanceof Uint8Array ? body as Uint8Array<ArrayBuffer> : JSON.stringify(body) })
  })
  assert.strictEqual(response.status, 200, `${method} ${path}`)
  return response
}

const settings = (more: Settings = {}): Settings => ({
  // A retry is the same in all faces, and its pause is not to be waited for here.
  retries: 0,
  ...Promises.fromEnvironment(ready.environment),
  ...more
})

const started = async (given: Settings) =>
  Promise.all(faces.map(async (face) => [face, await makers[face](given)] as const))

let clients: Awaited<ReturnType<typeof started>>
let strangers: typeof clients
let nobody: typeof clients

beforeAll(async () => {
  const file = new URL("support/Service.ts", import.meta.url).pathname
  service = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", file], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const [line] = await once(createInterface(service.stdout!), "line") as [string]
  ready = JSON.parse(line)
  snapshot = await (await admin("GET", "/snapshot")).bytes()
  clients = await started(settings())
  strangers = await started(settings({ bearerToken: "wrong", accessTokenSecret: "wrong" }))
  nobody = await started({ baseUrl: ready.baseUrl })
})

/** How many scenarios of each kind every face agreed on. */
const matrix = new Map<string, number>()

afterAll(() => {
  service?.kill("SIGKILL")
  const rows = Array.from(
    matrix,
    ([kind, count]) => `${kind.padEnd(58)}${faces.map(() => String(count).padStart(9)).join("")}`
  )
  const head = "scenarios".padEnd(58) + faces.map((face) => face.padStart(9)).join("")
  const folder = new URL("../../node_modules/.cache/", import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL("parity.txt", folder), `${[head, ...rows].join("\n")}\n`)
})

/** Whether a call may have written to the service since its state was restored. */
let isChanged = false

/** Brings the service back to the same state, which takes ten times as long where something was written. */
const renew = async (fault: object | undefined) => {
  if (isChanged) await admin("PUT", "/snapshot", snapshot)
  else for (const counted of ["/budget", "/faults"]) await admin("DELETE", counted)
  if (fault !== undefined) await admin("POST", "/faults", fault)
}

/** Plays a scenario on every face, each time from the same state, and gives what all of them came to. */
const agree = async (kind: string, play: Play, fault?: object, on = clients): Promise<Outcome> => {
  const outcomes: Array<Outcome> = []
  // The service's clock stands still, and signatures are valid for five minutes.
  await admin("POST", "/clock", { now: new Date().toISOString() })
  for (const [, face] of on) {
    await renew(fault)
    const outcome = await face(play)
    outcomes.push(outcome)
    // A refusal writes nothing, and neither does a fault with a status, which takes the operation's place.
    const isRefused = "error" in outcome && (fault === undefined || "status" in fault)
    isChanged = definitionOf(play.name).effect !== "read" && !isRefused
  }
  const [first, ...others] = outcomes
  for (const [i, other] of others.entries()) {
    // How a connection broke, each platform says in its own words.
    const isBroken = fault !== undefined && "reset" in fault && faces[i + 1] === "web"
    const [given, expected] = isBroken ? [tagOf(other), tagOf(first!)] : [other, first]
    assert.deepStrictEqual(given, expected, `${faces[i + 1]} differs from ${faces[0]}: ${JSON.stringify(play)}`)
  }
  matrix.set(kind, (matrix.get(kind) ?? 0) + 1)
  return first!
}

const tagOf = (outcome: Outcome): unknown => "error" in outcome ? outcome.error.tag : JSON.stringify(outcome)

/** What the documentation names, and what stands for it in the sandbox. */
const real = (parameters: object): object => {
  const { list, others, post, space, user } = ready.ids
  const names = {
    "2244994945": user,
    "783214": others,
    "1460323737035677698": post,
    "1441162269824405510": list,
    "1DXxyRYNejbKM": space
  }
  const renamed = (value: unknown): unknown => {
    // Bytes are no JSON.
    if (value instanceof Blob || ArrayBuffer.isView(value)) return value
    let text = JSON.stringify(value)
    for (const [name, id] of Object.entries(names)) text = text.replaceAll(name, id)
    return JSON.parse(text)
  }
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, renamed(value)]))
}

const definitionOf = (name: Name): Definition => catalogue[name].definition
// A stream has no forms and no pages; what it brings in each face, its own tests and its guide show.
const names = (Object.keys(catalogue) as Array<Name>).filter((name) => definitionOf(name).live === undefined)
// Aliases have no example of their own, and a definition's name is no alias.
const exampleOf = (name: Name): object => documented[definitionOf(name).name as keyof typeof documented]

/** In `test:long` all of them; otherwise every sixth of each kind. */
const isChosen = (name: Name): boolean => {
  if (isLong) return true
  const kind = (name: Name) => `${definitionOf(name).effect} ${definitionOf(name).paging?.directions}`
  return names.filter((other) => kind(other) === kind(name)).indexOf(name) % 6 === 0
}

describe.each(names.filter(isChosen))("%s", (name) => {
  const definition = definitionOf(name)

  it("comes to the same in every form", async () => {
    const parameters = real(exampleOf(name))
    const response = await agree("every operation, the wrapper", { name, parameters })
    await agree("every operation, the dictionary", { name, parameters, form: "dictionary" })
    await agree("every operation, the raw response", { name, parameters, form: "raw" })
    const kind = "value" in response ? "success" : "refusal"
    matrix.set(`  of them ${kind}`, (matrix.get(`  of them ${kind}`) ?? 0) + 1)
  })

  it("comes to the same for things that are not there", async () => {
    await agree("every operation, unknown things (refusals, partial answers)", { name, parameters: exampleOf(name) })
  })

  it("makes the same of mistakes and wrong credentials", async () => {
    const parameters = real(exampleOf(name))
    const misspelt = await agree("every operation, InvalidParameters", { name, parameters: { ...parameters, nope: 1 } })
    assert.strictEqual(tagOf(misspelt), "InvalidParameters")
    // No credential is sent, so that none can be missing or wrong.
    if (definitionOf(name).bearer === "none") return
    assert.strictEqual(
      tagOf(await agree("every operation, MissingAccessToken", { name, parameters }, undefined, nobody)),
      "MissingAccessToken"
    )
    assert.strictEqual(
      tagOf(await agree("every operation, Unauthorized", { name, parameters }, undefined, strangers)),
      "Unauthorized"
    )
    if (definition.alternatives === undefined) return
    const [a, b] = definition.alternatives.of as [string, string]
    const both = await agree("alternatives, ConflictingIdentifiers", {
      name,
      parameters: { ...parameters, [a]: "1", [b]: "1" }
    })
    assert.strictEqual(tagOf(both), "ConflictingIdentifiers")
  })

  it("fails in the same way", async () => {
    const parameters = real(exampleOf(name))
    const operation = definition.name
    for (
      const [fault, tag] of [
        [{ status: 400 }, "BadRequest"],
        [{ status: 403 }, "Forbidden"],
        [{ status: 404 }, "NotFound"],
        [{ status: 429 }, "RateLimited"],
        [{ status: 503 }, definition.effect === "create" ? "OutcomeUnknown" : "ServerFailure"],
        [{ status: 418 }, "UnexpectedStatus"],
        [{ status: 200, body: "html" }, definition.effect === "create" ? "OutcomeUnknown" : "UndecodableResponse"],
        [{ reset: "after" }, definition.effect === "create" ? "OutcomeUnknown" : "TransportFailure"]
      ] as const
    ) {
      const outcome = await agree(`every operation, ${tag}`, { name, parameters }, {
        ...fault,
        operation,
        times: "always"
      })
      assert.strictEqual(tagOf(outcome), tag)
    }
  })

  it.skipIf(definition.paging === undefined)("pages in the same way", async () => {
    const parameters = real(exampleOf(name))
    await agree("paged operations, items", { name, parameters, iterable: "items", take: 250 })
    const pages = await agree("paged operations, pages", { name, parameters, iterable: "pages", take: 2 })
    if (!("value" in pages)) return
    const [, second] = pages.value as ReadonlyArray<{ readonly meta?: { readonly previous_token?: string } }>
    const token = second?.meta?.previous_token
    if (token === undefined) return
    const play: Play = { name, parameters: { ...parameters, [definition.paging!.token]: token } }
    assert.property(await agree("paged operations, backwards", play), "value")
  })
})

describe("loops and ends", () => {
  const play: Play = { name: "searchRecentPosts", parameters: { query: "effect", max_results: 10 } }

  it("page over several pages, and back", async () => {
    const items = await agree("three pages forward", { ...play, iterable: "items", take: 25 })
    assert.lengthOf("value" in items ? items.value as [] : [], 25)
    const liked: Play = { name: "getHomeTimeline", parameters: { max_results: 5 } }
    const pages = await agree("two pages forward", { ...liked, iterable: "pages", take: 2 })
    const [first, second] = ("value" in pages ? pages.value : []) as ReadonlyArray<{ meta: { previous_token: string } }>
    const back = await agree("one page back", {
      ...liked,
      parameters: { max_results: 5, pagination_token: second!.meta.previous_token }
    })
    assert.deepStrictEqual(
      ("value" in back ? back.value as typeof first & { data: unknown } : undefined)?.data,
      (first as typeof first & { data: unknown }).data
    )
  })

  it("stop at a token that leads to itself", async () => {
    const fault = { operation: "searchRecentPosts", page: "repeated-token", times: "always" }
    const outcome = await agree("PaginationStuck", { ...play, iterable: "items" }, fault)
    assert.strictEqual(tagOf(outcome), "PaginationStuck")
  })

  it("are cancelled at once, each in its way", async () => {
    await renew({ operation: "searchRecentPosts", delay: 20_000, times: "always" })
    const context = Effect.runSync(Layer.buildWithScope(NodeClient.layer(settings()), Scope.makeUnsafe()))
    const call = erased(catalogue, play.name)(play.parameters) as Effect.Effect<unknown, unknown, Client.Client>
    const exit = await Effect.runPromiseExit(Effect.timeoutOption(Effect.provideContext(call, context), 200))
    assert.isTrue(Exit.isSuccess(exit) && Option.isNone(exit.value))
    const reason = new Error("enough")
    const aborted = Promises.createClient(settings())
      .searchRecentPosts({ query: "effect" }, { signal: AbortSignal.timeout(200) })
    assert.strictEqual((await aborted.catch((error: Error) => error) as Error).name, "TimeoutError")
    const stopping = new AbortController()
    const stopped = Promises.createClient(settings()).searchRecentPosts({ query: "effect" }, {
      signal: stopping.signal
    })
    stopping.abort(reason)
    assert.strictEqual(await stopped.catch((error: unknown) => error), reason)
    using blocking = Blocking.createClientSync(settings())
    assert.throws(() => blocking.searchRecentPosts({ query: "effect" }, { timeout: 200 }), Blocking.TransportFailure)
    matrix.set("cancellation", 1)
  })
})

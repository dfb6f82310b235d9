/** Requests that nobody should send, by the thousand and the same in every run, and what answers to them must be. */
import { assert } from "@effect/vitest"
import * as OAuth1 from "@postwire/core/auth/OAuth1"
import { catalogue } from "@postwire/core/Catalogue"
import * as Wire from "@postwire/core/wire/Wire"
import { Clock, Effect } from "effect"
import { HttpBody, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as Timers from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Operations from "./Operations.ts"
import { make as makeBench, minute, now, type Secrets, signed } from "./Requests.ts"

/** A source of choices. */
export interface Random {
  readonly next: () => number
  readonly below: (limit: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(items: ReadonlyArray<A>) => A
}

/** The choices of a seed (mulberry32). */
export const random = (seed: number): Random => {
  const next = () => {
    seed = seed + 0x6d2b79f5 | 0
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed)
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t
    return ((t ^ t >>> 14) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { next, below, chance: (probability) => next() < probability, pick: (items) => items[below(items.length)]! }
}

/** A request, and the statuses that are right for it; without them, any but those of a failure. */
export interface Attempt {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
  readonly expected: ReadonlyArray<number> | undefined
}

const texts = [
  ..."0 -1 1e3 NaN 1.5 9999999999999999999999 18446744073709551616 null true [] {} \" a,b,,c , 1,1 é 型 🚀".split(" "),
  ..."../../etc/passwd % %00 __proto__ constructor toString effect a* ^a (((( -a author_id author_id,author_id".split(
    " "
  ),
  ..."2026-11-20T00:00:00Z 2026-02-30T00:00:00Z 0001-01-01T00:00:00Z 9999-12-31T23:59:59Z".split(" "),
  ..."referenced_posts.id.author_id relevancy minute 1 100".split(" "),
  "",
  " ",
  "'; DROP TABLE posts; --",
  "\u0000",
  "\ufeff",
  "\ud800",
  "e\u0301",
  "effect OR (from:ada -is:reply)",
  "\"the whole",
  "NEAR(a b)",
  "x".repeat(600),
  "(".repeat(1025)
]

const values: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1e308,
  [],
  {},
  [[]],
  [null],
  { __proto__: 1 },
  { toString: 1 },
  ["1", "1"],
  Array.from({ length: 150 }, (_, i) => String(i)),
  ...texts
]

const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]

const contentTypes = ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"]

/** A text of any characters. */
export const garbage = (random: Random, length: number): string =>
  Array.from({ length: random.below(length) }, () => String.fromCharCode(random.below(random.pick([128, 256, 65_536]))))
    .join("")

const bytes = (random: Random, length: number): Uint8Array =>
  Uint8Array.from({ length: random.below(length) }, () => random.below(256))

/** JSON of one value in the other. */
export const nested = (depth: number): string => `{"text":${"[".repeat(depth)}${"]".repeat(depth)}}`

/** Makes attempts against a service that holds the scene of `Operations`. */
export const attempts = (options: {
  readonly random: Random
  readonly baseUrl: string
  readonly secrets: Secrets & { readonly appToken: string }
  readonly identity: string
  readonly scene: ReturnType<typeof Operations.scene>
}): (time: number) => Attempt => {
  const { baseUrl, identity, random, scene, secrets } = options
  const used: Array<{ readonly method: string; readonly target: string; readonly header: string }> = []

  const valid = () => {
    const name = random.pick(Operations.names)
    const wire = random.pick(Wire.names)
    return { name, ...Operations.requestOf(name, scene.parametersOf(name), identity, wire) }
  }

  const sign = (method: string, target: string, time: number) => {
    const url = baseUrl + target
    return URL.canParse(url) ? signed(secrets, method, new URL(url).href, { time }) : "OAuth"
  }

  const bearer = { authorization: `Bearer ${secrets.bearerToken}` }
  const json = { "content-type": "application/json" }
  const unwanted = [400, 401, 403, 404, 429]

  const mutatedQuery = (path: string): string => {
    const [before = "", query] = path.split("?")
    const pairs = query === undefined ? [] : query.split("&")
    const { definition } = catalogue[random.pick(Operations.names)]
    const known = Object.keys(definition.query ?? { id: 0 })
    for (let n = 1 + random.below(3); n > 0; n--) {
      const key = random.chance(0.1) ? garbage(random, 8) : random.pick(known).replace("_fields", ".fields")
      const value = random.chance(0.2) ? garbage(random, 30) : random.pick(texts)
      const pair = `${encode(key)}=${encode(value)}`
      if (random.chance(0.5) && pairs.length > 0) pairs[random.below(pairs.length)] = pair
      else pairs.push(pair)
    }
    return `${before}?${pairs.join("&")}`
  }

  const mutatedBody = (body: string | undefined): string => {
    const fields: Record<string, unknown> = JSON.parse(body ?? "{}")
    const keys = [...Object.keys(fields), "text", "reply", "poll", "media", "geo", "message", "participant_ids"]
    for (let n = 1 + random.below(3); n > 0; n--) fields[random.pick(keys)] = random.pick(values)
    const text = JSON.stringify(fields)
    return random.chance(0.1) ? text.slice(0, random.below(text.length)) : text
  }

  const kinds: ReadonlyArray<readonly [share: number, make: (time: number) => Attempt]> = [
    // Parameters of all kinds, in the query and in the body.
    [40, (time) => {
      const { body, method, path } = valid()
      const target = body === undefined || random.chance(0.1) ? mutatedQuery(path) : path
      const sent = body === undefined ? undefined : mutatedBody(body)
      const authorization = random.chance(0.2)
        ? sign(method, target, time)
        : random.chance(0.2)
        ? `Bearer ${secrets.appToken}`
        : bearer.authorization
      return {
        method,
        target,
        headers: { authorization, ...(sent !== undefined && json) },
        body: sent,
        expected: undefined
      }
    }],
    // What is right now and then, so that the state does not stay what it was.
    [8, () => {
      const { body, method, path: target } = valid()
      return { method, target, headers: { ...bearer, ...(body !== undefined && json) }, body, expected: undefined }
    }],
    [8, () => {
      const { body, path: target } = valid()
      const method = random.chance(0.1) ? garbage(random, 8).replace(/[^A-Za-z]/g, "") || "x" : random.pick(methods)
      return {
        method,
        target,
        headers: { ...bearer, ...json },
        body: method === "GET" ? undefined : body,
        expected: undefined
      }
    }],
    // Paths that only look like those of operations.
    [14, () => {
      const { method, path } = valid()
      const [before = "", query = ""] = path.split("?")
      const at = before.indexOf("/", random.below(before.length - 1))
      const cut = at < 1 ? 2 : at
      const target = random.pick([
        () => `${before};${garbage(random, 5).replace(/[^a-z]/g, "")}`,
        () => `${before}/`,
        () => `/${before}`,
        () => `${before.slice(0, cut)}/${before.slice(cut)}`,
        () => `${before.slice(0, cut)}%2f${before.slice(cut + 1)}`,
        () => `${before}%00`,
        () => `${before}%`,
        () => `${before}/%zz`,
        () => `${before}/${"a".repeat(random.below(6_000))}`,
        () => `${before.toUpperCase()}A`,
        () => `/3${before.slice(2)}`,
        () => `/${encode(garbage(random, 40))}`
      ])()
      return { method, target: `${target}?${query}`, headers: bearer, body: undefined, expected: [400, 403, 404, 429] }
    }],
    // Credentials that are none.
    [12, (time) => {
      const { body, method, path: target } = valid()
      const header = sign(method, target, time)
      const [authorization, expected] = random.pick([
        () => [header.replace(/(oauth_signature=")./, "$1~"), [401]] as const,
        () => [header.replace(/oauth_consumer_key="[^"]*"/, ""), [401]] as const,
        () => [header.slice(0, random.below(header.length)), [401]] as const,
        () => [sign(method, target, time - 20 * minute), [401]] as const,
        () => [`OAuth ${encode(garbage(random, 60))}`, [401]] as const,
        () => [`OAuth oauth_token="%zz", oauth_signature=%`, [401]] as const,
        () => [`Bearer ${encode(garbage(random, 60))}`, [401]] as const,
        () => [`Bearer`, [401]] as const,
        () => [`Basic ${OAuth1.nonce()}`, [401]] as const,
        () => ["", [401]] as const
      ])()
      return { method, target, headers: { authorization, ...json }, body, expected }
    }],
    // Signatures seen before.
    [6, (time) => {
      const again = used.pop()
      if (again !== undefined) {
        return {
          method: again.method,
          target: again.target,
          headers: { authorization: again.header },
          body: undefined,
          expected: [401]
        }
      }
      const target = "/2/users/me"
      const header = sign("GET", target, time)
      used.push({ method: "GET", target, header })
      return { method: "GET", target, headers: { authorization: header }, body: undefined, expected: [200, 429] }
    }],
    // Bodies that are none.
    [10, () => {
      const { body, method, path: target } = valid()
      const [sent, type, expected] = random.pick([
        () => [bytes(random, 200), "application/json", [400, ...unwanted]] as const,
        () => [garbage(random, 200), "application/json", [400, ...unwanted]] as const,
        () => [body ?? "{}", random.pick(contentTypes), undefined] as const,
        () => [nested(random.pick([33, 100, 5_000])), "application/json", undefined] as const,
        () => [`${"{\"a\":".repeat(2_000)}1${"}".repeat(2_000)}`, "application/json", undefined] as const,
        () => ["", "application/json", undefined] as const,
        () => ["\ufeffnull", "application/json", undefined] as const
      ])()
      const expects = body === undefined ? undefined : expected
      return { method, target, headers: { ...bearer, "content-type": type }, body: sent, expected: expects }
    }],
    // Nothing of this is known.
    [2, () => ({
      method: random.pick(methods),
      target: `/${encode(garbage(random, 200))}`,
      headers: {
        [`x-${random.below(100)}`]: encode(garbage(random, 100)),
        authorization: encode(garbage(random, 100))
      },
      body: undefined,
      expected: [404]
    })]
  ]
  const total = kinds.reduce((sum, [share]) => sum + share, 0)
  return (time) => {
    let left = random.next() * total
    const [, make] = kinds.find(([share]) => (left -= share) < 0) ?? kinds[0]!
    return make(time)
  }
}

/** As in a URL; half characters become the sign for what is none. */
export const encode = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Checks an answer: a success, or a refusal with its document, and of the right status. */
export const check = (attempt: Attempt, status: number, type: string | undefined, text: string): void => {
  const { body, expected, method, target } = attempt
  const about = () =>
    `${status} ${text.slice(0, 200)}\nto ${method} ${target.slice(0, 200)}\n${String(body).slice(0, 200)}`
  // The console's address.
  if (status === 302 && /^([A-Z]+ )?\/([?# ]|$)/.test(target)) return
  if (!(status >= 200 && status < 300 || status >= 400 && status < 500)) assert.fail(about())
  if (expected !== undefined && !expected.includes(status)) assert.fail(`not of ${expected.join()}: ${about()}`)
  if (method === "HEAD") return
  const document = JSON.parse(text)
  if (status < 300) return
  if (!type?.startsWith("application/problem+json")) assert.fail(about())
  if (document.status !== status || document.title === "" || typeof document.type !== "string") assert.fail(about())
}

/** The bytes on the heap that are in use. */
export const heapUsed: () => number = (() => {
  setFlagsFromString("--expose-gc")
  const collect: () => void = runInNewContext("gc")
  return () => {
    collect()
    return process.memoryUsage().heapUsed
  }
})()

/** Sends so many attempts to a sandbox in process. Answers how often each status came, and how the heap grew. */
export const run = Effect.fnUntraced(function*(seed: number, count: number) {
  const bench = yield* makeBench({ posts: 300 })
  const { http } = bench
  const next = attempts({
    random: random(seed),
    baseUrl: bench.baseUrl,
    secrets: bench.secrets,
    identity: bench.seeded.ada.id,
    scene: Operations.scene(bench)
  })
  const statuses = new Map<number, number>()
  const heap: Array<number> = []
  const measure = Effect.gen(function*() {
    // It keeps thousands of requests on purpose, now more of them and now fewer.
    bench.journal.clear()
    const readings: Array<number> = []
    // What finalizers and later turns of the event loop release is no leak.
    for (let i = 0; i < 4; i++) {
      yield* Effect.promise(() => Timers.setImmediate())
      readings.push(heapUsed())
    }
    heap.push(Math.min(...readings))
  })
  for (let i = 0; i < count; i++) {
    // Windows begin again before most are spent.
    if (i % 250 === 0) yield* TestClock.setTime(now + i / 250 * 15 * minute)
    if (i % (count / 4) === 0) yield* measure
    const attempt = next(yield* Clock.currentTimeMillis)
    const { body, headers: { "content-type": type, ...headers }, method, target } = attempt
    const response = yield* http.execute(
      // The type knows the usual methods only.
      HttpClientRequest.make(method as "GET")(bench.baseUrl + target, {
        headers,
        body: body === undefined
          ? HttpBody.empty
          : typeof body === "string"
          ? HttpBody.text(body, type)
          : HttpBody.uint8Array(body, type)
      })
    )
    check(attempt, response.status, response.headers["content-type"], yield* response.text)
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
  }
  yield* measure
  return { statuses, heap }
})

/** Checks that all kinds of answers came, and that the second half of a run needed no more memory than the first. */
export const checkRun = (
  statuses: ReadonlyMap<number, number>,
  heap: ReadonlyArray<number>,
  count: number
): void => {
  for (const status of [200, 201, 400, 401, 403, 404]) {
    assert.isAbove(statuses.get(status) ?? 0, count / 500, String(status))
  }
  const [, , middle = 0, , end = 0] = heap
  assert.isBelow(end - middle, 2_000_000, heap.join(", "))
}

import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Metric, Random, Redacted, type Tracer } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as Credentials from "../src/auth/Credentials.ts"
import * as OAuth1 from "../src/auth/OAuth1.ts"
import { catalogue } from "../src/Catalogue.ts"
import * as Client from "../src/client/Client.ts"
import * as Retry from "../src/client/Retry.ts"
import * as Telemetry from "../src/client/Telemetry.ts"
import * as Errors from "../src/errors/Errors.ts"
import * as Metrics from "../src/runtime/Metrics.ts"
import * as MovedClock from "./support/MovedClock.ts"
import * as Recorder from "./support/Recorder.ts"
import {
  all,
  type Answer,
  assertNoSecret,
  baseUrl,
  fails,
  make,
  type Received,
  rowOf,
  secrets,
  type Settings,
  transportError,
  type Untyped
} from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { bookmark, createPost, deletePost, getMe, getPost, like, repost, searchRecentPosts } = catalogue

const lost = transportError({ phase: "headers", requestSent: true, message: "gone" })
const unsent = transportError({ phase: "connect", requestSent: false, code: "ECONNREFUSED", message: "refused" })
const post: Answer = { body: { data: { id: "1", text: "a" } } }
const status = (status: number, body: unknown = "", headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  body,
  headers
})

/** A service that keeps when its requests came, in milliseconds. */
const timed = (answer: (request: Received, index: number) => ReturnType<Parameters<typeof make>[0]>) => {
  const arrivals: Array<number> = []
  const clock = { now: () => 0 }
  const service = make((request, index) => {
    arrivals.push(clock.now())
    return answer(request, index)
  }, { tells: false })
  const run = <A, E>(
    call: Effect.Effect<A, E, Client.Client>,
    settings: Settings = {},
    services?: Layer.Layer<never>
  ) =>
    Effect.gen(function*() {
      const testClock = yield* TestClock.testClockWith(Effect.succeed)
      clock.now = () => testClock.currentTimeMillisUnsafe()
      const layer = service.layer({ retries: 2, ...secrets, ...settings }, services)
      const fiber = yield* Effect.forkChild(Effect.exit(Effect.provide(call, layer)))
      // A step at a time, for answers come between two sleeps.
      while (fiber.pollUnsafe() === undefined) yield* Effect.andThen(Effect.yieldNow, TestClock.adjust(10))
      return yield* yield* Fiber.join(fiber)
    })
  return { ...service, arrivals, run, pauses: () => arrivals.slice(1).map((at, i) => at - arrivals[i]!) }
}

describe("what is repeated", () => {
  test("reads, deletes and toggles, after 5xx and lost connections")(function*() {
    for (const failure of [lost, unsent, status(500), status(502), status(503), status(504)]) {
      for (
        const [call, answer] of [
          [getPost({ id: "1" }), { data: { id: "1", text: "a" } }],
          [deletePost({ id: "1" }), { data: { deleted: true } }],
          [like({ post_id: "1" }), { data: { liked: true } }]
        ] as const
      ) {
        const service = timed((_, index) => index === 0 ? failure : { body: answer })
        const { body } = yield* service.run<{ readonly body: unknown }, Errors.AnyError>(call)
        assert.deepStrictEqual(body, answer)
        assert.lengthOf(service.requests, 2)
      }
    }
  })

  test("as often as it is told, and then the last error comes")(function*() {
    for (const retries of [0, 1, 2, 5, 10]) {
      const service = timed(() => status(503))
      yield* fails(service.run(getPost({ id: "1" }), { retries }), Errors.ServerFailure)
      assert.lengthOf(service.requests, retries + 1)
      const byCall = timed(() => status(503))
      yield* Effect.flip(byCall.run(getPost({ id: "1" }, { retries })))
      assert.lengthOf(byCall.requests, retries + 1)
    }
  })

  test("two times unless it is told")(function*() {
    const service = timed(() => lost)
    yield* Effect.flip(service.run(getPost({ id: "1" }), { retries: undefined }))
    assert.lengthOf(service.requests, 3)
  })

  test("no other refusal, no body that cannot be read, nothing about certificates")(function*() {
    const failures = [
      ...[400, 401, 403, 404, 418, 429, 501, 302].map((code) => status(code)),
      status(200, "<html>"),
      status(200, ""),
      transportError({ phase: "connect", requestSent: false, code: "CERT_HAS_EXPIRED", message: "expired" }),
      transportError({ phase: "connect", requestSent: false, code: "ERR_TLS_CERT_ALTNAME_INVALID", message: "name" }),
      transportError({ phase: "connect", requestSent: false, code: "DEPTH_ZERO_SELF_SIGNED_CERT", message: "self" }),
      // As fetch has it.
      transportError(new TypeError("fetch failed", { cause: Object.assign(new Error("self"), { code: "EPROTO" }) }))
    ]
    for (const failure of failures) {
      const service = timed(() => failure)
      yield* Effect.flip(service.run(getPost({ id: "1" }, { retries: 5 })))
      assert.lengthOf(service.requests, 1)
    }
  })

  test("a create only when nothing of it left")(function*() {
    for (const failure of [lost, status(500), status(503), transportError(new Error("gone"))]) {
      const service = timed(() => failure)
      const error = yield* Effect.flip(service.run(createPost({ text: "a" }, { retries: 5 })))
      assert.lengthOf(service.requests, 1)
      assert.instanceOf(error, Errors.OutcomeUnknown)
      assert.include(error.message, "Check with getUsersPosts")
    }
    const fetchRefused = new TypeError("fetch failed", {
      cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" })
    })
    for (const failure of [unsent, transportError(fetchRefused)]) {
      const service = timed((_, index) => index === 0 ? failure : post)
      yield* service.run(createPost({ text: "a" }))
      assert.lengthOf(service.requests, 2)
      const never = timed(() => failure)
      yield* fails(never.run(createPost({ text: "a" })), Errors.TransportFailure, { phase: "connect" })
    }
  })

  test("a create whose answer TLS broke is never taken for unsent")(function*() {
    const codes = ["ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "ERR_SSL_WRONG_VERSION_NUMBER", "EPROTO"]
    for (const code of [...codes, "CERT_HAS_EXPIRED", "ECONNREFUSED"]) {
      const told = timed(() => transportError({ phase: "headers", requestSent: true, code, message: "broken" }))
      yield* fails(told.run(createPost({ text: "a" })), Errors.OutcomeUnknown)
      assert.lengthOf(told.requests, 1)
      // What only reads is sent again.
      yield* Effect.flip(told.run(getPost({ id: "1" })))
      assert.lengthOf(told.requests, 4)
      const never = timed(() => transportError({ phase: "connect", requestSent: false, code, message: "broken" }))
      yield* fails(never.run(createPost({ text: "a" })), Errors.TransportFailure)
    }
    for (const code of codes) {
      // A transport that tells nothing but the code.
      const service = timed(() => transportError(Object.assign(new Error("broken"), { code })))
      yield* fails(service.run(createPost({ text: "a" })), Errors.OutcomeUnknown)
      assert.lengthOf(service.requests, 1)
    }
  })

  test("signs every try anew")(function*() {
    const service = timed((_, index) => index < 2 ? status(503) : { body: { data: { id: "1" } } })
    yield* service.run(getMe())
    const signed = service.requests.map(({ headers }) => OAuth1.parseAuthorization(headers["authorization"]!)!)
    assert.lengthOf(signed, 3)
    assert.lengthOf(new Set(signed.map(({ oauth_nonce }) => oauth_nonce)), 3)
    assert.lengthOf(new Set(signed.map(({ oauth_signature }) => oauth_signature)), 3)
  })

  test("the lookup of the user as well, for all that wait for it")(function*() {
    const service = timed(({ path }, index) =>
      path === "/2/users/me" ? index === 0 ? status(503) : { body: { data: { id: "7" } } } : {
        body: { data: { bookmarked: true } }
      }
    )
    yield* service.run(Effect.forEach(["1", "2"], (post_id) => bookmark({ post_id }), { concurrency: 2 }))
    assert.deepStrictEqual(service.requests.map(({ path }) => path), [
      "/2/users/me",
      "/2/users/me",
      "/2/users/7/bookmarks",
      "/2/users/7/bookmarks"
    ])
  })
})

describe("a repeated try that finds it done", () => {
  const toggles = all.filter(([, { definition }]) => definition.effect === "toggle")
  /** Of the one that has to be given one thing of several. */
  const chosen: Readonly<Record<string, object>> = {
    updateActivitySubscription: { tag: "1" },
    updateStreamRules: { delete_all: true }
  }
  const parametersOf = (name: string) => ({
    ...Object.fromEntries(
      rowOf(name).params.filter(({ required }) => required).map(({ name, sample }) => [name, sample?.given ?? "1"])
    ),
    ...chosen[name]
  })

  const gone = (kind: string) =>
    status(404, {
      title: "Not Found Error",
      detail: `Could not find ${kind} with id: [1].`,
      type: "https://service.test/2/problems/resource-not-found",
      errors: [{
        title: "Not Found Error",
        type: "https://service.test/2/problems/resource-not-found",
        resource_type: kind,
        resource_id: "1",
        parameter: "id",
        value: "1"
      }]
    })

  /** What services are known to say, as the neutral wire has it; all other toggles succeed when there is nothing to do. */
  const known: Readonly<Record<string, { readonly data: object; readonly refusal: Answer }>> = {
    deleteList: { data: { deleted: true }, refusal: gone("list") },
    deletePost: { data: { deleted: true }, refusal: gone("post") },
    repost: {
      data: { reposted: true },
      refusal: status(400, {
        title: "Invalid Request",
        detail: "One or more parameters to your request was invalid.",
        type: "https://service.test/2/problems/invalid-request",
        errors: [{ parameters: {}, message: "You cannot retweet a Tweet that you have already retweeted." }]
      })
    }
  }

  /** Refusals that are about something else, however they put it. */
  const others = [
    status(403, { detail: "You cannot like this post: its author has already blocked you." }),
    status(403, { detail: "You have already done that." }),
    status(409, { errors: [{ message: "already" }] }),
    status(400, { errors: [{ message: "The list has already 5,000 members." }] }),
    status(403, { detail: "You may not." }),
    status(404, "<html>already gone</html>"),
    status(404, { title: "Not Found", detail: "There is no such operation.", type: "about:blank" }),
    status(404, {
      type: "https://service.test/2/problems/resource-not-found",
      errors: [{ type: "https://service.test/2/problems/resource-not-found", resource_type: "user", resource_id: "7" }]
    })
  ]

  /** The lookup of the user first, where there is one. */
  const twice = (first: typeof lost | Answer, second: Answer) => {
    let tries = 0
    return timed(({ path }) =>
      path === "/2/users/me" ? { body: { data: { id: "7" } } } : tries++ === 0 ? first : second
    )
  }

  test.each(toggles)("%s takes no other refusal for success")(function*([name, operation]) {
    for (const other of others) {
      const service = twice(lost, other)
      const error = yield* Effect.flip(service.run(operation(parametersOf(name))))
      assert.propertyVal(error, "status", other.status)
    }
  })

  it("is declared where it is known", () => {
    const declared = toggles.filter(([, { definition }]) => definition.settled !== undefined)
    assert.sameMembers(declared.map(([, { definition }]) => definition.name), Object.keys(known))
  })

  test.each(Object.entries(known))("%s succeeds")(function*([name, { data, refusal }]) {
    const operation = (catalogue as unknown as Record<string, Untyped>)[name]!
    const call = operation(parametersOf(name))
    for (const failure of [lost, status(502)]) {
      for (const wire of ["neutral", "x", "x-2026-02"] as const) {
        const body = wire !== "neutral"
          ? JSON.parse(JSON.stringify(refusal.body).replaceAll(`"post"`, `"tweet"`))
          : refusal.body
        const service = twice(failure, { ...refusal, body })
        assert.deepStrictEqual((yield* service.run(call, { wire })).data, data)
      }
    }
    // What a first try is refused is no success, nor what follows one that never left.
    for (const first of [refusal, unsent]) {
      assert.propertyVal(yield* Effect.flip(twice(first, refusal).run(call)), "status", refusal.status)
    }
  })

  test("has the names of the wire in the raw form")(function*() {
    const service = timed((_, index) => index === 0 ? lost : known["repost"]!.refusal)
    const raw = yield* service.run(repost.as("raw")({ post_id: "1" }), { wire: "x" })
    assert.strictEqual(raw.status, 200)
    assert.deepStrictEqual(yield* raw.json, { data: { retweeted: true } })
  })

  test("is no success for a read")(function*() {
    const service = timed((_, index) => index === 0 ? lost : known["deletePost"]!.refusal)
    yield* fails(service.run(getPost({ id: "1" })), Errors.NotFound)
  })
})

describe("the pauses", () => {
  test("grow and are jittered")(function*() {
    const runs: Array<ReadonlyArray<number>> = []
    for (let i = 0; i < 20; i++) {
      const service = timed(() => status(503))
      yield* Effect.flip(
        service.run(getPost({ id: "1" }, { retries: 4, timeout: 1e6 })).pipe(Random.withSeed(`${i}`))
      )
      const pauses = service.pauses()
      assert.lengthOf(pauses, 4)
      for (const [tried, pause] of pauses.entries()) {
        // The clock of the test moves in steps of ten.
        assert.isAtLeast(pause, 250 * 2 ** tried)
        assert.isAtMost(pause, 500 * 2 ** tried + 20)
      }
      runs.push(pauses)
    }
    assert.isAbove(new Set(runs.map(String)).size, 15)
  })

  test("are never longer than twenty seconds of our own")(function*() {
    for (let tried = 0; tried <= Retry.maximumRetries; tried++) {
      const pause = yield* Retry.pause(tried, undefined)
      assert.isAtMost(pause!, 20_000)
    }
  })

  test("are as long as a 503 asks, within reason")(function*() {
    const answer = (retryAfter: string) =>
      timed((_, i) => i === 0 ? status(503, "", { "retry-after": retryAfter }) : post)
    const asked = answer("7")
    yield* asked.run(getPost({ id: "1" }))
    assert.isAtLeast(asked.pauses()[0]!, 7_000)
    assert.isAtMost(asked.pauses()[0]!, 7_020)
    for (const nonsense of ["soon", "-1", "NaN", "", "0"]) {
      const service = answer(nonsense)
      yield* service.run(getPost({ id: "1" }))
      assert.isAtMost(service.pauses()[0]!, 520)
      assert.isAtLeast(service.pauses()[0]!, 250)
    }
    // Who is to stay away for long is told so at once.
    for (const long of ["61", "1000000000"]) {
      const service = answer(long)
      yield* fails(service.run(getPost({ id: "1" })), Errors.ServerFailure)
      assert.lengthOf(service.requests, 1)
    }
  })

  test("end at once when the call is interrupted")(function*() {
    const service = make(() => status(503))
    const layer = service.layer({ ...secrets, retries: 5 })
    const fiber = yield* Effect.forkChild(Effect.provide(getPost({ id: "1" }), layer))
    while (service.requests.length === 0) yield* Effect.yieldNow
    yield* TestClock.adjust(1)
    yield* Fiber.interrupt(fiber)
    yield* TestClock.adjust(100_000)
    assert.lengthOf(service.requests, 1)
  })
})

describe("the budget", () => {
  test("keeps many calls from multiplying an outage, and fills up with successes")(function*() {
    let down = true
    const service = timed(() => down ? status(503) : post)
    yield* service.run(Effect.gen(function*() {
      const calls = (count: number) =>
        Effect.forEach(Array(count), () => Effect.exit(getPost({ id: "1" })), { concurrency: 50, discard: true })
      yield* calls(1000)
      // Without it, they would be three thousand.
      assert.lengthOf(service.requests, 1050)
      yield* calls(10)
      assert.lengthOf(service.requests, 1060)
      down = false
      yield* calls(100)
      down = true
      service.requests.length = 0
      yield* calls(100)
      assert.isAtLeast(service.requests.length, 109)
      assert.isAtMost(service.requests.length, 110)
    }))
  })

  test("is each client's own")(function*() {
    const spent = timed(() => status(503))
    yield* spent.run(Effect.forEach(Array(100), () => Effect.exit(getPost({ id: "1" }))))
    const fresh = timed((_, index) => index === 0 ? status(503) : post)
    yield* fresh.run(getPost({ id: "1" }))
    assert.lengthOf(fresh.requests, 2)
  })

  test("is told by metrics")(function*() {
    const count = (metric: Metric.Counter<number>) => Effect.map(Metric.value(metric), ({ count }) => count)
    const operation = { "postwire.operation": "getPost" }
    const service = timed(() => status(503))
    yield* Effect.gen(function*() {
      const calls = Effect.forEach(Array(60), () => Effect.exit(getPost({ id: "1" }, { retries: 1 })))
      yield* service.run(calls, {}, Telemetry.layer)
      assert.strictEqual(yield* count(Metrics.retries.of({ ...operation, "postwire.reason": "503" })), 50)
      assert.strictEqual(yield* count(Metrics.retryBudgetExhausted.of(operation)), 10)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  })
})

describe("the time of a call", () => {
  const hanging = () => Effect.never

  test("has an end for a server that says nothing")(function*() {
    const service = timed(hanging)
    const error = yield* fails(service.run(getPost({ id: "1" }, { retries: 0 })), Errors.TransportFailure)
    assert.deepInclude({ ...error }, { phase: "headers", timeout: "firstByte" })
    assert.include(error.message, "30000 ms")
    const create = timed(hanging)
    yield* fails(create.run(createPost({ text: "a" })), Errors.OutcomeUnknown)
    assert.lengthOf(create.requests, 1)
  })

  test("is that of all tries and pauses")(function*() {
    const service = timed(hanging)
    const start = yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)
    const error = yield* Effect.flip(
      service.run(getPost({ id: "1" }, { retries: 10, timeout: { firstByte: 400, total: 3000 } }))
    )
    const end = yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)
    assert.instanceOf(error, Errors.TransportFailure)
    assert.isAtMost(end - start, 3_020)
    assert.isAbove(service.requests.length, 1)
    assert.isBelow(service.requests.length, 6)
  })

  test("passes whatever the wall clock is set to")(function*() {
    for (const tells of [true, false]) {
      for (const move of [-3_600_000, 3_600_000]) {
        const wall = yield* MovedClock.make
        const service = make((_, index) => index === 0 ? status(503) : Effect.never, { tells })
        const sent: Array<number> = []
        const layer = service.layer({ ...secrets, retries: 1, onRequest: ({ duration }) => void sent.push(duration) })
        const limits = { timeout: { total: 5_000, firstByte: 1_000 } }
        const fiber = yield* Effect.forkChild(
          wall.provide(Effect.provide(Effect.flip(getPost({ id: "1" }, limits)), layer))
        )
        yield* TestClock.adjust(1_000)
        wall.move(move)
        yield* TestClock.adjust(900)
        // `tells` means that the transport keeps the times; then only the budget of the call is seen here.
        if (!tells) {
          assert.instanceOf(yield* Fiber.join(fiber), Errors.TransportFailure)
        } else {
          yield* Fiber.interrupt(fiber)
        }
        assert.lengthOf(sent, 2)
        for (const duration of sent) assert.isTrue(duration >= 0 && duration <= 1_900, String(duration))
      }
    }
  })

  test("of one request ends with what is left of the total")(function*() {
    const service = timed(hanging)
    yield* fails(service.run(getPost({ id: "1" }, { timeout: 100 })), Errors.TransportFailure, { timeout: "total" })
    assert.lengthOf(service.requests, 1)
  })

  test("begins anew with the body, between whose pieces it may not be still")(function*() {
    const dripping = (every: number) =>
      timed(() => ({
        body: new ReadableStream({
          pull: async (controller) => {
            await runPromise(Effect.sleep(every))
            controller.enqueue(new TextEncoder().encode(" "))
          }
        })
      }))
    const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
    const still = yield* Effect.flip(dripping(1e9).run(getPost({ id: "1" }, { retries: 0, timeout: { idle: 500 } })))
    assert.instanceOf(still, Errors.TransportFailure)
    assert.deepInclude({ ...still }, { phase: "body", timeout: "idle" })
    const slow = yield* Effect.flip(dripping(400).run(getPost({ id: "1" }, { timeout: { idle: 500, total: 3_000 } })))
    assert.instanceOf(slow, Errors.TransportFailure)
    assert.deepInclude({ ...slow }, { phase: "body", timeout: "total" })
  })

  test("is checked")(function*() {
    const service = make(() => post)
    const call = (options: object) => Effect.flip(Effect.provide(getPost({ id: "1" }, options), service.layer()))
    const mistakes: ReadonlyArray<readonly [string, object]> = [
      ["timeout", { timeout: 0 }],
      ["timeout", { timeout: -1 }],
      ["timeout", { timeout: NaN }],
      ["timeout", { timeout: "5" }],
      ["timeout", { timeout: { total: -1 } }],
      ["timeout", { timeout: { tottal: 1 } }],
      ["retries", { retries: -1 }],
      ["retries", { retries: 11 }],
      ["retries", { retries: 1.5 }],
      ["retrys", { retrys: 1 }],
      ["limit", { limit: 1 }]
    ]
    for (const [parameter, options] of mistakes) {
      const error = yield* call(options)
      assert.instanceOf(error, Errors.InvalidParameters)
      assert.strictEqual(error.parameter, parameter)
    }
    for (
      const setting of [{ timeout: 0 }, { retries: 11 }, { maxBodySize: 0 }, { timeout: { total: "a" as never } }]
    ) {
      const error = yield* Effect.flip(Client.check({ baseUrl, ...setting }))
      assert.strictEqual(error.setting, Object.keys(setting)[0])
    }
    assert.lengthOf(service.requests, 0)
  })
})

describe("the clock of the service", () => {
  const serviceTime = Date.UTC(2026, 0, 31, 12)

  /** Refuses signatures of another time than its own, as services do. */
  const strict = (offset: number, more: Readonly<Record<string, string>> = {}) =>
    timed(({ headers }) => {
      const { oauth_timestamp } = OAuth1.parseAuthorization(headers["authorization"]!)!
      const isNear = Math.abs(Number(oauth_timestamp) * 1000 - serviceTime) < 300_000
      return {
        status: isNear ? 200 : 401,
        headers: { date: new Date(serviceTime).toUTCString(), ...more },
        body: isNear ? { data: { id: "1" } } : { title: "Unauthorized", detail: "Timestamp out of bounds." }
      }
    })

  test.each([600_000, -600_000])("is learned once from a refusal: local clock off by %s ms")(function*(offset) {
    yield* TestClock.setTime(serviceTime + offset)
    const service = strict(offset)
    yield* service.run(Effect.andThen(getMe(), getMe()))
    // The second call knows it.
    assert.lengthOf(service.requests, 3)
  })

  test("is not asked for twice, nor without retries, nor learned from a cache")(function*() {
    yield* TestClock.setTime(serviceTime + 600_000)
    const stubborn = timed(() => status(401, { title: "Unauthorized" }, { date: new Date(serviceTime).toUTCString() }))
    yield* fails(stubborn.run(getMe()), Errors.Unauthorized)
    assert.lengthOf(stubborn.requests, 2)
    // A service whose clock jumps is no reason to go on.
    const jumping = timed((_, index) =>
      status(401, {}, { date: new Date(serviceTime + index * 3_600_000).toUTCString() })
    )
    yield* fails(jumping.run(getMe()), Errors.Unauthorized)
    assert.lengthOf(jumping.requests, 2)
    const none = strict(600_000)
    yield* fails(none.run(getMe({}, { retries: 0 })), Errors.Unauthorized)
    assert.lengthOf(none.requests, 1)
    const cached = strict(600_000, { age: "600" })
    yield* fails(cached.run(getMe()), Errors.Unauthorized)
    assert.lengthOf(cached.requests, 1)
    const right = timed(() => status(401, {}, { date: new Date(serviceTime + 590_000).toUTCString() }))
    yield* fails(right.run(getMe()), Errors.Unauthorized)
    assert.lengthOf(right.requests, 1)
  })
})

describe("redirects", () => {
  const redirect = (location: string, code = 302) => status(code, { secret: "body of a redirect" }, { location })
  const origin = new URL(baseUrl).origin

  test("are followed once, within the origin, by a read")(function*() {
    for (const code of [301, 302, 303, 307, 308]) {
      for (const location of ["/prefix/2/users/by", `${origin}/prefix/2/users/by`]) {
        const service = timed((_, index) => index === 0 ? redirect(location, code) : { body: { data: { id: "1" } } })
        assert.strictEqual((yield* service.run(getMe())).data?.id, "1")
        assert.strictEqual(service.requests[1]!.path, "/2/users/by")
      }
    }
  })

  test("lead nowhere else")(function*() {
    const elsewhere = [
      "https://other.test/2/users/me",
      "http://service.test/prefix/2/users/me",
      "https://service.test:8443/prefix",
      "https://service.test.other.test/",
      "//other.test/",
      "https://user:password@service.test/prefix",
      "javascript:alert(1)",
      "https://"
    ]
    for (const location of elsewhere) {
      const service = timed((_, index) => index === 0 ? redirect(location) : { body: { data: { id: "666" } } })
      yield* fails(service.run(getMe()), Errors.UnexpectedStatus)
      assert.lengthOf(service.requests, 1)
    }
  })

  test("are not followed twice, nor by what changes something")(function*() {
    const twice = timed(() => redirect("/prefix/2/users/me"))
    yield* fails(twice.run(getMe()), Errors.UnexpectedStatus)
    assert.lengthOf(twice.requests, 2)
    for (const call of [createPost({ text: "a" }), deletePost({ id: "1" }), like({ post_id: "1" })]) {
      const service = timed(() => redirect("/prefix/2/posts"))
      yield* Effect.flip(Effect.asVoid(service.run<unknown, Errors.AnyError>(call)))
      assert.lengthOf(service.requests, 1)
    }
  })
})

describe("credentials of a service of their own", () => {
  test("are checked before a header is made of them")(function*() {
    const service = make(() => post)
    const inHeaders = ["\r\nx-evil: 1", "\n", "\0", "é", " "]
    for (const name of Credentials.names) {
      for (const bad of name.endsWith("Secret") ? ["\ud800"] : inHeaders) {
        const values = Object.fromEntries(
          Object.entries({ ...secrets, appBearerToken: "of-the-app" }).map((
            [key, value]
          ) => [key, Redacted.make(key === name ? `${value}${bad}` : value)])
        )
        const layer = Client.layer({ baseUrl }).pipe(Layer.provide([
          Layer.succeed(Credentials.Credentials, { current: Effect.succeed(values) }),
          Layer.succeed(HttpClient.HttpClient, service.http)
        ]))
        const error = yield* fails(
          Effect.provide(
            name === "appBearerToken"
              ? Effect.asVoid(catalogue.getStreamRules())
              : Effect.asVoid(getMe({ user_auth: name !== "bearerToken" })),
            layer
          ),
          Errors.InvalidParameters,
          { parameter: name }
        )
        assertNoSecret(error)
      }
    }
    const empty = Client.layer({ baseUrl }).pipe(Layer.provide([
      Layer.succeed(Credentials.Credentials, { current: Effect.succeed({ bearerToken: Redacted.make("") }) }),
      Layer.succeed(HttpClient.HttpClient, service.http)
    ]))
    yield* fails(Effect.provide(getPost({ id: "1" }), empty), Errors.MissingAccessToken)
    assert.lengthOf(service.requests, 0)
  })
})

describe("spans", () => {
  const traced = <A, E>(service: ReturnType<typeof timed>, call: Effect.Effect<A, E, Client.Client>, settings = {}) => {
    const { layer, spans } = Recorder.spans()
    return Effect.map(Effect.exit(Effect.provide(service.run(call, settings), layer)), () => spans)
  }
  const attributes = (span: Tracer.NativeSpan) => Object.fromEntries(span.attributes)

  test("tell of every request as OpenTelemetry's conventions say")(function*() {
    const service = timed((_, index) => index === 0 ? status(503) : index === 1 ? lost : post)
    const spans = yield* traced(service, getPost({ id: "20", post_fields: ["created_at"] }))
    const common = {
      "http.request.method": "GET",
      "url.full": "https://service.test/prefix/2/posts/20",
      "url.template": "/2/posts/:id",
      "server.address": "service.test",
      "server.port": 443,
      "postwire.operation": "getPost"
    }
    assert.deepStrictEqual(spans.map(({ kind, name }) => `${kind} ${name}`), Array(3).fill("client GET /2/posts/:id"))
    assert.deepStrictEqual(spans.map(attributes), [
      { ...common, "http.response.status_code": 503, "error.type": "503" },
      { ...common, "http.request.resend_count": 1, "error.type": "TransportError" },
      { ...common, "http.request.resend_count": 2, "http.response.status_code": 200 }
    ])
    const ends = spans.map(({ status }) => status._tag === "Ended" ? status.exit._tag : status._tag)
    assert.deepStrictEqual(ends, ["Failure", "Failure", "Success"])
    for (const [i, span] of spans.entries()) {
      assert.include(service.requests[i]!.headers["traceparent"], span.traceId)
    }
  })

  test("hold neither query nor text nor secret, unless queries and texts are wanted")(function*() {
    for (const recordContent of [false, true]) {
      const service = timed(() => status(400, { detail: "canary refusal" }))
      const calls = Effect.all([
        Effect.exit(searchRecentPosts({ query: "private words" })),
        Effect.exit(createPost({ text: "private words" }))
      ])
      const spans = yield* traced(service, calls, { recordContent })
      assert.lengthOf(spans, 2)
      for (const span of spans) {
        const text = JSON.stringify(
          [span.name, attributes(span), span.status, span.events],
          (_, value) => typeof value === "bigint" ? String(value) : value
        )
        assert.strictEqual(/private( |%20)words/.test(text), recordContent)
        assert.notInclude(text, "canary")
        assert.notInclude(text, "uthorization")
      }
    }
  })
})

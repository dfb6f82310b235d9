import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as Credentials from "../src/auth/Credentials.ts"
import { catalogue } from "../src/Catalogue.ts"
import * as Client from "../src/client/Client.ts"
import * as UserId from "../src/client/UserId.ts"
import * as Errors from "../src/errors/Errors.ts"
import * as RateLimit from "../src/rate-limit/RateLimit.ts"
import { fails, make, type Received, secrets } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { bookmark, like } = catalogue

const isLookup = ({ path }: Received) => path === "/2/users/me"

const id = { body: { data: { id: "77", name: "Ada", username: "ada" } } }
const done = { body: { data: { bookmarked: true, liked: true } } }

const lookups = (requests: ReadonlyArray<Received>) => requests.filter(isLookup).length

describe("lookup", () => {
  test("happens once, however many calls need it")(function*() {
    const service = make((request) => isLookup(request) ? Effect.delay(Effect.succeed(id), 1000) : done)
    yield* Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 50 }, (_, i) => i),
          (i) =>
            i % 2 === 0
              ? Effect.asVoid(bookmark({ post_id: i }))
              : Effect.asVoid(like({ post_id: i, user_auth: false })),
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust(1000)
      yield* Fiber.join(fiber)
      yield* bookmark({ post_id: 51 })
    }).pipe(Effect.provide(service.layer()))
    assert.strictEqual(lookups(service.requests), 1)
    assert.lengthOf(service.requests, 52)
    for (const { path } of service.requests.filter((request) => !isLookup(request))) {
      assert.match(path, /^\/2\/users\/77\/(bookmarks|likes)$/)
    }
  })

  test("is made again after a failure, which all waiting calls share")(function*() {
    let failing = true
    const service = make((request) =>
      !isLookup(request) ? done : Effect.delay(Effect.succeed(failing ? { status: 401, body: "{}" } : id), 1000)
    )
    yield* Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3], (post_id) => Effect.flip(bookmark({ post_id })), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust(1000)
      for (const error of yield* Fiber.join(fiber)) assert.instanceOf(error, Errors.Unauthorized)
      assert.lengthOf(service.requests, 1)
      failing = false
      const again = yield* Effect.forkChild(bookmark({ post_id: 4 }))
      yield* TestClock.adjust(1000)
      assert.isTrue((yield* Fiber.join(again)).data?.bookmarked)
    }).pipe(Effect.provide(service.layer()))
    assert.strictEqual(lookups(service.requests), 2)
  })

  test("is made for every token and every client")(function*() {
    let token = "a"
    const service = make((request) =>
      isLookup(request)
        ? { body: { data: { id: request.headers["authorization"] === "Bearer a" ? "1" : "2" } } }
        : done
    )
    const layer = Client.layer({ baseUrl: "https://service.test/prefix" }).pipe(Layer.provide([
      Layer.succeed(Credentials.Credentials, { current: Effect.sync(() => ({ bearerToken: Redacted.make(token) })) }),
      Layer.succeed(HttpClient.HttpClient, service.http)
    ]))
    const run = Effect.gen(function*() {
      for (token of ["a", "b", "a", "b"]) yield* bookmark({ post_id: 1 })
    })
    yield* Effect.provide(run, layer)
    assert.deepStrictEqual(
      service.requests.filter((request) => !isLookup(request)).map(({ path }) => path),
      ["/2/users/1/bookmarks", "/2/users/2/bookmarks", "/2/users/1/bookmarks", "/2/users/2/bookmarks"]
    )
    assert.strictEqual(lookups(service.requests), 2)
    yield* Effect.provide(run, Layer.fresh(layer))
    assert.strictEqual(lookups(service.requests), 4)
  })

  test("survives the interruption of the call that began it")(function*() {
    const asked = yield* Deferred.make<void>()
    const service = make((request) =>
      isLookup(request) ? Effect.as(Effect.andThen(Deferred.succeed(asked, undefined), Effect.sleep(1000)), id) : done
    )
    yield* Effect.gen(function*() {
      const leader = yield* Effect.forkChild(bookmark({ post_id: 1 }))
      yield* Deferred.await(asked)
      const followers = yield* Effect.forkChild(
        Effect.forEach([2, 3], (post_id) => bookmark({ post_id }), { concurrency: "unbounded" })
      )
      yield* Effect.yieldNow
      yield* Fiber.interrupt(leader)
      yield* TestClock.adjust(1000)
      for (const { data } of yield* Fiber.join(followers)) assert.isTrue(data?.bookmarked)
    }).pipe(Effect.provide(service.layer()))
    assert.strictEqual(lookups(service.requests), 1)
    assert.lengthOf(service.requests, 3)
  })

  test("ends with the last call that waits for it, and the next call makes its own")(function*() {
    let interrupted = 0
    let hang = true
    const service = make((request) =>
      !isLookup(request) ? done : hang ? Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++)) : id
    )
    yield* Effect.gen(function*() {
      const only = yield* Effect.forkChild(bookmark({ post_id: 1 }))
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      yield* Fiber.interrupt(only)
      assert.strictEqual(interrupted, 1)
      hang = false
      yield* bookmark({ post_id: 2 })
    }).pipe(Effect.provide(service.layer()))
    assert.lengthOf(service.requests, 3)
  })

  test("takes no id that would change the path")(function*() {
    for (
      const bad of ["", "..", "../../x", "a/b", "me", "1?x", "1\r\n", 77, null, "12345678901234567890", undefined]
    ) {
      const service = make((request) => isLookup(request) ? { body: { data: { id: bad } } } : done)
      const error = yield* fails(Effect.provide(bookmark({ post_id: 1 }), service.layer()), Errors.UndecodableResponse)
      assert.include(error.reason, "id is not in the body")
      assert.lengthOf(service.requests, 1)
    }
    for (const body of ["", "null", "[]", "{}", "<html>", `{"data":null}`, `{"errors":[{"title":"x"}]}`]) {
      const service = make(() => ({ body }))
      yield* fails(Effect.provide(bookmark({ post_id: 1 }), service.layer()), Errors.UndecodableResponse)
    }
  })

  test("is not needed with OAuth 1.0a")(function*() {
    const service = make(() => done)
    yield* Effect.provide(like({ post_id: 1 }), service.layer())
    assert.deepStrictEqual(service.requests.map(({ path }) => path), ["/2/users/42/likes"])
  })
})

describe("the limits of a call", () => {
  const silent = () => make((request: Received) => isLookup(request) ? Effect.never : done, { tells: false })
  const failing = () => make((request: Received) => isLookup(request) ? { status: 503 } : done)

  /** Lets time pass in steps, for answers come between two sleeps. */
  const pass = (millis: number) =>
    Effect.forEach(
      Array.from({ length: millis / 50 }),
      () => Effect.andThen(Effect.yieldNow, TestClock.adjust(50)),
      { discard: true }
    )

  test("hold for its lookup")(function*() {
    for (
      const [timeout, limit] of [
        [500, "total"],
        [{ total: 500 }, "total"],
        [{ firstByte: 500, total: 9_000 }, "firstByte"]
      ] as const
    ) {
      const service = silent()
      const call = yield* Effect.forkChild(
        Effect.flip(Effect.provide(bookmark({ post_id: 1 }, { timeout, retries: 0 }), service.layer()))
      )
      yield* pass(450)
      assert.isUndefined(call.pollUnsafe())
      yield* pass(50)
      const error = yield* Fiber.join(call)
      assert.instanceOf(error, Errors.TransportFailure)
      assert.strictEqual(error.timeout, limit)
      assert.strictEqual(error.operation, "bookmark")
      assert.match(error.message, /within 500 ms/)
      assert.lengthOf(service.requests, 1)
    }
  })

  test("are its own: a call that allows less looks for itself, and gives up alone")(function*() {
    const service = make((request) => isLookup(request) ? Effect.delay(Effect.succeed(id), 2_000) : done, {
      tells: false
    })
    yield* Effect.gen(function*() {
      const long = yield* Effect.forkChild(bookmark({ post_id: 2 }))
      yield* pass(100)
      const short = yield* Effect.forkChild(
        Effect.flip(bookmark({ post_id: 1 }, { timeout: { firstByte: 500 }, retries: 0 }))
      )
      yield* pass(500)
      assert.propertyVal(yield* Fiber.join(short), "timeout", "firstByte")
      yield* pass(1_500)
      assert.isTrue((yield* Fiber.join(long)).data?.bookmarked)
    }).pipe(Effect.provide(service.layer()))
    assert.strictEqual(lookups(service.requests), 2)
  })

  test("are whole for a call that joins a lookup whose time is nearly up")(function*() {
    let interrupted = 0
    const service = make(
      (request) => isLookup(request) ? Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++)) : done,
      { tells: false }
    )
    yield* Effect.gen(function*() {
      const first = yield* Effect.forkChild(Effect.flip(bookmark({ post_id: 1 }, { timeout: 1_000 })))
      yield* pass(900)
      const second = yield* Effect.forkChild(Effect.flip(bookmark({ post_id: 2 }, { timeout: 1_000 })))
      yield* pass(50)
      assert.strictEqual(lookups(service.requests), 1)
      yield* pass(50)
      assert.propertyVal(yield* Fiber.join(first), "timeout", "total")
      yield* pass(850)
      assert.isUndefined(second.pollUnsafe())
      yield* pass(100)
      assert.propertyVal(yield* Fiber.join(second), "timeout", "total")
    }).pipe(Effect.provide(service.layer()))
    assert.strictEqual(lookups(service.requests), 2)
    assert.strictEqual(interrupted, 2)
  })

  test("are used up by its lookup and its request together, and told as they were set")(function*() {
    const service = make(
      (request) => isLookup(request) ? Effect.delay(Effect.succeed(id), 300) : Effect.never,
      { tells: false }
    )
    const call = yield* Effect.forkChild(
      Effect.flip(Effect.provide(bookmark({ post_id: 1 }, { timeout: 500, retries: 0 }), service.layer()))
    )
    yield* pass(450)
    assert.lengthOf(service.requests, 2)
    assert.isUndefined(call.pollUnsafe())
    yield* pass(50)
    assert.match((yield* Fiber.join(call)).message, /within 500 ms/)
  })

  test("say how often its lookup is sent, each for itself")(function*() {
    const service = failing()
    yield* Effect.flip(
      Effect.provide(bookmark({ post_id: 1 }, { retries: 0 }), service.layer({ ...secrets, retries: 2 }))
    )
    assert.lengthOf(service.requests, 1)

    const together = failing()
    yield* Effect.gen(function*() {
      const calls = yield* Effect.forEach(
        [0, 1, 2, 2],
        (retries) => Effect.forkChild(Effect.exit(bookmark({ post_id: 1 }, { retries })))
      )
      const settled = () => calls.map((call) => call.pollUnsafe() !== undefined)
      yield* pass(200)
      assert.deepStrictEqual(settled(), [true, false, false, false])
      yield* pass(1_500)
      assert.deepStrictEqual(settled(), [true, true, true, true])
    }).pipe(Effect.provide(together.layer()))
    // Of those who allow the same, one asks: 1, 2 and 3 requests.
    assert.lengthOf(together.requests, 6)
  })

  test("are used up by what a call waits for a lookup that another began")(function*() {
    const service = make(
      (request) => isLookup(request) ? Effect.delay(Effect.succeed(id), 400) : Effect.never,
      { tells: false }
    )
    yield* Effect.gen(function*() {
      const call = () => Effect.forkChild(Effect.flip(bookmark({ post_id: 1 }, { timeout: 500, retries: 0 })))
      const first = yield* call()
      yield* pass(100)
      const second = yield* call()
      yield* pass(350)
      assert.isUndefined(first.pollUnsafe())
      yield* pass(50)
      assert.propertyVal(yield* Fiber.join(first), "timeout", "total")
      yield* pass(50)
      assert.isUndefined(second.pollUnsafe())
      yield* pass(50)
      assert.propertyVal(yield* Fiber.join(second), "timeout", "total")
    }).pipe(Effect.provide(service.layer()))
    assert.lengthOf(service.requests, 3)
  })

  test("are used up by the rest of a pause that another call began")(function*() {
    const service = make((request, index) =>
      !isLookup(request)
        ? Effect.never
        : index === 0
        ? { status: 503, headers: { "retry-after": "1" } }
        : id, { tells: false })
    yield* Effect.gen(function*() {
      const call = () => Effect.forkChild(Effect.flip(bookmark({ post_id: 1 }, { timeout: 1_500, retries: 1 })))
      const first = yield* call()
      yield* pass(100)
      const second = yield* call()
      yield* pass(1_400)
      assert.propertyVal(yield* Fiber.join(first), "timeout", "total")
      yield* pass(50)
      assert.isUndefined(second.pollUnsafe())
      yield* pass(50)
      assert.isDefined(second.pollUnsafe())
      assert.propertyVal(yield* Fiber.join(second), "timeout", "total")
    }).pipe(Effect.provide(service.layer()))
    assert.strictEqual(lookups(service.requests), 2)
  })

  test("are not lengthened by a call that comes when the time of a shared lookup is up")(function*() {
    const service = silent()
    yield* Effect.gen(function*() {
      const call = Effect.flip(bookmark({ post_id: 1 }, { timeout: 500 }))
      const first = yield* Effect.forkChild(Effect.andThen(call, call))
      yield* pass(200)
      const second = yield* Effect.forkChild(call)
      yield* pass(450)
      assert.isUndefined(second.pollUnsafe())
      yield* pass(50)
      assert.isDefined(second.pollUnsafe())
      yield* Fiber.interrupt(first)
    }).pipe(Effect.provide(service.layer()))
  })

  test("stand still while the lookup waits for a rate limit")(function*() {
    let refused = 0
    const service = make((request) =>
      !isLookup(request) ? done : refused++ === 0 ? { status: 429, headers: { "retry-after": "5" } } : id
    )
    const layer = service.layer(undefined, RateLimit.layerWait().pipe(Layer.orDie))
    const call = yield* Effect.forkChild(
      Effect.provide(bookmark({ post_id: 1 }, { timeout: 1_000, retries: 0 }), layer)
    )
    yield* pass(7_000)
    assert.isTrue((yield* Fiber.join(call)).data?.bookmarked)
  })
})

describe("ofAccessToken", () => {
  it("is what stands before the first hyphen", () => {
    assert.strictEqual(UserId.ofAccessToken("42-abc-def"), "42")
    assert.strictEqual(UserId.ofAccessToken("whole"), "whole")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Data, Deferred, Effect, Exit, Fiber, Layer, Option, Redacted, Scope } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as Account from "../src/accounts/Account.ts"
import * as AccountCredentials from "../src/accounts/AccountCredentials.ts"
import * as Credentials from "../src/auth/Credentials.ts"
import { catalogue } from "../src/Catalogue.ts"
import * as Client from "../src/client/Client.ts"
import * as Errors from "../src/errors/Errors.ts"
import * as Storage from "../src/storage/Storage.ts"
import * as Texts from "../src/storage/Texts.ts"
import type * as TokenStore from "../src/storage/TokenStore.ts"
import * as Grants from "./support/Grants.ts"
import * as MovedClock from "./support/MovedClock.ts"
import * as Recorder from "./support/Recorder.ts"
import { assertNoSecret, baseUrl, fails } from "./support/Service.ts"

const { bookmark, createPost, getMe, like } = catalogue

const day = 24 * 3_600_000

/** Ends once time does not hold it up any more. */
const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    for (let second = 0; second < 60 && fiber.pollUnsafe() === undefined; second++) yield* TestClock.adjust("1 second")
    return yield* Fiber.join(fiber)
  })

/** A store that fails in some of its parts. */
const faulty = (store: TokenStore.Store) => {
  const faults = new Map<Errors.StorageFailure["action"], Errors.StorageFault>()
  const or = <A, R>(
    action: Errors.StorageFailure["action"],
    effect: Effect.Effect<A, Errors.StorageFailure, R>
  ) =>
    Effect.suspend(() => {
      const fault = faults.get(action)
      return fault === undefined
        ? effect
        : Effect.fail(new Errors.StorageFailure({ kind: "token store", place: store.describe("ada"), fault, action }))
    })
  return {
    faults,
    store: {
      ...store,
      read: (name) => or("read", store.read(name)),
      write: (name, text) => or("write", store.write(name, text)),
      lock: (name) => or("lock", store.lock(name))
    } satisfies TokenStore.Store
  }
}

/** A test of a client of an account, whose store fails with `faults`. */
const test = (title: string, options?: Parameters<typeof Grants.make>[0]) =>
(
  body: (
    grants: Grants.Service,
    faults: ReturnType<typeof faulty>["faults"]
  ) => Generator<Effect.Effect<unknown, unknown, Client.Client | Credentials.Credentials | Scope.Scope>, void, never>
) =>
  it.effect(title, () =>
    Effect.flatMap(Grants.make(options), (grants) => {
      const { faults, store } = faulty(grants.store)
      return Effect.provide(Effect.gen(() => body(grants, faults)), grants.layer({ store }))
    }))

describe("renewal", () => {
  test("happens a minute before the access token expires, and not earlier")(function*(grants) {
    yield* getMe({})
    yield* TestClock.adjust(Grants.lifeMillis - 60_001)
    yield* getMe({})
    assert.lengthOf(grants.state.refreshes, 0)
    yield* TestClock.adjust(1)
    yield* getMe({})
    assert.deepStrictEqual(grants.state.refreshes, ["canary-refresh-1"])
    assert.strictEqual(yield* grants.stored, Grants.access(2))
    yield* getMe({})
    assert.lengthOf(grants.state.refreshes, 1)
  })

  test("of a token that lives shortly happens at half of its life")(function*(grants) {
    yield* grants.keep(1, { oauth2: { expiresAt: 60_000 } })
    yield* TestClock.adjust(29_999)
    yield* getMe({})
    assert.lengthOf(grants.state.refreshes, 0)
    yield* TestClock.adjust(1)
    yield* getMe({})
    assert.lengthOf(grants.state.refreshes, 1)
  })

  test("happens once for ten thousand calls")(function*(grants) {
    grants.state.before = Effect.sleep(1000)
    const { current } = yield* Credentials.Credentials
    yield* current
    yield* TestClock.adjust(Grants.lifeMillis)
    const calls = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: 10_000 }), () => current, { concurrency: "unbounded" })
    )
    const few = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: 50 }), () => getMe({}), { concurrency: "unbounded", discard: true })
    )
    yield* TestClock.adjust(1000)
    assert.lengthOf(new Set(yield* Fiber.join(calls)), 1)
    yield* Fiber.join(few)
    assert.lengthOf(grants.state.refreshes, 1)
    assert.lengthOf(grants.requests, 51)
  })

  test("happens once for eight clients of a store")(function*(grants) {
    grants.state.before = Effect.sleep(100)
    const clients = yield* Effect.forEach(Array.from({ length: 8 }), () => Layer.build(grants.layer()))
    for (let expiry = 1; expiry <= 10; expiry++) {
      // The clock of the service alone, so that only a 401 tells.
      if (expiry % 2 === 0) grants.state.offset += Grants.lifeMillis
      else yield* TestClock.adjust(Grants.lifeMillis)
      yield* inTime(
        Effect.forEach(
          clients.flatMap((client) => [client, client]),
          (client) => Effect.provideContext(createPost({ text: "a", user_auth: false }), client),
          { concurrency: "unbounded", discard: true }
        )
      )
      assert.lengthOf(grants.state.refreshes, expiry)
      assert.lengthOf(grants.state.created, 16 * expiry)
    }
    assert.strictEqual(grants.state.reuses, 0)
  })

  test("of ten calls that are refused at the same time happens once, and each create happens once")(function*(grants) {
    grants.state.offset = Grants.lifeMillis
    grants.state.before = Effect.sleep(100)
    yield* inTime(
      Effect.forEach(
        Array.from({ length: 10 }, (_, i) => String(i)),
        (text) => createPost({ text, user_auth: false }),
        { concurrency: "unbounded", discard: true }
      )
    )
    assert.lengthOf(grants.state.refreshes, 1)
    assert.lengthOf(grants.requests.filter(({ path }) => path === "/2/posts"), 20)
    assert.sameMembers(
      grants.state.created,
      Array.from({ length: 10 }, (_, i) => JSON.stringify({ text: String(i) }))
    )
  })

  test("is not begun by a 403")(function*(grants) {
    grants.state.forbids = true
    yield* fails(getMe({}), Errors.Forbidden)
    assert.lengthOf(grants.requests, 1)
  })

  test("does not go on for a service that refuses every token")(function*(grants) {
    grants.state.refusesAll = true
    for (let second = 0; second < 60; second++) {
      yield* fails(getMe({}), Errors.Unauthorized)
      yield* TestClock.adjust(1000)
    }
    assert.isBelow(grants.state.refreshes.length, 10)
    grants.state.refusesAll = false
    yield* getMe({})
  })

  test("of a service that gives tokens without a life does not go on either")(function*(grants) {
    yield* grants.keep(1, { oauth2: { expiresAt: 0, renewedAt: 0 } })
    grants.state.lifeSeconds = 0.001
    grants.state.refusesLate = false
    for (let second = 0; second < 60; second++) {
      yield* getMe({})
      yield* TestClock.adjust(1000)
    }
    assert.isBelow(grants.state.refreshes.length, 10)
  })

  test("numbers the requests of a call as one")(function*(grants) {
    grants.state.offset = Grants.lifeMillis
    const attempts: Array<readonly [number, number | undefined]> = []
    const layer = grants.layer({ onRequest: ({ attempt, status }) => attempts.push([attempt, status]) })
    yield* getMe({}).pipe(Effect.provide(layer))
    assert.deepStrictEqual(attempts, [[1, 401], [2, 200]])
  })

  test("renews a token that was refused while a renewal was under way, and the clock was set back")(function*(grants) {
    const clock = yield* MovedClock.make
    const client = yield* clock.provide(Layer.build(grants.layer()))
    const call = clock.provide(Effect.provideContext(getMe({}), client))
    yield* TestClock.adjust(Grants.lifeMillis - 30_000)
    grants.state.offset = Grants.lifeMillis
    const lock = yield* Scope.make()
    yield* Scope.provide(grants.store.lock("ada"), lock)
    const first = yield* Effect.forkChild(Effect.exit(call))
    yield* TestClock.adjust(2_500)
    clock.move(-3_600_000)
    yield* Scope.close(lock, Exit.void)
    yield* TestClock.adjust(1_000)
    yield* Fiber.join(first)
    yield* call
    assert.strictEqual(grants.live(), 2)
  })

  test("sends no refresh token after it stood still for longer than its lock lasts")(function*(grants) {
    const storage = Storage.makeMemory()
    const store = (own: Storage.Storage) => Texts.fromStorage(own, { place: "here", lease: 4_000 })
    yield* store(storage).write("ada", yield* grants.store.read("ada"))
    let isStill = false
    const gate = yield* Deferred.make<void>()
    const still = Effect.suspend(() => isStill ? Deferred.await(gate) : Effect.void)
    const stopped: Storage.Storage = {
      ...storage,
      get: (keys) => Effect.tap(storage.get(keys), still),
      modify: (target, f) =>
        Effect.suspend(() => isStill ? still : Effect.void).pipe(
          Effect.andThen(storage.modify(target, f)),
          Effect.tap(() => {
            // The answer to its check of the lock waits.
            if (target.texts.length === 2) isStill = true
            return still
          })
        )
    }
    const one = yield* Layer.build(grants.layer({ store: store(stopped) }))
    const other = yield* Layer.build(grants.layer({ store: store(storage) }))
    yield* TestClock.adjust(Grants.lifeMillis)
    const call = yield* Effect.forkChild(Effect.provideContext(getMe({}), one))
    yield* TestClock.adjust("7 seconds")
    yield* Effect.provideContext(getMe({}), other)
    isStill = false
    yield* Deferred.succeed(gate, undefined)
    yield* TestClock.adjust("1 minute")
    // Its lock is lost, and the next call finds the tokens of the other.
    yield* Effect.exit(Fiber.join(call))
    yield* Effect.provideContext(getMe({}), one)
    assert.strictEqual(grants.state.reuses, 0)
    assert.deepStrictEqual(grants.state.refreshes, ["canary-refresh-1"])
  })

  for (const minutes of [-10, 10]) {
    test(`keeps calls going where the clock is wrong by ${minutes} minutes`)(function*(grants) {
      const clock = yield* MovedClock.make
      clock.move(minutes * 60_000)
      // As a machine with that clock has kept it.
      yield* clock.provide(grants.keep(1))
      const client = yield* clock.provide(Layer.build(grants.layer()))
      for (let minute = 0; minute < 5 * 120; minute += 15) {
        yield* clock.provide(Effect.provideContext(getMe({}), client))
        yield* TestClock.adjust("15 minutes")
      }
      assert.lengthOf(grants.state.refreshes, 4)
      assert.strictEqual(grants.state.reuses, 0)
    })

    test(`shares an account with a clock that is wrong by ${minutes} minutes`)(function*(grants) {
      const clock = yield* MovedClock.make
      clock.move(minutes * 60_000)
      const right = yield* Layer.build(grants.layer())
      const wrong = yield* clock.provide(Layer.build(grants.layer()))
      for (let minute = 0; minute < 5 * 120; minute += 15) {
        yield* Effect.provideContext(getMe({}), right)
        yield* clock.provide(Effect.provideContext(getMe({}), wrong))
        yield* TestClock.adjust("15 minutes")
      }
      assert.isAtMost(grants.state.refreshes.length, 6)
      assert.strictEqual(grants.state.reuses, 0)
    })
  }
})

describe("what the service does to a renewal", () => {
  interface Row {
    readonly fates: ReadonlyArray<Grants.Fate>
    readonly isStrict?: boolean
    /** What the call fails with; nothing if it succeeds. */
    readonly error?: string
    /** Refresh tokens that reach the service, up to and with the call that succeeds again. */
    readonly requests: number
  }
  const rows: ReadonlyArray<Row> = [
    { fates: [], requests: 1 },
    { fates: ["cut"], requests: 2 },
    { fates: ["failed"], requests: 2 },
    { fates: ["failed late"], requests: 2 },
    { fates: ["unreadable"], requests: 2 },
    { fates: ["unsent"], requests: 1 },
    { fates: ["unsent", "failed"], error: "ServerFailure", requests: 2 },
    { fates: ["cut", "cut"], error: "TransportFailure", requests: 3 },
    { fates: ["unreadable", "unreadable"], error: "TransportFailure", requests: 3 },
    { fates: ["failed", "failed late"], error: "ServerFailure", requests: 3 },
    { fates: ["unsent", "unsent"], error: "TransportFailure", requests: 1 },
    { fates: ["limited"], error: "RateLimited", requests: 2 },
    { fates: ["forbidden"], error: "Forbidden", requests: 2 },
    { fates: ["intercepted"], error: "BadRequest", requests: 2 },
    { fates: ["unknown app"], error: "Unauthorized", requests: 2 },
    { fates: ["gateway"], error: "Unauthorized", requests: 2 },
    { fates: ["cut"], isStrict: true, error: "LoginRequired lost", requests: 2 },
    { fates: ["failed late"], isStrict: true, error: "LoginRequired lost", requests: 2 },
    { fates: ["cut", "cut"], isStrict: true, error: "TransportFailure", requests: 2 }
  ]
  const nameOf = (error: Errors.AnyError) =>
    error._tag === "LoginRequired" ? `${error._tag} ${error.reason}` : error._tag

  for (const { error, fates, isStrict = false, requests } of rows) {
    const title = `${fates.join(", then ") || "nothing"}${isStrict ? ", strict" : ""}: ${error ?? "renewed"}`
    test(title, { isStrict })(function*(grants) {
      grants.state.fates.push(...fates)
      yield* TestClock.adjust(Grants.lifeMillis)
      const exit = yield* Effect.exit(inTime(getMe({})))
      const failure = Exit.findErrorOption(exit)
      assert.strictEqual(failure._tag === "Some" ? nameOf(failure.value) : undefined, error)
      assertNoSecret(failure)
      if (error === undefined) return assert.lengthOf(grants.state.refreshes, requests)
      if (error.startsWith("LoginRequired")) {
        // Nothing but another sign-in helps, and that does.
        for (let i = 0; i < 100; i++) {
          yield* fails(getMe({}), Errors.LoginRequired)
          yield* TestClock.adjust("1 minute")
        }
        assert.lengthOf(grants.state.refreshes, requests)
        yield* grants.keep(grants.login())
      }
      yield* TestClock.adjust("1 second")
      if (isStrict && !error.startsWith("LoginRequired")) {
        assert.strictEqual(nameOf(yield* Effect.flip(inTime(getMe({})))), "LoginRequired lost")
        assert.lengthOf(grants.state.refreshes, requests + 1)
        return
      }
      yield* inTime(getMe({}))
      assert.lengthOf(grants.state.refreshes, requests)
      if (!isStrict) assert.strictEqual(grants.state.reuses, 0)
    })

    if (error !== undefined && !isStrict && !fates.some((fate) => Grants.isProcessed(fate))) {
      test(`${title}, unless the access token still does`)(function*(grants) {
        grants.state.fates.push(...fates)
        yield* TestClock.adjust(Grants.lifeMillis - 30_000)
        for (let i = 0; i < 20; i++) yield* inTime(getMe({}))
        assert.isAtMost(grants.state.refreshes.length, 2)
        yield* TestClock.adjust("2 seconds")
        yield* inTime(getMe({}))
        assert.lengthOf(grants.state.refreshes, requests)
        assert.strictEqual(yield* grants.stored, Grants.access(2))
      })
    }
  }

  test("an outage of an hour is asked about ever more seldom")(function*(grants) {
    grants.state.fates.push(...Array.from({ length: 10_000 }, () => "failed" as const))
    yield* TestClock.adjust(Grants.lifeMillis)
    for (let second = 0; second < 3600; second += 10) {
      yield* fails(inTime(getMe({})), Errors.ServerFailure)
      yield* TestClock.adjust("9 seconds")
    }
    assert.isBelow(grants.state.refreshes.length, 250)
    grants.state.fates.length = 0
    yield* TestClock.adjust("30 seconds")
    yield* inTime(getMe({}))
  })

  test("an outage fails no call once another client has renewed")(function*(grants) {
    const [one, other] = yield* Effect.all([Layer.build(grants.layer()), Layer.build(grants.layer())])
    yield* TestClock.adjust(Grants.lifeMillis)
    grants.state.fates.push(...Array.from({ length: 10_000 }, () => "failed" as const))
    for (let minute = 0; minute < 10; minute++) {
      yield* Effect.flip(inTime(Effect.provideContext(getMe({}), one)))
      yield* TestClock.adjust("1 minute")
    }
    yield* Effect.flip(inTime(Effect.provideContext(getMe({}), one)))
    grants.state.fates.length = 0
    yield* Effect.provideContext(getMe({}), other)
    const asked = grants.state.refreshes.length
    yield* TestClock.adjust("1 second")
    yield* Effect.provideContext(getMe({}), one)
    assert.lengthOf(grants.state.refreshes, asked)
  })

  test("outages that lie hours apart are not taken for one")(function*(grants) {
    const [one, other] = yield* Effect.all([Layer.build(grants.layer()), Layer.build(grants.layer())])
    for (let expiry = 0; expiry < 5; expiry++) {
      yield* TestClock.adjust(Grants.lifeMillis)
      grants.state.fates.push("failed", "failed")
      yield* Effect.flip(inTime(Effect.provideContext(getMe({}), one)))
      if (expiry < 4) yield* Effect.provideContext(getMe({}), other)
      yield* TestClock.adjust("1 second")
      yield* Effect.provideContext(getMe({}), one)
    }
  })

  test("a service that does not answer holds up no call whose token still does")(function*(grants) {
    grants.state.before = Effect.sleep("11 seconds")
    yield* TestClock.adjust(Grants.lifeMillis - 60_000)
    const first = yield* Effect.forkChild(getMe({}))
    yield* TestClock.adjust("2 seconds")
    yield* Fiber.join(first)
    // And those after it do not wait at all.
    yield* getMe({})
    assert.lengthOf(grants.state.refreshes, 1)
    yield* TestClock.adjust("9 seconds")
    yield* getMe({})
    assert.strictEqual(grants.requests.at(-1)?.headers["authorization"], `Bearer ${Grants.access(2)}`)
    assert.lengthOf(grants.state.refreshes, 1)
  })

  test("a grant that is revoked: who signs in again need not restart the program")(function*(grants) {
    yield* getMe({})
    grants.state.isRevoked = true
    const error = yield* fails(getMe({}), Errors.LoginRequired, { reason: "refused" })
    assert.strictEqual(
      error.message,
      "Account \"ada\" has to sign in again: the service refuses its refresh token. The user signed in " +
        "to the same app again, here or on another machine, which ends every earlier login, or revoked it, or another " +
        "program used it (Value passed for the token was invalid). Run: postwire login ada"
    )
    yield* grants.keep(grants.login())
    yield* TestClock.adjust("1 second")
    yield* getMe({})
    assert.lengthOf(grants.state.refreshes, 1)
  })
})

describe("what a store does to a renewal", () => {
  const faults = ["locked", "unavailable", "forbidden", "full", "damaged", "newer"] as const

  for (const fault of faults) {
    test(`${fault} when it is first read`)(function*(grants, faults) {
      faults.set("read", fault)
      yield* fails(getMe({}), Errors.StorageFailure, { fault, action: "read" })
      faults.clear()
      yield* TestClock.adjust("1 second")
      yield* getMe({})
      assert.lengthOf(grants.state.refreshes, 0)
    })

    for (const action of ["read", "lock"] as const) {
      test(`${fault} when a renewal is to ${action} it: nothing is spent`)(function*(grants, faults) {
        yield* getMe({})
        yield* TestClock.adjust(Grants.lifeMillis - 60_000)
        faults.set(action, fault)
        // The token is still good.
        yield* getMe({})
        yield* TestClock.adjust(60_000)
        yield* fails(getMe({}), Errors.StorageFailure, { fault, action })
        assert.lengthOf(grants.state.refreshes, 0)
        faults.clear()
        yield* TestClock.adjust("1 second")
        yield* getMe({})
        assert.lengthOf(grants.state.refreshes, 1)
      })
    }

    test(`${fault} before it is written: nothing is spent`)(function*(grants, faults) {
      yield* TestClock.adjust(Grants.lifeMillis)
      faults.set("write", fault)
      yield* fails(inTime(getMe({})), Errors.StorageFailure, { fault, action: "write" })
      assert.lengthOf(grants.state.refreshes, 0)
      faults.clear()
      yield* TestClock.adjust("1 second")
      yield* getMe({})
      assert.lengthOf(grants.state.refreshes, 1)
    })

    test(`${fault} when it is written: the tokens are kept, and used once it has them`)(function*(grants, faults) {
      yield* getMe({})
      yield* TestClock.adjust(Grants.lifeMillis)
      grants.state.after = Effect.sync(() => void faults.set("write", fault))
      for (let i = 0; i < 20; i++) {
        const error = yield* fails(inTime(getMe({})), Errors.StorageFailure, { fault, action: "write" })
        assertNoSecret(error)
        yield* TestClock.adjust("1 second")
      }
      assert.lengthOf(grants.state.refreshes, 1)
      assert.strictEqual(yield* grants.stored, Grants.access(1))
      grants.state.after = Effect.void
      faults.clear()
      // Whether there is a call or not.
      yield* TestClock.adjust("31 seconds")
      assert.strictEqual(yield* grants.stored, Grants.access(2))
      yield* getMe({})
      assert.lengthOf(grants.state.refreshes, 1)
    })
  }

  test("a write that fails once or twice fails no call")(function*(grants) {
    let writes = 0
    const store: TokenStore.Store = {
      ...grants.store,
      write: (name, text) =>
        ++writes === 2 || writes === 3
          ? Effect.fail(
            new Errors.StorageFailure({ kind: "token store", place: "a", fault: "unavailable", action: "write" })
          )
          : grants.store.write(name, text)
    }
    yield* Effect.gen(function*() {
      yield* TestClock.adjust(Grants.lifeMillis)
      yield* inTime(getMe({}))
      assert.strictEqual(writes, 4)
      assert.lengthOf(grants.state.refreshes, 1)
    }).pipe(Effect.provide(grants.layer({ store })))
  })

  test("tokens that could not be written are written when the client is closed")(function*(grants) {
    const { faults, store } = faulty(grants.store)
    yield* Effect.gen(function*() {
      yield* TestClock.adjust(Grants.lifeMillis)
      grants.state.after = Effect.sync(() => void faults.set("write", "full"))
      yield* Effect.flip(inTime(getMe({})))
      faults.clear()
    }).pipe(Effect.provide(grants.layer({ store })))
    assert.strictEqual(yield* grants.stored, Grants.access(2))
  })

  test("tokens that could not be written give way to those of another sign-in")(function*(grants, faults) {
    yield* TestClock.adjust(Grants.lifeMillis)
    grants.state.after = Effect.sync(() => void faults.set("write", "full"))
    yield* Effect.flip(inTime(getMe({})))
    yield* grants.keep(grants.login())
    faults.clear()
    yield* TestClock.adjust("1 second")
    yield* getMe({})
    assert.strictEqual(yield* grants.stored, Grants.access(3))
    assert.strictEqual(yield* grants.stored, Grants.access(3))
    assert.lengthOf(grants.state.refreshes, 1)
  })

  test("a record that is torn while the service answers is replaced by the tokens")(function*(grants) {
    grants.state.after = Effect.orDie(grants.store.write("ada", "{\"version\":1,\"base"))
    yield* TestClock.adjust(Grants.lifeMillis)
    yield* getMe({})
    assert.strictEqual(yield* grants.stored, Grants.access(2))
  })

  test("a write that fails and tears the record is made again")(function*(grants, faults) {
    yield* getMe({})
    yield* TestClock.adjust(Grants.lifeMillis)
    grants.state.after = Effect.andThen(
      Effect.orDie(grants.store.write("ada", "{\"version\":1,\"base")),
      Effect.sync(() => void faults.set("write", "unavailable"))
    )
    yield* fails(inTime(getMe({})), Errors.StorageFailure)
    faults.clear()
    yield* TestClock.adjust("31 seconds")
    assert.strictEqual(yield* grants.stored, Grants.access(2))
    yield* getMe({})
    assert.lengthOf(grants.state.refreshes, 1)
  })

  for (
    const [title, text, fault] of [
      ["torn", "{\"version\":1,\"base", "damaged"],
      ["empty", "", "damaged"],
      ["of a later version", "{\"version\":2,\"oauth2\":{\"accessToken\":\"canary\"}}", "newer"]
    ] as const
  ) {
    test(`a record that is ${title} is not touched`)(function*(grants) {
      yield* grants.store.write("ada", text)
      const error = yield* fails(getMe({}), Errors.StorageFailure, { fault, action: "read" })
      assertNoSecret(error)
      assert.strictEqual(yield* grants.store.read("ada"), text)
    })
  }

  for (const action of ["read", "lock", "write"] as const) {
    test(`no answer to a ${action} ends`)(function*(grants) {
      let isHung = true
      const hung = <A, E, R>(effect: Effect.Effect<A, E, R>, is: boolean) =>
        Effect.suspend(() => is && isHung ? Effect.never : effect)
      const store: TokenStore.Store = {
        ...grants.store,
        read: (name) => hung(grants.store.read(name), action === "read"),
        write: (name, text) => hung(grants.store.write(name, text), action === "write"),
        lock: (name) => hung(grants.store.lock(name), action === "lock")
      }
      yield* Effect.gen(function*() {
        yield* TestClock.adjust(Grants.lifeMillis)
        const error = yield* Effect.flip(inTime(getMe({})))
        // The total of the call may be over first.
        assert.include(["StorageFailure", "TransportFailure"], error._tag)
        isHung = false
        yield* TestClock.adjust("2 minutes")
        yield* inTime(getMe({}))
        assert.isAtMost(grants.state.refreshes.length, 1)
      }).pipe(Effect.provide(grants.layer({ store })))
    })
  }
})

describe("an account", () => {
  test("that is not there yet appears")(function*(grants) {
    yield* grants.store.write("ada", undefined)
    yield* fails(getMe({}), Errors.LoginRequired, { reason: "absent" })
    assert.lengthOf(grants.requests, 0)
    yield* grants.keep(1)
    yield* TestClock.adjust("1 second")
    yield* getMe({})
  })

  test("that is absent is looked for at most once a second")(function*(grants) {
    let reads = 0
    const store: TokenStore.Store = { ...grants.store, read: () => Effect.sync(() => void reads++) }
    yield* Effect.gen(function*() {
      for (let i = 0; i < 100; i++) {
        yield* Effect.flip(getMe({}))
        yield* TestClock.adjust("100 millis")
      }
      assert.strictEqual(reads, 10)
    }).pipe(Effect.provide(grants.layer({ store })))
  })

  test("that signs out while a client runs is absent")(function*(grants) {
    yield* getMe({})
    grants.state.isRevoked = true
    yield* grants.store.write("ada", undefined)
    yield* fails(getMe({}), Errors.LoginRequired, { reason: "absent" })
    assert.lengthOf(grants.state.refreshes, 0)
  })

  test("that signs out during a renewal stays signed out")(function*(grants) {
    grants.state.after = Effect.orDie(grants.store.write("ada", undefined))
    yield* TestClock.adjust(Grants.lifeMillis)
    yield* fails(inTime(getMe({})), Errors.LoginRequired, { reason: "absent" })
    assert.isUndefined(yield* grants.store.read("ada"))
  })

  test("that signs out during a renewal is not looked for without calls")(function*(grants) {
    grants.state.after = Effect.orDie(grants.store.write("ada", undefined))
    let reads = 0
    const store: TokenStore.Store = {
      ...grants.store,
      read: (name) => Effect.andThen(Effect.sync(() => reads++), grants.store.read(name))
    }
    yield* Effect.gen(function*() {
      yield* TestClock.adjust(Grants.lifeMillis)
      yield* Effect.flip(inTime(getMe({})))
      reads = 0
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(reads, 0)
    }).pipe(Effect.provide(grants.layer({ store })))
  })

  test("that signs in a second time is taken over")(function*(grants) {
    yield* getMe({})
    yield* grants.keep(grants.login())
    yield* getMe({})
    assert.lengthOf(grants.state.refreshes, 0)
    // Also when that takes place while its tokens are renewed.
    yield* TestClock.adjust(Grants.lifeMillis)
    grants.state.before = Effect.suspend(() => {
      grants.state.before = Effect.void
      return Effect.orDie(grants.keep(grants.login()))
    })
    yield* getMe({})
    assert.strictEqual(yield* grants.stored, Grants.access(3))
  })

  test("of another service sends its tokens nowhere else")(function*(grants) {
    yield* grants.keep(1, { baseUrl: "https://api.x.com" })
    const error = yield* fails(getMe({}), Errors.LoginRequired, { reason: "absent" })
    assert.include(error.message, `it is an account of https://api.x.com, not of ${baseUrl}`)
    assert.lengthOf(grants.requests, 0)
  })

  test("without a refresh token is used until the service refuses it")(function*(grants) {
    const { refreshToken: _, ...oauth2 } = Grants.recordOf(1, 0).oauth2!
    yield* Account.write(grants.store, "ada", { ...Grants.recordOf(1, 0), oauth2 })
    yield* TestClock.adjust(Grants.lifeMillis - 1)
    yield* getMe({})
    yield* TestClock.adjust(1)
    yield* fails(getMe({}), Errors.LoginRequired, { reason: "not renewable" })
    yield* Effect.flip(getMe({}))
    assert.lengthOf(grants.requests, 2)
    yield* grants.keep(grants.login())
    yield* TestClock.adjust("1 second")
    yield* getMe({})
  })

  test("whose secret is not in its record has it from the program")(function*(grants) {
    yield* grants.keep(1, { app: { clientId: "app-1" } })
    const app = { clientId: "app-1", clientSecret: Redacted.make("canary-client-secret") }
    yield* TestClock.adjust(Grants.lifeMillis).pipe(
      Effect.andThen(getMe({})),
      Effect.provide(grants.layer({ app }))
    )
    assert.lengthOf(grants.state.refreshes, 1)
    assert.notInclude(yield* grants.store.read("ada"), "canary-client-secret")
  })

  test("has a name that is checked")(function*(grants) {
    for (const account of ["", "../ada", "a b", "x".repeat(33)]) {
      yield* fails(Layer.build(grants.layer({ account })), Errors.InvalidSettings, { setting: "account" })
    }
  })

  test("keeps its budgets, its exports and its user through renewals")(function*(grants) {
    const holders = new Set<unknown>()
    const { credential } = yield* Client.Client
    const { current } = yield* Credentials.Credentials
    for (let expiry = 0; expiry < 3; expiry++) {
      yield* bookmark({ post_id: "1" })
      holders.add((yield* current).grant?.holder)
      holders.add(yield* credential(false))
      yield* TestClock.adjust(Grants.lifeMillis)
    }
    assert.lengthOf(holders, 2)
    // A sign-in of the same user with the same app is one more renewal; another app is not.
    yield* grants.keep(grants.login())
    holders.add((yield* current).grant?.holder)
    assert.lengthOf(holders, 2)
    yield* grants.keep(grants.login(), { app: { clientId: "app-2" } })
    yield* getMe({})
    holders.add((yield* current).grant?.holder)
    assert.lengthOf(holders, 3)
    assert.notInclude(grants.requests.map(({ path }) => path), "/2/users/me/bookmarks")
    assert.lengthOf(grants.requests.filter(({ path }) => path === "/2/users/42/bookmarks"), 3)
    assert.lengthOf(grants.requests.filter(({ path }) => path === "/2/users/me"), 2)
  })

  test("has secrets that are in no error, span, log or inspection, after a renewal as well")(function*(grants) {
    grants.state.offset = Grants.lifeMillis
    grants.state.fates.push("cut")
    const { layer, lines: told, spans } = Recorder.all()
    yield* Effect.gen(function*() {
      yield* inTime(getMe({}))
      const { current } = yield* Credentials.Credentials
      told.push(yield* current, yield* Credentials.Credentials)
      grants.state.forbids = true
      grants.state.saying = `not for ${
        [1, 3].flatMap((number) => [Grants.access(number), `canary-refresh-${number}`]).join()
      }, nor canary-client-secret`
      const error = yield* fails(getMe({}), Errors.Forbidden)
      assert.include(error.title, "<redacted>")
      told.push(error)
    }).pipe(Effect.provide(grants.layer().pipe(Layer.provideMerge(layer))))
    assert.isAbove(spans.length, 4)
    told.push(spans.map(({ attributes, events, name }) => [name, [...attributes], events.map(([event]) => event)]))
    for (const value of told) assertNoSecret(value)
  })

  test("is not renewed to tell of a call that is refused before traffic")(function*(grants) {
    yield* TestClock.adjust(Grants.lifeMillis)
    const error = yield* fails(like({ post_id: Grants.access(1) }), Errors.InvalidParameters)
    assertNoSecret(error)
    assert.lengthOf(grants.requests, 0)
    assert.lengthOf(grants.state.refreshes, 0)
  })

  test("lacks a scope: the call fails before traffic")(function*(grants) {
    const error = yield* fails(like({ post_id: "1" }), Errors.MissingScope)
    assert.deepStrictEqual(error.missing, ["like.write"])
    assert.include(error.message, "postwire login ada --for like")
    assert.lengthOf(grants.requests, 0)
  })

  test("was granted scopes that only a later version knows: the others are read")(function*({ store }) {
    const text = (yield* store.read("ada")) ?? ""
    yield* store.write("ada", text.replace("\"post.read\"", "\"moon.walk\",\"post.read\""))
    const account = Option.getOrThrow(yield* Account.read(store, "ada"))
    assert.isTrue(account.oauth2?.scopes.includes("post.read"))
    assert.notInclude(JSON.stringify(account.oauth2?.scopes), "moon")
  })

  const oauth1 = {
    consumerKey: Redacted.make("canary-consumer-key"),
    consumerSecret: Redacted.make("canary-consumer-secret"),
    accessToken: Redacted.make("42-canary-access-token"),
    accessTokenSecret: Redacted.make("canary-access-token-secret")
  }

  test("that signs with OAuth 1.0a is never renewed")(function*(grants) {
    grants.state.takesSignatures = true
    yield* Account.write(grants.store, "ada", { version: 1, baseUrl, oauth1 })
    yield* createPost({ text: "a" })
    yield* TestClock.adjust(100 * day)
    yield* createPost({ text: "a" })
    yield* fails(createPost({ text: "a", user_auth: false }), Errors.MissingAccessToken)
    grants.state.takesSignatures = false
    yield* fails(createPost({ text: "a" }), Errors.Unauthorized)
    assert.lengthOf(grants.requests, 3)
  })

  test("of both kinds goes on signing when its bearer token is lost")(function*(grants) {
    grants.state.takesSignatures = true
    yield* grants.keep(1, { oauth1 })
    grants.state.isRevoked = true
    for (let i = 0; i < 5; i++) {
      yield* fails(getMe({ user_auth: false }), Errors.LoginRequired, { reason: "refused" })
      yield* getMe({ user_auth: true })
      yield* TestClock.adjust("1 minute")
    }
    assert.lengthOf(grants.state.refreshes, 1)
    yield* grants.keep(grants.login(), { oauth1 })
    yield* getMe({ user_auth: false })
  })
})

describe("a call that waits for a renewal", () => {
  test("is given up without it")(function*(grants) {
    const asked = yield* Deferred.make<void>()
    grants.state.before = Effect.andThen(Deferred.succeed(asked, undefined), Effect.sleep(1000))
    yield* TestClock.adjust(Grants.lifeMillis)
    const call = yield* Effect.forkChild(getMe({}))
    yield* Deferred.await(asked)
    yield* Fiber.interrupt(call)
    yield* TestClock.adjust(1000)
    assert.strictEqual(yield* grants.stored, Grants.access(2))
    yield* getMe({})
    assert.lengthOf(grants.state.refreshes, 1)
  })

  test("waits no longer than it may")(function*(grants) {
    grants.state.before = Effect.sleep(1000)
    yield* TestClock.adjust(Grants.lifeMillis)
    const call = yield* Effect.forkChild(Effect.flip(createPost({ text: "a", user_auth: false }, { timeout: 400 })))
    yield* TestClock.adjust(400)
    const error = yield* Fiber.join(call)
    assert.instanceOf(error, Errors.TransportFailure)
    assert.strictEqual(error.timeout, "total")
    yield* TestClock.adjust(600)
    yield* getMe({})
    assert.lengthOf(grants.state.refreshes, 1)
  })
})

describe("a client that is closed", () => {
  const build = Effect.fnUntraced(function*(grants: Grants.Service) {
    const scope = yield* Scope.make()
    return { scope, client: yield* Layer.buildWithScope(grants.layer(), scope) }
  })

  /** A client that is being closed while the service answers. */
  const closing = Effect.fnUntraced(
    function*(grants: Grants.Service, answer: Effect.Effect<void>) {
      const asked = yield* Deferred.make<void>()
      grants.state.before = Effect.andThen(Deferred.succeed(asked, undefined), answer)
      const { client, scope } = yield* build(grants)
      yield* TestClock.adjust(Grants.lifeMillis)
      yield* Effect.forkChild(Effect.provideContext(getMe({}), client))
      yield* Deferred.await(asked)
      return yield* Effect.forkChild(Scope.close(scope, Exit.void))
    }
  )

  test("waits for tokens that are on their way")(function*(grants) {
    const closed = yield* closing(grants, Effect.sleep(5000))
    yield* TestClock.adjust(4999)
    assert.isUndefined(closed.pollUnsafe())
    yield* TestClock.adjust(1)
    yield* Fiber.join(closed)
    assert.strictEqual(yield* grants.stored, Grants.access(2))
  })

  test("waits for them fifteen seconds, and gives the lock back")(function*(grants) {
    const closed = yield* closing(grants, Effect.never)
    yield* TestClock.adjust(15_000)
    yield* Fiber.join(closed)
    yield* Effect.scoped(grants.store.lock("ada"))
  })

  test("does not wait for a lock")(function*(grants) {
    const { client, scope } = yield* build(grants)
    yield* TestClock.adjust(Grants.lifeMillis)
    const call = yield* Effect.scoped(Effect.gen(function*() {
      yield* grants.store.lock("ada")
      const call = yield* Effect.forkDetach(Effect.flip(Effect.provideContext(getMe({}), client)))
      yield* Effect.yieldNow
      yield* Scope.close(scope, Exit.void)
      return call
    }))
    assert.instanceOf(yield* Fiber.join(call), Errors.TransportFailure)
    assert.lengthOf(grants.state.refreshes, 0)
  })
})

class NoRoom extends Data.TaggedError("NoRoom")<{ readonly message: string }> {}

describe("tokens that a program keeps itself", () => {
  const settings = {
    baseUrl,
    clientId: "app-1",
    clientSecret: "canary-client-secret",
    refreshToken: "canary-refresh-1"
  }

  const layerOf = (grants: Grants.Service, own: object = {}) =>
    Client.layer({ baseUrl, retries: 0 }).pipe(
      Layer.provideMerge(AccountCredentials.layerOAuth2({ ...settings, ...own })),
      Layer.provide(Layer.succeed(HttpClient.HttpClient, grants.http))
    )

  test("are renewed at once where there is no access token, and given to save before they are used")(function*(grants) {
    const saved: Array<string> = []
    const save = (tokens: Account.OAuth2Tokens) =>
      Effect.sync(() => {
        saved.push(Redacted.value(tokens.refreshToken!))
        assert.isTrue(grants.requests.every(({ path }) => path === "/2/oauth2/token" || saved.length > 1))
      })
    yield* Effect.gen(function*() {
      yield* getMe({})
      yield* TestClock.adjust(Grants.lifeMillis)
      yield* getMe({})
    }).pipe(Effect.provide(layerOf(grants, { save })))
    assert.deepStrictEqual(saved, ["canary-refresh-2", "canary-refresh-3"])
  })

  test("are used until the service refuses them where nobody says when they expire")(function*(grants) {
    yield* Effect.gen(function*() {
      yield* getMe({})
      yield* TestClock.adjust(Grants.lifeMillis)
      yield* getMe({})
    }).pipe(Effect.provide(layerOf(grants, { accessToken: Grants.access(1) })))
    assert.lengthOf(grants.requests, 4)
    assert.lengthOf(grants.state.refreshes, 1)
  })

  test("are renewed before they expire where somebody does")(function*(grants) {
    const own = { accessToken: Grants.access(1), expiresAt: new Date(Grants.lifeMillis), scopes: ["users.read"] }
    yield* Effect.gen(function*() {
      yield* fails(getMe({}), Errors.MissingScope)
      yield* TestClock.adjust(Grants.lifeMillis - 60_000)
      yield* getMe({})
    }).pipe(Effect.provide(layerOf(grants, own)))
    assert.deepStrictEqual(grants.requests.map(({ path }) => path), ["/2/oauth2/token", "/2/users/me"])
  })

  test("are not lost when they cannot be saved, and what is said of it holds none of them")(function*(grants) {
    let isFull = true
    const save = ({ refreshToken }: Account.OAuth2Tokens) =>
      isFull
        ? Effect.fail(
          new NoRoom({ message: `no room for ${Redacted.value(refreshToken!)} in place of canary-refresh-1` })
        )
        : Effect.void
    yield* Effect.gen(function*() {
      const error = yield* fails(inTime(getMe({})), Errors.StorageFailure, {
        detail: "no room for <redacted> in place of <redacted>"
      })
      assertNoSecret(error)
      isFull = false
      yield* TestClock.adjust("1 second")
      yield* getMe({})
      assert.lengthOf(grants.state.refreshes, 1)
    }).pipe(Effect.provide(layerOf(grants, { save })))
  })

  test("keep their holder, and are asked once whose they are")(function*(grants) {
    const seen = new Set<string>()
    yield* Effect.gen(function*() {
      const { credential } = yield* Client.Client
      for (let i = 0; i < 3; i++) {
        yield* bookmark({ post_id: "1" })
        seen.add(yield* credential(false))
        yield* TestClock.adjust(Grants.lifeMillis)
      }
    }).pipe(Effect.provide(layerOf(grants)))
    assert.lengthOf(seen, 1)
    const known = yield* Grants.make()
    yield* bookmark({ post_id: "1" }).pipe(Effect.provide(layerOf(known, { userId: "7" })))
    assert.deepStrictEqual(known.requests.map(({ path }) => path), ["/2/oauth2/token", "/2/users/7/bookmarks"])
  })

  test("that are refused are not of an account")(function*(grants) {
    grants.state.isRevoked = true
    const error = yield* Effect.provide(fails(getMe({}), Errors.LoginRequired), layerOf(grants))
    assert.match(error.message, /^The user has to sign in again: .*[^:]\.$/)
    assert.notInclude(error.message, "postwire login")
  })

  test("are checked")(function*(grants) {
    for (const own of [{ refreshToken: "" }, { clientId: "" }, { refreshToken: "a\nb" }, { accessToken: "é" }]) {
      const [setting] = Object.keys(own)
      yield* fails(Layer.build(layerOf(grants, own)), Errors.InvalidSettings, { setting })
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Clock, Deferred, Effect, Exit, Fiber, Layer, Logger, Metric, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import { catalogue } from "../src/Catalogue.ts"
import type { Client } from "../src/client/Client.ts"
import { request } from "../src/client/RawRequest.ts"
import * as Errors from "../src/errors/Errors.ts"
import * as Metrics from "../src/runtime/Metrics.ts"
import type { Definition } from "../src/schema/Definition.ts"
import type { AnyModel } from "../src/schema/Model.ts"
import * as Bill from "../src/spend/Bill.ts"
import * as Keeping from "../src/spend/internal/keeping.ts"
import * as Prices from "../src/spend/Prices.ts"
import * as Spend from "../src/spend/Spend.ts"
import * as SpendStore from "../src/spend/SpendStore.ts"
import { StorageUnavailable } from "../src/storage/Storage.ts"
import * as RequestEncoder from "../src/wire/RequestEncoder.ts"
import { named } from "../src/wire/Wire.ts"
import * as MovedClock from "./support/MovedClock.ts"
import { type Answer, baseUrl, make, type Received, secrets, transportError } from "./support/Service.ts"

const { createPost, getBookmarkFolderPosts, getMe, getPost, getPosts, getUsersPosts, searchNews, searchRecentPosts } =
  catalogue

const noon = Date.parse("2026-11-22T12:00:00Z")

const found = (...ids: ReadonlyArray<string>): Answer => ({
  body: { data: ids.map((id) => ({ id, text: "a" })), meta: { result_count: ids.length } }
})

/** A client that counts, its service, what it was told, and its bill. */
const scene = (
  answer: Parameters<typeof make>[0],
  settings: Spend.Settings = {},
  store: SpendStore.Store = SpendStore.makeMemory(),
  client: Parameters<ReturnType<typeof make>["layer"]>[0] = secrets
) => {
  const service = make(answer)
  const told: Array<Spend.Spent> = []
  const layer = service.layer(
    client,
    Layer.orDie(Spend.layer({ ...settings, onSpend: (spent) => void told.push(spent) })).pipe(
      Layer.provide(Layer.succeed(SpendStore.SpendStore, store))
    )
  )
  const read = () => store.read(baseUrl, "2026-01-01", "2027-12-31")
  return { ...service, told, store, layer, read, total: () => Effect.map(read(), sumOf) }
}

const at = <A, E>(effect: Effect.Effect<A, E>, millis = noon) => Effect.andThen(TestClock.setTime(millis), effect)

/** Charges nothing on the day of the tests: a client whose clock names that day does not request the service's time. */
const beginDay = (store: SpendStore.Store) => {
  const request = { day: "2026-11-22", operation: "getPosts", account: "ada" }
  return Effect.andThen(
    store.reserve(baseUrl, "first", { ...request, micros: 1 }, {}),
    store.settle(baseUrl, "first", { ...Bill.free(request), isCharged: true })
  )
}

/** The amounts of a bill, in micro-dollars. */
const sumOf = (
  entries: ReadonlyArray<{ readonly spent: number; readonly inDoubt: number; readonly reserved: number }>
) => ({
  spent: entries.reduce((sum, { spent }) => sum + spent, 0),
  inDoubt: entries.reduce((sum, { inDoubt }) => sum + inDoubt, 0),
  reserved: entries.reduce((sum, { reserved }) => sum + reserved, 0)
})

/** The amounts of a store on the day of the tests. */
const totalOf = (store: SpendStore.Store) => Effect.map(store.read(baseUrl, "2026-11-22", "2026-11-22"), sumOf)

const run = <A, E>(effect: Effect.Effect<A, E, Client>, layer: Layer.Layer<Client, Errors.InvalidSettings>) =>
  Effect.provide(effect, Layer.orDie(layer))

/** Runs a program with a client at noon. */
const play = <A>(
  layer: Layer.Layer<Client, Errors.InvalidSettings>,
  program: () => Generator<Effect.Effect<unknown, unknown, Client>, A, never>
) => at(run(Effect.gen(program), layer))

const reached = (exit: Exit.Exit<unknown, unknown>): Errors.SpendLimitReached => {
  const error = Exit.isFailure(exit) ? exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error : undefined
  if (error instanceof Errors.SpendLimitReached) return error
  throw new Error(`not the limit: ${String(exit)}`)
}

const lines = () => {
  const told: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => void told.push(`${logLevel}: ${String(message)}`))
  return { told, layer: Logger.layer([logger]) }
}

describe("what an answer is charged", () => {
  it.effect("is each resource once a day, in UTC", () => {
    const { layer, read, told } = scene((_, index) => index === 0 ? found("1", "2") : found("2", "3"))
    return at(Effect.gen(function*() {
      const { first, second, third } = yield* run(
        Effect.gen(function*() {
          const first = yield* getPosts({ ids: ["1", "2"] })
          const second = yield* getPosts({ ids: ["2", "3"] })
          yield* TestClock.setTime(Date.parse("2026-11-23T00:00:00Z"))
          const third = yield* getPosts({ ids: ["2", "3"] })
          return { first, second, third }
        }),
        layer
      )
      assert.deepStrictEqual(first.cost, { dollars: 0.01, charged: 2, repeats: 0 })
      assert.deepStrictEqual(second.cost, { dollars: 0.005, charged: 1, repeats: 1 })
      assert.deepStrictEqual(third.cost, { dollars: 0.01, charged: 2, repeats: 0 })
      assert.deepStrictEqual(told.map(({ day, dollars, inDoubt }) => [day, dollars, inDoubt]), [
        ["2026-11-22", 0.01, false],
        ["2026-11-22", 0.005, false],
        ["2026-11-23", 0.01, false]
      ])
      assert.deepStrictEqual(
        (yield* read()).map(({ charged, day, operation, repeats, spent }) => ({
          charged,
          day,
          operation,
          repeats,
          spent
        })),
        [
          { day: "2026-11-22", operation: "getPosts", spent: 15_000, charged: 3, repeats: 1 },
          { day: "2026-11-23", operation: "getPosts", spent: 10_000, charged: 2, repeats: 0 }
        ]
      )
    }))
  })

  it.effect("is on the day of the service, which may have another clock", () => {
    const { layer, told } = scene(() => ({ ...found("1"), headers: { date: "Mon, 23 Nov 2026 08:00:00 GMT" } }))
    return at(Effect.gen(function*() {
      yield* run(getPosts({ ids: ["1"] }), layer)
      assert.deepStrictEqual(told.map(({ day }) => day), ["2026-11-23"])
    }))
  })

  it.effect("is also what expansions bring, in the words of either wire", () => {
    const body = {
      data: [{ id: "1", text: "a" }],
      includes: {
        tweets: [{ id: "1", text: "a" }, { id: "2", text: "b" }],
        users: [{ id: "1", name: "a", username: "a" }]
      }
    }
    const all = scene(() => ({ body }))
    const own = scene(() => ({ body }), { prices: { includes: false } })
    return at(Effect.gen(function*() {
      yield* run(getPosts({ ids: ["1"], expansions: ["author_id"] }), all.layer)
      yield* run(getPosts({ ids: ["1"], expansions: ["author_id"] }), own.layer)
      assert.deepStrictEqual(all.told.map(({ charged, dollars }) => ({ charged, dollars })), [{
        charged: 3,
        dollars: 0.02
      }])
      assert.deepStrictEqual(own.told.map(({ dollars }) => dollars), [0.005])
    }))
  })

  it.effect("is less where the owner of the app reads what is theirs, with a credential of theirs", () => {
    const { layer, told } = scene(() => found("1"), { appOwner: "42" })
    return play(layer, function*() {
      yield* getUsersPosts({ id: "42", user_auth: true })
      yield* getUsersPosts({ id: "42", user_auth: false })
      yield* getUsersPosts({ id: "43", user_auth: true })
      // They are counted apart: the same post is charged for each.
      assert.deepStrictEqual(told.map(({ dollars }) => dollars), [0.001, 0.005, 0.005])
    })
  })

  it.effect("is counted apart at the full price where the user of a bearer token is not known", () => {
    const { layer, told } = scene(() => found("1"), { appOwner: "42" })
    return play(layer, function*() {
      yield* getUsersPosts({ id: "42", user_auth: false })
      yield* searchRecentPosts({ query: "a" })
      yield* getUsersPosts({ id: "42", user_auth: true })
      // The service charges at most so much, whoever the token belongs to.
      assert.deepStrictEqual(told.map(({ dollars }) => dollars), [0.005, 0.005, 0.001])
    })
  })

  it.effect("is reserved at the full price where the owner's reads have no price of their own", () => {
    const settings = { appOwner: "42", spendLimit: { total: 0.011 } }
    const { layer, requests } = scene(() => ({ body: { data: { id: "42", name: "a", username: "a" } } }), settings)
    return at(Effect.gen(function*() {
      const exit = yield* Effect.exit(run(getBookmarkFolderPosts({ folder_id: "1" }), layer))
      const most = Prices.most(getBookmarkFolderPosts.definition, { folder_id: "1" })
      assert.strictEqual(reached(exit).needed, Prices.dollarsOf(most))
      assert.deepStrictEqual(requests.map(({ path }) => path), ["/2/users/me"])
    }))
  })

  it.effect("is by its request where it writes, and more where its text has a link", () => {
    const { layer, told } = scene(() => ({ status: 201, body: { data: { id: "1", text: "a" } } }))
    return play(layer, function*() {
      yield* createPost({ text: "no link" })
      yield* createPost({ text: "see example.com" })
      yield* createPost({
        text: "write me",
        direct_message_deep_link: "https://x.com/messages/compose?recipient_id=1"
      })
      assert.deepStrictEqual(told.map(({ charged, dollars }) => [charged, dollars]), [[1, 0.015], [1, 0.2], [1, 0.2]])
    })
  })

  it.effect("is counted in every form, and by other prices where they are set", () => {
    const { layer, told } = scene(() => found("1", "2"), { prices: { read: { post: 0.25 } } })
    return at(Effect.gen(function*() {
      yield* run(getPosts.as("raw")({ ids: ["1", "2"] }), layer)
      assert.deepStrictEqual(told.map(({ dollars }) => dollars), [0.5])
    }))
  })

  it.effect("is nothing for what is refused, and for each try that was answered", () => {
    const answers: ReadonlyArray<Answer> = [{ status: 500 }, { status: 429 }, { status: 404 }, found("1")]
    const { layer, total, requests, told } = scene((_, index) => answers[index] ?? {}, {}, undefined, {
      ...secrets,
      retries: 1
    })
    return play(layer, function*() {
      const fiber = yield* Effect.forkChild(Effect.exit(getPosts({ ids: ["1"] })))
      yield* TestClock.adjust(5_000)
      yield* Fiber.join(fiber)
      yield* Effect.exit(getPosts({ ids: ["1"] }))
      yield* getPosts({ ids: ["1"] })
      assert.lengthOf(requests, 4)
      assert.deepStrictEqual(told.map(({ dollars }) => dollars), [0.005])
      assert.deepStrictEqual(yield* total(), { spent: 5_000, inDoubt: 0, reserved: 0 })
    })
  })

  it.effect("is not told by a client that does not count", () => {
    const service = make(() => found("1"))
    return at(Effect.gen(function*() {
      assert.isUndefined((yield* run(getPosts({ ids: ["1"] }), service.layer())).cost)
    }))
  })

  it.effect("is a metric by operation", () => {
    const { layer } = scene(() => found("1", "2"))
    return at(
      Effect.gen(function*() {
        yield* run(getPosts({ ids: ["1", "2"] }), layer)
        const { count } = yield* Metric.value(
          Metrics.spend.of({ "postwire.operation": "getPosts", "postwire.spend.state": "spent" })
        )
        assert.strictEqual(count, 0.01)
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
    )
  })
})

describe("what has no answer", () => {
  const lost = (cause: object) =>
    Effect.gen(function*() {
      const { layer, read, told, total } = scene(() => transportError(cause))
      return yield* at(Effect.gen(function*() {
        yield* Effect.exit(run(getPosts({ ids: ["1", "2", "3"] }), layer))
        assert.strictEqual(told.length, (yield* read()).length)
        return yield* total()
      }))
    })

  it.effect("is in doubt at its largest price, unless nothing of it left", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* lost({ phase: "headers", requestSent: true }), {
        spent: 0,
        inDoubt: 15_000,
        reserved: 0
      })
      assert.deepStrictEqual(yield* lost({ phase: "connect", requestSent: false }), {
        spent: 0,
        inDoubt: 0,
        reserved: 0
      })
    }))

  it.effect("is in doubt when it is not JSON, or the caller gives it up", () => {
    const { layer, total, told } = scene((_, index) => index === 0 ? { body: "{\"data\":[{" } : Effect.never)
    return play(layer, function*() {
      yield* Effect.exit(getPosts({ ids: ["1"] }))
      const fiber = yield* Effect.forkChild(getPosts({ ids: ["1", "2"] }))
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* total()).reserved, 10_000)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(told.map(({ dollars, inDoubt }) => [dollars, inDoubt]), [[0.005, true], [0.01, true]])
      assert.deepStrictEqual(yield* total(), { spent: 0, inDoubt: 15_000, reserved: 0 })
    })
  })

  it.effect("counts as in doubt after a quarter of an hour, should its process be gone", () => {
    const store = SpendStore.makeMemory()
    return at(Effect.gen(function*() {
      yield* store.reserve(
        baseUrl,
        "of a process that was killed",
        { day: "2026-11-22", operation: "getPosts", account: "ada", micros: 7_000 },
        {}
      )
      assert.deepStrictEqual((yield* totalOf(store)).reserved, 7_000)
      yield* TestClock.adjust("16 minutes")
      assert.deepStrictEqual((yield* totalOf(store)).inDoubt, 7_000)
    }))
  })
})

describe("a limit", () => {
  it.effect("keeps back what might pass it, and begins anew", () => {
    const { layer, requests, store } = scene((request) => found(...request.query["ids"]?.split(",") ?? []), {
      spendLimit: { perDay: 0.01, perMonth: 0.02 }
    })
    return play(layer, function*() {
      yield* beginDay(store)
      yield* getPosts({ ids: ["1", "2"] })
      const ofDay = reached(yield* Effect.exit(getPosts({ ids: ["3"] })))
      assert.deepInclude(ofDay, {
        operation: "getPosts",
        period: "day",
        spent: 0.01,
        limit: 0.01,
        needed: 0.005,
        resetAt: new Date("2026-11-23T00:00:00Z")
      })
      assert.strictEqual(
        ofDay.message,
        "getPosts: it may cost $0.005, and $0.01 of the $0.01 of the day are spent or reserved. It resets at 2026-11-23T00:00:00.000Z."
      )
      yield* TestClock.setTime(Date.parse("2026-11-23T00:00:00Z"))
      yield* getPosts({ ids: ["1", "2"] })
      yield* TestClock.setTime(Date.parse("2026-11-24T00:00:00Z"))
      const ofMonth = reached(yield* Effect.exit(getPosts({ ids: ["1"] })))
      assert.deepStrictEqual([ofMonth.period, ofMonth.resetAt], ["month", new Date("2026-12-01T00:00:00Z")])
      assert.lengthOf(requests, 2)
    })
  })

  it.effect("that a request cannot keep to on any day says so, and sums are told in cents", () => {
    const { layer, requests } = scene(() => found("1"), { spendLimit: { perDay: 0.01 } })
    return at(Effect.gen(function*() {
      const { message } = reached(yield* Effect.exit(run(searchRecentPosts({ query: "a" }), layer)))
      assert.strictEqual(
        message,
        "searchRecentPosts: it may cost $0.05, and the whole limit of the day is $0.01. Request less, or raise spendLimit."
      )
      assert.lengthOf(requests, 0)
      const { message: nearly } = new Errors.SpendLimitReached({
        operation: "getPosts",
        period: "total",
        spent: 9.87,
        limit: 10,
        needed: 0.1375
      })
      assert.include(nearly, "it may cost $0.137500, and $9.87 of the $10.00 of this client")
    }))
  })

  it.effect("of a client goes on with what was spent before, where that is provided", () => {
    const { layer } = scene(() => found("1"), { spendLimit: { total: 0.005 } })
    const before = Layer.succeed(Spend.Total, { spent: 1_000, inDoubt: 0, reserved: 0 })
    return at(Effect.gen(function*() {
      const { spent } = reached(yield* Effect.exit(run(getPosts({ ids: ["1"] }), Layer.provide(layer, before))))
      assert.strictEqual(spent, 0.001)
    }))
  })

  it.effect("of a client does not begin anew, and is not that of others", () => {
    const settings = { spendLimit: { total: 0.005 } }
    const store = SpendStore.makeMemory()
    const one = scene(() => found("1"), settings, store)
    const other = scene(() => found("2"), settings, store)
    return play(one.layer, function*() {
      yield* getPosts({ ids: ["1"] })
      yield* TestClock.adjust("40 days")
      const error = reached(yield* Effect.exit(getPosts({ ids: ["2"] })))
      assert.deepStrictEqual([error.period, error.resetAt], ["total", undefined])
      yield* run(getPosts({ ids: ["2"] }), other.layer)
    })
  })

  it.effect("waits for what is in flight where that may cost less than is reserved", () => {
    const gate = Deferred.makeUnsafe<void>()
    const { layer, requests, store } = scene(
      (_, index) => index === 0 ? Effect.as(Deferred.await(gate), found("1")) : found("2"),
      { spendLimit: { perDay: 0.5 } }
    )
    return play(layer, function*() {
      yield* beginDay(store)
      // It may have a hundred posts, and has one.
      const first = yield* Effect.forkChild(searchRecentPosts({ query: "a", max_results: 100 }))
      yield* TestClock.adjust(1)
      const second = yield* Effect.forkChild(searchRecentPosts({ query: "b", max_results: 80 }))
      yield* TestClock.adjust(1_000)
      assert.lengthOf(requests, 1)
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust(2_000)
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.lengthOf(requests, 2)
    })
  })

  it.effect("says that a call waits for what others have reserved", () => {
    const log = lines()
    const store = SpendStore.makeMemory()
    const { layer } = scene(() => found("1"), { spendLimit: { perDay: 0.5 } }, store)
    return play(layer, function*() {
      const others = { day: "2026-11-22", operation: "getPosts", account: "ada", micros: 400_000 }
      yield* store.reserve(baseUrl, "of another process", others, {})
      const call = yield* Effect.forkChild(searchRecentPosts({ query: "b", max_results: 80 }))
      yield* TestClock.adjust(4_000)
      assert.deepStrictEqual(log.told, [])
      yield* TestClock.adjust(4_000)
      assert.lengthOf(log.told, 1)
      assert.match(
        log.told[0]!,
        /Warn: searchRecentPosts waits: requests in flight have reserved \$0\.40 of the limit/
      )
      yield* store.settle(baseUrl, "of another process", Bill.free(others))
      yield* TestClock.adjust(2_000)
      yield* Fiber.join(call)
    }).pipe(Effect.provide(log.layer))
  })

  it.effect("takes what a call waits for it from the time of the call", () => {
    const gate = Deferred.makeUnsafe<void>()
    const { layer, requests } = make(
      ({ method }, index) =>
        method === "HEAD" ? {} : index === 1 ? Effect.as(Deferred.await(gate), found("1")) : Effect.never,
      { tells: false }
    )
    return play(layer(secrets, Layer.orDie(Spend.layer({ spendLimit: { perDay: 0.5 } }))), function*() {
      yield* Effect.forkChild(searchRecentPosts({ query: "a", max_results: 100 }))
      yield* TestClock.adjust(1)
      const call = searchRecentPosts({ query: "b", max_results: 80 }, { timeout: 3_000 })
      const second = yield* Effect.forkChild(Effect.flip(call))
      yield* TestClock.adjust(2_000)
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(requests.map(({ method }) => method), ["HEAD", "GET", "GET"])
      yield* TestClock.adjust(100)
      const error = second.pollUnsafe()
      assert.isTrue(error !== undefined && Exit.isSuccess(error))
      assert.deepInclude(yield* Fiber.join(second), { _tag: "TransportFailure", timeout: "total" })
    })
  })

  it.effect.prop(
    "is never passed, however the requests of clients with one store interleave",
    {
      calls: Arbitrary.array(
        Arbitrary.schema(Schema.Struct({
          client: Schema.Literals([0, 1, 2]),
          items: Schema.Literals([1, 3, 10]),
          answered: Schema.Literals([0, 1, 3, 10]),
          after: Schema.Literals([0, 10, 400]),
          takes: Schema.Literals([0, 20, 700]),
          ends: Schema.Literals(["answer", "refusal", "silence"])
        })),
        { maxLength: 20 }
      )
    },
    ({ calls }) =>
      at(Effect.gen(function*() {
        const store = SpendStore.makeMemory()
        const limit = 0.1
        let next = 0
        let charged = 0
        const answer = ({ query }: Received) => {
          const call = calls[Number(query["ids"]?.split(",")[0]?.slice(1)) - 1000]
          if (call === undefined) throw new Error("unknown call")
          return Effect.delay(
            Effect.suspend(() => {
              if (call.ends === "refusal") return Effect.succeed<Answer>({ status: 503 })
              const count = Math.min(call.answered, call.items)
              charged += count * 5_000
              return call.ends === "silence"
                ? transportError({ phase: "headers", requestSent: true })
                : Effect.succeed(found(...Array.from({ length: count }, () => String(++next))))
            }),
            call.takes
          )
        }
        const newClient = () => scene(answer, { spendLimit: { perDay: limit } }, store).layer
        const clients = [newClient(), newClient(), newClient()] as const
        const all = yield* Effect.forkChild(Effect.forEach(calls, ({ after, client, items }, index) =>
          Effect.exit(Effect.delay(
            run(
              getPosts({
                ids: Array.from(
                  { length: items },
                  (_, item) => `1${1000 + index}${item === 0 ? "" : item}`.slice(0, 19)
                )
              }),
              clients[client]
            ),
            after
          )), { concurrency: "unbounded" }))
        for (let passed = 0; passed < 600; passed++) {
          yield* TestClock.adjust(250)
          const { inDoubt, reserved, spent } = yield* totalOf(store)
          assert.isAtMost(spent + inDoubt + reserved, limit * 1_000_000)
          if (all.pollUnsafe() !== undefined) {
            break
          }
        }
        yield* Fiber.join(all)
        const { inDoubt, reserved, spent } = yield* totalOf(store)
        assert.strictEqual(reserved, 0)
        assert.isAtMost(charged, limit * 1_000_000)
        assert.isAtMost(spent, charged)
        assert.isAtLeast(spent + inDoubt, charged)
      }))
  )
})

describe("a request without a published price", () => {
  const raw = request({ method: "GET", path: "/2/widgets" })

  it.effect("is refused under any limit, unsent", () =>
    Effect.forEach(["perDay", "perMonth", "total"] as const, (period) => {
      const { layer, requests, told } = scene(() => found("1"), { spendLimit: { [period]: 100 } })
      return play(layer, function*() {
        for (const [name, call] of [["searchNews", searchNews({ query: "a" })], ["GET /2/widgets", raw]] as const) {
          const error = reached(yield* Effect.exit(call))
          assert.deepInclude({ ...error }, { operation: name, limit: 100, spent: 0, needed: Infinity })
          assert.strictEqual(
            error.message,
            `${name}: its price is unknown, so the limit of ${
              { perDay: "the day", perMonth: "the month", total: "this client" }[period]
            }, $100.00, cannot be enforced. Nothing was sent. ` +
              "State the most that such a request may cost: the setting prices.unknown."
          )
        }
        assert.deepStrictEqual(requests, [])
        yield* getPosts({ ids: ["1"] })
        assert.strictEqual(told.length, 1)
      })
    }, { discard: true }))

  it.effect("is counted by the price that the program states, and limited", () => {
    const answers = (_: unknown, index: number) => index === 1 ? transportError({}) : found("1", "2")
    const { layer, read, requests, store, told } = scene(
      answers,
      {
        spendLimit: { perDay: 0.07 },
        prices: { unknown: 0.02 }
      }
    )
    return Effect.andThen(
      beginDay(store),
      play(layer, function*() {
        assert.deepStrictEqual((yield* searchNews({ query: "a" })).cost, { dollars: 0.02, charged: 1, repeats: 0 })
        yield* Effect.exit(raw)
        assert.deepStrictEqual((yield* raw).cost, { dollars: 0.02, charged: 1, repeats: 0 })
        assert.deepInclude({ ...reached(yield* Effect.exit(raw)) }, { spent: 0.06, needed: 0.02, limit: 0.07 })
        assert.lengthOf(requests, 3)
        assert.deepStrictEqual(told.map(({ inDoubt }) => inDoubt), [false, true, false])
        assert.deepInclude(sumOf(yield* read()), { spent: 40_000, inDoubt: 20_000 })
      })
    )
  })

  it.effect("has no cost without a limit and without a stated price", () => {
    const { layer, told } = scene(() => found("1"))
    return play(layer, function*() {
      assert.isUndefined((yield* searchNews({ query: "a" })).cost)
      assert.isUndefined((yield* raw).cost)
      assert.deepStrictEqual(told, [])
    })
  })
})

describe("a limit where clocks are wrong", () => {
  const hour = 3_600_000

  /** A service that says what time it is, and processes with clocks that differ from it. */
  const machines = (perDay: number, begins: number, { month = false } = {}) => {
    const store = SpendStore.makeMemory()
    const charged = new Map<string, number>()
    const requests: Array<Received> = []
    let id = 0
    const spendLimit = month ? { perMonth: perDay } : { perDay }
    /** The store of a process that is killed before it has counted an answer. */
    const killed: SpendStore.Store = {
      ...store,
      settle: (bill, lease, charge) =>
        charge.micros === 0 && charge.resources.length === 0
          ? store.settle(bill, lease, charge)
          : Effect.succeed(Bill.nothing)
    }
    /** Makes the call of a new process. */
    const run = (skew: number, takes = 0, isKilled = false) =>
      Effect.clockWith((clock) => {
        const { layer } = scene(
          (request) =>
            Effect.suspend(() => {
              requests.push(request)
              const now = clock.currentTimeMillisUnsafe()
              if (request.method !== "HEAD") {
                const key = new Date(now).toISOString().slice(0, month ? 7 : 10)
                charged.set(key, (charged.get(key) ?? 0) + 5_000)
              }
              const answer = { ...found(String(++id)), headers: { date: new Date(now).toUTCString() } }
              return Effect.as(Effect.provideService(Effect.sleep(takes), Clock.Clock, clock), answer)
            }),
          { spendLimit },
          isKilled ? killed : store
        )
        return Effect.flatMap(MovedClock.make, ({ move, provide }) => {
          move(skew)
          return provide(Effect.exit(Effect.provide(getPosts({ ids: ["1"] }), Layer.orDie(layer), { local: true })))
        })
      })
    return { run, charged, requests, begin: TestClock.setTime(begins) }
  }

  it.effect("holds for commands whose clocks are a day off, in either direction", () =>
    Effect.gen(function*() {
      const { begin, charged, requests, run } = machines(0.015, noon)
      yield* begin
      for (let i = 0; i < 8; i++) {
        const exit = yield* run(i % 2 === 0 ? 25 * hour : -25 * hour)
        assert.strictEqual(Exit.isSuccess(exit), i < 3)
      }
      assert.deepStrictEqual([...charged], [["2026-11-22", 15_000]])
      // A request for the time costs nothing, and has no credential.
      assert.isTrue(
        requests.filter(({ method }) => method === "HEAD").every(({ headers }) =>
          headers["authorization"] === undefined
        )
      )
    }))

  it.effect("holds for commands that are killed before the store has a charge, whatever day their clocks name", () =>
    Effect.gen(function*() {
      const { begin, charged, requests, run } = machines(0.015, noon)
      yield* begin
      for (const days of [-1, 1, -40, 0, 40, -2]) {
        yield* run(days * 24 * hour, 0, true)
        yield* TestClock.adjust("16 minutes")
      }
      assert.deepStrictEqual([...charged], [["2026-11-22", 15_000]])
      assert.deepStrictEqual(requests[0]?.method, "HEAD")
    }))

  it.effect("holds for a command that was killed while its clock named the day of the newest charge", () =>
    Effect.gen(function*() {
      const { begin, charged, run } = machines(0.01, noon)
      yield* begin
      yield* run(0)
      yield* TestClock.adjust("1 day")
      yield* run(-24 * hour, 0, true)
      yield* TestClock.adjust("16 minutes")
      for (let i = 0; i < 3; i++) yield* run(0)
      assert.deepStrictEqual([...charged], [["2026-11-22", 5_000], ["2026-11-23", 10_000]])
    }))

  it.effect("holds for processes that all begin at once with clocks of different days", () =>
    Effect.gen(function*() {
      const { begin, charged, run } = machines(0.02, noon)
      yield* begin
      const skews = Array.from({ length: 12 }, (_, i) => [25 * hour, -25 * hour, 0][i % 3] ?? 0)
      const all = yield* Effect.forkChild(Effect.forEach(skews, (skew) => run(skew, 20), { concurrency: "unbounded" }))
      yield* TestClock.adjust("5 minutes")
      yield* Fiber.join(all)
      assert.deepStrictEqual([...charged], [["2026-11-22", 20_000]])
    }))

  it.effect("begins on the day of the service, also where the clock is minutes off", () =>
    Effect.gen(function*() {
      for (const skew of [-210_000, 210_000]) {
        const { begin, charged, run } = machines(0.01, Date.parse("2026-11-30T23:55:00Z"), { month: true })
        yield* begin
        for (let i = 0; i < 20; i++) {
          yield* run(skew)
          yield* TestClock.adjust(30_000)
        }
        assert.deepStrictEqual([...charged], [["2026-11", 10_000], ["2026-12", 10_000]], String(skew))
      }
    }))

  it.effect.prop(
    "holds for any processes at any time",
    {
      processes: Arbitrary.array(
        Arbitrary.schema(Schema.Struct({
          skew: Schema.Literals([-25 * hour, -hour, -210_000, 0, 210_000, hour, 25 * hour]),
          after: Schema.Literals([0, 10, 60_000, 120_000]),
          takes: Schema.Literals([0, 20, 40_000])
        })),
        { maxLength: 16 }
      )
    },
    ({ processes }) =>
      Effect.gen(function*() {
        const { begin, charged, run } = machines(0.02, Date.parse("2026-11-22T23:58:00Z"))
        yield* begin
        const all = yield* Effect.forkChild(
          Effect.forEach(processes, ({ after, skew, takes }) => Effect.delay(run(skew, takes), after), {
            concurrency: "unbounded"
          })
        )
        for (let passed = 0; passed < 60; passed++) yield* TestClock.adjust(5_000)
        yield* Fiber.interrupt(all)
        for (const micros of charged.values()) assert.isAtMost(micros, 20_000)
      })
  )

  it.effect("counts for the newest day where the service cannot be asked for its time", () => {
    const store = SpendStore.makeMemory()
    const answer = ({ method }: Received): ReturnType<Parameters<typeof make>[0]> =>
      method === "HEAD"
        ? transportError({ phase: "connect", requestSent: false })
        : { ...found("1"), headers: { date: "Sun, 22 Nov 2026 12:00:00 GMT" } }
    const settings = { spendLimit: { perDay: 0.005 } }
    return at(Effect.gen(function*() {
      yield* run(getPosts({ ids: ["1"] }), scene(answer, settings, store).layer)
      const { move, provide } = yield* MovedClock.make
      move(25 * hour)
      const second = scene(answer, settings, store)
      const exit = yield* provide(Effect.exit(run(getPosts({ ids: ["2"] }), second.layer)))
      assert.deepStrictEqual(reached(exit).resetAt, new Date("2026-11-23T00:00:00Z"))
      assert.deepStrictEqual(second.requests.map(({ method }) => method), ["HEAD"])
    }))
  })

  it.effect("holds where the first request for the time fails, and the machine is a day ahead", () => {
    let isOffline = true
    const settings = { spendLimit: { perDay: 0.005 } }
    const { layer, requests, store } = scene(
      () =>
        isOffline
          ? transportError({ phase: "connect", requestSent: false })
          : { ...found("1"), headers: { date: "Sun, 22 Nov 2026 12:00:00 GMT" } },
      settings
    )
    const before = { day: "2026-11-22", operation: "getPosts", account: "ada", micros: 5_000 }
    return at(Effect.gen(function*() {
      yield* store.reserve(baseUrl, "of another process", before, {})
      yield* store.settle(baseUrl, "of another process", { ...Bill.free(before), micros: 5_000, isCharged: true })
      const { move, provide } = yield* MovedClock.make
      move(25 * hour)
      yield* provide(run(
        Effect.gen(function*() {
          reached(yield* Effect.exit(getPosts({ ids: ["2"] })))
          isOffline = false
          reached(yield* Effect.exit(getPosts({ ids: ["2"] })))
        }),
        layer
      ))
      assert.deepStrictEqual(requests.map(({ method }) => method), ["HEAD", "HEAD"])
    }))
  })

  it.effect("is checked by one request for the time of the service, which delays no call for long", () => {
    const { layer, requests, store } = scene(
      ({ method }) => method === "HEAD" ? Effect.never : found("1"),
      { spendLimit: { perDay: 1 } }
    )
    const before = { day: "2026-11-21", operation: "getPosts", account: "ada", micros: 5_000 }
    return play(layer, function*() {
      yield* store.reserve(baseUrl, "of another process", before, {})
      yield* store.settle(baseUrl, "of another process", { ...Bill.free(before), micros: 5_000, isCharged: true })
      const calls = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 50 }), () => getPosts({ ids: ["1"] }), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust(2_000)
      assert.isDefined(calls.pollUnsafe())
      assert.lengthOf(requests.filter(({ method }) => method === "HEAD"), 1)
      assert.lengthOf(requests, 51)
    })
  })

  it.effect("is not moved to another day by one answer with a wrong date", () => {
    const dates = ["Sun, 22 Nov 2026 12:00:00 GMT", "Tue, 24 Nov 2026 12:00:00 GMT", "Sun, 22 Nov 2026 12:00:00 GMT"]
    const { layer, requests, store, told } = scene((_, index) => ({
      ...found(String(index)),
      headers: { date: dates[index] ?? "" }
    }), { spendLimit: { perDay: 0.015 } })
    return play(layer, function*() {
      yield* beginDay(store)
      for (let i = 0; i < 3; i++) yield* getPosts({ ids: ["1"] })
      assert.strictEqual(reached(yield* Effect.exit(getPosts({ ids: ["1"] }))).spent, 0.015)
      assert.deepStrictEqual(told.map(({ day }) => day), ["2026-11-22", "2026-11-22", "2026-11-22"])
      assert.lengthOf(requests, 3)
    })
  })
})

describe("a store that is gone", () => {
  /** One that can be away, before or after it has done a step. */
  const breakable = () => {
    const memory = SpendStore.makeMemory()
    const state = { fails: "never" as "never" | "before" | "after" }
    const step = <A>(effect: Effect.Effect<A>): Effect.Effect<A, StorageUnavailable> =>
      Effect.suspend((): Effect.Effect<A, StorageUnavailable> => {
        const gone = Effect.fail(new StorageUnavailable({ reason: "it is away" }))
        return state.fails === "never" ? effect : state.fails === "before" ? gone : Effect.andThen(effect, gone)
      })
    const store: SpendStore.Store = {
      reserve: (...step1) => step(memory.reserve(...step1)),
      settle: (...step1) => step(memory.settle(...step1)),
      read: (...step1) => step(memory.read(...step1))
    }
    return { memory, state, store }
  }

  for (const fails of ["before", "after"] as const) {
    it.effect(`refuses what a limit covers, and keeps no reservation (it fails ${fails} a step is done)`, () => {
      const { memory, state, store } = breakable()
      const { layer, requests } = scene(() => found("1"), { spendLimit: { perMonth: 1 } }, store)
      return at(run(
        Effect.gen(function*() {
          state.fails = fails
          const { message, unavailable } = reached(yield* Effect.exit(getPosts({ ids: ["1"] })))
          assert.strictEqual(unavailable, "it is away")
          assert.include(message, "cannot be enforced. Nothing was sent.")
          assert.lengthOf(requests, 0)
          state.fails = "never"
          yield* TestClock.adjust(6_000)
          yield* getPosts({ ids: ["1"] })
          yield* TestClock.adjust("16 minutes")
          assert.deepStrictEqual(yield* totalOf(memory), { spent: 5_000, inDoubt: 0, reserved: 0 })
        }),
        layer
      ))
    })
  }

  it.effect("refuses nothing where there is no limit", () => {
    const { state, store } = breakable()
    const { layer } = scene(() => found("1"), {}, store)
    state.fails = "before"
    return play(layer, function*() {
      for (let i = 0; i < 3; i++) assert.strictEqual((yield* getPosts({ ids: ["1"] })).cost?.dollars, 0.005)
    })
  })

  it.effect("is used again after a short outage under steady traffic, and the limit of all holds", () => {
    const { memory, state, store } = breakable()
    const settings: Spend.Settings = { spendLimit: { perDay: 1, withoutStore: "allow" } }
    let id = 0
    const one = scene(() => found(String(++id)), settings, store)
    const other = scene(() => found(String(++id)), settings, store)
    return at(
      Effect.gen(function*() {
        yield* beginDay(memory)
        const [a, b] = yield* Effect.all([Layer.build(Layer.orDie(one.layer)), Layer.build(Layer.orDie(other.layer))])
        for (let i = 0; i < 200; i++) {
          state.fails = i >= 10 && i < 13 ? "before" : "never"
          for (const client of [a, b]) yield* Effect.ignore(Effect.provideContext(getPosts({ ids: ["1"] }), client))
          yield* TestClock.adjust(100)
        }
        assert.strictEqual(id, 200)
        assert.strictEqual((yield* totalOf(memory)).spent, 1_000_000)
      }).pipe(Effect.scoped)
    )
  })

  it.effect("gets a long outage in few steps, with every dollar of it", () => {
    const { memory, state, store } = breakable()
    let settled = 0
    const counted: SpendStore.Store = {
      ...store,
      settle: (...args) => Effect.tap(store.settle(...args), () => Effect.sync(() => settled++))
    }
    let page = 0
    const { layer } = scene(
      () => found(...Array.from({ length: 100 }, (_, i) => `${++page}${1000 + i}`)),
      { spendLimit: { perDay: 10_000, withoutStore: "allow" } },
      counted
    )
    return play(layer, function*() {
      yield* getPosts({ ids: ["1"] })
      state.fails = "before"
      for (let i = 0; i < 700; i++) yield* searchRecentPosts({ query: "a", max_results: 100 })
      state.fails = "never"
      yield* TestClock.adjust(11_000)
      assert.strictEqual((yield* totalOf(memory)).spent, 701 * 500_000)
      assert.isBelow(settled, 600)
    })
  })

  it.effect("does not wait for a charge that it can never take", () => {
    const { memory, state, store } = breakable()
    const picky: SpendStore.Store = {
      ...store,
      settle: (bill, lease, charge) =>
        charge.operation === "getPost"
          ? Effect.fail(new StorageUnavailable({ reason: "no such operation" }))
          : store.settle(bill, lease, charge)
    }
    const { layer } = scene(
      (request) => request.query["ids"] === undefined ? { body: { data: { id: "9", text: "a" } } } : found("1"),
      {
        spendLimit: { perDay: 1 }
      },
      picky
    )
    return play(layer, function*() {
      yield* beginDay(memory)
      yield* getPost({ id: "9" })
      state.fails = "after"
      yield* Effect.exit(getPosts({ ids: ["2"] }))
      state.fails = "never"
      yield* TestClock.adjust(6_000)
      assert.strictEqual((yield* getPosts({ ids: ["1"] })).cost?.dollars, 0.005)
      yield* TestClock.adjust(6_000)
      assert.deepStrictEqual(yield* totalOf(memory), { spent: 5_000, inDoubt: 0, reserved: 5_000 })
    })
  })

  it.effect("takes none of the time that a call has not", () => {
    const memory = SpendStore.makeMemory()
    const state = { hangs: "reserve" }
    const step = <A>(name: string, effect: Effect.Effect<A>) =>
      Effect.suspend(() => state.hangs === name ? Effect.never : effect)
    const { layer } = scene(() => found("1"), { spendLimit: { perDay: 1 } }, {
      reserve: (...args) => step("reserve", memory.reserve(...args)),
      settle: (...args) => step("settle", memory.settle(...args)),
      read: memory.read
    })
    return play(layer, function*() {
      const ended = (millis: number) =>
        Effect.gen(function*() {
          const call = yield* Effect.forkChild(Effect.exit(getPosts({ ids: ["1"] }, { timeout: 500 })))
          yield* TestClock.adjust(millis)
          const exit = call.pollUnsafe()
          assert.isTrue(exit !== undefined && Exit.isSuccess(exit))
          return yield* Fiber.join(call)
        })
      yield* beginDay(memory)
      assert.strictEqual(reached(yield* ended(500)).unavailable, "it takes too long")
      state.hangs = "settle"
      assert.isTrue(Exit.isSuccess(yield* ended(500)))
      state.hangs = "nothing"
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(yield* totalOf(memory), { spent: 5_000, inDoubt: 0, reserved: 0 })
    })
  })

  for (const fails of ["before", "after"] as const) {
    it.effect(`has everything when it is back, and nothing twice (it fails ${fails} a step is done)`, () => {
      const { memory, state, store } = breakable()
      const log = lines()
      const { layer } = scene((request) => found(...request.query["ids"]?.split(",") ?? []), {
        spendLimit: { perDay: 0.05, withoutStore: "allow" }
      }, store)
      return at(
        Effect.gen(function*() {
          yield* run(
            Effect.gen(function*() {
              yield* getPosts({ ids: ["1", "2"] })
              state.fails = fails
              yield* getPosts({ ids: ["2", "3"] })
              yield* getPosts({ ids: ["3", "4"] })
              // Limits hold with what is known: 2 posts by the store, and 3 of this process or more.
              const exit = yield* Effect.exit(getPosts({ ids: ["5", "6", "7", "8", "9", "10"] }))
              assert.isTrue(Exit.isFailure(exit))
              state.fails = "never"
              yield* TestClock.adjust(11_000)
              assert.deepInclude(yield* totalOf(memory), {
                spent: 20_000,
                inDoubt: 0
              })
              yield* getPosts({ ids: ["4", "5"] })
            }),
            layer
          )
          assert.deepInclude(yield* totalOf(memory), { spent: 25_000, inDoubt: 0, reserved: 0 })
          assert.lengthOf(log.told.filter((line) => line.startsWith("Warn")), 1)
          assert.lengthOf(log.told.filter((line) => line.startsWith("Info")), 1)
        }).pipe(Effect.provide(log.layer))
      )
    })
  }

  it.effect("leaves limits what it was charged, should it be away again at once", () => {
    const { state, store } = breakable()
    const { layer } = scene((request) => found(...request.query["ids"]?.split(",") ?? []), {
      spendLimit: { perDay: 0.02, withoutStore: "allow" }
    }, store)
    return play(layer, function*() {
      yield* getPosts({ ids: ["1"] })
      state.fails = "before"
      yield* getPosts({ ids: ["2", "3"] })
      state.fails = "never"
      yield* TestClock.adjust(11_000)
      state.fails = "before"
      assert.isTrue(Exit.isFailure(yield* Effect.exit(getPosts({ ids: ["4", "5"] }))))
      yield* getPosts({ ids: ["4"] })
    })
  })

  it.effect("does not count a charge twice that it took without an answer", () => {
    const { memory, state, store } = breakable()
    let lost = 0
    const { layer } = scene(() => ({ status: 201, body: { data: { id: "1", text: "a" } } }), {}, {
      ...store,
      settle: (...args) =>
        Effect.tap(
          store.settle(...args),
          () => ++lost === 1 ? Effect.fail(new StorageUnavailable({ reason: "reset" })) : Effect.void
        )
    })
    return play(layer, function*() {
      state.fails = "before"
      yield* createPost({ text: "a" })
      state.fails = "never"
      yield* TestClock.adjust("1 minute")
      const entries = yield* memory.read(baseUrl, "2026-11-22", "2026-11-22")
      assert.deepStrictEqual(sumOf(entries), { spent: 15_000, inDoubt: 0, reserved: 0 })
      assert.strictEqual(lost, 2)
    })
  })

  it.effect("gets charges that come while a sum waits to be recorded, and every request that was added up", () => {
    const { memory, state, store } = breakable()
    const slow: SpendStore.Store = {
      ...store,
      settle: (...args) => state.fails === "never" ? Effect.delay(store.settle(...args), 100) : store.settle(...args)
    }
    const purpose = { day: "2026-11-22", operation: "createPost", account: "ada" }
    return at(
      Effect.gen(function*() {
        const keeping = yield* Keeping.make(slow, false, () => Effect.void)
        let leases = 0
        const begin = Effect.suspend(() => {
          const lease = `${++leases}`
          const begun = keeping.reserve(baseUrl, lease, { ...purpose, micros: 10 }, {}, Infinity, (effect) => effect)
          return Effect.as(begun, lease)
        })
        const end = (lease: string, count: number) => {
          const ids = Array.from({ length: count }, (_, i) => `${lease}${100_000 + i}`)
          const resources = [{ kind: "post" as const, micros: 10, ids, unnamed: 0 }]
          const charge = { ...Bill.free(purpose), micros: 10, isCharged: true, resources }
          return keeping.settle(baseUrl, lease, charge, Infinity)
        }
        state.fails = "before"
        for (let i = 0; i < 4; i++) yield* end(yield* begin, 12_000)
        for (let i = 0; i < 3; i++) yield* end(yield* begin, 3_000)
        const lease = yield* begin
        state.fails = "never"
        yield* TestClock.adjust(5_050)
        yield* end(lease, 3_000)
        yield* TestClock.adjust("1 minute")
        const [entry] = yield* memory.read(baseUrl, "2026-11-22", "2026-11-22")
        assert.deepInclude(entry, { charged: 60_008, spent: 600_080, inDoubt: 0, reserved: 0 })
      }).pipe(Effect.scoped)
    )
  })

  it.effect("gets nothing of requests that were free while it was away", () => {
    const { state, store } = breakable()
    let steps = 0
    const { layer } = scene(() => ({ status: 404 }), {}, {
      ...store,
      settle: (...args) => Effect.suspend(() => (steps++, store.settle(...args)))
    })
    return play(layer, function*() {
      state.fails = "before"
      for (let i = 0; i < 100; i++) yield* Effect.exit(getPosts({ ids: ["1"] }))
      state.fails = "never"
      yield* TestClock.adjust("1 minute")
      // Two reservations may have been made before the store rested.
      assert.strictEqual(steps, 2)
    })
  })

  it.effect("is left to rest also where it never says that it fails", () => {
    const memory = SpendStore.makeMemory()
    let isHung = true
    let hanging = 0
    const hangs = Effect.onInterrupt(
      Effect.suspend(() => (hanging++, Effect.never)),
      () => Effect.sync(() => hanging--)
    )
    const { layer } = scene(() => found("1"), {}, {
      ...memory,
      reserve: (...args) => isHung ? hangs : memory.reserve(...args),
      settle: (...args) => isHung ? hangs : memory.settle(...args)
    })
    return play(layer, function*() {
      const calls = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 6 }), () => getPosts({ ids: ["1"] }), { discard: true })
      )
      yield* TestClock.adjust(10_000)
      assert.isDefined(calls.pollUnsafe())
      assert.strictEqual(hanging, 0)
      isHung = false
    })
  })

  it.effect("gets a charge that was on its way when the client was closed", () => {
    const memory = SpendStore.makeMemory()
    const { layer } = scene(() => found("1"), {}, {
      ...memory,
      settle: (...args) => Effect.delay(memory.settle(...args), 100)
    })
    return at(Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Layer.orDie(layer), scope)
      const call = yield* Effect.forkChild(Effect.provideContext(getPosts({ ids: ["1"] }), context))
      yield* TestClock.adjust(10)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust(1_000)
      yield* Fiber.join(closing)
      assert.strictEqual((yield* Fiber.join(call)).cost?.dollars, 0.005)
      const entries = yield* memory.read(baseUrl, "2026-11-22", "2026-11-22")
      assert.deepStrictEqual(sumOf(entries), { spent: 5_000, inDoubt: 0, reserved: 0 })
    }))
  })

  it.effect("is tried once more at the end, and what it lacks is told", () => {
    const { memory, state, store } = breakable()
    const log = lines()
    const client = (comesBack: boolean) =>
      Effect.gen(function*() {
        state.fails = "before"
        const { layer } = scene(() => found("1", "2"), {}, store)
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(Layer.orDie(layer), scope)
        yield* Effect.provideContext(getPosts({ ids: ["1", "2"] }), context)
        if (comesBack) state.fails = "never"
        yield* Scope.close(scope, Exit.void)
      })
    return at(
      Effect.gen(function*() {
        yield* client(false)
        assert.include(log.told.at(-1), "it lacks $0.01 of this process")
        yield* client(true)
        assert.strictEqual((yield* totalOf(memory)).spent, 10_000)
      }).pipe(Effect.provide(log.layer))
    )
  })
})

describe("prices", () => {
  it("are known of every operation", () => {
    for (const { definition } of Object.values(catalogue)) {
      const most = Prices.most(definition)
      assert.isTrue(Number.isSafeInteger(most) && most >= 0, definition.name)
      assert.strictEqual(most === 0, typeof definition.price === "string", definition.name)
      // What is charged for each resource has resources to count.
      if (typeof definition.price !== "string" && "read" in definition.price) {
        assert.strictEqual(definition.effect, "read", definition.name)
      }
    }
  })

  it("have a largest amount for each call", () => {
    assert.strictEqual(Prices.most(searchRecentPosts.definition, { query: "a", max_results: 100 }), 500_000)
    assert.strictEqual(Prices.most(searchRecentPosts.definition, { query: "a" }), 50_000)
    assert.strictEqual(
      Prices.most(searchRecentPosts.definition, { query: "a", max_results: 100, expansions: ["author_id"] }),
      1_500_000
    )
    assert.strictEqual(Prices.most(getPosts.definition, { ids: ["1", "2", "3"] }), 15_000)
    assert.strictEqual(Prices.most(getPost.definition, { id: "1" }), 5_000)
    assert.strictEqual(Prices.most(getMe.definition), 10_000)
    // How many spaces its creators have, nobody knows.
    assert.strictEqual(Prices.most(catalogue.getSpaces.definition, { user_ids: ["1"] }), 500_000)
    assert.strictEqual(Prices.most(createPost.definition, { text: "plain" }), 15_000)
    assert.strictEqual(Prices.most(createPost.definition, { text: "https://example.com" }), 200_000)
    assert.strictEqual(
      Prices.most(createPost.definition, { text: "plain", direct_message_deep_link: "https://x.com/messages/compose" }),
      200_000
    )
    assert.strictEqual(Prices.most(createPost.definition), 200_000)
  })

  it("have what each expansion may bring, in the words of every wire", () => {
    const reads: ReadonlyArray<readonly [Definition, Readonly<Record<string, unknown>>]> = [
      [getPosts.definition, { ids: ["1"] }],
      [catalogue.getUsers.definition, { ids: ["1"] }],
      [catalogue.getSpace.definition, { id: "1" }],
      [catalogue.getList.definition, { id: "1" }],
      [catalogue.getDirectMessageEvent.definition, { event_id: "1" }]
    ]
    /** A table by which only one of the two costs anything. */
    const only = (kind: "post" | "user"): Prices.Prices => {
      const prices = Prices.changed({ read: { post: 0, user: 0, [kind]: 1 } })
      if (prices instanceof Error) throw prices
      return prices
    }
    for (const [definition, parameters] of reads) {
      const { model } = definition.result as { readonly model: AnyModel }
      for (const wire of Object.values(named)) {
        for (const [expansion, brings] of Object.entries(model.expansions)) {
          if (wire.selector(definition, "expansions")?.(expansion).isUnavailable === true) continue
          const most = (prices: Prices.Prices, more: object) => {
            const prepared = RequestEncoder.encode(definition, { ...parameters, ...more }, wire)
            if (prepared instanceof Error) throw prepared
            return Prices.mostOf(definition.price, Prices.askOf(prepared.priced, prepared), prices)
          }
          for (const kind of ["post", "user"] as const) {
            const more = most(only(kind), { expansions: [expansion] }) - most(only(kind), {})
            assert.strictEqual(more > 0, kind === brings, `${wire.name}: ${definition.name} ${expansion}`)
          }
        }
      }
    }
  })

  it("are changed in dollars, and what is no price is refused", () => {
    const changed = Prices.changed({ since: "2027-01-01", read: { post: 0.0045 }, ownedRead: 0, unknown: 0.02 })
    assert.notInstanceOf(changed, Errors.InvalidSettings)
    assert.deepStrictEqual(changed, {
      ...Prices.current,
      since: "2027-01-01",
      read: { ...Prices.current.read, post: 4_500 },
      ownedRead: 0,
      unknown: 20_000
    })
    for (
      const wrong of [
        { read: { posts: 1 } },
        { ownedRead: -1 },
        { unknown: "cheap" },
        { request: { postCreate: Number.NaN } },
        { of: 1 },
        { read: 1 },
        { request: null },
        { since: "tomorrow" },
        null
      ]
    ) {
      assert.instanceOf(Prices.changed(wrong as never), Errors.InvalidSettings)
    }
    const misspelt = Prices.changed({ request: { post: 1 } } as never)
    assert.match(String(misspelt), /prices has no row post in request, only postCreate, /)
  })
})

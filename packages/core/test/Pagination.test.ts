import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { catalogue } from "../src/Catalogue.ts"
import type { Client } from "../src/Client.ts"
import * as Errors from "../src/Errors.ts"
import { answerOf, callOf } from "./support/Calls.ts"
import { all, type Answer, isPaged, make, rowOf } from "./support/Service.ts"

const { getUsersPosts, searchAllPosts } = catalogue

interface Page {
  readonly ids?: ReadonlyArray<string>
  readonly next?: string
}

const page = ({ ids, next }: Page): Answer => ({
  body: {
    ...(ids === undefined ? {} : { data: ids.map((id) => ({ id, text: id })) }),
    meta: { result_count: ids?.length ?? 0, ...(next === undefined ? {} : { next_token: next }) }
  }
})

/** Pages by their token; `""` is the first. */
const paged = (pages: Readonly<Record<string, Page>>) => {
  const service = make(({ query }) => {
    const found = pages[query["pagination_token"] ?? query["next_token"] ?? ""]
    return found === undefined ? { status: 400, body: { title: "Invalid token" } } : page(found)
  })
  const tokens = () => service.requests.map(({ query }) => query["pagination_token"] ?? query["next_token"])
  return { ...service, tokens, layer: service.layer() }
}

const three = { "": { ids: ["1", "2"], next: "a" }, a: { ids: ["3", "4"], next: "b" }, b: { ids: ["5"] } }

const ids = (items: ReadonlyArray<{ readonly id: string }>) => items.map(({ id }) => id)

/** One id after another for ever, two to a page. */
const endless = () =>
  paged(Object.fromEntries(
    Array.from(
      { length: 1000 },
      (_, i) => [i === 0 ? "" : `t${i}`, { ids: [`${2 * i}`, `${2 * i + 1}`], next: `t${i + 1}` }]
    )
  ))

describe("items", () => {
  it.effect("brings every item, in order", () =>
    Effect.gen(function*() {
      const service = paged(three)
      const items = yield* Stream.runCollect(getUsersPosts.items({ id: "9" })).pipe(Effect.provide(service.layer))
      assert.deepStrictEqual(ids(items), ["1", "2", "3", "4", "5"])
      assert.deepStrictEqual(service.tokens(), [undefined, "a", "b"])
    }))

  it.effect("goes on after an empty page, and ends only where there is no token", () =>
    Effect.gen(function*() {
      const service = paged({
        "": { next: "a" },
        a: { ids: [], next: "b" },
        b: { ids: ["1"], next: "c" },
        c: { next: "d" },
        d: {}
      })
      const items = yield* Stream.runCollect(getUsersPosts.items({ id: "9" })).pipe(Effect.provide(service.layer))
      assert.deepStrictEqual(ids(items), ["1"])
      assert.lengthOf(service.requests, 5)
    }))

  it.effect("takes an empty token for none", () =>
    Effect.gen(function*() {
      const service = paged({ "": { ids: ["1"], next: "" } })
      yield* Stream.runDrain(getUsersPosts.items({ id: "9" })).pipe(Effect.provide(service.layer))
      assert.lengthOf(service.requests, 1)
    }))

  it.effect("fetches no page more than it needs", () =>
    Effect.gen(function*() {
      for (const [count, requests] of [[0, 0], [1, 1], [2, 1], [3, 2], [4, 2], [5, 3]] as const) {
        const service = endless()
        const items = yield* getUsersPosts.items({ id: "9" }).pipe(
          Stream.take(count),
          Stream.runCollect,
          Effect.provide(service.layer)
        )
        assert.lengthOf(items, count)
        assert.lengthOf(service.requests, requests, `${count} items`)
      }
    }))

  it.effect("fetches nothing until it is run, and not ahead of a slow consumer", () =>
    Effect.gen(function*() {
      const service = endless()
      const items = getUsersPosts.items({ id: "9" })
      assert.lengthOf(service.requests, 0)
      let seen = 0
      yield* items.pipe(
        Stream.take(6),
        Stream.runForEach(() => Effect.sync(() => assert.lengthOf(service.requests, Math.floor(seen++ / 2) + 1))),
        Effect.provide(service.layer)
      )
      assert.strictEqual(seen, 6)
    }))

  it.effect("starts anew with every run", () =>
    Effect.gen(function*() {
      const service = paged(three)
      const items = getUsersPosts.items({ id: "9" })
      const run = Stream.runCollect(items).pipe(Effect.provide(service.layer))
      assert.deepStrictEqual(yield* run, yield* run)
      const [left, right] = yield* Effect.all([run, run], { concurrency: 2 })
      assert.deepStrictEqual(left, right)
      assert.lengthOf(service.requests, 12)
    }))

  it.effect("starts at the token that it is given", () =>
    Effect.gen(function*() {
      const service = paged(three)
      const items = yield* Stream.runCollect(getUsersPosts.items({ id: "9", pagination_token: "a" })).pipe(
        Effect.provide(service.layer)
      )
      assert.deepStrictEqual(ids(items), ["3", "4", "5"])
      assert.deepStrictEqual(service.tokens(), ["a", "b"])
    }))

  it.effect("sends the other parameters with every page, unchanged by what happens to the object", () =>
    Effect.gen(function*() {
      const service = paged(three)
      const parameters: { query: string; max_results: number } = { query: "a", max_results: 10 }
      const before = { ...parameters }
      const items = searchAllPosts.items(parameters)
      yield* Stream.runForEach(items, () => Effect.sync(() => (parameters.query = "b"))).pipe(
        Effect.provide(service.layer)
      )
      assert.deepStrictEqual(service.requests.map(({ query }) => [query["query"], query["max_results"]]), [
        ["a", "10"],
        ["a", "10"],
        ["a", "10"]
      ])
      assert.deepStrictEqual(parameters, { ...before, query: "b" })
      yield* Stream.runDrain(searchAllPosts.items(Object.freeze({ query: "a" }))).pipe(Effect.provide(service.layer))
    }))

  it.effect("fails where a page fails, after the items before it", () =>
    Effect.gen(function*() {
      const service = paged({ "": { ids: ["1"], next: "gone" } })
      const seen: Array<string> = []
      const error = yield* getUsersPosts.items({ id: "9" }).pipe(
        Stream.runForEach(({ id }) => Effect.sync(() => seen.push(id))),
        Effect.flip,
        Effect.provide(service.layer)
      )
      assert.instanceOf(error, Errors.BadRequest)
      assert.deepStrictEqual(seen, ["1"])
    }))

  it.effect("refuses bad parameters before any traffic", () =>
    Effect.gen(function*() {
      const service = paged(three)
      for (
        const parameters of [{ id: "../me" }, { id: "9", max_results: 1 }, { id: "9", pagination_token: "" }, {}, null]
      ) {
        const error = yield* Effect.flip(Stream.runDrain(getUsersPosts.items(parameters as { id: string }))).pipe(
          Effect.provide(service.layer)
        )
        assert.instanceOf(error, Errors.InvalidParameters)
      }
      assert.lengthOf(service.requests, 0)
    }))
})

describe("a token that repeats", () => {
  const stuck = Effect.fnUntraced(function*(pages: Readonly<Record<string, Page>>, pagination_token?: string) {
    const service = paged(pages)
    const seen: Array<string> = []
    const error = yield* getUsersPosts.items({ id: "9", pagination_token }).pipe(
      Stream.runForEach(({ id }) => Effect.sync(() => seen.push(id))),
      Effect.flip,
      Effect.provide(service.layer)
    )
    assert.instanceOf(error, Errors.PaginationStuck)
    return { error, seen, tokens: service.tokens() }
  })

  it.effect("fails, after every item that came with it", () =>
    Effect.gen(function*() {
      const same = yield* stuck({ "": { ids: ["1"], next: "a" }, a: { ids: ["2"], next: "a" } })
      assert.deepStrictEqual(same.seen, ["1", "2"])
      assert.deepStrictEqual(same.tokens, [undefined, "a"])
      assert.deepInclude(same.error, { operation: "getUsersPosts", token: "a" })
      const cycle = yield* stuck({
        "": { ids: ["1"], next: "a" },
        a: { ids: ["2"], next: "b" },
        b: { ids: ["3"], next: "a" }
      })
      assert.deepStrictEqual(cycle.seen, ["1", "2", "3"])
    }))

  it.effect("counts the token that a run started with", () =>
    Effect.gen(function*() {
      const { seen, tokens } = yield* stuck({ a: { ids: ["1"], next: "a" } }, "a")
      assert.deepStrictEqual(seen, ["1"])
      assert.deepStrictEqual(tokens, ["a"])
    }))
})

describe("pages", () => {
  it.effect("brings whole responses, the empty ones too", () =>
    Effect.gen(function*() {
      const service = paged({ "": { ids: ["1"], next: "a" }, a: { next: "b" }, b: { ids: ["2"] } })
      const pages = yield* Stream.runCollect(getUsersPosts.pages({ id: "9" })).pipe(Effect.provide(service.layer))
      assert.deepStrictEqual(pages.map(({ data, meta }) => [data?.length, meta.next_token]), [
        [1, "a"],
        [undefined, "b"],
        [1, undefined]
      ])
    }))

  it.effect("fetches no page more than it needs", () =>
    Effect.gen(function*() {
      for (const count of [0, 1, 3]) {
        const service = endless()
        yield* getUsersPosts.pages({ id: "9" }).pipe(Stream.take(count), Stream.runDrain, Effect.provide(service.layer))
        assert.lengthOf(service.requests, count)
      }
    }))
})

describe("every operation that pages", () => {
  const pagedOperations = all.filter(([, { definition }]) => definition.paging !== undefined)

  it.effect.each(pagedOperations)("%s", ([, operation]) =>
    Effect.gen(function*() {
      assert.isTrue(isPaged(operation))
      if (!isPaged(operation)) return
      const { definition } = operation
      const token = definition.paging!.token
      assert.isTrue(Object.hasOwn(definition.query ?? {}, token))
      const row = rowOf(definition.name)
      const { [token]: _, ...given } = callOf(row, row.alternatives?.of[0] ?? "", "neutral").given
      const next: Readonly<Record<string, string | undefined>> = { "": "a", a: "b", b: "c" }
      const service = make(({ path, query }) => ({
        body: path === "/2/users/me" ? { data: { id: "77" } } : {
          ...(answerOf(row, "neutral") as object),
          meta: { previous_token: "back", next_token: next[query[token] ?? ""] }
        }
      }))
      const tokens = () =>
        service.requests.splice(0).filter(({ path }) => path !== "/2/users/me").map(({ query }) => query[token])
      const run = <A>(stream: Stream.Stream<A, Errors.AnyError, Client>) =>
        Effect.provide(Stream.runCollect(stream), service.layer())

      const pages = yield* run(operation.pages(given))
      assert.deepStrictEqual(tokens(), [undefined, "a", "b", "c"])
      assert.deepStrictEqual(pages.map(({ meta }) => meta.next_token), ["a", "b", "c", undefined])
      const items = yield* run(operation.items(given))
      assert.deepStrictEqual(tokens(), [undefined, "a", "b", "c"])
      assert.deepStrictEqual(items, pages.flatMap(({ data }) => Array.isArray(data) ? data : []))
      assert.lengthOf(items, 4)
      const joined = yield* run(operation.joined(given))
      assert.deepStrictEqual(tokens(), [undefined, "a", "b", "c"])
      assert.deepStrictEqual(joined.map(({ item }) => item), items)
      // From wherever a token leads to.
      assert.lengthOf(yield* run(operation.items({ ...given, [token]: "b" })), 2)
      assert.deepStrictEqual(tokens(), ["b", "c"])
    }))

  it("has them, and no other has", () => {
    for (const [, operation] of all) {
      assert.strictEqual("items" in operation, operation.definition.paging !== undefined)
      assert.strictEqual("pages" in operation, operation.definition.paging !== undefined)
    }
  })
})

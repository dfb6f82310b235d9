import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { catalogue } from "../src/Catalogue.ts"
import type { Client } from "../src/client/Client.ts"
import * as Pagination from "../src/client/Pagination.ts"
import * as Errors from "../src/errors/Errors.ts"
import { answerOf, callOf } from "./support/Calls.ts"
import { all, type Answer, fails, isPaged, make, rowOf } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { getBookmarks, getUsersPosts, searchAllPosts, searchRecentPosts } = catalogue

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

const collect = <A>(
  stream: Stream.Stream<A, Errors.AnyError, Client>,
  { layer }: Pick<ReturnType<typeof paged>, "layer">
) => Effect.provide(Stream.runCollect(stream), layer)

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
  test("brings every item, in order")(function*() {
    const service = paged(three)
    const items = yield* collect(getUsersPosts.items({ id: "9" }), service)
    assert.deepStrictEqual(ids(items), ["1", "2", "3", "4", "5"])
    assert.deepStrictEqual(service.tokens(), [undefined, "a", "b"])
  })

  test("goes on after an empty page, and ends only where there is no token")(function*() {
    const service = paged({
      "": { next: "a" },
      a: { ids: [], next: "b" },
      b: { ids: ["1"], next: "c" },
      c: { next: "d" },
      d: {}
    })
    const items = yield* collect(getUsersPosts.items({ id: "9" }), service)
    assert.deepStrictEqual(ids(items), ["1"])
    assert.lengthOf(service.requests, 5)
  })

  test("takes an empty token for none")(function*() {
    const service = paged({ "": { ids: ["1"], next: "" } })
    yield* Stream.runDrain(getUsersPosts.items({ id: "9" })).pipe(Effect.provide(service.layer))
    assert.lengthOf(service.requests, 1)
  })

  test("fetches no page more than it needs")(function*() {
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
  })

  test("fetches nothing until it is run, and not ahead of a slow consumer")(function*() {
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
  })

  test("starts anew with every run")(function*() {
    const service = paged(three)
    const items = getUsersPosts.items({ id: "9" })
    const run = Stream.runCollect(items).pipe(Effect.provide(service.layer))
    assert.deepStrictEqual(yield* run, yield* run)
    const [left, right] = yield* Effect.all([run, run], { concurrency: 2 })
    assert.deepStrictEqual(left, right)
    assert.lengthOf(service.requests, 12)
  })

  test("starts at the token that it is given")(function*() {
    const service = paged(three)
    const items = yield* collect(getUsersPosts.items({ id: "9", pagination_token: "a" }), service)
    assert.deepStrictEqual(ids(items), ["3", "4", "5"])
    assert.deepStrictEqual(service.tokens(), ["a", "b"])
  })

  test("sends the other parameters with every page, unchanged by what happens to the object")(function*() {
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
  })

  test("fails where a page fails, after the items before it")(function*() {
    const service = paged({ "": { ids: ["1"], next: "gone" } })
    const seen: Array<string> = []
    const error = yield* getUsersPosts.items({ id: "9" }).pipe(
      Stream.runForEach(({ id }) => Effect.sync(() => seen.push(id))),
      Effect.flip,
      Effect.provide(service.layer)
    )
    assert.instanceOf(error, Errors.BadRequest)
    assert.deepStrictEqual(seen, ["1"])
  })

  test("refuses bad parameters before any traffic")(function*() {
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
  })
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

  test("fails, after every item that came with it")(function*() {
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
  })

  test("counts the token that a run started with")(function*() {
    const { seen, tokens } = yield* stuck({ a: { ids: ["1"], next: "a" } }, "a")
    assert.deepStrictEqual(seen, ["1"])
    assert.deepStrictEqual(tokens, ["a"])
  })
})

describe("pages", () => {
  test("brings whole responses, the empty ones too")(function*() {
    const service = paged({ "": { ids: ["1"], next: "a" }, a: { next: "b" }, b: { ids: ["2"] } })
    const pages = yield* collect(getUsersPosts.pages({ id: "9" }), service)
    assert.deepStrictEqual(pages.map(({ data, meta }) => [data?.length, meta.next_token]), [
      [1, "a"],
      [undefined, "b"],
      [1, undefined]
    ])
  })

  test("fetches no page more than it needs")(function*() {
    for (const count of [0, 1, 3]) {
      const service = endless()
      yield* getUsersPosts.pages({ id: "9" }).pipe(Stream.take(count), Stream.runDrain, Effect.provide(service.layer))
      assert.lengthOf(service.requests, count)
    }
  })
})

/** A timeline of numbered posts: a page of at most `max_results`, 10 unless asked, with tokens for both directions. */
const timeline = (count: number, options: { readonly short?: boolean } = {}) => {
  const service = make(({ query }) => {
    const size = Number(query["max_results"] ?? 10)
    const start = Number(query["pagination_token"] ?? query["next_token"] ?? 0)
    const given = options.short === true ? Math.min(size, 3) : size
    const ids = Array.from({ length: Math.max(0, Math.min(given, count - start)) }, (_, i) => String(start + i))
    return {
      body: {
        data: ids.map((id) => ({ id, text: id })),
        meta: {
          result_count: ids.length,
          ...(start + ids.length < count ? { next_token: String(start + ids.length) } : {}),
          ...(start > 0 ? { previous_token: String(Math.max(0, start - size)) } : {})
        }
      }
    }
  })
  const asked = () =>
    service.requests.splice(0).map(({ query }) => [
      query["pagination_token"] ?? query["next_token"],
      query["max_results"]
    ])
  return { ...service, asked, layer: service.layer() }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => String(from + i))

describe("a limit", () => {
  test("counts items exactly, and asks for no more than it needs")(function*() {
    const service = timeline(100)
    const ids = (limit: number, max_results?: number) =>
      Effect.map(
        collect(getUsersPosts.items({ id: "1", max_results }, { limit }), service),
        (posts) => posts.map(({ id }) => id)
      )
    const cases: ReadonlyArray<readonly [number, number | undefined, ReadonlyArray<unknown>]> = [
      [0, undefined, []],
      // The smallest page of this operation is five.
      [1, undefined, [[undefined, "5"]]],
      [5, undefined, [[undefined, "5"]]],
      [9, undefined, [[undefined, "9"]]],
      [10, undefined, [[undefined, undefined]]],
      [11, undefined, [[undefined, undefined], ["10", "5"]]],
      [20, 20, [[undefined, "20"]]],
      [29, 20, [[undefined, "20"], ["20", "9"]]],
      [100, 50, [[undefined, "50"], ["50", "50"]]],
      [1000, 50, [[undefined, "50"], ["50", "50"]]]
    ]
    for (const [limit, size, asked] of cases) {
      assert.deepStrictEqual(yield* ids(limit, size), numbers(0, Math.min(limit, 100)))
      assert.deepStrictEqual(service.asked(), asked)
    }
  })

  test("counts what came, whatever was asked")(function*() {
    const service = timeline(100, { short: true })
    const items = yield* collect(getUsersPosts.items({ id: "1" }, { limit: 7 }), service)
    assert.lengthOf(items, 7)
    assert.deepStrictEqual(service.asked(), [[undefined, "7"], ["3", "5"], ["6", "5"]])
  })

  it("cuts the page with which a list is complete, if the caller sets none", () => {
    const sizeOf = (parameters: object, left = Infinity) =>
      Pagination.parametersAt(getBookmarks.definition, { ...parameters }, { token: "a", seen: new Set(), left })
    assert.deepStrictEqual(sizeOf({}), { pagination_token: "a", max_results: 90 })
    assert.deepStrictEqual(sizeOf({ max_results: null }, 20), { pagination_token: "a", max_results: 20 })
    assert.deepStrictEqual(sizeOf({ max_results: 100 }), { pagination_token: "a", max_results: 100 })
  })

  test("holds for joined items, and ends pages, of which the last is whole")(function*() {
    const service = timeline(100)
    const run = <A>(stream: Stream.Stream<A, Errors.AnyError, Client>) => collect(stream, service)
    assert.lengthOf(yield* run(getUsersPosts.joined({ id: "1" }, { limit: 12 })), 12)
    const pages = yield* run(getUsersPosts.pages({ id: "1" }, { limit: 12 }))
    assert.deepStrictEqual(pages.map(({ data }) => data?.length), [10, 5])
    assert.lengthOf(yield* run(getUsersPosts.pages({ id: "1" }, { limit: 0 })), 0)
  })

  test("is checked like everything else")(function*() {
    const service = timeline(10)
    const mistakes: ReadonlyArray<readonly [string, object]> = [
      ["limit", { limit: -1 }],
      ["limit", { limit: 1.5 }],
      ["limit", { limit: NaN }],
      ["limit", { limit: "5" }],
      ["prefetch", { prefetch: 2 }],
      ["prefetch", { prefetch: true }],
      ["direction", { direction: "back" }],
      ["limmit", { limmit: 5 }],
      ["retries", { retries: -1 }]
    ]
    for (const [parameter, options] of mistakes) {
      yield* fails(
        Effect.provide(Stream.runDrain(getUsersPosts.items({ id: "1" }, options)), service.layer),
        Errors.InvalidParameters,
        { parameter }
      )
    }
    const forward = yield* Effect.flip(Effect.provide(
      Stream.runDrain(searchAllPosts.items({ query: "a" }, { direction: "backward" } as object)),
      service.layer
    ))
    assert.instanceOf(forward, Errors.InvalidParameters)
    const misplaced = { id: "1", limit: 5 } as object as { readonly id: "1" }
    const error = yield* Effect.flip(Effect.provide(Stream.runDrain(getUsersPosts.items(misplaced)), service.layer))
    assert.strictEqual(
      error.message,
      "getUsersPosts: limit is an option, not a parameter: pass it in the object after the parameters."
    )
    assert.lengthOf(service.requests, 0)
  })
})

describe("places and directions", () => {
  test("every page tells its token and the next, from which a run goes on")(function*() {
    const service = timeline(35)
    const run = (token?: string) =>
      Effect.provide(Stream.runCollect(getUsersPosts.pages({ id: "1", pagination_token: token })), service.layer)
    const pages = yield* run()
    assert.deepStrictEqual(pages.map(({ page }) => page), [
      { token: undefined, next: "10" },
      { token: "10", next: "20" },
      { token: "20", next: "30" },
      { token: "30", next: undefined }
    ])
    for (const { page } of pages) {
      if (page?.next === undefined) continue
      const rest = yield* run(page.next)
      assert.deepStrictEqual(
        rest.flatMap(({ data }) => data ?? []).map(({ id }) => id),
        numbers(Number(page.next), 35)
      )
    }
  })

  test("backward follows the previous tokens, from the token that is given")(function*() {
    const service = timeline(100)
    const pages = yield* collect(
      getUsersPosts.pages({ id: "1", pagination_token: "40" }, { direction: "backward" }),
      service
    )
    assert.deepStrictEqual(pages.map(({ page }) => page?.token), ["40", "30", "20", "10", "0"])
    assert.deepStrictEqual(pages.map(({ page }) => page?.next), ["30", "20", "10", "0", undefined])
    service.requests.length = 0
    const items = yield* collect(
      getUsersPosts.items({ id: "1", pagination_token: "40" }, { direction: "backward", limit: 15 }),
      service
    )
    assert.deepStrictEqual(items.map(({ id }) => id), [...numbers(40, 50), ...numbers(30, 35)])
  })

  test("a circle backwards is one, too")(function*() {
    const service = make(() => ({ body: { data: [{ id: "1" }], meta: { previous_token: "a" } } }))
    yield* fails(
      Effect.provide(Stream.runDrain(getUsersPosts.items({ id: "1" }, { direction: "backward" })), service.layer()),
      Errors.PaginationStuck
    )
  })
})

describe("prefetch", () => {
  /** Consumes slowly and says how many requests there were when each item was at hand. */
  const ahead = (prefetch: 0 | 1 | undefined, take: number) =>
    Effect.gen(function*() {
      const service = timeline(100)
      const seen: Array<number> = []
      yield* getUsersPosts.pages({ id: "1" }, { prefetch }).pipe(
        Stream.take(take),
        Stream.runForEach(() =>
          Effect.gen(function*() {
            for (let i = 0; i < 50; i++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
            seen.push(service.requests.length)
          })
        ),
        Effect.provide(service.layer)
      )
      return [seen, service.requests.length] as const
    })

  test("fetches exactly one page ahead, and none unless it is asked")(function*() {
    assert.deepStrictEqual(yield* ahead(undefined, 3), [[1, 2, 3], 3])
    assert.deepStrictEqual(yield* ahead(0, 3), [[1, 2, 3], 3])
    assert.deepStrictEqual(yield* ahead(1, 3), [[2, 3, 4], 4])
  })

  test("brings the same items, and no page beyond the limit")(function*() {
    const service = timeline(100)
    for (const limit of [undefined, 0, 1, 25, 30]) {
      const run = (prefetch: 0 | 1) =>
        Effect.map(
          collect(getUsersPosts.items({ id: "1" }, { limit, prefetch }), service),
          (items) => [ids(items), service.asked()]
        )
      assert.deepStrictEqual(yield* run(1), yield* run(0))
    }
  })

  test("brings what came before a failure")(function*() {
    const service = make((_, index) =>
      index === 2 ? { status: 500 } : page({ ids: [String(index)], next: String(index + 1) })
    )
    const ids: Array<string> = []
    const error = yield* getUsersPosts.items({ id: "1" }, { prefetch: 1 }).pipe(
      Stream.runForEach(({ id }) => Effect.sync(() => ids.push(id))),
      Effect.provide(service.layer()),
      Effect.flip
    )
    assert.instanceOf(error, Errors.ServerFailure)
    assert.deepStrictEqual(ids, ["0", "1"])
  })
})

describe("every operation that pages", () => {
  const pagedOperations = all.filter(([, { definition }]) => definition.paging !== undefined)

  test.each(pagedOperations)("%s")(function*([, operation]) {
    assert.isTrue(isPaged(operation))
    if (!isPaged(operation)) return
    const { definition } = operation
    const token = definition.paging!.token
    assert.isTrue(Object.hasOwn(definition.query ?? {}, token))
    const row = rowOf(definition.name)
    const { [token]: _, ...whole } = callOf(row, row.alternatives?.of[0] ?? "", "neutral").given
    // Whatever excludes the token has no pages.
    const excluding = (definition.rules ?? []).flatMap((rule) =>
      rule._tag === "Excludes" && rule.parameter === token ? [rule.other] : []
    )
    const given = Object.fromEntries(Object.entries(whole).filter(([name]) => !excluding.includes(name)))
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
  })

  it("has them, and no other has", () => {
    for (const [, operation] of all) {
      assert.strictEqual("items" in operation, operation.definition.paging !== undefined)
      assert.strictEqual("pages" in operation, operation.definition.paging !== undefined)
    }
  })
})

describe("a token under its other name", () => {
  it("leads to the page where it begins, and no further", () => {
    const { definition } = searchRecentPosts
    const parameters = { query: "a", pagination_token: "first" }
    const position = Pagination.start(definition, parameters)
    assert.deepInclude(position, { token: "first" })
    const next = Pagination.parametersAt(definition, parameters, { token: "second", seen: new Set(), left: Infinity })
    assert.deepStrictEqual<object>(next, { query: "a", pagination_token: undefined, next_token: "second" })
  })
})

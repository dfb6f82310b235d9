import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Stream } from "effect"
import { catalogue } from "../src/Catalogue.ts"
import * as Errors from "../src/errors/Errors.ts"
import type { Definition } from "../src/schema/Definition.ts"
import { answerOf, callOf, selectionsOf } from "./support/Calls.ts"
import type { Row } from "./support/Row.ts"
import {
  assertNoSecret,
  firsts,
  isPaged,
  make,
  rowOf,
  rows,
  secrets,
  type Settings,
  type Untyped,
  type UntypedPaged
} from "./support/Service.ts"
import { test } from "./support/Test.ts"

type Parameters = Readonly<Record<string, unknown>>

const operations = catalogue as unknown as Readonly<Record<string, Untyped>>

const run = (row: Row, parameters: Parameters, settings: Settings = {}) => {
  const service = make(({ path }) => ({
    body: path === "/2/users/me" ? { data: { id: "77" } } : answerOf(row, settings.wire ?? "neutral")
  }))
  return Effect.map(
    Effect.result(Effect.provide(operations[row.name]!(parameters), service.layer({ ...secrets, ...settings }))),
    (result) => ({ result, requests: service.requests })
  )
}

/** The error of a call that never leaves. */
const refused = Effect.fnUntraced(function*(name: string, parameters: Parameters, settings?: Settings) {
  const { requests, result } = yield* run(rowOf(name), parameters, settings)
  assert.lengthOf(requests, 0, name)
  if (result._tag === "Success") return assert.fail(`${name} was sent`)
  assert.instanceOf(result.failure, TypeError)
  assertNoSecret(result.failure)
  return result.failure as Errors.InvalidParameters | Errors.ConflictingIdentifiers
})

/** Asserts that a call never leaves because of a parameter. */
const refusedFor = Effect.fnUntraced(
  function*(name: string, parameter: string, parameters: Parameters, settings?: Settings) {
    const error = yield* refused(name, parameters, settings)
    assert.instanceOf(error, Errors.InvalidParameters)
    assert.strictEqual(error.operation, name)
    assert.strictEqual(error.parameter, parameter)
    return error
  }
)

/** The last request of a call that leaves. */
const sent = Effect.fnUntraced(function*(name: string, parameters: Parameters, settings?: Settings) {
  const { requests, result } = yield* run(rowOf(name), parameters, settings)
  if (result._tag === "Failure") return assert.fail(`${name}: ${result.failure.message}`)
  return requests.at(-1)!
})

/** Just what a call of an operation needs, with a value for one parameter besides. */
const needed = (row: Row, name = "", value?: unknown): Parameters => {
  if (row.example !== undefined) return row.example
  const selectedBy = row.alternatives?.of.includes(name)
    ? name
    : row.alternatives?.none
    ? "none"
    : selectionsOf(row)[0]!
  const { given } = callOf(row, selectedBy, "neutral")
  const together = row.rules?.flatMap((rule) => rule.rule === "requires" ? [[rule.param, rule.needs]] : []) ?? []
  const others = new Set(together.filter((pair) => pair.includes(name)).flat())
  const required = row.params.filter((parameter) =>
    parameter.required || parameter.name === selectedBy || others.has(parameter.name)
  )
  const more: Parameters = row.name === "createPost" || row.specName.startsWith("create_direct") ? { text: "a" } : {}
  return {
    ...Object.fromEntries(required.map((parameter) => [parameter.name, given[parameter.name]])),
    ...more,
    ...(name === "" ? {} : { [name]: value })
  }
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1))

const parametersWhere = (test: (parameter: Row["params"][number]) => boolean) =>
  rows.flatMap((row) => row.params.filter(test).map((parameter) => [row, parameter] as const))

const title = ([row, parameter]: readonly [Row, Row["params"][number]]) =>
  [`${row.name} ${parameter.name}`, row, parameter] as const

describe("alternatives", () => {
  const withAlternatives = rows.filter((row) => row.alternatives !== undefined)

  it("are those of the specification", () => {
    assert.sameMembers(withAlternatives.map(({ name }) => name), [
      "getUser",
      "getUsers",
      "getSpaces",
      "getDirectMessageEvents",
      "createDirectMessage"
    ])
  })

  test.each(withAlternatives)("$name")(function*(row) {
    const { none, of: [a, b] } = row.alternatives!
    const { given } = callOf({ ...row, alternatives: undefined } as never, a, "neutral")
    const rest = row.name === "createDirectMessage" ? { text: "a" } : {}
    for (const wire of ["neutral", "x", "x-2026-02"] as const) {
      // Zero and empty text count as given.
      const both = [{ [a]: given[a], [b]: given[b] }, { [a]: given[a], [b]: 0 }, { [a]: 0, [b]: 0 }]
      for (const [index, parameters] of both.entries()) {
        const error = yield* refused(row.name, { ...rest, ...parameters }, { wire })
        if (index === 0) {
          assert.instanceOf(error, Errors.ConflictingIdentifiers)
          assert.deepStrictEqual([...error.given], [a, b])
          assert.strictEqual(
            error.message,
            `${row.name} accepts ${none ? "at most" : "exactly"} one of ${a} and ${b}, but ${a} and ${b} were given.`
          )
        }
      }
      const neither: ReadonlyArray<Parameters> = [{}, { [a]: undefined, [b]: null }]
      for (const parameters of neither) {
        if (none) yield* sent(row.name, { ...rest, ...parameters }, { wire })
        else {
          const error = yield* refused(row.name, { ...rest, ...parameters }, { wire })
          assert.instanceOf(error, Errors.ConflictingIdentifiers)
          assert.strictEqual(error.message, `${row.name} accepts exactly one of ${a} and ${b}, but neither was given.`)
        }
      }
      yield* sent(row.name, { ...rest, [a]: given[a], [b]: null }, { wire })
      yield* sent(row.name, { ...rest, [a]: undefined, [b]: given[b] }, { wire })
    }
  })
})

describe("lists", () => {
  test.each(
    [["getPosts", "ids", 100], ["getUsers", "ids", 100], ["getUsers", "usernames", 100], ["getSpaces", "ids", 100], [
      "getSpaces",
      "user_ids",
      100
    ]] as const
  )("%s takes %s up to %i, as a list or as one string")(function*([name, parameter, most]) {
    for (const count of [1, most]) {
      for (const value of [ids(count), ids(count).join(",")]) {
        assert.strictEqual((yield* sent(name, { [parameter]: value })).query[parameter], ids(count).join(","))
      }
    }
    const error = yield* refusedFor(name, parameter, { [parameter]: ids(most + 1) })
    assert.match(error.message, /1 to 100 items/)
    yield* refusedFor(name, parameter, { [parameter]: ids(most + 1).join(",") })
    yield* refusedFor(name, parameter, { [parameter]: [] })
    yield* refusedFor(name, parameter, { [parameter]: "" })
  })

  test("takes up to 50 participants")(function*() {
    const name = "createDirectMessageConversation"
    const { body } = yield* sent(name, { participant_ids: ids(50), text: "a" })
    assert.deepStrictEqual(JSON.parse(body).participant_ids, ids(50))
    yield* refusedFor(name, "participant_ids", { participant_ids: ids(51), text: "a" })
    yield* refusedFor(name, "participant_ids", { participant_ids: [], text: "a" })
    yield* refusedFor(name, "participant_ids", { participant_ids: "1,2", text: "a" })
  })

  const separated = parametersWhere(({ type }) => type.endsWith("|csv"))

  test.each(separated.map(title))("%s has no spaces around commas")(function*([, row, { name, neutral }]) {
    for (const value of ["1, 2", "1 ,2", " 1", "1 ", "1,\t2", "1,\n2", "1,,2", "1,", ",1", ["1 ", "2"], ["1,2"]]) {
      yield* refusedFor(row.name, name, needed(row, name, value))
    }
    const items = ["ids", "user_ids", "usernames"].includes(name) ? ["1", "2"] : [{ unlisted: "1" }, { unlisted: "2" }]
    const { query } = yield* sent(row.name, needed(row, name, items))
    assert.strictEqual(query[neutral], "1,2")
  })
})

describe("max_results", () => {
  const ranged = parametersWhere(({ type }) => type === "integer").filter(([row]) => row.method === "GET")

  it("is a parameter of these", () => {
    assert.lengthOf(ranged, 19)
  })

  test.each(ranged.map(title))("%s")(function*([, row, { max = NaN, min, name }]) {
    for (const value of [min as number, max]) {
      assert.strictEqual((yield* sent(row.name, needed(row, name, value))).query[name], String(value))
    }
    for (const value of [min as number - 1, max + 1, 0, -1, 1.5, NaN, Infinity, "10", 10n]) {
      const error = yield* refusedFor(row.name, name, needed(row, name, value))
      assert.strictEqual(error.rule, `must be a whole number from ${min} to ${max}`)
    }
  })
})

describe("lengths", () => {
  const text = (length: number) => "😀".repeat(length)

  test.each(
    [["searchAllPosts", 1024, 1024], ["getAllPostsCount", 1024, 1024], ["searchRecentPosts", 1024, 512], [
      "getRecentPostsCount",
      1024,
      512
    ]] as const
  )("the query of %s has up to %i characters, with standard access %i")(function*([name, research, standard]) {
    const levels = [[{}, research], [{ accessLevel: "research" }, research], [
      { accessLevel: "standard" },
      standard
    ]] as const
    for (const [settings, most] of levels) {
      for (const query of ["x", "x".repeat(most), text(most)]) {
        assert.strictEqual((yield* sent(name, { query }, settings)).query["query"], query)
      }
      for (const query of ["", "x".repeat(most + 1), text(most + 1)]) {
        const error = yield* refusedFor(name, "query", { query }, settings)
        assert.strictEqual(error.rule, `must be text, 1 to ${most} characters`)
      }
    }
  })

  test("the query of searchSpaces has up to 2,048 characters")(function*() {
    assert.strictEqual((yield* sent("searchSpaces", { query: text(2048) })).query["query"], text(2048))
    yield* refusedFor("searchSpaces", "query", { query: text(2049) })
  })

  test("a post has a poll of 2 to 4 options of up to 25 characters, and up to 4 media")(function*() {
    const poll = (poll_options: ReadonlyArray<string>, poll_duration_minutes = 5) => ({
      text: "a",
      poll_options,
      poll_duration_minutes
    })
    for (const options of [["a", "b"], [text(25), "a", "b", "c"]]) {
      const { body } = yield* sent("createPost", poll(options, 10_080))
      assert.deepStrictEqual(JSON.parse(body).poll, { options, duration_minutes: 10_080 })
    }
    for (const options of [["a"], ["a", "b", "c", "d", "e"], ["a", ""], ["a", text(26)]]) {
      const { rule } = yield* refusedFor("createPost", "poll_options", poll(options))
      assert.strictEqual(rule, "must be a list of strings, 2 to 4 items of 1 to 25 characters")
      const { body } = yield* sent("createPost", poll(options), { checks: "identifiers" })
      assert.deepStrictEqual(JSON.parse(body).poll.options, options)
    }
    for (const minutes of [4, 10_081]) {
      yield* refusedFor("createPost", "poll_duration_minutes", poll(["a", "b"], minutes))
    }
    yield* refusedFor("createPost", "media_ids", { media_ids: ids(5) })
    yield* refusedFor("createPost", "media_tagged_user_ids", { media_ids: ids(4), media_tagged_user_ids: ids(11) })
  })

  test.each(["createDirectMessage", "createDirectMessageConversation"])("the text of %s has up to 10,000")(
    function*(name) {
      const call = (text: string) =>
        name === "createDirectMessage" ? { participant_id: 1, text } : { participant_ids: [1], text }
      for (const given of ["x", "x".repeat(10_000), text(10_000)]) {
        const body = JSON.parse((yield* sent(name, call(given))).body)
        assert.strictEqual(body.text ?? body.message.text, given)
      }
      for (const given of ["", "x".repeat(10_001), text(10_001)]) {
        const error = yield* refusedFor(name, "text", call(given))
        assert.isAtMost(error.message.length, 200)
      }
    }
  )

  test("the text of a post is for the service to judge")(function*() {
    const text = "x".repeat(30_000)
    assert.deepStrictEqual(JSON.parse((yield* sent("createPost", { text })).body), { text })
  })
})

describe("required when", () => {
  it.effect.each(
    [
      ["createPost", "text", {}],
      ["createPost", "text", { quote_post_id: 1 }],
      ["createPost", "text", { place_id: "1", reply_settings: "following" }],
      ["createPost", "media_ids", { text: "a", media_tagged_user_ids: [1] }],
      ["createPost", "poll_duration_minutes", { text: "a", poll_options: ["a", "b"] }],
      ["createPost", "poll_options", { text: "a", poll_duration_minutes: 5 }],
      ["createPost", "in_reply_to_post_id", { text: "a", exclude_reply_user_ids: [1] }],
      ["createDirectMessage", "text", { participant_id: 1 }],
      ["createDirectMessage", "text", { dm_conversation_id: "1-2", text: null }],
      ["createDirectMessageConversation", "text", { participant_ids: [1] }]
    ] as const
  )("%s needs %s with %j", ([name, parameter, parameters]) => refusedFor(name, parameter, parameters))

  test.each(
    [
      ["createPost", { text: "a" }, { text: "a" }],
      ["createPost", { text: "" }, { text: "" }],
      ["createPost", { media_ids: [1n] }, { media: { media_ids: ["1"] } }],
      ["createPost", { media_ids: ["1"], media_tagged_user_ids: [2] }, {
        media: { media_ids: ["1"], tagged_user_ids: ["2"] }
      }],
      ["createPost", { text: "a", poll_options: ["a", "b"], poll_duration_minutes: 5 }, {
        text: "a",
        poll: { options: ["a", "b"], duration_minutes: 5 }
      }],
      ["createPost", { text: "a", in_reply_to_post_id: 9007199254740993n, exclude_reply_user_ids: [1] }, {
        text: "a",
        reply: { in_reply_to_post_id: "9007199254740993", exclude_reply_user_ids: ["1"] }
      }],
      ["createDirectMessage", { participant_id: 1, media_id: 2 }, { attachments: [{ media_id: "2" }] }],
      ["createDirectMessageConversation", { participant_ids: [1], media_id: 2 }, {
        conversation_type: "Group",
        participant_ids: ["1"],
        message: { attachments: [{ media_id: "2" }] }
      }]
    ] as const
  )("%s is content with %o")(function*([name, parameters, body]) {
    assert.deepStrictEqual<unknown>(JSON.parse((yield* sent(name, parameters)).body), body)
  })
})

describe("names", () => {
  test("of closed sets are theirs alone")(function*() {
    const query = "a"
    for (const name of ["getAllPostsCount", "getRecentPostsCount"]) {
      for (const granularity of ["minute", "hour", "day"]) {
        assert.strictEqual((yield* sent(name, { query, granularity })).query["granularity"], granularity)
      }
      for (const granularity of ["week", "Hour", "", "hour,day", ["hour"]]) {
        const error = yield* refusedFor(name, "granularity", { query, granularity })
        assert.strictEqual(error.rule, "must be one of minute, hour, day")
      }
    }
    for (const state of ["live", "scheduled", "all"]) {
      assert.strictEqual((yield* sent("searchSpaces", { query, state })).query["state"], state)
    }
    for (const state of ["ended", "any", ""]) yield* refusedFor("searchSpaces", "state", { query, state })
  })

  test("of open sets may be others on purpose")(function*() {
    const post = yield* sent("createPost", { text: "a", reply_settings: { unlisted: "followers" } })
    assert.strictEqual(JSON.parse(post.body).reply_settings, "followers")
    yield* refusedFor("createPost", "reply_settings", { text: "a", reply_settings: "followers" })
    for (const name of ["searchAllPosts", "searchRecentPosts"]) {
      const sort_order = { unlisted: "newest" }
      assert.strictEqual((yield* sent(name, { query: "a", sort_order })).query["sort_order"], "newest")
      for (const newest of ["newest", "unlisted:newest", "\u0000newest"]) {
        yield* refusedFor(name, "sort_order", { query: "a", sort_order: newest })
      }
    }
    for (
      const [row, { name, neutral }] of parametersWhere(({ name }) =>
        /^(exclude|event_types|expansions|.*_fields)$/.test(name)
      )
    ) {
      const value = [{ unlisted: "tweet_new" }]
      assert.strictEqual((yield* sent(row.name, needed(row, name, value))).query[neutral], "tweet_new")
      for (const text of ["unlisted:tweet_new", ["unlisted:tweet_new"], "\u0000tweet_new", ["\u0000tweet_new"]]) {
        yield* refusedFor(row.name, name, needed(row, name, text))
      }
      yield* refusedFor(row.name, name, needed(row, name, ["brand_new"]))
      yield* refusedFor(row.name, name, needed(row, name, "brand_new"))
      // What the bounds are left to is not asked about names.
      yield* refusedFor(row.name, name, needed(row, name, ["brand_new"]), { checks: "identifiers" })
    }
  })
})

describe("times", () => {
  const timed = parametersWhere(({ type }) => type === "timestamp")

  test.each(timed.map(title))("%s travels in UTC, in whole seconds")(function*([, row, { name }]) {
    const instant = "2026-01-31T12:00:00.999Z"
    const forms = [
      instant,
      "2026-01-31T14:00:00+02:00",
      new Date(instant),
      DateTime.makeUnsafe(instant),
      DateTime.makeZonedUnsafe(instant, { timeZone: "Asia/Tokyo" })
    ]
    for (const value of forms) {
      assert.strictEqual((yield* sent(row.name, needed(row, name, value))).query[name], "2026-01-31T12:00:00Z")
    }
    for (const value of ["yesterday", "2026-01-31", 1769860800, new Date(NaN), "2026-02-30T00:00:00Z"]) {
      yield* refusedFor(row.name, name, needed(row, name, value))
    }
  })

  test("of getUsersPosts are not before the first that the service has")(function*() {
    const earliest = [["start_time", "2010-11-06T00:00:00Z"], ["end_time", "2010-11-06T00:00:01Z"]] as const
    for (const [parameter, first] of earliest) {
      const call = (value: unknown) => ({ id: 1, [parameter]: value })
      const millis = Date.parse(first)
      for (const value of [first, new Date(millis), new Date(millis + 999), DateTime.makeUnsafe(millis)]) {
        assert.strictEqual((yield* sent("getUsersPosts", call(value))).query[parameter], first)
      }
      for (const value of [new Date(millis - 1), new Date(millis - 1000).toISOString(), new Date(0)]) {
        const error = yield* refusedFor("getUsersPosts", parameter, call(value))
        assert.include(error.rule, `not before ${first}`)
      }
      // It is a rule of this timeline alone.
      yield* sent("getUsersMentions", call(new Date(0)))
    }
  })

  test("go along with ids, where the specification lets both be sent")(function*() {
    const both = { since_id: "1", start_time: "2026-01-01T00:00:00Z", until_id: "9", end_time: "2026-01-02T00:00:00Z" }
    for (const row of rows.filter(({ params }) => params.some(({ name }) => name === "since_id"))) {
      assert.deepInclude((yield* sent(row.name, { ...needed(row), ...both })).query, both)
    }
  })
})

describe("defaults", () => {
  test.each(rows)("of $name are the service's and are not sent")(function*(row) {
    const parameters = needed(row)
    const { body, query } = yield* sent(row.name, parameters)
    const given = row.params.filter(({ name }) => parameters[name] !== undefined)
    assert.sameMembers(Object.keys(query), given.filter((known) => known.in === "query").map(({ neutral }) => neutral))
    const constants = Object.keys(row.constants ?? {})
    const tops = given.filter((known) => known.in === "body").map(({ neutral }) => neutral.split(".")[0]!)
    assert.sameMembers(body === "" ? [] : Object.keys(JSON.parse(body)), [...constants, ...tops])
    // Nothing given is nothing sent, in whatever way it is said.
    const unset = Object.fromEntries(
      row.params.filter(({ name }) => !(name in parameters)).map((
        { name },
        i
      ) => [name, i % 2 === 0 ? undefined : null])
    )
    const again = yield* sent(row.name, {
      ...parameters,
      ...unset,
      ...(row.userAuth === null ? {} : { user_auth: null })
    })
    assert.deepStrictEqual([again.query, again.body], [query, body])
  })
})

describe("required", () => {
  test.each(rows.filter(({ params }) => params.some(({ required }) => required)))("$name says what is missing")(
    function*(row) {
      for (const { name } of row.params.filter(({ required }) => required)) {
        for (const value of [undefined, null]) {
          const error = yield* refusedFor(row.name, name, { ...needed(row), [name]: value })
          assert.strictEqual(error.message, `${row.name}: ${name} is required.`)
        }
      }
    }
  )
})

describe("two names of one token", () => {
  const both = { query: "a", next_token: "t", pagination_token: "t" }

  test("are refused together, in calls and in pages, and taken one at a time")(function*() {
    const taking = Object.values(catalogue).map(({ definition }): Definition => definition).filter(({ query = {} }) =>
      "next_token" in query && "pagination_token" in query
    ).map(({ name }) => name)
    assert.sameMembers(taking, [
      "searchRecentPosts",
      "searchAllPosts",
      "searchCommunities",
      "getRecentPostsCount",
      "getAllPostsCount"
    ])
    for (const name of taking) {
      const error = yield* refusedFor(name, "pagination_token", both)
      assert.strictEqual(error.message, `${name}: pagination_token cannot be given together with next_token.`)
      for (const token of ["next_token", "pagination_token"]) {
        const { query } = yield* sent(name, { query: "a", [token]: "t", ...unsetBut(token) })
        assert.strictEqual(query[token], "t")
      }
      const operation = operations[name]!
      assert.isTrue(isPaged(operation))
      const service = make(() => ({}))
      const paged = yield* Effect.flip(
        Effect.provide(Stream.runDrain((operation as UntypedPaged).pages(both)), service.layer())
      )
      assert.instanceOf(paged, Errors.InvalidParameters)
      assert.lengthOf(service.requests, 0)
    }
  })

  const unsetBut = (token: string) => token === "next_token" ? { pagination_token: null } : { next_token: undefined }
})

describe("checks: identifiers", () => {
  const settings = { checks: "identifiers", accessLevel: "standard" } as const

  test("leaves ranges, lengths and earliest times to the service")(function*() {
    const bounded = parametersWhere(({ max, min }) => max !== undefined || typeof min === "string")
    assert.lengthOf(bounded, 19 + 5 + 1 + 4 + 1 + 2 + 2 + 4)
    for (const [row, { max = 0, min, name, neutral, type }] of bounded) {
      const value = type === "integer"
        ? max + 1
        : type === "timestamp"
        ? "2000-01-01T00:00:00Z"
        : type === "string"
        ? "x".repeat(max + 1)
        : Array(max + 1).fill("1")
      yield* refusedFor(row.name, name, needed(row, name, value))
      const { body, query } = yield* sent(row.name, needed(row, name, value), settings)
      if (neutral in query) assert.strictEqual(query[neutral], String(value))
      else assert.include(body, JSON.stringify(value), `${min}`)
    }
  })

  test("always checks identifiers, forms and what goes together")(function*() {
    const refusals = [
      ["getPost", "id", { id: "../me" }],
      ["getPost", "id", { id: 2 ** 53 }],
      ["getPosts", "ids", { ids: [] }],
      ["getPosts", "ids", { ids: "1, 2" }],
      ["getSpace", "id", { id: "a/b" }],
      ["getUsers", "usernames", { usernames: ["a b"] }],
      ["searchSpaces", "state", { query: "a", state: "ended" }],
      ["searchRecentPosts", "max_results", { query: "a", max_results: 1.5 }],
      ["searchRecentPosts", "start_time", { query: "a", start_time: "now" }],
      ["createPost", "text", {}],
      ["searchRecentPosts", "pagination_token", { query: "a", next_token: "a", pagination_token: "b" }],
      ["getPost", "nope", { id: 1, nope: 1 }],
      ["createDirectMessageConversation", "participant_ids", { participant_ids: [], text: "a" }]
    ] as const
    for (const [name, parameter, parameters] of refusals) yield* refusedFor(name, parameter, parameters, settings)
    for (const parameters of [{}, { id: 1, username: "ada" }]) {
      assert.instanceOf(yield* refused("getUser", parameters, settings), Errors.ConflictingIdentifiers)
    }
    const service = make(() => ({}))
    for (const [name, operation] of firsts) {
      const layer = service.layer(settings)
      const error = yield* Effect.flip(Effect.provide(operation(needed(rowOf(name))), layer))
      assert.instanceOf(error, Errors.MissingAccessToken, name)
    }
    assert.lengthOf(service.requests, 0)
  })
})

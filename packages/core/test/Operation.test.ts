import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Executor from "../src/Executor.ts"
import * as Operation from "../src/Operation.ts"
import { envelope } from "../src/Response.ts"
import * as Rule from "../src/Rule.ts"
import * as WireNames from "../src/WireNames.ts"
import { all, authorizationOf, make, type Row, rowOf, type RowParameter, secrets } from "./support/Service.ts"

const wires = ["neutral", "x"] as const
type Wire = (typeof wires)[number]

interface Sample {
  readonly given: unknown
  /** As it travels: text in a path or a query, JSON in a body. */
  readonly sent: unknown
  readonly sentOnX?: unknown
}

const selectors: Readonly<Record<string, Sample>> = {
  expansions: {
    given: ["author_id", "referenced_posts.id.author_id"],
    sent: "author_id,referenced_posts.id.author_id",
    sentOnX: "author_id,referenced_tweets.id.author_id"
  },
  post_fields: {
    given: "created_at,referenced_posts,note_post",
    sent: "created_at,referenced_posts,note_post",
    sentOnX: "created_at,referenced_tweets,note_tweet"
  },
  user_fields: {
    given: ["pinned_post_id", "most_recent_post_id", "brand_new"],
    sent: "pinned_post_id,most_recent_post_id,brand_new",
    sentOnX: "pinned_tweet_id,most_recent_tweet_id,brand_new"
  }
}

const texts: Readonly<Record<string, string>> = {
  username: "Ada_1",
  dm_conversation_id: "12-34",
  id: "1DXxyRYNejbKM",
  event_types: "MessageCreate",
  sort_order: "recency"
}

const sampleOf = (parameter: RowParameter): Sample => {
  const same = (value: unknown): Sample => ({ given: value, sent: value })
  switch (parameter.type) {
    case "ID":
      return { given: 9007199254740993n, sent: "9007199254740993" }
    case "ID[]":
      return { given: [1, 2n, "3"], sent: ["1", "2", "3"] }
    case "ID[]|csv":
      return { given: [1, 2n, "0003"], sent: "1,2,0003" }
    case "string[]|csv":
      return selectors[parameter.name] ?? { given: ["abc", "de"], sent: "abc,de" }
    case "string[]":
      return same(["tweets, posts", ""])
    case "integer":
      return { given: parameter.max ?? 60, sent: parameter.max ?? 60 }
    case "boolean":
      return same(false)
    case "timestamp":
      return { given: new Date("2026-01-31T12:00:00.987Z"), sent: "2026-01-31T12:00:00Z" }
    case "enum":
      return same(parameter.enum?.[0])
    default:
      return same(texts[parameter.name] ?? "a b+c/%2F!*'(),tweets:é😀")
  }
}

/** A call with every parameter, of one of two alternatives only one. */
const callOf = (row: Row, selectedBy: string, wire: Wire) => {
  const parameters = row.params.filter(({ name }) =>
    row.alternatives === undefined || name === selectedBy || !row.alternatives.of.includes(name)
  )
  const given: Record<string, unknown> = {}
  const query: Record<string, string> = {}
  let path = (row.routes[selectedBy] ?? row.routes[""]!)[wire]
  const body = structuredClone(row.constants ?? {}) as Record<string, unknown>
  for (const parameter of parameters) {
    const sample = sampleOf(parameter)
    const sent = wire === "x" ? sample.sentOnX ?? sample.sent : sample.sent
    given[parameter.name] = sample.given
    if (parameter.in === "path") path = path.replace(`:${parameter[wire]}`, encodeURIComponent(String(sent)))
    else if (parameter.in === "query") query[parameter[wire]] = String(sent)
    else insert(body, parameter[wire].split("."), sent)
  }
  return { given, path, query, body: Object.keys(body).length === 0 ? undefined : body }
}

const insert = (node: Record<string, unknown>, [step, ...rest]: ReadonlyArray<string>, value: unknown): void => {
  if (rest.length === 0) node[step!] = value
  else insert((node[step!] ??= rest[0] === "0" ? [] : {}) as Record<string, unknown>, rest, value)
}

/** A body that the operation could answer with. */
const answerOf = (row: Row, wire: Wire): unknown => {
  if (row.kind.endsWith("[]")) return { data: [{ id: "1", event_type: "MessageCreate" }] }
  switch (row.kind) {
    case "Counts":
      return {
        data: [{
          start: "2026-01-01T00:00:00.000Z",
          end: "2026-01-01T01:00:00.000Z",
          [wire === "x" ? "tweet_count" : "post_count"]: 3
        }],
        meta: { [wire === "x" ? "total_tweet_count" : "total_post_count"]: 3 }
      }
    case "CreatedPost":
      return { data: { id: "1", text: "a" } }
    case "DmEventRef":
      return { data: { dm_conversation_id: "1-2", dm_event_id: "3" } }
  }
  const toggle = /^Toggle<(\w+)>$/.exec(row.kind)?.[1]
  if (toggle === undefined) return { data: { id: "1" } }
  const key = wire === "x" && toggle === "reposted" ? "retweeted" : toggle
  return { data: { [key]: true, ...(key === "following" ? { pending_follow: false } : {}) } }
}

const selectionsOf = (row: Row): ReadonlyArray<string> =>
  row.alternatives === undefined ? [""] : [...row.alternatives.of, ...(row.alternatives.none ? ["none"] : [])]

describe("declarations", () => {
  it.each(all)("%s", (name, { definition }) => {
    const row = rowOf(name)
    assert.strictEqual(definition.name, row.name)
    assert.isNotEmpty(definition.summary)

    const routes = Object.fromEntries(
      Executor.routesOf(definition).map(([selectedBy, route]) => {
        const [method, path] = route.split(" ") as [string, string]
        assert.strictEqual(method, row.method)
        return [selectedBy, { neutral: path, x: WireNames.path(path) }]
      })
    )
    assert.deepStrictEqual(routes, row.routes)

    const parameters = Operation.parametersOf(definition)
    assert.sameMembers(Object.keys(parameters), row.params.map((parameter) => parameter.name))
    for (const expected of row.params) {
      const parameter = parameters[expected.name]!
      assert.isTrue(Object.hasOwn(definition[expected.in] ?? {}, expected.name), `${expected.name} in ${expected.in}`)
      assert.strictEqual(parameter.required, expected.required, expected.name)
      assert.strictEqual(parameter.bounds?.maximum, expected.max, expected.name)
      if (typeof expected.min === "string") assert.include(parameter.rule, `not before ${expected.min}`)
      else if (expected.min !== undefined) assert.strictEqual(parameter.bounds?.minimum, expected.min, expected.name)
      assert.strictEqual(parameter.default, expected.default, expected.name)
      if (expected.enum !== undefined) assert.includeMembers([...parameter.values ?? []], [...expected.enum])
    }

    assert.strictEqual(definition.userAuth ?? null, row.userAuth)
    assert.strictEqual(definition.identity ?? null, row.identity)
    assert.strictEqual(
      row.lookup,
      definition.identity === undefined ? null : definition.userAuth === undefined ? "always" : "pkce"
    )
    assert.deepStrictEqual(definition.paging ?? null, row.paging)
    assert.strictEqual(definition.postCap ?? false, row.postCap)
    assert.deepStrictEqual(
      definition.alternatives ?? null,
      row.alternatives === undefined
        ? null
        : (row.alternatives.none ? Rule.atMostOne : Rule.exactlyOne)(...row.alternatives.of)
    )
    const kind = /^(\w+?)(\[\])?$/.exec(row.kind)
    const { result } = definition
    if (result._tag === "Value") assert.isFalse(/^(Post|User|Space|List|DmEvent)(\[\])?$/.test(row.kind))
    else {
      assert.strictEqual(result.kind.replaceAll("_", ""), kind?.[1]?.toLowerCase())
      assert.strictEqual(result._tag, kind?.[2] === undefined ? "One" : "Many")
    }
    assert.strictEqual(
      definition.effect,
      row.method === "GET" ? "read" : row.kind.startsWith("Toggle") ? "toggle" : "create"
    )
  })
})

describe("requests", () => {
  for (const [name, operation] of all) {
    const row = rowOf(name)
    for (const selectedBy of selectionsOf(row)) {
      for (const wire of wires) {
        for (const user_auth of row.userAuth === null ? [undefined] : [undefined, true, false]) {
          const title = [name, selectedBy, wire, user_auth === undefined ? "" : `user_auth: ${user_auth}`]
          it.effect(title.filter((part) => part !== "").join(", "), () =>
            Effect.gen(function*() {
              const userAuth = user_auth ?? row.userAuth ?? false
              const service = make(({ path }) =>
                path === "/2/users/me" ? { body: { data: { id: "77" } } } : { body: answerOf(row, wire) }
              )
              const { body, given, path, query } = callOf(row, selectedBy, wire)
              const response = yield* operation(user_auth === undefined ? given : { ...given, user_auth }).pipe(
                Effect.provide(service.layer({ ...secrets, wire }))
              )
              assert.isDefined(response.data)
              assert.deepStrictEqual(
                response.body,
                name === "getMe" ? { data: { id: "77" } } : answerOf(row, "neutral")
              )

              const looksUp = row.identity !== null && !userAuth
              const [lookup, request] = looksUp ? service.requests : [undefined, service.requests[0]]
              assert.lengthOf(service.requests, looksUp ? 2 : 1)
              if (lookup !== undefined) {
                assert.strictEqual(`${lookup.method} ${lookup.path}`, "GET /2/users/me")
                assert.deepStrictEqual(lookup.query, {})
                assert.strictEqual(authorizationOf(lookup), "bearer")
              }
              assert.isDefined(request)
              assert.strictEqual(request.method, row.method)
              assert.strictEqual(
                request.path,
                row.identity === null ? path : path.replace(`:${row.identity}`, userAuth ? "42" : "77")
              )
              assert.deepStrictEqual(request.query, query)
              assert.deepStrictEqual(request.body === "" ? undefined : JSON.parse(request.body), body)
              assert.strictEqual(request.headers["content-type"], body === undefined ? undefined : "application/json")
              assert.strictEqual(request.headers["accept"], "application/json")
              assert.strictEqual(request.headers["user-agent"], "postwire")
              assert.strictEqual(authorizationOf(request), userAuth ? "oauth1" : "bearer")
              // Escaped so that no URL parser changes it after it was signed.
              assert.strictEqual(new URL(request.url).href, request.url)
            }))
        }
      }
    }
  }
})

describe("parametersOf", () => {
  it("has no name in two places", () => {
    for (const [, { definition }] of all) {
      const names = [definition.path, definition.query, definition.body].flatMap((group) => Object.keys(group ?? {}))
      assert.strictEqual(new Set(names).size, names.length, definition.name)
      assert.notInclude(names, "user_auth")
    }
  })
})

describe("results", () => {
  it("have a schema", () => {
    for (const [, { definition }] of all) assert.isDefined(envelope(definition.result).ast)
  })
})

import { assert, describe, it } from "@effect/vitest"
import type { WireName } from "@postwire/core/schema/WireName"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { aliases, catalogue } from "../src/Catalogue.ts"
import * as Errors from "../src/errors/Errors.ts"
import { bearerOf, parametersOf, routesOf } from "../src/schema/Definition.ts"
import * as ParameterRule from "../src/schema/ParameterRule.ts"
import * as Parameters from "../src/schema/Parameters.ts"
import { envelope } from "../src/wire/ResponseDecoder.ts"
import { x202602 } from "../src/wire/Wire.ts"
import { answerOf, callOf, selectionsOf, wires } from "./support/Calls.ts"
import * as Described from "./support/Described.ts"
import type { Row, RowParameter, RowRule } from "./support/Row.ts"
import { all, authorizationOf, fails, firsts, make, rowOf, rows, secrets, specifiedRowOf } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

describe("the catalogue", () => {
  it("has every operation and alias of the specification", () => {
    assert.lengthOf(rows, 49)
    assert.lengthOf(rows.flatMap(({ aliases }) => aliases), 5)
    assert.includeMembers(Object.keys(catalogue), rows.flatMap(({ aliases, name }) => [name, ...aliases]))
    for (const { name, specName } of rows) assert.strictEqual(name, camelCase(specName))
  })

  it("has operations under their own names, and names no others", () => {
    for (const [name, { definition }] of all) {
      const { confirmWith, total } = definition
      assert.strictEqual(definition.name, name in aliases ? aliases[name as keyof typeof aliases] : name)
      const named = [confirmWith, total !== undefined && "countedBy" in total ? total.countedBy : undefined]
      for (const other of named.filter((other) => other !== undefined)) {
        const operation = all.find(([name]) => name === other)?.[1]
        assert.strictEqual(operation?.definition.effect, "read", `${name} names ${other}`)
      }
    }
  })

  it("has aliases that are the operations themselves", () => {
    assert.deepStrictEqual(
      aliases as Readonly<Record<string, string>>,
      Object.fromEntries(rows.flatMap((row) => row.aliases.map((alias) => [alias, row.name])).sort())
    )
    const operations: Readonly<Record<string, unknown>> = catalogue
    for (const [alias, name] of Object.entries(aliases)) assert.strictEqual(operations[alias], operations[name])
  })

  it("marks what the specification or the service has deprecated, and nothing else", () => {
    const folder = new URL("../src/operations/", import.meta.url)
    const files = readdirSync(folder).filter((file) => file.endsWith(".ts"))
    const sources = files.map((file) => readFileSync(new URL(file, folder), "utf8"))
    const marked = sources.flatMap((source) =>
      [...source.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport const (\w+)/g)]
        .filter(([, comment]) => comment!.includes("@deprecated"))
        .map(([, , name]) => name!)
    )
    const accountActivity = Object.keys(catalogue).filter((name) => name.includes("AccountActivity"))
    assert.lengthOf(accountActivity, 5)
    assert.sameMembers(marked, [...rows.flatMap(({ deprecated }) => deprecated), ...accountActivity])
  })
})

/** How a type of the specification is read. */
const kinds: Readonly<Record<string, ReadonlyArray<string>>> = {
  ID: ["id"],
  "ID[]": ["list"],
  "ID[]|csv": ["list"],
  "string[]|csv": ["list"],
  "string[]": ["list"],
  integer: ["integer"],
  boolean: ["boolean"],
  timestamp: ["timestamp"],
  enum: ["choice"],
  string: ["text", "token", "id", "choice", "list"]
}

/** What the limits of a type of the specification count. */
const counted: Readonly<Record<string, string>> = {
  "ID[]": "items",
  "ID[]|csv": "items",
  "string[]": "items",
  "string[]|csv": "items",
  integer: "value",
  string: "characters"
}

const boundsOf = ({ each, max, min, standardMax, type }: RowParameter): Parameters.Bounds | undefined => {
  if (typeof min === "string") return { of: "time", earliest: min }
  if (max === undefined) return undefined
  // It says how many at most; none at all is a mistake as well.
  return {
    of: counted[type] as "value",
    minimum: min ?? 1,
    maximum: max,
    ...(standardMax === undefined ? {} : { standard: standardMax }),
    ...(each === undefined ? {} : { each })
  }
}

const ruleOf = (rule: RowRule): ParameterRule.Rule =>
  rule.rule === "requires"
    ? ParameterRule.requires(rule.param, rule.needs)
    : rule.rule === "excludes"
    ? ParameterRule.excludes(rule.param, rule.other)
    : ParameterRule.atLeastOne(...(rule.rule === "atLeastOne" ? rule.params : [rule.param, rule.unless]))

const specified = all.filter(([name]) => specifiedRowOf(name) !== undefined)

/** What the service pages, though the specification knows no pages of it. */
const pagedSince = ["getRecentPostsCount", "getSpaceBuyers", "getSpacePosts"]

describe("declarations", () => {
  it.each(specified)("%s", (name, { definition }) => {
    const row = rowOf(name)
    assert.strictEqual(definition.name, row.name)
    assert.isNotEmpty(definition.summary)

    const routes = Object.fromEntries(
      routesOf(definition).map(([selectedBy, route]) => {
        const [method, path] = route.split(" ") as [string, string]
        assert.strictEqual(method, row.method)
        return [selectedBy, { neutral: path, x: x202602.path(path) }]
      })
    )
    assert.deepStrictEqual(routes, row.routes)

    const parameters = parametersOf(definition)
    // The service has more parameters and values than the specification by now.
    assert.includeMembers(Object.keys(parameters), row.params.map((parameter) => parameter.name))
    for (const expected of row.params) {
      const parameter = parameters[expected.name]!
      assert.isTrue(Object.hasOwn(definition[expected.in] ?? {}, expected.name), `${expected.name} in ${expected.in}`)
      const key = expected.in === "query"
        ? Parameters.queryKey(expected.name)
        : definition.at?.[expected.name] ?? expected.name
      assert.strictEqual(key, expected.neutral)
      const x = expected.in === "query" ? x202602.queryKey(definition, key) : x202602.bodyKey(key)
      assert.strictEqual(x, expected.x)
      assert.include(kinds[expected.type]!, parameter.kind, expected.name)
      assert.strictEqual(parameter.required, expected.required, expected.name)
      assert.deepStrictEqual(parameter.bounds, boundsOf(expected), expected.name)
      assert.strictEqual(parameter.default, expected.default, expected.name)
      if (expected.enum !== undefined) {
        assert.includeMembers([...parameter.values ?? []], [...expected.enum])
        assert.strictEqual(parameter.open ?? false, expected.open ?? false, expected.name)
      } else if (parameter.values !== undefined) assert.isTrue(parameter.open, expected.name)
    }
    assert.includeMembers(
      Object.keys(definition.at ?? {}),
      row.params.filter((parameter) => parameter.in === "body" && parameter.neutral !== parameter.name)
        .map((parameter) => parameter.name)
    )
    assert.deepStrictEqual<object>(definition.constants ?? {}, row.constants ?? {})

    assert.strictEqual(definition.userAuth ?? null, row.userAuth)
    assert.strictEqual(definition.identity ?? null, row.identity)
    assert.strictEqual(
      row.lookup,
      definition.identity === undefined ? null : definition.userAuth === undefined ? "always" : "pkce"
    )
    assert.strictEqual(row.paging === null && definition.paging !== undefined, pagedSince.includes(name))
    if (row.paging !== null) assert.deepInclude(definition.paging, row.paging)
    assert.strictEqual(definition.postCap ?? false, row.postCap)
    assert.deepStrictEqual(
      definition.alternatives ?? null,
      row.alternatives === undefined
        ? null
        : (row.alternatives.none ? ParameterRule.atMostOne : ParameterRule.exactlyOne)(...row.alternatives.of)
    )
    // A duration without a poll says nothing, so the client has one rule more than the specification.
    const own = definition.name === "createPost"
      ? [ParameterRule.requires("poll_duration_minutes", "poll_options")]
      : []
    assert.includeDeepMembers([...definition.rules ?? []], [...(row.rules ?? []).map(ruleOf), ...own])
    const kind = /^(\w+?)(\[\])?$/.exec(row.kind)
    const { result } = definition
    if (result._tag === "Value") assert.isFalse(/^(Post|User|Space|List|DmEvent)(\[\])?$/.test(row.kind))
    else if ("kind" in result) {
      assert.strictEqual(result.kind.replaceAll("_", ""), kind?.[1]?.toLowerCase())
      assert.strictEqual(result._tag, kind?.[2] === undefined ? "One" : "Many")
    }
    // What came of a create whose answer is lost can be looked up.
    assert.strictEqual(definition.confirmWith !== undefined, definition.effect === "create")
    assert.strictEqual(
      definition.effect,
      row.method === "GET" ? "read" : row.kind.startsWith("Toggle") ? "toggle" : "create"
    )
  })

  it("count towards the cap where the specification says so", () => {
    const counting = specified.filter(([, { definition }]) => definition.postCap === true).map(([name]) => name)
    assert.sameMembers(counting, [
      "getLikedPosts",
      "getQuotePosts",
      "searchAllPosts",
      "searchRecentPosts",
      "getUsersMentions",
      "getUsersPosts"
    ])
  })
})

describe("needs token", () => {
  /** Operations that the specification does not mark, though they look the authenticated user's id up. */
  const unmarked = ["getHomeTimeline"]

  it("is marked for the operations that look the authenticated user's id up", () => {
    for (const [name, { definition }] of specified) {
      const row = rowOf(name)
      assert.strictEqual(definition.identity !== undefined, row.needsToken || unmarked.includes(row.name), name)
    }
  })

  test.each(firsts)("%s fails without the credential that user_auth chooses, before any traffic")(
    function*([name, operation]) {
      const row = rowOf(name)
      const { bearerToken, ...oauth1 } = secrets
      const { accessToken: _, ...withoutToken } = oauth1
      for (const user_auth of row.userAuth === null ? [undefined] : [undefined, true, false]) {
        const userAuth = user_auth ?? row.userAuth ?? false
        const { given } = callOf(row, selectionsOf(row)[0]!, "neutral")
        const others: ReadonlyArray<object> = userAuth
          ? [{}, { bearerToken }, { ...withoutToken, bearerToken }]
          : [{}, oauth1]
        for (const settings of others) {
          const service = make(() => ({ body: { data: { id: "77" } } }))
          const call = operation(user_auth === undefined ? given : { ...given, user_auth })
          const error = yield* fails(Effect.provide(call, service.layer(settings)), Errors.MissingAccessToken)
          assert.instanceOf(error, TypeError)
          assert.strictEqual(error.operation, row.name)
          assert.strictEqual(error.credential, userAuth ? "oauth1" : "bearer")
          const missing = userAuth
            ? "accessToken"
            : bearerOf(operation.definition) === "app"
            ? "appBearerToken"
            : "bearerToken"
          assert.include(error.missing, missing)
          assert.lengthOf(service.requests, 0)
        }
      }
    }
  )
})

/** Makes a call with every parameter and looks at what it sends. */
const checkRequest = Effect.fnUntraced(function*(
  operation: (typeof firsts)[number][1],
  row: Row,
  { selectedBy, user_auth, wire }: { selectedBy: string; user_auth: boolean | undefined; wire: WireName }
) {
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
    row.name === "getMe" ? { data: { id: "77" } } : answerOf(row, "neutral")
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
  const encoding = row.encoding === undefined ? "application/json" : "multipart/form-data"
  const { "content-type": type } = request.headers
  assert.strictEqual(type?.replace(/;.*/, ""), body === undefined ? undefined : encoding)
  assert.strictEqual(request.headers["accept"], "application/json")
  assert.strictEqual(request.headers["user-agent"], "postwire")
  assert.strictEqual(authorizationOf(request), userAuth ? "oauth1" : "bearer")
  // Escaped so that no URL parser changes it after it was signed.
  assert.strictEqual(new URL(request.url).href, request.url)
})

describe("requests", () => {
  for (const [name, operation] of firsts) {
    const row = rowOf(name)
    for (const selectedBy of selectionsOf(row)) {
      for (const wire of wires) {
        for (const user_auth of row.userAuth === null ? [undefined] : [undefined, true, false]) {
          const title = [name, selectedBy, wire, user_auth === undefined ? "" : `user_auth: ${user_auth}`]
          it.effect(
            title.filter((part) => part !== "").join(", "),
            () => checkRequest(operation, row, { selectedBy, user_auth, wire })
          )
        }
      }
    }
  }
})

// What the specification does not have is tested by its declaration. Here that is done to what it has.
describe("requests of what only a declaration knows", () => {
  test.each(specified)("%s")(function*([name, operation]) {
    const row = Described.describe(operation.definition)
    const known = rowOf(name)
    const keys = ({ in: place, name, neutral, required, x }: RowParameter) => ({ place, name, neutral, required, x })
    assert.includeDeepMembers(row.params.map(keys), known.params.map(keys))
    assert.deepStrictEqual([row.method, row.routes, row.lookup], [known.method, known.routes, known.lookup])
    for (const selectedBy of selectionsOf(row)) {
      for (const wire of wires) yield* checkRequest(operation, row, { selectedBy, user_auth: undefined, wire })
    }
  })
})

describe("parametersOf", () => {
  it("has no name in two places", () => {
    for (const [, { definition }] of firsts) {
      const names = [definition.path, definition.query, definition.body].flatMap((group) => Object.keys(group ?? {}))
      assert.strictEqual(new Set(names).size, names.length, definition.name)
      assert.notInclude(names, "user_auth")
    }
  })
})

describe("results", () => {
  it("have a schema", () => {
    for (const [, { definition }] of firsts) assert.isDefined(envelope(definition.result).ast)
  })
})

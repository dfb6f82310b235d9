// Whatever is passed to whichever operation, what comes out is a well-formed request or an error that names a parameter.
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Arbitrary, Cause, type Context, Effect, Exit, Layer, Schema, Scope, Stream } from "effect"
import type { Client } from "../src/client/Client.ts"
import * as Errors from "../src/errors/Errors.ts"
import { parametersOf } from "../src/schema/Definition.ts"
import { answerOf, callOf, selectionsOf, wires } from "./support/Calls.ts"
import type { Row } from "./support/Row.ts"
import { all, authorizationOf, isPaged, make, type Received, rowOf, secrets } from "./support/Service.ts"
import { test } from "./support/Test.ts"
import { hostile } from "./support/Values.ts"

/** Values at and just beyond the ends of a parameter. */
const boundary = ({ max, min, type }: Row["params"][number]): ReadonlyArray<unknown> => {
  if (typeof min === "string") return [min, new Date(min), new Date(Date.parse(min) - 1)]
  if (max === undefined) return []
  const sizes = [min ?? 1, (min ?? 1) - 1, max, max + 1]
  return sizes.map((size) =>
    type === "integer" ? size : type === "string" ? "😀".repeat(size) : Array.from({ length: size }, (_, i) => i + 1)
  )
}

const index = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9999 })))

const oneOf = (values: ReadonlyArray<unknown>) => Arbitrary.map(index, (i) => values[i % values.length])

/** How a caller may hand the parameters over. */
const shapes: ReadonlyArray<(parameters: object) => unknown> = [
  ...Array<(parameters: object) => object>(12).fill((parameters) => parameters),
  (parameters) => Object.assign(Object.create(null), parameters),
  (parameters) => Object.create(parameters),
  (parameters) => new Proxy(parameters, {}),
  (parameters) => Object.freeze(parameters),
  (parameters) => [parameters],
  () => null,
  () => "id=1",
  (parameters) => ({ ...parameters, __proto__: { id: "1" } }),
  (parameters) => JSON.parse(`{"__proto__":{"id":"1"}}`, (_, value) => value === null ? parameters : value),
  (parameters) => ({ ...parameters, nope: secrets.bearerToken }),
  (parameters) => ({ ...parameters, "x\r\nauthorization: forged": 1 })
]

const callsOf = (row: Row) =>
  Arbitrary.all({
    selectedBy: Arbitrary.map(index, (i) => selectionsOf(row)[i % selectionsOf(row).length]!),
    shape: Arbitrary.map(index, (i) => shapes[i % shapes.length]!),
    user_auth: oneOf([undefined, true, false, true, false, null, "true", 0]),
    // Of most parameters the valid value, so that calls get past the first check.
    values: Arbitrary.all(
      row.params.map((parameter) =>
        Arbitrary.flatMap(
          index,
          (i): Arbitrary.Arbitrary<unknown> =>
            i % 8 < 4
              ? Arbitrary.Constant(valid)
              : i % 8 < 6
              ? Arbitrary.Constant(undefined)
              : i % 8 === 6
              ? oneOf([...boundary(parameter), ...hostile])
              : oneOf(hostile)
        )
      )
    )
  })

const valid = Symbol("valid")

const clients = wires.flatMap((wire) =>
  (["spec", "identifiers"] as const).map((checks) => {
    const service: ReturnType<typeof make> = make(({ path }) => ({
      body: path === "/2/users/me" ? { data: { id: "77" } } : answering.get(wire)
    }))
    const context = Effect.runSync(
      Layer.buildWithScope(service.layer({ ...secrets, wire, checks }), Scope.makeUnsafe())
    )
    return { wire, checks, service, context: context as Context.Context<Client> }
  })
)

const answering = new Map<string, unknown>()

const outcomes = { sent: 0, refused: 0 }

const assertWellFormed = (row: Row, request: Received) => {
  if (request.path === "/2/users/me" && row.name !== "getMe") return
  assert.strictEqual(request.method, row.method)
  assert.match(request.path, /^\/2(\/[A-Za-z0-9_-]+)+$/)
  assert.match(request.url.split("?")[1] ?? "", /^([a-z_.]+=[A-Za-z0-9._~%-]+(&|$))*$/)
  assert.strictEqual(new URL(request.url).href, request.url)
  if (row.params.some((parameter) => parameter.in === "body") || row.constants !== undefined) {
    assert.notStrictEqual(request.body, "")
  } else assert.strictEqual(request.body, "")
  if (request.body !== "") assert.isObject(JSON.parse(request.body))
  authorizationOf(request)
}

const assertTyped = (row: Row, error: unknown, names: ReadonlyArray<string>) => {
  assert.isTrue(error instanceof Errors.InvalidParameters || error instanceof Errors.ConflictingIdentifiers)
  assert.instanceOf(error, TypeError)
  const { message } = error as Error
  assert.notMatch(message, /[\r\n\0]/)
  assert.notInclude(message, "canary")
  assert.isBelow(message.length, 500)
  if (error instanceof Errors.ConflictingIdentifiers) {
    assert.deepStrictEqual([...error.parameters], [...row.alternatives!.of])
  } else if (error instanceof Errors.InvalidParameters) {
    assert.include(names, error.parameter)
    assert.isNotEmpty(error.rule)
  }
}

describe("whatever is passed", () => {
  for (const [name, operation] of all) {
    const row = rowOf(name)
    const names = [...Object.keys(parametersOf(operation.definition)), "user_auth", "parameters"]
    it.effect.prop(
      name,
      { call: callsOf(row) },
      ({ call }) =>
        Effect.gen(function*() {
          const { given } = callOf(row, call.selectedBy, "neutral")
          const parameters: Record<string, unknown> = {}
          for (const [i, { name }] of row.params.entries()) {
            const value = call.values[i] === valid ? given[name] : call.values[i]
            if (value !== undefined) parameters[name] = value
          }
          if (call.user_auth !== undefined) parameters["user_auth"] = call.user_auth
          const passed = call.shape(parameters)
          for (const { context, service, wire } of clients) {
            service.requests.length = 0
            answering.set(wire, answerOf(row, wire))
            const exit = yield* Effect.exit(Effect.provideContext(operation(passed), context))
            for (const request of service.requests) assertWellFormed(row, request)
            if (Exit.isSuccess(exit)) {
              outcomes.sent++
              assert.isNotEmpty(service.requests)
            } else {
              outcomes.refused++
              assert.isFalse(Cause.hasDies(exit.cause), Cause.pretty(exit.cause))
              assert.lengthOf(service.requests, 0)
              assertTyped(row, Cause.squash(exit.cause), [
                ...names,
                "nope",
                "x\r\nauthorization: forged",
                "__proto__",
                "0"
              ])
            }
          }
        }),
      { arbitrary: { runs: process.env["POSTWIRE_LONG"] === "1" ? 40 : 15 } }
    )
  }

  afterAll(() => {
    // The properties are worth something only if both happen.
    assert.isAbove(outcomes.sent, 500)
    assert.isAbove(outcomes.refused, 500)
  })

  test("to pages, items and joined, which fail when they run")(function*() {
    const { context, service } = clients[0]!
    service.requests.length = 0
    for (const [name, operation] of all) {
      if (!isPaged(operation)) continue
      const row = rowOf(name)
      const { given } = callOf(row, selectionsOf(row)[0]!, "neutral")
      answering.set("neutral", answerOf(row, "neutral"))
      for (const shape of [(given: object) => ({ ...given, max_results: "x" }), ...shapes.slice(15)]) {
        for (const streams of [operation.pages, operation.items, operation.joined]) {
          const passed = shape({ ...given })
          const stream = streams(passed) as Stream.Stream<unknown, Errors.AnyError, Client>
          const exit = yield* Effect.exit(Effect.provideContext(Stream.runHead(stream), context))
          if (Exit.isSuccess(exit)) continue
          assert.isFalse(Cause.hasDies(exit.cause), Cause.pretty(exit.cause))
          assert.instanceOf(Cause.squash(exit.cause), TypeError)
        }
      }
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { meaningOf } from "../src/streams/rules/internal/plan.ts"
import * as StreamRules from "../src/streams/rules/StreamRules.ts"
import * as RuleService from "./support/RuleService.ts"
import * as Service from "./support/Service.ts"
import { test } from "./support/Test.ts"

type Wanted = StreamRules.WantedRule

const start = (initial: ReadonlyArray<Wanted>, options: Partial<RuleService.Options> = {}) => {
  const model = RuleService.make(initial, options)
  const service = Service.make(model.answer)
  const layer = service.layer(Service.secrets)
  const inTime = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(effect)
      for (let i = 0; i < 200 && fiber.pollUnsafe() === undefined; i++) yield* TestClock.adjust(5_000)
      return yield* Fiber.join(fiber)
    })
  return {
    ...model,
    sent: () =>
      service.requests.filter(({ method }) => method === "POST").map(({ body, query }) =>
        `${query["dry_run"] === "true" ? "try " : ""}${body}`
      ),
    plan: (desired: Iterable<Wanted>, options?: StreamRules.PlanOptions) =>
      inTime(StreamRules.planRules(desired, options).pipe(Effect.provide(layer))),
    sync: (desired: Iterable<Wanted>, options?: StreamRules.SyncOptions) =>
      inTime(StreamRules.syncRules(desired, options).pipe(Effect.provide(layer))),
    run: (desired: Iterable<Wanted>, options?: StreamRules.SyncOptions) =>
      StreamRules.syncRules(desired, options).pipe(Effect.provide(layer)),
    said: () => model.rules().map(({ tag, value }) => tag === undefined ? value : `${value} [${tag}]`)
  }
}

describe("syncRules", () => {
  test("tests, adds, waits until streams follow, and deletes")(function*() {
    const steps: Array<string> = []
    const { said, sent, sync } = start([{ value: "old" }, { value: "cat  has:images", tag: "cats" }])
    const done = yield* sync([{ value: "cat has:images", tag: "cats" }, { value: "dog", tag: "dogs" }], {
      onProgress: (progress) =>
        void steps.push("rules" in progress ? `${progress.step} ${progress.rules.length}` : `${progress.duration}`)
    })
    assert.deepStrictEqual(said(), ["cat  has:images [cats]", "dog [dogs]"])
    assert.deepStrictEqual(sent(), [
      "try {\"add\":[{\"value\":\"dog\",\"tag\":\"dogs\"}]}",
      "{\"add\":[{\"value\":\"dog\",\"tag\":\"dogs\"}]}",
      "{\"delete\":{\"ids\":[\"1\"]}}"
    ])
    assert.deepStrictEqual(steps, ["added 1", "20000", "deleted 1"])
    assert.deepStrictEqual(done, {
      rules: [{ id: "2", value: "cat  has:images", tag: "cats" }, { id: "4", value: "dog", tag: "dogs" }],
      added: [{ id: "4", value: "dog", tag: "dogs" }],
      removed: [{ id: "1", value: "old" }],
      kept: [],
      uncovered: []
    })
    // The second run changes nothing.
    yield* sync([{ value: "cat has:images", tag: "cats" }, { value: "dog", tag: "dogs" }])
    assert.lengthOf(sent(), 3)
  })

  test("changes a tag and back without an interruption")(function*() {
    const { deletions, said, sync } = start([{ value: "cat", tag: "a" }])
    yield* sync([{ value: "cat", tag: "b" }])
    assert.deepStrictEqual(said(), ["(cat) [b]"])
    const { added, uncovered } = yield* sync([{ value: "cat", tag: "c" }])
    assert.deepStrictEqual(said(), ["cat [c]"])
    assert.deepStrictEqual([added.length, uncovered], [1, []])
    assert.deepStrictEqual(deletions, [["(cat)"], ["cat"]])
  })

  test("reports the interruption if the service accepts no other spelling")(function*() {
    const { plan, said, sync } = start([{ value: "cat", tag: "a" }], { normalizes: true })
    const { retag } = yield* plan([{ value: "cat", tag: "b" }])
    assert.deepStrictEqual(retag, [{
      rule: { id: "1", value: "cat", tag: "a" },
      tag: "b",
      value: "cat",
      isCovered: false
    }])
    const { rules, uncovered } = yield* sync([{ value: "cat", tag: "b" }])
    assert.deepStrictEqual(said(), ["cat [b]"])
    assert.deepStrictEqual(uncovered, [{ id: "1", value: "cat", tag: "a" }])
    assert.deepStrictEqual(rules.map(({ tag }) => tag), ["b"])
  })

  test("reports all invalid rules with their positions, and changes nothing")(function*() {
    const { said, sent, sync } = start([{ value: "old" }], { invalid: ["odd"] })
    const here = yield* Effect.flip(
      sync([{ value: "cat form:ada" }, { value: "cat" }, { value: "has:media", tag: "m" }])
    )
    if (here._tag !== "InvalidRules") return assert.fail(here._tag)
    assert.deepStrictEqual(here.rules.map(({ index, position, tag }) => [index, position, tag]), [[0, 4, undefined], [
      2,
      0,
      "m"
    ]])
    assert.strictEqual(
      here.message,
      "syncRules: rule 1, at character 5: form: is not an operator (did you mean from:?). One other rule is wrong too."
    )
    const there = yield* Effect.flip(sync([{ value: "cat" }, { value: "odd" }]))
    assert.strictEqual(there.message, "syncRules: rule 2: odd is refused (at position 1).")
    const both = yield* Effect.flip(sync([{ value: "cat", tag: "a" }, { value: "(CAT)", tag: "b" }]))
    assert.strictEqual(both.message, "syncRules: rule 2 (b): It means the same as rule 1, which has another tag.")
    assert.deepStrictEqual(said(), ["old"])
    assert.deepStrictEqual(sent().filter((body) => !body.startsWith("try ")), [])
    // The service knows operators that this version does not.
    yield* sync([{ value: "cat brand_new:operator" }], { check: false })
    assert.deepStrictEqual(said(), ["cat brand_new:operator"])
  })

  test("deletes all rules only with allowEmpty, and none with keep")(function*() {
    const { said, sync } = start([{ value: "a" }, { value: "b" }])
    assert.strictEqual(
      (yield* Effect.flip(sync([]))).message,
      "syncRules: desired must not be empty: all 2 rules would be deleted. Set allowEmpty: true to delete them."
    )
    const { kept } = yield* sync([{ value: "c" }], { keep: true })
    assert.deepStrictEqual([said(), kept.length], [["a", "b", "c"], 2])
    yield* sync([], { allowEmpty: true })
    assert.deepStrictEqual(said(), [])
  })

  test("makes room if there is none, and refuses rules that will never fit before it changes anything")(function*() {
    const values = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ value: `${prefix}${i}`, tag: prefix }))
    const { most, said, sync } = start(values("a", 250), { cap: 250 })
    const { added, removed } = yield* sync([...values("b", 240), ...values("a", 10)])
    assert.deepStrictEqual([added.length, removed.length, said().length, most()], [240, 240, 250, 250])
    const full = yield* Effect.flip(sync(values("c", 251)))
    assert.strictEqual(
      full.message,
      "syncRules: there would be 251 rules, and the app is allowed 250. Join some with OR, or omit some."
    )
    assert.lengthOf(said(), 250)
    // Every rule gets another tag: some are deleted first, and reported.
    const { uncovered } = yield* sync(
      [...values("b", 240), ...values("a", 10)].map(({ value }) => ({ value, tag: "c" }))
    )
    assert.isAtMost(most(), 250)
    assert.lengthOf(uncovered, 250)
    assert.isTrue(said().every((rule) => rule.endsWith("[c]")))
  })
})

const Rules = Schema.Array(
  Schema.Struct({ value: Schema.Literals(["a", "(a)", "b", "(b)", "c", "d", "e"]), tag: Schema.Literals(["x", "y"]) })
).check(Schema.isMaxLength(6))

/** Rules with different values, as a service has them. */
const distinct = (
  rules: typeof Rules.Type,
  keyOf: (value: string) => string
) => [...new Map(rules.map((rule) => [keyOf(rule.value), rule])).values()]

const twoRuns = {
  before: Rules,
  wished: Rules,
  delays: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_000 }))),
  room: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })),
  counts: Schema.Boolean,
  normalizes: Schema.Boolean,
  killedAt: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60_000 })),
  isKilled: Schema.Boolean
}

/** Two runs with the same desired rules. The first one may be interrupted. */
const runTwice = (
  { before, counts, delays, isKilled, killedAt, normalizes, room, wished }: Schema.Struct<typeof twoRuns>["Type"]
) =>
  Effect.gen(function*() {
    let next = 0
    const initial = distinct(before, normalizes ? meaningOf : (value) => value)
    const desired = distinct(wished, meaningOf)
    const isRoomy = room > 0
    const cap = isRoomy ? 100 : Math.max(initial.length, desired.length)
    const service = start(initial, {
      cap,
      normalizes,
      counts: counts || !isRoomy,
      delay: () => delays[next++ % Math.max(1, delays.length)] ?? 0
    })
    const options = { allowEmpty: true }
    const runs = [
      yield* Effect.forkChild(service.run(desired, options)),
      yield* Effect.forkChild(service.run(desired, options))
    ]
    if (isKilled) {
      yield* TestClock.adjust(killedAt)
      yield* Fiber.interrupt(runs[0]!)
    }
    for (let i = 0; i < 400 && runs.some((run) => run.pollUnsafe() === undefined); i++) {
      yield* TestClock.adjust(5_000)
    }
    const exits = yield* Effect.forEach(runs, Fiber.await)
    for (const exit of exits) assert.isTrue(Exit.isSuccess(exit) || isKilled && exit === exits[0], String(exit))
    const rulesOf = (rules: ReadonlyArray<Wanted>) =>
      rules.map(({ tag, value }) => `${meaningOf(value)} ${tag}`).toSorted()
    assert.deepStrictEqual(rulesOf(service.rules()), rulesOf(desired))
    const [, second] = exits
    if (second !== undefined && Exit.isSuccess(second)) {
      assert.deepStrictEqual(
        second.value.rules.map(({ id }) => id).toSorted(),
        service.rules().map(({ id }) => id).toSorted()
      )
    }
    assert.isAtMost(service.most(), cap)
    if (!isRoomy || normalizes) return
    const wanted = new Set(desired.map(({ value }) => meaningOf(value)))
    const throughout = initial.map(({ value }) => meaningOf(value)).filter((meaning) => wanted.has(meaning))
    for (const effective of service.deletions) {
      assert.includeMembers(effective.map(meaningOf), throughout)
    }
  })

describe("two concurrent runs", () => {
  it.effect.prop("lead to the desired rules without interruption, whenever one of them is killed", twoRuns, runTwice, {
    arbitrary: { runs: process.env["POSTWIRE_LONG"] === "1" ? 2_000 : 60 }
  })

  it.effect("delete the rules that the first one was about to delete when it was killed", () =>
    runTwice({
      before: [{ value: "e", tag: "x" }],
      wished: [{ value: "e", tag: "y" }, { value: "c", tag: "x" }],
      delays: [386, 2, 3_441, 2_670],
      room: 0,
      counts: true,
      normalizes: false,
      killedAt: 7_564,
      isKilled: true
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Errors from "../src/errors/Errors.ts"
import * as KeptWebhook from "../src/events/KeptWebhook.ts"
import * as Service from "./support/Service.ts"
import { test } from "./support/Test.ts"
import * as WebhookService from "./support/WebhookService.ts"

type Wanted = KeptWebhook.WantedSubscription

const url = "https://example.com/hook"

const hook = { id: "900", url, valid: true, created_at: "2026-11-24T12:00:00Z" }

const mentions = (user_id: string, tag?: string): Wanted => ({
  event_type: "post.mention.create",
  filter: { user_id },
  ...tag !== undefined && { tag }
})

const there = (user_id: string, more: Partial<WebhookService.Kept> = { webhook_id: "900" }) => ({
  event_type: "post.mention.create",
  filter: { user_id },
  ...more
})

const start = (
  hooks: ReadonlyArray<WebhookService.Hook>,
  initial: ReadonlyArray<Omit<WebhookService.Kept, "subscription_id">> = [],
  options: Partial<WebhookService.Options> = {}
) => {
  const model = WebhookService.make(hooks, initial, options)
  const service = Service.make(model.answer)
  const layer = service.layer(Service.secrets)
  const inTime = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(effect)
      for (let i = 0; i < 200 && fiber.pollUnsafe() === undefined; i++) yield* TestClock.adjust(5_000)
      return yield* Fiber.join(fiber)
    })
  const run = (subscriptions: ReadonlyArray<Wanted>, options?: KeptWebhook.KeepOptions) =>
    KeptWebhook.keepWebhook({ url, subscriptions }, options).pipe(Effect.provide(layer))
  return {
    ...model,
    run,
    sent: () =>
      service.requests.filter(({ method }) => method !== "GET").map(({ body, method, path }) =>
        `${method} ${path} ${body}`.trim()
      ),
    plan: (desired: unknown, options?: KeptWebhook.PlanOptions) =>
      inTime(KeptWebhook.planWebhook(desired as KeptWebhook.WantedWebhook, options).pipe(Effect.provide(layer))),
    keep: (subscriptions: ReadonlyArray<Wanted>, options?: KeptWebhook.KeepOptions) =>
      inTime(run(subscriptions, options)),
    said: () =>
      model.subscriptions().map(({ event_type, filter, tag, webhook_id }) =>
        [event_type, filter.user_id, filter.direction, tag, webhook_id].filter((part) => part !== undefined).join(" ")
      ).toSorted()
  }
}

describe("keepWebhook", () => {
  test("registers, adds, changes and deletes, and does nothing the second time")(function*() {
    const steps: Array<string> = []
    const { keep, said, sent } = start([], [
      there("1", { tag: "old" }),
      there("2", { tag: "x", webhook_id: "7" }),
      there("3", {})
    ])
    const desired = [mentions("1", "new"), mentions("2"), mentions("4"), {
      ...mentions("4"),
      filter: { user_id: "4", direction: "inbound" as const }
    }]
    const done = yield* keep(desired, {
      onProgress: (progress) =>
        void steps.push(
          "subscriptions" in progress ? `${progress.step} ${progress.subscriptions.length}` : progress.step
        )
    })
    assert.deepStrictEqual(said(), [
      "post.mention.create 1 new 900",
      "post.mention.create 2 x 900",
      // It was never one of this webhook.
      "post.mention.create 3",
      "post.mention.create 4 900",
      "post.mention.create 4 inbound 900"
    ])
    assert.deepStrictEqual(steps, ["registered", "changed 1", "changed 1", "added 1", "added 1"])
    assert.deepStrictEqual(done.subscriptions.map(({ subscription_id }) => subscription_id), ["1", "2", "4", "5"])
    assert.deepStrictEqual(done.webhook, hook)
    const requests = sent().length
    yield* keep(desired)
    assert.lengthOf(sent(), requests)
    const { kept } = yield* keep([mentions("1")], { keep: true })
    assert.lengthOf(kept, 3)
    const { removed } = yield* keep([mentions("1")])
    assert.lengthOf(removed, 3)
    assert.deepStrictEqual(said(), ["post.mention.create 1 new 900", "post.mention.create 3"])
  })

  test("deletes in groups of a hundred, after additions")(function*() {
    const { keep, said, sent } = start([hook], Array.from({ length: 250 }, (_, i) => there(String(i))))
    yield* keep([mentions("1000")])
    assert.deepStrictEqual(sent().map((request) => request.split(" ")[0]), ["POST", "DELETE", "DELETE", "DELETE"])
    assert.deepStrictEqual(said(), ["post.mention.create 1000 900"])
  })

  test("plans the same, with the scopes of private events")(function*() {
    const { plan, sent } = start([hook], [there("1"), there("2")])
    const planned = yield* plan({
      url,
      subscriptions: [
        mentions("1", "new"),
        { event_type: "dm.received", filter: { user_id: 3 } },
        { event_type: { unlisted: "brand.new" }, filter: {} }
      ]
    })
    assert.strictEqual(planned.action, "present")
    assert.deepStrictEqual(planned.add, [
      { event_type: "dm.received", filter: { user_id: 3 }, scope: "dm.read" },
      { event_type: { unlisted: "brand.new" }, filter: {} }
    ])
    assert.deepStrictEqual(planned.change.map(({ isMoved, tag }) => [isMoved, tag]), [[false, "new"]])
    assert.deepStrictEqual(planned.remove.map(({ subscription_id }) => subscription_id), ["2"])
    assert.deepStrictEqual(sent(), [])
  })

  test("validates a webhook that the service has marked invalid")(function*() {
    const { keep, sent, webhooks } = start([{ ...hook, valid: false }], [there("1")])
    const { webhook } = yield* keep([mentions("1")])
    assert.isTrue(webhook.valid)
    assert.deepStrictEqual(webhooks(), [hook])
    assert.deepStrictEqual(sent(), ["PUT /2/webhooks/900"])
  })

  test.each([
    { hooks: [], call: "is not registered" },
    { hooks: [{ ...hook, valid: false }], call: "stays invalid" }
  ])("reports why a webhook $call, and what to do")(function*({ hooks }) {
    const { keep, sent } = start(hooks, [], { answers: () => false })
    const error = yield* Service.fails(keep([mentions("1")]), Errors.WebhookRefused)
    assert.strictEqual(error.reason, "CrcValidationFailed")
    assert.strictEqual(
      error.message,
      "keepWebhook: the service refuses the webhook https://example.com/hook: CrcValidationFailed: the address answered 404. " +
        "The program must be running, and answer challenges at this address within three seconds with the consumer secret of this app."
    )
    assert.lengthOf(sent(), 1)
  })

  test("adds the others when some are refused, names the scope, and deletes nothing")(function*() {
    const { keep, said } = start([hook], [there("9")], { refused: ["dm.received"] })
    const error = yield* Service.fails(
      keep([{ event_type: "dm.received", filter: { user_id: "1" } }, mentions("1")]),
      Errors.SubscriptionsRefused
    )
    assert.strictEqual(
      error.message,
      "keepWebhook: the service refuses subscription 1 (dm.received of 1): Events of dm.received are private. " +
        "Private events need their user to authorize the app with the scope dm.read."
    )
    assert.deepStrictEqual(said(), ["post.mention.create 1 900", "post.mention.create 9 900"])
  })

  test("refuses an empty list without allowEmpty, and more than the cap, before any change")(function*() {
    const { keep, said, sent } = start([hook], [there("1"), there("2", {})])
    assert.strictEqual(
      (yield* Effect.flip(keep([]))).message,
      "keepWebhook: desired.subscriptions must not be empty: all 1 would be deleted. Set allowEmpty: true to delete them."
    )
    assert.strictEqual(
      (yield* Effect.flip(keep([mentions("3"), mentions("4")], { cap: 2 }))).message,
      "keepWebhook: desired.subscriptions would give the app 3 subscriptions, 1 of them not of this webhook, and the maximum is 2. " +
        "Omit some, or raise cap if the app may have more."
    )
    assert.deepStrictEqual(sent(), [])
    yield* keep([mentions("3")], { cap: 2 })
    assert.deepStrictEqual(said(), ["post.mention.create 2", "post.mention.create 3 900"])
    yield* keep([], { allowEmpty: true })
    assert.deepStrictEqual(said(), ["post.mention.create 2"])
  })

  test("makes room first if there is none")(function*() {
    const { keep, most, sent } = start([hook], [there("1"), there("2")])
    yield* keep([mentions("3"), mentions("4")], { cap: 2 })
    assert.strictEqual(most(), 2)
    assert.deepStrictEqual(sent().map((request) => request.split(" ")[0]), ["DELETE", "POST", "POST"])
  })

  test.each(["before", "after"] as const)("finds out what became of creates whose answers are lost %s they happened")(
    function*(when) {
      let lost = 0
      const { keep, said, webhooks } = start([], [], { loses: () => lost++ % 2 === 1 ? when : undefined })
      yield* keep([mentions("1"), mentions("2"), mentions("3")])
      assert.lengthOf(webhooks(), 1)
      assert.deepStrictEqual(said(), [1, 2, 3].map((user) => `post.mention.create ${user} 900`))
    }
  )

  test("finds a webhook that was registered before the answer was lost")(function*() {
    const { keep, sent } = start([], [], { loses: () => "after" })
    const { webhook } = yield* keep([])
    assert.deepStrictEqual(webhook, hook)
    assert.lengthOf(sent(), 1)
  })

  test("deletes what it has twice, and takes none from another webhook that it has itself")(function*() {
    const elsewhere = there("1", { webhook_id: "7" })
    const { keep, said } = start([hook], [elsewhere, there("1"), there("1"), there("2")], { allowsTwins: true })
    const { kept } = yield* keep([mentions("1")], { keep: true })
    assert.lengthOf(kept, 1)
    assert.deepStrictEqual(said(), [
      "post.mention.create 1 7",
      "post.mention.create 1 900",
      "post.mention.create 2 900"
    ])
  })

  test("gives up when a service keeps losing creates")(function*() {
    const { keep, sent } = start([hook], [], { loses: () => "before" })
    const error = yield* Effect.flip(keep([mentions("1"), mentions("2")]))
    assert.strictEqual(error._tag, "OutcomeUnknown")
    assert.lengthOf(sent(), 4)
    const registering = start([], [], { loses: () => "before" })
    assert.strictEqual((yield* Effect.flip(registering.keep([])))._tag, "OutcomeUnknown")
    assert.lengthOf(registering.sent(), 1)
  })

  test("names the member that is wrong, and sends nothing")(function*() {
    const { plan, sent } = start([hook])
    const wrong: ReadonlyArray<readonly [unknown, string]> = [
      [undefined, "desired must be an object with url and subscriptions"],
      [{ subscriptions: [] }, "desired.url is required"],
      [{ url: "", subscriptions: [] }, "desired.url must be text, 1 to 200 characters"],
      [{ url }, "desired.subscriptions must be a list of subscriptions"],
      [
        { url, subscriptions: [mentions("1"), 5] },
        "desired.subscriptions[1] must be an object with event_type and filter. Got 5"
      ],
      [{ url, subscriptions: [{ filter: {} }] }, "desired.subscriptions[0].event_type is required"],
      [
        { url, subscriptions: [{ event_typ: "post.create", filter: {} }] },
        "desired.subscriptions[0].event_typ is not part of a subscription (did you mean event_type?)"
      ],
      [
        { url, subscriptions: [{ event_type: "post.create", filter: { user_id: "ada" } }] },
        "desired.subscriptions[0].filter must be an object with user_id, keyword or direction (inbound or outbound)"
      ],
      [
        { url, subscriptions: [{ event_type: "post.create", filter: { userid: "1" } }] },
        "desired.subscriptions[0].filter.userid is not part of a filter (did you mean user_id?)"
      ],
      [
        { url, subscriptions: [mentions("1", "a"), mentions("1", "b")] },
        "desired.subscriptions[1].tag must be the tag of subscriptions[0], which is equal"
      ]
    ]
    for (const [desired, message] of wrong) {
      const error = yield* Effect.flip(plan(desired))
      assert.strictEqual(error._tag, "InvalidParameters")
      assert.include(error.message, `planWebhook: ${message}`)
    }
    assert.deepStrictEqual(sent(), [])
  })
})

const Users = Schema.Array(Schema.Literals(["1", "2", "3", "4"])).check(Schema.isMaxLength(5))

const twoRuns = {
  before: Users,
  wished: Users,
  elsewhere: Schema.Boolean,
  isRegistered: Schema.Boolean,
  allowsTwins: Schema.Boolean,
  conflict: Schema.Literals([400, 409]),
  loses: Schema.Array(Schema.Literals(["before", "after", "not"])),
  delays: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 900 }))),
  killedAt: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 })),
  isKilled: Schema.Boolean
}

/** Two runs with the same desired webhook. The first one may be interrupted. */
const runTwice = (
  { allowsTwins, before, conflict, delays, elsewhere, isKilled, isRegistered, killedAt, loses, wished }: Schema.Struct<
    typeof twoRuns
  >["Type"]
) =>
  Effect.gen(function*() {
    let next = 0
    let lost = 0
    const users = allowsTwins ? before : [...new Set(before)]
    const service = start(
      isRegistered ? [hook] : [],
      users.map((user) => there(user, elsewhere || !isRegistered ? {} : undefined)),
      {
        allowsTwins,
        conflict,
        delay: () => delays[next++ % Math.max(1, delays.length)] ?? 0,
        // A service that loses everything ends a run, which is another test.
        loses: () => {
          const how = loses[lost++]
          return how === "not" ? undefined : how
        }
      }
    )
    const desired = [...new Set(wished)].map((user) => mentions(user))
    const run = service.run(desired, { allowEmpty: true }).pipe(
      Effect.retry({ times: loses.length, while: ({ _tag }) => _tag === "OutcomeUnknown" })
    )
    const runs = [yield* Effect.forkChild(run), yield* Effect.forkChild(run)]
    if (isKilled) {
      yield* TestClock.adjust(killedAt)
      yield* Fiber.interrupt(runs[0]!)
    }
    const wait = Effect.fnUntraced(function*(runs: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) {
      for (let i = 0; i < 400 && runs.some((run) => run.pollUnsafe() === undefined); i++) yield* TestClock.adjust(1_000)
      return yield* Effect.forEach(runs, Fiber.await)
    })
    const exits = yield* wait(runs)
    // What the killed run has left, the next one finds.
    if (isKilled) exits.push(...(yield* wait([yield* Effect.forkChild(run)])))
    for (const exit of exits) assert.isTrue(Exit.isSuccess(exit) || isKilled && exit === exits[0], String(exit))
    assert.lengthOf(service.webhooks(), 1)
    assert.deepStrictEqual(
      service.subscriptions().filter(({ webhook_id }) => webhook_id === "900").map(({ filter }) => filter.user_id)
        .toSorted(),
      desired.map(({ filter }) => filter.user_id).toSorted()
    )
  })

describe("two concurrent runs", () => {
  it.effect.prop("lead to the desired webhook, whenever one of them is killed", twoRuns, runTwice, {
    arbitrary: { runs: process.env["POSTWIRE_LONG"] === "1" ? 1_000 : 60 }
  })
})

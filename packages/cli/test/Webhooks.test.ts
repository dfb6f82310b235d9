/** `postwire webhooks` against a sandbox and a program on loopback, and the files that it reads. */
import { assert, describe, it, layer } from "@effect/vitest"
import { webhook } from "@postwire/node/Webhook"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Service from "../../core/test/support/Service.ts"
import * as Replay from "../src/events/Replay.ts"
import * as Commands from "./Commands.ts"

/** A program that answers challenges of the sandbox. */
const program = Effect.gen(function*() {
  const { seeded } = yield* Sandbox.Sandbox
  const hook = yield* Effect.acquireRelease(
    Effect.sync(() => webhook({ secrets: Redacted.value(seeded.consumerSecret), onEvent: () => {} })),
    (hook) => Effect.promise(() => hook.close())
  )
  const { baseUrl } = yield* Commands.serve(hook.listener)
  return `${baseUrl}/hook`
})

const desk = Effect.fnUntraced(function*() {
  const sandbox = yield* Sandbox.Sandbox
  sandbox.reset()
  const variables = yield* Commands.variables()
  const file = join(yield* Commands.folder, "webhook.json")
  const url = yield* program
  const run = (...args: ReadonlyArray<string>) =>
    Effect.map(Commands.runWith(variables, "webhooks", ...args), (ended) => ({
      ...ended,
      output: ended.output.replaceAll(url, "URL"),
      errors: ended.errors.replaceAll(file, "webhook.json").replaceAll(url, "URL")
    }))
  const [ada, other] = [sandbox.seeded.ada.id, sandbox.user({ username: "otherone" }).id]
  return {
    ada,
    other,
    sandbox,
    url,
    run,
    webhooks: (command: string, content: unknown, ...args: ReadonlyArray<string>) => {
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
      return run(command, file, ...args)
    }
  }
})

layer(Sandbox.layerServer({ posts: 0 }), { excludeTestServices: true })("webhooks", (it) => {
  it.effect("plan shows the changes, apply makes them, and list prints the file", () =>
    Effect.gen(function*() {
      const { ada, other, run, url, webhooks } = yield* desk()
      const first = {
        url,
        subscriptions: [
          { event_type: "post.mention.create", filter: { user_id: ada }, tag: "mentions" },
          { event_type: "profile.update.bio", filter: { user_id: other } }
        ]
      }
      const planned = yield* webhooks("plan", first)
      assert.deepStrictEqual(planned.output.split("\n"), [
        "URL  to be registered: its program must be running",
        "0 subscriptions of 1,500, 2 to add, 0 to delete, 0 there already",
        `  + post.mention.create of ${ada} [mentions]`,
        `  + profile.update.bio of ${other}`,
        "Events of post.mention.create: $0.005 each, with their user's scope post.read",
        "Events of profile.update.bio: $0.005 each"
      ])
      const applied = yield* webhooks("apply", first)
      assert.strictEqual(applied.output, "URL is valid, with 2 subscriptions: 2 added, 0 changed, 0 deleted")
      assert.include(applied.errors, "postwire: Registered URL.\npostwire: Added 2 of 2 subscriptions.")
      const listed = yield* run("list")
      assert.match(listed.output, /^URL {2}valid {2}\d+\n/)
      assert.include(listed.output, `    post.mention.create of ${ada} [mentions]`)
      const { webhooks: [written] } = JSON.parse((yield* run("list", "--json")).output)
      const again = yield* webhooks("apply", { ...written, url })
      assert.strictEqual(again.output, "URL is valid, with 2 subscriptions: 0 added, 0 changed, 0 deleted")
    }).pipe(Effect.scoped))

  it.effect("apply deletes only what a user agrees to", () =>
    Effect.gen(function*() {
      const { ada, other, run, url, webhooks } = yield* desk()
      const [a, b] = [ada, other].map((user_id) => ({ event_type: "post.create", filter: { user_id } }))
      yield* webhooks("apply", { url, subscriptions: [a, b] })
      const next = { url, subscriptions: [{ ...a, tag: "ada" }] }
      const refused = yield* webhooks("apply", next)
      assert.strictEqual(refused.code, 1)
      assert.include(refused.errors, "1 of 2 subscriptions would be deleted")
      assert.include(refused.errors, `  - post.create of ${other}\n`)
      assert.include(refused.errors, `  ~ post.create of ${ada} [ada] (was without a tag)`)
      assert.include(
        (yield* webhooks("apply", next, "--keep")).output,
        "with 2 subscriptions: 0 added, 1 changed, 0 deleted"
      )
      assert.include(
        (yield* webhooks("apply", next, "--yes")).output,
        "with 1 subscription: 0 added, 0 changed, 1 deleted"
      )
      const empty = { url, subscriptions: [] }
      assert.include(
        (yield* webhooks("apply", empty, "--yes")).errors,
        "The file has no subscriptions, and 1 of 1 subscription would be deleted"
      )
      yield* webhooks("apply", empty, "--yes", "--allow-empty")
      assert.deepStrictEqual(JSON.parse((yield* run("list", "--json")).output).webhooks[0].subscriptions, [])
    }).pipe(Effect.scoped))

  it.effect("apply enables a webhook again that the service has marked invalid", () =>
    Effect.gen(function*() {
      const { run, sandbox, url, webhooks } = yield* desk()
      const file = { url, subscriptions: [] }
      yield* webhooks("apply", file)
      for (const { id } of sandbox.store.webhooks.all()) sandbox.store.webhooks.setInvalid(id)
      assert.match((yield* run("list")).output, /^URL {2}invalid: nothing is delivered/)
      assert.include((yield* webhooks("plan", file)).output, "URL  invalid, to be validated")
      assert.include((yield* webhooks("apply", file)).errors, "Validated URL.")
      assert.match((yield* run("list")).output, /^URL {2}valid/)
    }).pipe(Effect.scoped))

  it.effect("refusals name the reason, the scope and what to do", () =>
    Effect.gen(function*() {
      const { other, url, webhooks } = yield* desk()
      const far = yield* webhooks("apply", { url: "https://example.com/hook", subscriptions: [] })
      assert.strictEqual(far.code, 1)
      assert.include(far.errors, "the service refuses the webhook https://example.com/hook: UrlValidationFailed")
      const refused = yield* webhooks("apply", {
        url,
        subscriptions: [
          { event_type: "dm.received", filter: { user_id: other } },
          { event_type: "post.create", filter: { user_id: other } },
          { event_type: "like.create", filter: { user_id: other } }
        ]
      })
      assert.strictEqual(refused.code, 1)
      assert.include(refused.errors, `the service refuses subscription 1 (dm.received of ${other})`)
      assert.include(refused.errors, `Subscription 3, like.create of ${other}:`)
      assert.include(refused.errors, "the app with the scope dm.read or like.read.")
    }).pipe(Effect.scoped))

  it.effect("mistakes are reported with their place in the file", () =>
    Effect.gen(function*() {
      const { url, webhooks } = yield* desk()
      for (
        const [content, message] of [
          ["{", "webhook.json is not JSON: "],
          [[], "webhook.json must be an object."],
          [{ url, subscription: [] }, "webhook.json has a member that is not part of a webhook: subscription."],
          [{ subscriptions: [] }, "webhook.json: url is required."],
          [{ url }, "webhook.json: subscriptions must be a list of subscriptions."],
          [
            { url, subscriptions: [{ event_type: "post.created", filter: { user_id: "1" } }] },
            "webhook.json: subscriptions[0].event_type has no such name (did you mean post.create?)"
          ],
          [
            { url, subscriptions: [{ event_type: "post.create", filter: { user: "1" } }] },
            "webhook.json: subscriptions[0].filter.user is not part of a filter"
          ]
        ] as const
      ) {
        const { code, errors } = yield* webhooks("plan", content)
        assert.strictEqual(code, 1)
        assert.include(errors, `postwire: ${message}`)
      }
    }).pipe(Effect.scoped))

  it.effect("replay submits a span, and says what is lost", () =>
    Effect.gen(function*() {
      const { run, sandbox, url, webhooks } = yield* desk()
      yield* webhooks("apply", { url, subscriptions: [] })
      const at = (hoursAgo: number) => new Date(sandbox.clock.now() - hoursAgo * 3_600_000).toISOString()
      const { code, errors, output } = yield* run("replay", "--from", at(3), "--to", at(2), "--json")
      assert.strictEqual(code, 0, errors)
      const { jobs, webhook_id } = JSON.parse(output)
      assert.lengthOf(jobs, 1)
      assert.strictEqual(webhook_id, sandbox.store.webhooks.all()[0]?.id)
      assert.include(
        (yield* run("replay", "--from", at(30), "--to", at(26))).errors,
        "are lost: the service has those of the"
      )
      assert.include(
        (yield* run("replay", "--from", "yesterday", "--to", at(2))).errors,
        "--from must be a time such as"
      )
      assert.include((yield* run("replay", "--from", at(3), "--to", at(2), "--webhook", "1")).errors, "no such webhook")
    }).pipe(Effect.scoped))
})

describe("a job of a replay", () => {
  const span = { from: Date.UTC(2026, 10, 2, 8), to: Date.UTC(2026, 10, 2, 10) }
  const conflict = { status: 409, body: { title: "Conflict", detail: "ReplayConflictError: it runs" } }

  it.effect("waits while the service runs another one, and says so once", () =>
    Effect.gen(function*() {
      const { layer, requests } = Service.make((_, index) =>
        index < 3 ? conflict : { body: { data: { job_id: "7", created_at: "2026-11-02T12:00:00Z" } } }
      )
      const fiber = yield* Effect.forkChild(Effect.provide(Replay.submit("900", span), layer()))
      yield* TestClock.adjust("90 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "7")
      assert.deepStrictEqual(
        requests.map(({ body }) => body),
        Array.from(
          { length: 4 },
          () => JSON.stringify({ webhook_id: "900", from_date: "202611020800", to_date: "202611021000" })
        )
      )
      assert.deepStrictEqual(yield* TestConsole.errorLines, [
        "postwire: The service still runs a replay of this webhook; waiting for its end."
      ])
    }).pipe(Effect.provide(TestConsole.layer)))

  it.effect("is given up after two hours", () =>
    Effect.gen(function*() {
      const { layer } = Service.make(() => conflict)
      const fiber = yield* Effect.forkChild(Effect.flip(Effect.provide(Replay.submit("900", span), layer())))
      yield* TestClock.adjust("2 hours")
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "UnexpectedStatus")
    }).pipe(Effect.provide(TestConsole.layer)))
})

describe("the jobs of a replay", () => {
  const minute = 60_000
  const now = Date.UTC(2026, 10, 2, 12)
  const ago = (from: number, to: number) => ({ from: now - from * minute, to: now - to * minute })
  const minutesAgo = (millis: number) => (now - millis) / minute

  it("are of at most two hours, without a gap between them", () => {
    const { later, lost, spans } = Replay.jobsOf(ago(325, 15), now)
    assert.deepStrictEqual(spans.map(({ from, to }) => [minutesAgo(from), minutesAgo(to)]), [[325, 222], [222, 118], [
      118,
      15
    ]])
    assert.deepStrictEqual([lost, later], [undefined, undefined])
  })

  it("leave out what is lost, and what cannot be replayed yet", () => {
    const { later, lost, spans } = Replay.jobsOf(ago(1_500, 0), now)
    assert.deepStrictEqual(minutesAgo(spans[0]!.from), 1_439)
    assert.deepStrictEqual(minutesAgo(spans.at(-1)!.to), 10)
    assert.deepStrictEqual(lost, ago(1_500, 1_439))
    assert.deepStrictEqual(later, ago(10, 0))
    // The last one must begin 31 minutes ago, too.
    assert.isTrue(Replay.jobsOf(ago(140, 10), now).spans.every(({ from }) => minutesAgo(from) >= 31))
    assert.deepStrictEqual(Replay.jobsOf(ago(20, 10), now).spans, [])
    assert.deepStrictEqual(Replay.jobsOf(ago(3_000, 2_000), now), { spans: [], lost: ago(3_000, 2_000) })
  })
})

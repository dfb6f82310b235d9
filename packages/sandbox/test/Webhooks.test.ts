import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Receiver from "./support/Receiver.ts"
import { type Authorization, type Bench, make, minute, now } from "./support/Requests.ts"

/** Registers an address, by default a new one that passes the check. */
const register = (
  { request, seeded: { consumerSecret } }: Bench,
  url = Receiver.addressOf(consumerSecret),
  as: Authorization = "app"
) => request("POST", "/2/webhooks", { as, body: { url } })

const reasonOf = (answer: { readonly body: { readonly errors: ReadonlyArray<{ readonly message: string }> } }) =>
  answer.body.errors[0]?.message.split(":")[0]

describe("a webhook", () => {
  it.effect("is registered, listed, checked and deleted", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const url = Receiver.addressOf(bench.seeded.consumerSecret)
      const { body: { data: hook }, status } = yield* register(bench, url)
      assert.strictEqual(status, 200)
      assert.deepInclude(hook, { url, valid: true, created_at: new Date(now).toISOString() })
      const listed = yield* bench.request("GET", "/2/webhooks", { as: "app" })
      assert.deepStrictEqual(listed.body, { data: [hook], meta: { result_count: 1 } })
      const { store: { webhooks } } = bench
      webhooks.setInvalid(hook.id)
      assert.isFalse((yield* bench.request("GET", "/2/webhooks", { as: "app" })).body.data[0].valid)
      const checked = yield* bench.request("PUT", `/2/webhooks/${hook.id}`, { as: "app" })
      assert.deepStrictEqual(checked.body, { data: { valid: true } })
      assert.isTrue(webhooks.byId(hook.id)?.valid)
      const deleted = yield* bench.request("DELETE", `/2/webhooks/${hook.id}`, { as: "app" })
      assert.deepStrictEqual(deleted.body, { data: { deleted: true } })
      assert.deepStrictEqual((yield* bench.request("GET", "/2/webhooks", { as: "app" })).body.meta, { result_count: 0 })
      const missing = yield* bench.request("DELETE", `/2/webhooks/${hook.id}`, { as: "app" })
      assert.strictEqual(missing.status, 404)
      assert.strictEqual(reasonOf(missing), "WebhookIdInvalid")
    }).pipe(Effect.scoped))

  it.effect("has an address of this machine, on any port", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      for (const address of ["http://localhost:1/a", "https://127.0.0.1:1/b", "http://[::1]:1/c?d=e"]) {
        // Nothing listens there.
        assert.strictEqual(reasonOf(yield* register(bench, address)), "CrcValidationFailed", address)
      }
      for (
        const address of [
          "https://example.com/hook",
          "http://127.0.0.1.example.com/",
          "ftp://localhost/",
          "hook",
          "//localhost/"
        ]
      ) {
        const refused = yield* register(bench, address)
        assert.strictEqual(refused.status, 400, address)
        assert.strictEqual(reasonOf(refused), "UrlValidationFailed", address)
        assert.include(refused.body.errors[0].message, "only addresses of this machine")
      }
    }).pipe(Effect.scoped))

  it.effect("is refused twice, and beyond the limit of its app", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const url = Receiver.addressOf(bench.seeded.consumerSecret)
      yield* register(bench, url)
      assert.strictEqual(reasonOf(yield* register(bench, url)), "DuplicateUrlFailed")
      const newcomer = bench.newcomer({ access: "standard" })
      const secret = Redacted.make("newcomer-1-secret")
      assert.strictEqual((yield* register(bench, Receiver.addressOf(secret), newcomer)).status, 200)
      const beyond = yield* register(bench, Receiver.addressOf(secret), newcomer)
      assert.strictEqual(reasonOf(beyond), "WebhookLimitExceeded")
      for (let i = 2; i <= 5; i++) assert.strictEqual((yield* register(bench)).status, 200)
      assert.strictEqual(reasonOf(yield* register(bench)), "WebhookLimitExceeded")
    }).pipe(Effect.scoped))

  it.effect("of another app is unknown", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { body: { data: { id } } } = yield* register(bench)
      const as = bench.newcomer()
      for (
        const [method, path] of [
          ["PUT", `/2/webhooks/${id}`],
          ["DELETE", `/2/webhooks/${id}`],
          ["POST", `/2/posts/search/webhooks/${id}`],
          ["DELETE", `/2/posts/search/webhooks/${id}`],
          ["GET", `/2/account_activity/webhooks/${id}/subscriptions/all/list`]
        ] as const
      ) assert.strictEqual((yield* bench.request(method, path, { as })).status, 404, path)
    }).pipe(Effect.scoped))

  it.effect("is linked to the filtered stream by apps with full access", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { body: { data: { id } } } = yield* register(bench)
      const path = `/2/posts/search/webhooks/${id}`
      const links = () => bench.request("GET", "/2/posts/search/webhooks", { as: "app" })
      assert.deepStrictEqual((yield* links()).body, { data: [] })
      assert.deepStrictEqual((yield* bench.request("POST", path, { as: "app" })).body, { data: { provisioned: true } })
      assert.deepNestedInclude((yield* links()).body.data[0], {
        webhook_id: id,
        created_at: new Date(now).toISOString()
      })
      assert.deepStrictEqual((yield* bench.request("DELETE", path, { as: "app" })).body, { data: { deleted: true } })
      assert.deepStrictEqual((yield* bench.request("DELETE", path, { as: "app" })).body, { data: { deleted: false } })
      const standard = bench.newcomer({ access: "standard" })
      const secret = Redacted.make("newcomer-1-secret")
      const { body: { data: other } } = yield* register(bench, Receiver.addressOf(secret), standard)
      const refused = yield* bench.request("POST", `/2/posts/search/webhooks/${other.id}`, { as: standard })
      assert.strictEqual(refused.status, 403)
      assert.match(refused.body.detail, /Enterprise/)
    }).pipe(Effect.scoped))

  it.effect("of Account Activity has users", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, request } = bench
      const url = Receiver.addressOf(bench.seeded.consumerSecret)
      const { body: { data: { id } } } = yield* register(bench, url)
      const path = `/2/account_activity/webhooks/${id}/subscriptions/all`
      const subscribed = { data: { subscribed: true } }
      const unsubscribed = { data: { subscribed: false } }
      assert.deepStrictEqual((yield* request("GET", path)).body, unsubscribed)
      assert.deepStrictEqual((yield* request("POST", path)).body, subscribed)
      assert.deepStrictEqual((yield* request("GET", path)).body, subscribed)
      assert.strictEqual(reasonOf(yield* request("POST", path)), "DuplicateSubscriptionFailed")
      const { body: { data } } = yield* request("GET", `${path}/list`, { as: "app" })
      assert.deepInclude(data, { webhook_id: id, webhook_url: url, subscriptions: [{ user_id: ada.id }] })
      const count = yield* request("GET", "/2/account_activity/subscriptions/count", { as: "app" })
      assert.strictEqual(count.body.data.subscriptions_count_all, "1")
      const one = path.replace("/all", `/${ada.id}/all`)
      assert.deepStrictEqual((yield* request("DELETE", one, { as: "app" })).body, unsubscribed)
      assert.strictEqual(reasonOf(yield* request("DELETE", one, { as: "app" })), "SubscriptionNotFound")
    }).pipe(Effect.scoped))

  it.effect("is in snapshots, with its subscriptions and links", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, request, restore, snapshot } = bench
      const { body: { data: { id } } } = yield* register(bench)
      yield* request("POST", `/2/posts/search/webhooks/${id}`, { as: "app" })
      yield* request("POST", `/2/account_activity/webhooks/${id}/subscriptions/all`)
      yield* request("POST", "/2/activity/subscriptions", {
        as: "app",
        body: { event_type: "post.create", filter: { user_id: ada.id }, tag: "own", webhook_id: id }
      })
      const everything = Effect.gen(function*() {
        const read = (path: string) => Effect.map(request("GET", path, { as: "app" }), ({ body }) => body.data ?? [])
        return [
          yield* read("/2/webhooks"),
          yield* read("/2/posts/search/webhooks"),
          yield* read("/2/activity/subscriptions"),
          (yield* request("GET", `/2/account_activity/webhooks/${id}/subscriptions/all`)).body.data
        ]
      })
      const before = yield* everything
      const kept = snapshot()
      yield* request("DELETE", `/2/webhooks/${id}`, { as: "app" })
      // The subscription remains, for the stream.
      assert.notProperty((yield* everything)[2][0], "webhook_id")
      yield* TestClock.adjust(minute)
      restore(kept)
      assert.deepStrictEqual(yield* everything, before)
      const copy = yield* make({ posts: 0, seed: 2 })
      copy.restore(kept)
      assert.lengthOf(copy.store.webhooks.all(), 1)
      assert.isFalse(copy.store.activity.isEmpty())
    }).pipe(Effect.scoped))
})

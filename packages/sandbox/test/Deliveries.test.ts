import { assert, describe, it } from "@effect/vitest"
import * as Webhook from "@postwire/core/events/Webhook"
import type { WebhookEvent } from "@postwire/core/events/WebhookEvent"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { Behaviour } from "../src/faults/Faults.ts"
import * as Receiver from "./support/Receiver.ts"
import { day, make, minute, now } from "./support/Requests.ts"

const hour = 60 * minute

/** A sandbox, and a webhook that is registered in it and gets the posts of ada. */
const begin = Effect.gen(function*() {
  const bench = yield* make({ posts: 0 })
  const { ada, request, sandbox, seeded: { consumerSecret } } = bench
  const receiver = yield* Receiver.make(consumerSecret)
  const register = request("POST", "/2/webhooks", { as: "app", body: { url: receiver.url } })
  const { body: { data: { id } } } = yield* register
  const subscribe = (event_type: string, filter: object = { user_id: ada.id }) =>
    request("POST", "/2/activity/subscriptions", { as: "app", body: { event_type, filter, webhook_id: id } })
  yield* subscribe("post.create")
  const { received } = receiver
  return {
    ...bench,
    clock: sandbox.clock,
    deliveries: sandbox.deliveries,
    receiver,
    received,
    id: String(id),
    subscribe,
    isValid: () => bench.store.webhooks.byId(id)?.valid,
    texts: () => received.map(textOf),
    /** The deliveries of events, in short. */
    outcomes: () =>
      sandbox.deliveries.list().flatMap(({ attempt, event, state, status }) =>
        event === "challenge" ? [] : `${attempt} ${state} ${status}`
      ),
    /** Waits until this many attempts have ended. */
    attempts: (count: number) =>
      Receiver.until(() => sandbox.deliveries.list().filter(({ event }) => event !== "challenge").length >= count),
    challenges: (count: number) =>
      Receiver.until(() => sandbox.deliveries.list().filter(({ event }) => event === "challenge").length >= count)
  }
})

const textOf = ({ body }: Receiver.Received) => {
  const { payload } = body["data"] ?? {}
  return typeof payload === "object" && payload !== null ? Reflect.get(payload, "text") : undefined
}

describe("the check of a webhook", () => {
  const reasonFor = Effect.fnUntraced(function*(challenge: (url: string) => Receiver.Reply | undefined) {
    const { request, seeded: { consumerSecret } } = yield* make({ posts: 0 })
    const receiver = yield* Receiver.make(consumerSecret)
    receiver.answers.challenge = challenge
    const { body, status } = yield* request("POST", "/2/webhooks", { as: "app", body: { url: receiver.url } })
    assert.strictEqual(status, 400)
    assert.strictEqual(receiver.challenges.length, 1)
    return String(body.errors[0].message)
  })

  it.effect("sends one challenge, and says why it failed", () =>
    Effect.gen(function*() {
      const wrong = Redacted.make("another secret")
      for (
        const [reply, reason] of [
          [(url: string) => ({ body: Receiver.answerTo(wrong, url) }), "The `response_token` is wrong"],
          [() => ({ body: "{" }), "The `response_token` is wrong"],
          [() => ({ status: 302, headers: { location: "/elsewhere" } }), "the redirect 302"],
          [() => ({ status: 204 }), "status 204, not 200"],
          [() => ({ status: 404 }), "status 404, not 200"],
          [() => ({ headers: { "content-encoding": "gzip" }, body: "{}" }), "content-encoding"]
        ] as const
      ) {
        const message = yield* reasonFor(reply)
        assert.match(message, /^CrcValidationFailed: /)
        assert.include(message, reason)
      }
    }).pipe(Effect.scoped))

  it.effect("has tokens that no delivery can be, beside the query of the address", () =>
    Effect.gen(function*() {
      const { request, seeded: { consumerSecret } } = yield* make({ posts: 0 })
      const receiver = yield* Receiver.make(consumerSecret)
      const url = `${receiver.url}?of=%20me#here`
      assert.strictEqual((yield* request("POST", "/2/webhooks", { as: "app", body: { url } })).status, 200)
      assert.match(receiver.challenges[0] ?? "", /^\/hook\?of=%20me&crc_token=[A-Za-z0-9_-]{32}$/)
    }).pipe(Effect.scoped))

  it.effect("fails after 10 seconds, and without TLS", () =>
    Effect.gen(function*() {
      const { request, seeded: { consumerSecret } } = yield* make({ posts: 0 })
      const receiver = yield* Receiver.make(consumerSecret)
      receiver.answers.challenge = () => undefined
      const register = (url: string) => request("POST", "/2/webhooks", { as: "app", body: { url } })
      const pending = yield* Effect.forkChild(register(receiver.url))
      yield* Receiver.until(() => receiver.challenges.length > 0)
      yield* TestClock.adjust("9999 millis")
      assert.isUndefined(pending.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const late = yield* Fiber.join(pending)
      assert.include(late.body.errors[0].message, "CrcValidationFailed: It did not respond within 10 seconds")
      const plain = yield* register(receiver.url.replace("http:", "https:"))
      assert.include(plain.body.errors[0].message, "CrcValidationFailed: TLS failed")
    }).pipe(Effect.scoped))

  it.effect("is repeated a day after the last success, and fails for good four hours later", () =>
    Effect.gen(function*() {
      const { challenges, clock, id, isValid, receiver, request } = yield* begin
      clock.advance(day - 1)
      assert.strictEqual(receiver.challenges.length, 1)
      clock.advance(1)
      yield* challenges(2)
      receiver.answers.challenge = () => ({ status: 503 })
      clock.advance(day)
      yield* challenges(3)
      assert.isTrue(isValid())
      clock.advance(4 * hour - 1)
      yield* challenges(4)
      assert.isTrue(isValid())
      clock.advance(30 * minute)
      yield* challenges(5)
      yield* Receiver.until(() => isValid() === false)
      receiver.answers.challenge = (url) => ({ body: Receiver.answerTo(receiver.secret, url) })
      assert.strictEqual((yield* request("PUT", `/2/webhooks/${id}`, { as: "app" })).status, 200)
      assert.isTrue(isValid())
    }).pipe(Effect.scoped))

  it.effect("makes a webhook invalid at once if its answer is wrong", () =>
    Effect.gen(function*() {
      const { ada, attempts, id, isValid, outcomes, receiver, received, request } = yield* begin
      receiver.answers.challenge = () => ({ status: 500 })
      const validate = request("PUT", `/2/webhooks/${id}`, { as: "app" })
      assert.strictEqual((yield* validate).status, 400)
      assert.isTrue(isValid())
      receiver.answers.challenge = () => ({ body: "{}" })
      assert.strictEqual((yield* validate).status, 400)
      assert.isFalse(isValid())
      ada.post("unheard")
      yield* attempts(1)
      assert.deepStrictEqual(outcomes(), ["1 skipped undefined"])
      assert.deepStrictEqual(received, [])
    }).pipe(Effect.scoped))
})

describe("a delivery", () => {
  it.effect("is signed, in the names of the service, in order, and charged once", () =>
    Effect.gen(function*() {
      const { ada, attempts, bill, deliveries, outcomes, receiver, texts } = yield* begin
      bill.clear()
      for (let i = 0; i < 20; i++) ada.post(`${i} ☕`)
      yield* attempts(20)
      assert.deepStrictEqual(texts(), Array.from({ length: 20 }, (_, i) => `${i} ☕`))
      assert.isTrue(receiver.received.every(({ isSigned }) => isSigned))
      assert.deepStrictEqual(new Set(outcomes()), new Set(["1 delivered 200"]))
      assert.strictEqual(bill.statement().dollars, 0.1)
      const [line] = deliveries.list(1, 1)
      assert.notProperty(line, "body")
      const entry = deliveries.entry(line?.id ?? 0)
      assert.strictEqual(entry?.body, receiver.received.at(-1)?.text)
      const delivered = JSON.parse(entry?.body ?? "")
      assert.nestedPropertyVal(delivered, "data.payload.public_metrics.retweet_count_str", "0")
      assert.nestedPropertyVal(delivered, "includes.users[0].id", ada.id)
    }).pipe(Effect.scoped))

  it.effect("is retried after 3, 27 and 242 seconds, while others go on", () =>
    Effect.gen(function*() {
      const { ada, attempts, bill, clock, outcomes, receiver, texts } = yield* begin
      bill.clear()
      receiver.answers.delivery = (request) => ({ status: textOf(request) === "one" ? 500 : 200 })
      ada.post("one")
      ada.post("two")
      yield* attempts(2)
      for (const [i, seconds] of [3, 27, 242].entries()) {
        clock.advance(seconds * 1_000 - 1)
        assert.strictEqual(texts().length, 2 + i)
        clock.advance(1)
        yield* attempts(3 + i)
      }
      clock.advance("1 day")
      assert.deepStrictEqual(outcomes(), [
        "1 failed 500",
        "1 delivered 200",
        "2 failed 500",
        "3 failed 500",
        "4 failed 500"
      ])
      assert.strictEqual(bill.statement().dollars, 0.01)
    }).pipe(Effect.scoped))

  it.effect("is retried after a timeout and a broken connection, and not after a refusal", () =>
    Effect.gen(function*() {
      const { ada, attempts, deliveries, outcomes, receiver } = yield* begin
      receiver.answers.delivery = () => undefined
      ada.post("slow")
      yield* Receiver.until(() => receiver.received.length === 1)
      yield* TestClock.adjust("10 seconds")
      yield* attempts(1)
      receiver.answers.delivery = () => {
        receiver.server.closeAllConnections()
        return undefined
      }
      yield* TestClock.adjust("3 seconds")
      yield* attempts(2)
      assert.match(deliveries.list().at(-1)?.reason ?? "", /^The connection failed \(ECONNRESET\)/)
      receiver.answers.delivery = () => ({ status: 401, body: `no ${Redacted.value(receiver.secret)}` })
      yield* TestClock.adjust("27 seconds")
      yield* attempts(3)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(outcomes(), ["1 failed undefined", "2 failed undefined", "3 failed 401"])
      assert.strictEqual(deliveries.entry(deliveries.list().at(-1)?.id ?? 0)?.answer, "no <redacted>")
    }).pipe(Effect.scoped))

  it.effect("ends with the webhook, and with the state", () =>
    Effect.gen(function*() {
      const { ada, attempts, clock, deliveries, id, receiver, request, sandbox, texts } = yield* begin
      receiver.answers.delivery = () => ({ status: 500 })
      ada.post("one")
      yield* attempts(1)
      const kept = sandbox.snapshot()
      yield* request("DELETE", `/2/webhooks/${id}`, { as: "app" })
      clock.advance("3 seconds")
      sandbox.restore(kept)
      assert.deepStrictEqual(deliveries.list(), [])
      receiver.answers.delivery = () => ({})
      clock.advance("1 hour")
      ada.post("two")
      yield* attempts(1)
      assert.deepStrictEqual(texts(), ["one", "two"])
    }).pipe(Effect.scoped))
})

describe("a fault of deliveries", () => {
  const run = Effect.fnUntraced(function*(behaviour: Behaviour, nth = 2) {
    const bench = yield* begin
    bench.sandbox.faults.add({ operation: "deliverEvent", nth, ...behaviour })
    for (const text of ["one", "two", "three"]) bench.ada.post(text)
    return bench
  })

  it.effect("sends an event twice, late, signed wrongly or never", () =>
    Effect.gen(function*() {
      const twice = yield* run({ delivery: "duplicate" })
      yield* twice.attempts(4)
      assert.deepStrictEqual(twice.texts(), ["one", "two", "two", "three"])
      assert.strictEqual(twice.bill.statement().dollars, 0.015)
      const late = yield* run({ delivery: "out-of-order" })
      yield* late.attempts(3)
      assert.deepStrictEqual(late.texts(), ["one", "three", "two"])
      const forged = yield* run({ delivery: "bad-signature" })
      yield* forged.attempts(3)
      assert.deepStrictEqual(forged.received.map(({ isSigned }) => isSigned), [true, false, true])
      assert.deepStrictEqual(forged.deliveries.list(1).map(({ isSigned }) => isSigned), [true, false, true])
      const lost = yield* run({ delivery: "lost" })
      yield* lost.attempts(3)
      assert.deepStrictEqual(lost.texts(), ["one", "three"])
      assert.deepStrictEqual(lost.outcomes(), ["1 delivered 200", "1 lost undefined", "1 delivered 200"])
    }).pipe(Effect.scoped))

  it.effect("is slow: before it, or in sixteen parts", () =>
    Effect.gen(function*() {
      const delayed = yield* run({ delay: "1 minute" }, 1)
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(delayed.texts(), [])
      yield* TestClock.adjust("1 second")
      yield* delayed.attempts(3)
      const slow = yield* run({ pause: "1 second" }, 1)
      yield* Receiver.until(() => slow.receiver.challenges.length > 0)
      yield* TestClock.adjust("10 seconds")
      yield* slow.attempts(3)
      assert.deepStrictEqual(slow.outcomes(), ["1 failed undefined", "1 delivered 200", "1 delivered 200"])
    }).pipe(Effect.scoped))

  it.effect("is no fault of requests, and theirs are none of deliveries", () =>
    Effect.gen(function*() {
      const { ada, attempts, outcomes, request, sandbox: { faults } } = yield* begin
      faults.add({ delivery: "lost" })
      faults.add({ status: 503 })
      assert.strictEqual((yield* request("GET", "/2/users/me")).status, 503)
      ada.post("one")
      yield* attempts(1)
      assert.deepStrictEqual(outcomes(), ["1 lost undefined"])
      assert.throws(() => faults.add({ operation: "getMe", delivery: "lost" }), /deliverEvent/)
    }).pipe(Effect.scoped))
})

describe("a replay", () => {
  const replay = (
    { id, request }: Effect.Success<typeof begin>,
    from: number,
    to: number
  ) => {
    const date = (millis: number) => new Date(millis).toISOString().replace(/\D/g, "").slice(0, 12)
    const body = { webhook_id: id, from_date: date(from), to_date: date(to) }
    return request("POST", "/2/webhooks/replay", { as: "app", body })
  }

  it.effect("brings what was delivered, failed, lost or skipped, and then its end", () =>
    Effect.gen(function*() {
      const bench = yield* begin
      const { ada, attempts, clock, id, receiver, received, sandbox, store, texts } = bench
      ada.post("early")
      yield* attempts(1)
      clock.advance("1 hour")
      receiver.answers.delivery = () => ({ status: 400 })
      ada.post("failed")
      yield* attempts(2)
      receiver.answers.delivery = () => ({})
      sandbox.faults.add({ delivery: "lost" })
      ada.post("lost")
      sandbox.faults.add({ delivery: "duplicate" })
      ada.post("twice")
      yield* attempts(5)
      store.webhooks.setInvalid(id)
      ada.post("skipped")
      yield* attempts(6)
      store.webhooks.setChecked(id, clock.now())
      const at = clock.now()
      clock.advance("1 hour")
      ada.post("late")
      yield* attempts(7)
      received.length = 0
      const { body, status } = yield* replay(bench, at, at + minute)
      assert.strictEqual(status, 200)
      yield* attempts(12)
      assert.deepStrictEqual(texts(), ["failed", "lost", "twice", "skipped", undefined])
      assert.deepInclude(received.at(-1)?.body["replay_job_status"], {
        webhook_id: id,
        job_id: body.data.job_id,
        job_state: "Complete"
      })
      assert.strictEqual(receiver.challenges.length, 2)
    }).pipe(Effect.scoped))

  it.effect("is one at a time, of the past, and sends nothing again", () =>
    Effect.gen(function*() {
      const bench = yield* begin
      const { ada, attempts, clock, outcomes, receiver, received } = bench
      ada.post("one")
      yield* attempts(1)
      const at = now
      clock.advance("1 hour")
      const refusal = (from: number, to: number) =>
        Effect.map(
          replay(bench, from, to),
          ({ body, status }) => `${status} ${body.errors?.[0].message ?? body.detail}`
        )
      const later = clock.now()
      assert.match(yield* refusal(later - 30 * minute, later - 20 * minute), /^400 .*at least 31 minutes/)
      assert.match(yield* refusal(at, later - 9 * minute), /^400 .*at least 10 minutes/)
      assert.match(yield* refusal(at, at), /^400 .*later than/)
      receiver.answers.delivery = () => undefined
      assert.strictEqual((yield* replay(bench, at, at + minute)).status, 200)
      assert.match(yield* refusal(at, at + minute), /^409 ReplayConflictError/)
      yield* Receiver.until(() => received.length === 2)
      yield* TestClock.adjust("10 seconds")
      receiver.answers.delivery = () => ({})
      yield* attempts(3)
      assert.include(received.at(-1)?.body["replay_job_status"], { job_state: "Incomplete" })
      assert.deepStrictEqual(outcomes(), ["1 delivered 200", "1 failed undefined", "1 delivered 200"])
      receiver.answers.challenge = () => ({ status: 500 })
      assert.match(yield* refusal(at, at + minute), /^400 CrcValidationFailed/)
      receiver.answers.challenge = (url) => ({ body: Receiver.answerTo(receiver.secret, url) })
      // Two days later there is nothing to replay.
      clock.advance("2 days")
      assert.strictEqual((yield* replay(bench, at, at + minute)).status, 200)
      yield* attempts(4)
      assert.include(received.at(-1)?.body["replay_job_status"], { job_state: "Complete" })
    }).pipe(Effect.scoped))
})

describe("the filtered stream", () => {
  it.effect("is delivered to linked webhooks, with the rules, and charged as posts", () =>
    Effect.gen(function*() {
      const { ada, attempts, bill, deliveries, id, received, request, sandbox } = yield* begin
      yield* request("POST", "/2/posts/search/stream/rules", {
        as: "app",
        body: { add: [{ value: "cat", tag: "cats" }] }
      })
      yield* request("POST", `/2/posts/search/webhooks/${id}`, { as: "app" })
      const grace = sandbox.user({ username: "grace" })
      bill.clear()
      grace.post("a dog")
      grace.post("a cat")
      yield* attempts(1)
      assert.include(received[0]?.body["data"], { text: "a cat" })
      assert.deepStrictEqual(received[0]?.isSigned, true)
      assert.strictEqual(deliveries.list().at(-1)?.event, "stream.post")
      assert.strictEqual(bill.statement().dollars, 0.005)
      yield* request("DELETE", `/2/posts/search/webhooks/${id}`, { as: "app" })
      grace.post("another cat")
      ada.post("the end")
      yield* attempts(2)
      assert.strictEqual(received.length, 2)
    }).pipe(Effect.scoped))
})

describe("the log", () => {
  it.effect("is listed and read by admin calls, which send an event again", () =>
    Effect.gen(function*() {
      const { ada, adminToken, attempts, id, received, request, store } = yield* begin
      const as = { header: `Bearer ${Redacted.value(adminToken)}` }
      const admin = (method: string, path: string) => request(method, `/_sandbox${path}`, { as })
      ada.post("one")
      yield* attempts(1)
      const { body: { deliveries } } = yield* admin("GET", "/deliveries")
      assert.deepStrictEqual(deliveries.map(({ event }: { readonly event: string }) => event), [
        "challenge",
        "post.create"
      ])
      assert.deepInclude(deliveries[1], { webhookId: id, attempt: 1, state: "delivered", status: 200, isSigned: true })
      const { body: entry } = yield* admin("GET", "/deliveries/2")
      assert.strictEqual(entry.body, received[0]?.text)
      assert.strictEqual(entry.headers["x-twitter-webhooks-signature"], received[0]?.signature)
      assert.strictEqual((yield* admin("POST", "/deliveries/2")).status, 200)
      yield* attempts(2)
      assert.strictEqual(received[1]?.text, received[0]?.text)
      assert.deepInclude((yield* admin("GET", "/deliveries?after=2")).body.deliveries[0], {
        attempt: 2,
        isReplay: true
      })
      for (const path of ["/deliveries/1", "/deliveries/9"]) {
        assert.strictEqual((yield* admin("POST", path)).status, 400)
      }
      assert.strictEqual((yield* admin("GET", "/deliveries/9")).status, 404)
      store.webhooks.setInvalid(id)
      assert.match((yield* admin("POST", "/deliveries/2")).body.errors[0].message, /is invalid/)
      const { body: overview } = yield* admin("GET", "/events")
      assert.deepInclude(overview.webhooks[0], { id, valid: false, checkedAt: new Date(now).toISOString() })
      assert.deepInclude(overview.subscriptions[0], { eventType: "post.create", username: "ada", webhookId: id })
    }).pipe(Effect.scoped))
})

/** The webhook of the client, as a server of Node. */
const client = Effect.fnUntraced(function*(secret: Redacted.Redacted, ack: Webhook.Acknowledgement = "before") {
  const handled: Array<WebhookEvent> = []
  const statuses: Array<number> = []
  const failing = new Set<string>()
  const hook = yield* Webhook.make({
    secrets: [secret],
    ack,
    onEvent: (event) =>
      Effect.suspend(() => {
        handled.push(event)
        return failing.has(event.event_type) ? Effect.fail("later") : Effect.void
      })
  })
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const { server, url } = yield* Effect.acquireRelease(
    Effect.promise(() =>
      Receiver.listen(async (request, response) => {
        const pieces: Array<Buffer> = []
        for await (const piece of request) pieces.push(piece)
        const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
        const answer = await run(hook.handle(
          new Request(new URL(request.url ?? "", url), {
            method: request.method ?? "",
            headers,
            ...request.method === "POST" && { body: Buffer.concat(pieces) }
          })
        ))
        if (request.method === "POST") statuses.push(answer.status)
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
      })
    ),
    ({ server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  return { server, url, handled, statuses, failing }
})

describe("the webhook of the client", () => {
  it.effect("passes the check and handles events of every kind", () =>
    Effect.gen(function*() {
      const { ada, request, sandbox, seeded: { consumerSecret }, store } = yield* make({ posts: 0 })
      const { handled, statuses, url } = yield* client(consumerSecret)
      const { body: { data: { id: webhookId } } } = yield* request("POST", "/2/webhooks", { as: "app", body: { url } })
      const { appId } = store.webhooks.byId(webhookId)!
      const filter = { user_id: ada.id }
      const types = ["post.create", "post.mention.create", "like.create", "follow.follow", "dm.received", "mute.mute"]
      for (const event_type of [...types, "profile.update.bio", "oauth.revoke"]) {
        yield* request("POST", "/2/activity/subscriptions", {
          as: "app",
          body: { event_type, filter, webhook_id: webhookId }
        })
      }
      yield* request("POST", "/2/posts/search/stream/rules", { as: "app", body: { add: [{ value: "cat" }] } })
      yield* request("POST", `/2/posts/search/webhooks/${webhookId}`, { as: "app" })
      const grace = sandbox.user({ username: "grace" })
      const post = ada.post("a cat")
      grace.post("@ada hello")
      grace.likes(post)
      grace.follows(ada)
      grace.message(ada, "hello")
      store.mutes.set(ada.id, grace.id, true)
      store.users.update(ada.id, "profile.update.bio", "New")
      sandbox.grants.revoke(sandbox.grants.make({ app: appId, user: "ada" }).id)
      yield* Receiver.until(() => handled.length === 9)
      assert.deepStrictEqual(handled.map(({ event_type }) => event_type).sort(), [
        "dm.received",
        "follow.follow",
        "like.create",
        "mute.mute",
        "oauth.revoke",
        "post.create",
        "post.mention.create",
        "profile.update.bio",
        "stream.post"
      ])
      const streamed = handled.find(({ event_type }) => event_type === "stream.post")
      assert.deepNestedInclude(streamed, { event_uuid: post.id, "payload.text": "a cat" })
      const mention = handled.find(({ event_type }) => event_type === "post.mention.create")
      assert.deepNestedInclude(mention, { "filter.user_id": ada.id, "payload.text": "@ada hello" })
      assert.deepStrictEqual(new Set(statuses), new Set([200]))
    }).pipe(Effect.scoped))

  it.effect("handles duplicates once, refuses bad signatures, and gets again what it could not handle", () =>
    Effect.gen(function*() {
      const { ada, clock, request, sandbox, seeded: { consumerSecret } } = yield* make({ posts: 0 })
      const { failing, handled, statuses, url } = yield* client(consumerSecret, "after")
      const { body: { data } } = yield* request("POST", "/2/webhooks", { as: "app", body: { url } })
      const body = { event_type: "post.create", filter: { user_id: ada.id }, webhook_id: data.id }
      yield* request("POST", "/2/activity/subscriptions", { as: "app", body })
      const answered = (count: number) => Receiver.until(() => statuses.length === count)
      sandbox.faults.add({ delivery: "duplicate" })
      ada.post("twice")
      yield* answered(2)
      assert.deepStrictEqual([handled.length, statuses], [1, [200, 200]])
      sandbox.faults.add({ delivery: "bad-signature" })
      ada.post("forged")
      yield* answered(3)
      assert.deepStrictEqual([handled.length, statuses[2]], [1, 401])
      failing.add("post.create")
      ada.post("again")
      yield* answered(4)
      failing.clear()
      yield* Receiver.until(() => sandbox.deliveries.list().at(-1)?.retryAt !== undefined)
      clock.advance("3 seconds")
      yield* answered(5)
      assert.deepStrictEqual([handled.length, statuses.slice(3)], [3, [500, 200]])
      clock.advance("1 hour")
      yield* request("POST", "/2/webhooks/replay", {
        as: "app",
        body: { webhook_id: data.id, from_date: "202611201200", to_date: "202611201201" }
      })
      yield* answered(9)
      // The forged one was never handled.
      assert.deepStrictEqual(handled.slice(3).map(({ event_type }) => event_type), ["post.create", "replay_job_status"])
    }).pipe(Effect.scoped))
})

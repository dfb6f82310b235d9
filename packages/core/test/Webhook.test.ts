import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Logger, Metric, Redacted, Schedule, Scheduler, Scope } from "effect"
import * as TestClock from "effect/testing/TestClock"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Signature from "../src/events/Signature.ts"
import * as Webhook from "../src/events/Webhook.ts"
import type { WebhookEvent } from "../src/events/WebhookEvent.ts"
import * as Storage from "../src/storage/Storage.ts"
import signatures from "./fixtures/signatures.json" with { type: "json" }

const secret = Redacted.make("a secret of the app")

const url = "https://example.com/hook"

/** A request as the service sends it. */
const delivery = (body: unknown, { headers = {}, key = secret }: {
  readonly headers?: Record<string, string>
  readonly key?: Redacted.Redacted
} = {}) => {
  const text = typeof body === "string" ? body : JSON.stringify(body)
  return new Request(url, {
    method: "POST",
    body: text,
    headers: { "x-twitter-webhooks-signature": Signature.sign(key, text), ...headers }
  })
}

const follow = (uuid: string, user = "42") => ({
  data: {
    event_uuid: uuid,
    filter: { user_id: user },
    event_type: "follow.follow",
    payload: {
      source: { data: { id: "77", username: "ada", name: "Ada" } },
      target: { data: { id: user, username: "lighthouse", name: "Lighthouse" } }
    }
  }
})

/** A webhook that records its events. */
const recording = (
  { fails = () => false, ...options }: Partial<Webhook.Options<string, never>> & {
    readonly fails?: (event: WebhookEvent) => boolean
  } = {}
) =>
  Effect.gen(function*() {
    const events: Array<WebhookEvent> = []
    const webhook = yield* Webhook.make({
      secrets: [secret],
      onEvent: (event) =>
        Effect.suspend(() => {
          events.push(event)
          return fails(event) ? Effect.fail(`no luck with ${Redacted.value(secret)}`) : Effect.void
        }),
      ...options
    })
    const send = (request: Request) => Effect.map(webhook.handle(request), ({ status }) => status)
    return { webhook, send, events, uuids: () => events.map(({ event_uuid }) => event_uuid) }
  })

/** Computed by Python's hmac. */
const vectors = [...signatures.deliveries, ...signatures.messages].map(({ base64, secret, signature }) => ({
  secret: Redacted.make(secret),
  bytes: Buffer.from(base64, "base64"),
  signature
}))

const python = spawnSync("python3", [fileURLToPath(new URL("support/signatures.py", import.meta.url))], {
  encoding: "utf8"
})

describe("Signature", () => {
  it("matches Python's", () => {
    for (const { bytes, secret, signature } of vectors) assert.strictEqual(Signature.sign(secret, bytes), signature)
  })

  it("matches it without Node", () => {
    const builtin = process.getBuiltinModule
    Reflect.set(process, "getBuiltinModule", () => undefined)
    try {
      for (const { bytes, secret, signature } of vectors) assert.strictEqual(Signature.sign(secret, bytes), signature)
    } finally {
      Reflect.set(process, "getBuiltinModule", builtin)
    }
  })

  it.skipIf(python.error !== undefined)("is what Python computes on this machine, too", () => {
    assert.strictEqual(python.stderr, "")
    assert.deepStrictEqual(JSON.parse(python.stdout), signatures)
  })

  it("signs nothing that can be a delivery", () => {
    for (
      const token of [
        "{\"data\":{\"event_uuid\":\"1\"}}",
        "{}",
        "too-short",
        "A".repeat(129),
        "with a space in it",
        "with\nline\nends\nin it",
        "1234567890123456\n",
        "日本日本日本日本日本日本日本"
      ]
    ) assert.isUndefined(Signature.answer(secret, token))
    assert.strictEqual(Signature.answer(secret, "a-token_of/16+="), undefined)
    assert.strictEqual(Signature.answer(secret, "a-token_of/16+=="), Signature.sign(secret, "a-token_of/16+=="))
  })

  it("is checked in one form only", () => {
    const isSigned = Signature.verifier([secret])
    const body = new TextEncoder().encode("{}")
    const signature = Signature.sign(secret, body)
    assert.isTrue(isSigned(body, signature))
    for (
      const other of [
        signature.slice(7),
        signature.replace("sha256", "sha1"),
        signature.replace(/=$/, ""),
        `${signature}, ${signature}`,
        ` ${signature}`,
        signature.toUpperCase(),
        ""
      ]
    ) assert.isFalse(isSigned(body, other))
  })
})

describe("requests", () => {
  it.effect("answers challenges", () =>
    Effect.gen(function*() {
      const { webhook } = yield* recording()
      const token = "a+b/c=d-e_f0123456789"
      for (const written of [token, encodeURIComponent(token)]) {
        const response = yield* webhook.handle(new Request(`${url}?nonce=1&crc_token=${written}`))
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers.get("content-type"), "application/json")
        assert.deepStrictEqual(yield* Effect.promise(() => response.json()), {
          response_token: Signature.sign(secret, token)
        })
      }
    }))

  it.effect("answers the challenges and takes the deliveries that Python signs", () =>
    Effect.gen(function*() {
      for (const { response_token, secret, token } of signatures.challenges) {
        const { webhook } = yield* recording({ secrets: [Redacted.make(secret)] })
        const response = yield* webhook.handle(new Request(`${url}?crc_token=${encodeURIComponent(token)}`))
        assert.deepStrictEqual(yield* Effect.promise(() => response.json()), { response_token })
      }
      const { events, send } = yield* recording({
        secrets: [...new Set(signatures.deliveries.map(({ secret }) => secret))].map((secret) => Redacted.make(secret))
      })
      for (const { base64, signature } of signatures.deliveries) {
        const body = Buffer.from(base64, "base64")
        const request = new Request(url, { method: "POST", body, headers: { [Signature.header]: signature } })
        assert.strictEqual(yield* send(request), 200)
      }
      assert.deepStrictEqual(
        events.map((event) => event.event_type === "post.mention.create" ? event.payload.text : undefined),
        ["open?", "日本 é 👩🏽‍🚀", "日本 é 👩🏽‍🚀", "spaced", "a".repeat(5_000)]
      )
    }))

  it.effect("signs no delivery for those who challenge it", () =>
    Effect.gen(function*() {
      const { events, webhook } = yield* recording()
      const forged = JSON.stringify(follow("1"))
      for (
        const query of [
          `crc_token=${encodeURIComponent(forged)}`,
          `crc_token=${forged}`,
          `crc_token=${encodeURIComponent(encodeURIComponent(forged))}`,
          "crc_token=abcdefghijklmnopq&crc_token=abcdefghijklmnopr",
          "crc_token=%ff%fe",
          "crc_token=",
          ""
        ]
      ) {
        const response = yield* webhook.handle(new Request(`${url}?${query}`))
        assert.strictEqual(response.status, 400, query)
        assert.notInclude(yield* Effect.promise(() => response.text()), "sha256=")
      }
      // A token may be JSON, but it is no object.
      const number = "1234567890123456"
      const response = yield* webhook.handle(new Request(`${url}?crc_token=${number}`))
      const { response_token } = yield* Effect.promise(() => response.json())
      const replayed = yield* webhook.handle(
        new Request(url, { method: "POST", body: number, headers: { [Signature.header]: response_token } })
      )
      assert.strictEqual(replayed.status, 400)
      assert.deepStrictEqual(events, [])
    }))

  it.effect("answers 10,000 challenges", () =>
    Effect.gen(function*() {
      const { webhook } = yield* recording()
      for (let i = 0; i < 10_000; i++) {
        const { status } = yield* webhook.handle(new Request(`${url}?crc_token=challenge_${10_000_000 + i}`))
        assert.strictEqual(status, 200)
      }
    }))

  it.effect("refuses what is not signed", () =>
    Effect.gen(function*() {
      const { events, send } = yield* recording()
      const signature = Signature.sign(secret, JSON.stringify(follow("1")))
      assert.strictEqual(yield* send(delivery(follow("1"), { key: Redacted.make("another secret") })), 401)
      assert.strictEqual(yield* send(delivery(follow("2"), { headers: { [Signature.header]: signature } })), 401)
      assert.strictEqual(
        yield* send(delivery(follow("1"), { headers: { [Signature.header]: `${signature}, ${signature}` } })),
        401
      )
      assert.strictEqual(yield* send(new Request(url, { method: "POST", body: JSON.stringify(follow("1")) })), 401)
      const twice = delivery(follow("1"))
      twice.headers.append(Signature.header, signature)
      assert.strictEqual(yield* send(twice), 401)
      // Truncated in the middle.
      const text = JSON.stringify(follow("1"))
      assert.strictEqual(
        yield* send(
          new Request(url, { method: "POST", body: text.slice(0, 60), headers: { [Signature.header]: signature } })
        ),
        401
      )
      assert.deepStrictEqual(events, [])
    }))

  it.effect("refuses forms in which the service does not send", () =>
    Effect.gen(function*() {
      const { events, send } = yield* recording()
      assert.strictEqual(yield* send(delivery(follow("1"), { headers: { "content-encoding": "gzip" } })), 415)
      assert.strictEqual(yield* send(delivery(follow("1"), { headers: { "content-length": "3" } })), 400)
      assert.strictEqual(yield* send(delivery(follow("1"), { headers: { "content-length": "12, 12" } })), 400)
      assert.strictEqual(yield* send(delivery(follow("1"), { headers: { "content-length": "99999999" } })), 413)
      assert.strictEqual(yield* send(delivery("x".repeat(1024 * 1024 + 1))), 413)
      assert.strictEqual(yield* send(delivery("not JSON")), 400)
      assert.strictEqual(yield* send(delivery("[]")), 400)
      const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`
      assert.strictEqual(yield* send(delivery(JSON.stringify(follow("1")).replace(/}$/, () => `,"of":${deep}}`))), 400)
      assert.strictEqual(yield* send(delivery("")), 400)
      assert.strictEqual(yield* send(new Request(url, { method: "PUT", body: "{}" })), 405)
      assert.deepStrictEqual(events, [])
    }))

  it.effect("reads chunked bodies, and waits for their end for five seconds", () =>
    Effect.gen(function*() {
      const { send, uuids } = yield* recording()
      const text = JSON.stringify(follow("-3402274206530057"))
      const chunked = (isWhole: boolean) =>
        new Request(url, {
          method: "POST",
          headers: { [Signature.header]: Signature.sign(secret, text) },
          duplex: "half",
          body: new ReadableStream({
            start: (controller) => {
              for (const byte of new TextEncoder().encode(text)) controller.enqueue(new Uint8Array([byte]))
              if (isWhole) controller.close()
            }
          })
        } as RequestInit)
      assert.strictEqual(yield* send(chunked(true)), 200)
      const slow = yield* Effect.forkChild(send(chunked(false)))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(slow), 408)
      assert.deepStrictEqual(uuids(), ["-3402274206530057"])
    }))

  it.effect("says so when the bytes of the body are gone", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
    return Effect.gen(function*() {
      const { webhook } = yield* recording()
      const request = delivery(follow("1"))
      yield* Effect.promise(() => request.json())
      const response = yield* webhook.handle(request)
      assert.strictEqual(response.status, 500)
      assert.include(yield* Effect.promise(() => response.text()), "put the webhook before the body parser")
      assert.lengthOf(lines, 1)
      assert.match(lines[0] ?? "", /^Error The webhook refuses a request: The bytes of the body are gone/)
    }).pipe(Effect.provideService(Logger.CurrentLoggers, new Set([logger])))
  })

  it.effect("accepts each of several secrets", () =>
    Effect.gen(function*() {
      const old = Redacted.make("the secret before")
      const { send, uuids } = yield* recording({ secrets: [secret, old] })
      assert.strictEqual(yield* send(delivery(follow("1"))), 200)
      assert.strictEqual(yield* send(delivery(follow("2"), { key: old })), 200)
      assert.deepStrictEqual(uuids(), ["1", "2"])
    }))

  it.effect("checks its settings", () =>
    Effect.gen(function*() {
      const onEvent = () => Effect.void
      for (
        const [options, setting] of [
          [{ secrets: [], onEvent }, "secrets"],
          [{ secrets: [Redacted.make("")], onEvent }, "secrets"],
          [{ secrets: [secret], onEvent, lease: 0 }, "lease"],
          [{ secrets: [secret], onEvent, lease: Infinity }, "lease"]
        ] as const
      ) {
        const error = yield* Effect.flip(Webhook.make(options))
        assert.strictEqual(error.setting, setting)
      }
    }))
})

describe("events", () => {
  it.effect("are decoded from the names that the service has", () =>
    Effect.gen(function*() {
      const { events, send } = yield* recording()
      yield* send(delivery({
        data: {
          event_uuid: "1",
          filter: { user_id: "42" },
          event_type: "post.mention.create",
          tag: "mentions",
          payload: {
            id: "1900000000000000001",
            text: "open?",
            author_id: "77",
            conversation_id: "1900000000000000001",
            created_at: "1970-01-01T00:00:00.000Z",
            edit_history_tweet_ids: ["1900000000000000001"],
            lang: "en",
            public_metrics: { like_count: 0, like_count_str: "0", retweet_count: 3, retweet_count_str: "3" }
          },
          unheard_of: 1
        },
        includes: { users: [{ id: "77", username: "ada", name: "Ada" }], tweets: [] }
      }))
      const [event] = events
      assert(event?.event_type === "post.mention.create")
      assert.deepStrictEqual(event.payload.edit_history_post_ids, ["1900000000000000001"])
      assert.strictEqual(event.payload.public_metrics?.repost_count, 3)
      assert.strictEqual(event.includes?.users?.[0]?.username, "ada")
    }))

  it.effect("of other kinds come as they are", () =>
    Effect.gen(function*() {
      const { events, send } = yield* recording()
      const bodies = [
        { data: { event_uuid: "1", event_type: "zebra.born", filter: {}, payload: { stripes: 3 } } },
        { replay_job_status: { webhook_id: "1", job_state: "Complete", job_id: "9" } },
        {
          data: { id: "19", text: "a", edit_history_tweet_ids: ["19"], author_id: "77" },
          matching_rules: [{ id: "3", tag: "t" }]
        },
        { for_user_id: "42", favorite_events: [{ id: "a7ba" }] },
        { data: { event_type: "follow.follow" } },
        { data: null },
        {}
      ]
      for (const body of bodies) assert.strictEqual(yield* send(delivery(body)), 200)
      assert.strictEqual(yield* send(delivery(bodies[3])), 200)
      assert.deepStrictEqual(events.map(({ event_type }) => String(event_type)).sort(), [
        "other",
        "other",
        "other",
        "other",
        "replay_job_status",
        "stream.post",
        "zebra.born"
      ])
      const post = events.find(({ event_type }) => event_type === "stream.post")
      assert(post?.event_type === "stream.post")
      assert.deepStrictEqual(post.payload.edit_history_post_ids, ["19"])
      assert.deepStrictEqual(post.matching_rules, [{ id: "3", tag: "t" }])
      const other = events.find((event) => event.event_type === "other" && "for_user_id" in Object(event.payload))
      assert.deepStrictEqual<unknown>(other?.payload, bodies[3])
    }))

  it.effect("with parts of other types are kept without these", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      const { send } = yield* recording({
        onEvent: (_, { anomalies }) => Effect.sync(() => void found.push(...anomalies.map(({ path }) => path)))
      })
      yield* send(delivery({
        data: { event_uuid: "1", event_type: "oauth.revoke", payload: { user_id: 5, app_id: "1234" } }
      }))
      assert.deepStrictEqual(found, ["data.payload.user_id"])
    }))

  it.effect("that come again are not handled again", () =>
    Effect.gen(function*() {
      const { send, uuids } = yield* recording()
      const captured = () => delivery(follow("-1"))
      assert.strictEqual(yield* send(captured()), 200)
      assert.strictEqual(yield* send(captured()), 200)
      yield* TestClock.adjust("25 hours")
      assert.strictEqual(yield* send(captured()), 200)
      yield* TestClock.adjust("46 hours")
      assert.strictEqual(yield* send(captured()), 200)
      assert.deepStrictEqual(uuids(), ["-1"])
      // Another user of the same conversation.
      assert.strictEqual(yield* send(delivery(follow("-1", "43"))), 200)
      assert.deepStrictEqual(uuids(), ["-1", "-1"])
    }))

  it.effect("that are too old are not handled", () =>
    Effect.gen(function*() {
      const { send, uuids } = yield* recording()
      yield* TestClock.adjust("10 days")
      const revoked = (uuid: string, day: number) => ({
        data: {
          event_uuid: uuid,
          event_type: "oauth.revoke",
          payload: { date_time: `1970-01-${String(day).padStart(2, "0")}T00:00:00+00:00`, user_id: "77", app_id: "1" }
        }
      })
      assert.strictEqual(yield* send(delivery(revoked("1", 7))), 200)
      assert.strictEqual(yield* send(delivery(revoked("2", 9))), 200)
      assert.deepStrictEqual(uuids(), ["2"])
    }))

  it.effect("are acknowledged before they are handled, and handled in the order of their user", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const done: Array<string> = []
      const { send } = yield* recording({
        onEvent: ({ event_uuid }) =>
          Effect.andThen(
            event_uuid === "1" ? Deferred.await(gate) : Effect.void,
            Effect.sync(() => void done.push(event_uuid))
          )
      })
      for (const uuid of ["1", "2", "3"]) assert.strictEqual(yield* send(delivery(follow(uuid))), 200)
      assert.strictEqual(yield* send(delivery(follow("4", "43"))), 200)
      assert.deepStrictEqual(done, ["4"])
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.yieldNow
      assert.deepStrictEqual(done, ["4", "1", "2", "3"])
    }))
})

/** A delivery whose body is there already. */
const received = (body: object): Webhook.Incoming => {
  const text = JSON.stringify(body)
  return {
    method: "POST",
    url,
    header: (name) => name === Signature.header ? Signature.sign(secret, text) : undefined,
    read: (_, done) => {
      done(new TextEncoder().encode(text))
      return () => {}
    }
  }
}

describe("a server", () => {
  it.effect.each(["before", "after"] as const)(
    "may be interrupted at any step, with ack %s",
    (ack) =>
      Effect.gen(function*() {
        const { uuids, webhook } = yield* recording({ ack })
        let wasWhole = false
        let sent = 0
        while (!wasWhole) {
          const body = follow(String(++sent))
          // It is suspended after each step.
          const first = yield* Effect.forkChild(
            Effect.provideService(webhook.answer(received(body)), Scheduler.MaxOpsBeforeYield, 3)
          )
          for (let step = 0; step < sent; step++) yield* Effect.yieldNow
          yield* Fiber.interrupt(first)
          wasWhole = Exit.isSuccess(yield* Fiber.await(first))
          const again = yield* Effect.forkChild(webhook.answer(received(body)))
          for (let step = 0; step < 1_000 && again.pollUnsafe() === undefined; step++) yield* Effect.yieldNow
          assert.strictEqual(again.pollUnsafe()?._tag, "Success", `after ${sent} steps`)
        }
        assert.isAbove(sent, 10)
        for (let step = 0; step < 1_000 && uuids().length < sent; step++) yield* Effect.yieldNow
        assert.deepStrictEqual(uuids(), Array.from({ length: sent }, (_, index) => String(index + 1)))
      })
  )
})

describe("failures", () => {
  it.effect("are retried, and become dead letters, which can be replayed and removed", () =>
    Effect.gen(function*() {
      let isBroken = true
      const { send, uuids, webhook } = yield* recording({ fails: ({ event_uuid }) => isBroken && event_uuid !== "2" })
      for (const uuid of ["1", "2", "3"]) yield* send(delivery(follow(uuid)))
      assert.deepStrictEqual(uuids(), ["1"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(uuids(), ["1", "1"])
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(uuids(), [...Array.from({ length: 6 }, () => "1"), "2", "3"])
      yield* TestClock.adjust("31 seconds")
      const letters = yield* webhook.deadLetters.list
      assert.deepStrictEqual(letters.map(({ event }) => event.event_uuid), ["1", "3"])
      assert.include(letters[0]?.reason, "no luck with <redacted>")
      assert.strictEqual(letters[0]?.at.getTime(), 31_000)
      isBroken = false
      assert.isTrue(yield* webhook.deadLetters.replay(letters[0]?.id ?? ""))
      assert.isFalse(yield* webhook.deadLetters.replay(letters[0]?.id ?? ""))
      assert.strictEqual(uuids().at(-1), "1")
      assert.isTrue(yield* webhook.deadLetters.remove(letters[1]?.id ?? ""))
      assert.isFalse(yield* webhook.deadLetters.remove(letters[1]?.id ?? ""))
      assert.deepStrictEqual(yield* webhook.deadLetters.list, [])
    }))

  it.effect("of a program that throws are those of its event", () =>
    Effect.gen(function*() {
      const { send, webhook } = yield* recording({
        onEvent: () => {
          throw new Error("not an Effect")
        },
        retry: Schedule.recurs(0)
      })
      assert.strictEqual(yield* send(delivery(follow("1"))), 200)
      yield* TestClock.adjust(0)
      assert.include((yield* webhook.deadLetters.list)[0]?.reason, "not an Effect")
    }))

  it.effect("of the storage are answered, so that the service sends again", () =>
    Effect.gen(function*() {
      let isAway = true
      const memory = Storage.makeMemory()
      const store: Storage.Storage = {
        ...memory,
        modify: (target, f) =>
          isAway
            ? Effect.fail(new Storage.StorageUnavailable({ reason: "it is away" }))
            : memory.modify(target, f)
      }
      const { send, uuids } = yield* recording({ store })
      assert.strictEqual(yield* send(delivery(follow("1"))), 503)
      isAway = false
      assert.strictEqual(yield* send(delivery(follow("1"))), 200)
      assert.deepStrictEqual(uuids(), ["1"])
    }))

  it.effect("for want of room are answered, so that the service sends again", () =>
    Effect.gen(function*() {
      const store = Storage.makeMemory()
      const gate = yield* Deferred.make<void>()
      const handled: Array<string> = []
      const { send } = yield* recording({
        store,
        onEvent: ({ event_uuid }) => Effect.andThen(Deferred.await(gate), Effect.sync(() => handled.push(event_uuid)))
      })
      assert.strictEqual(yield* send(delivery(follow("1"))), 200)
      const [lane = ""] = (yield* store.keys("")).filter((key) => /:lane:\d+$/.test(key))
      // As if the others were there.
      yield* store.modify({ texts: [lane] }, ({ texts: [text = ""] }) => ({
        result: undefined,
        texts: [JSON.stringify({ ...JSON.parse(text), tail: 50_000 })]
      }))
      assert.strictEqual(yield* send(delivery(follow("2"))), 503)
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* send(delivery(follow("2"))), 200)
      // It looks for all the others first.
      for (let second = 0; second < 60 && handled.length < 2; second++) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["1", "2"])
    }))

  it.effect("include a handler's own timeout", () =>
    Effect.gen(function*() {
      const { send, webhook } = yield* recording({
        onEvent: () => Effect.mapError(Effect.timeout(Effect.never, "1 second"), () => "it takes too long"),
        retry: Schedule.recurs(0)
      })
      yield* send(delivery(follow("1")))
      yield* TestClock.adjust("1 second")
      assert.include((yield* webhook.deadLetters.list)[0]?.reason, "it takes too long")
    }))

  it.effect("are counted", () =>
    Effect.gen(function*() {
      const { send } = yield* recording({ fails: () => true, retry: Schedule.recurs(1) })
      yield* send(delivery(follow("1")))
      yield* send(delivery(follow("1")))
      yield* send(delivery(follow("1"), { key: Redacted.make("other") }))
      const counts = Object.fromEntries(
        (yield* Metric.snapshot).filter(({ id }) => id.startsWith("postwire.webhook"))
          .map((
            { attributes, state }
          ) => [attributes?.["postwire.outcome"], "count" in state ? Number(state.count) : undefined])
      )
      assert.deepStrictEqual(counts, { taken: 1, duplicate: 1, signature: 1, failed: 2, dead: 1 })
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))
})

describe("ack: after", () => {
  it.effect("answers with the outcome of the handler", () =>
    Effect.gen(function*() {
      let isBroken = true
      const { send, uuids } = yield* recording({ ack: "after", fails: () => isBroken })
      assert.strictEqual(yield* send(delivery(follow("1"))), 500)
      isBroken = false
      assert.strictEqual(yield* send(delivery(follow("1"))), 200)
      assert.strictEqual(yield* send(delivery(follow("1"))), 200)
      assert.deepStrictEqual(uuids(), ["1", "1"])
    }))

  it.effect("does not let the service wait for too long, and does not handle an event twice meanwhile", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let runs = 0
      const { send } = yield* recording({
        ack: "after",
        onEvent: () => Effect.andThen(Effect.sync(() => runs++), Deferred.await(gate))
      })
      const first = yield* Effect.forkChild(send(delivery(follow("1"))))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(yield* Fiber.join(first), 503)
      const second = yield* Effect.forkChild(send(delivery(follow("1"))))
      yield* TestClock.adjust("1 second")
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(second), 200)
      assert.strictEqual(runs, 1)
    }))
})

/** A webhook of another process, and its end, orderly or not. */
const opened = (store: Storage.Storage, options: Partial<Webhook.Options<string, never>> = {}) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const own = yield* Scope.provide(recording({ store, ...options }), scope)
    return { ...own, end: Scope.close(scope, Exit.void) }
  })

describe("the end of a webhook", () => {
  it.effect("waits for handlers that run, and answers what waits behind them", () =>
    Effect.gen(function*() {
      const store = Storage.makeMemory()
      const gate = yield* Deferred.make<void>()
      const { end, send } = yield* opened(store, { ack: "after", onEvent: () => Deferred.await(gate) })
      const [first, second] = yield* Effect.forEach(
        ["1", "2"],
        (uuid) => Effect.forkChild(send(delivery(follow(uuid))))
      )
      yield* TestClock.adjust("1 second")
      const ending = yield* Effect.forkChild(end)
      yield* TestClock.adjust("1 second")
      assert.isUndefined(ending.pollUnsafe())
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(ending)
      assert.strictEqual(yield* Fiber.join(first!), 200)
      assert.strictEqual(yield* Fiber.join(second!), 503)
      const { send: sendAgain, uuids } = yield* opened(store, { ack: "after" })
      for (const uuid of ["1", "2"]) assert.strictEqual(yield* sendAgain(delivery(follow(uuid))), 200)
      assert.deepStrictEqual(uuids(), ["2"])
    }))

  it.effect("begins no handler while it waits for others", () =>
    Effect.gen(function*() {
      const begun: Array<string> = []
      const { end, send } = yield* opened(Storage.makeMemory(), {
        onEvent: ({ event_uuid }) => {
          begun.push(event_uuid)
          return Effect.sleep(Number(event_uuid) * 1_000)
        }
      })
      for (const user of ["42", "43"]) {
        for (const uuid of ["1", "5"]) yield* send(delivery(follow(uuid, user)))
      }
      const ending = yield* Effect.forkChild(end)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(ending)
      assert.deepStrictEqual(begun, ["1", "1"])
    }))
})

describe("a shared storage", () => {
  it.effect("lets others handle what a process left", () =>
    Effect.gen(function*() {
      const store = Storage.makeMemory()
      // It is killed: what it does has no effect any more.
      let isKilled = false
      const killed = yield* opened({
        ...store,
        modify: (target, f) => isKilled ? Effect.never : store.modify(target, f),
        get: (keys) => isKilled ? Effect.never : store.get(keys)
      }, { onEvent: () => Effect.never })
      for (let i = 1; i <= 300; i++) yield* killed.send(delivery(follow(String(i))))
      isKilled = true
      const { uuids } = yield* opened(store)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(uuids(), [])
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(uuids(), Array.from({ length: 300 }, (_, i) => String(i + 1)))
    }))

  it.effect("hands over immediately when a process ends in order, after its running handlers", () =>
    Effect.gen(function*() {
      const store = Storage.makeMemory()
      const gate = yield* Deferred.make<void>()
      const first = yield* opened(store, { onEvent: () => Deferred.await(gate) })
      for (const uuid of ["1", "2"]) yield* first.send(delivery(follow(uuid)))
      const { uuids } = yield* opened(store)
      const ending = yield* Effect.forkChild(first.end)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(uuids(), [])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(ending)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(uuids(), ["2"])
    }))

  it.effect("keeps the order of a user whose events arrive at several processes", () =>
    Effect.gen(function*() {
      const store = Storage.makeMemory()
      const handled: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const onEvent = ({ event_uuid }: WebhookEvent) =>
        Effect.andThen(Deferred.await(gate), Effect.sync(() => void handled.push(event_uuid)))
      const processes = yield* Effect.all([opened(store, { onEvent }), opened(store, { onEvent })])
      for (let i = 0; i < 100; i++) {
        assert.strictEqual(yield* processes[i % 2 === 0 ? 0 : 1].send(delivery(follow(String(i)))), 200)
        assert.strictEqual(yield* processes[i % 2 === 0 ? 1 : 0].send(delivery(follow(String(i)))), 200)
      }
      // Leases are renewed.
      yield* TestClock.adjust("1 minute")
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, Array.from({ length: 100 }, (_, i) => String(i)))
      // Nothing is left.
      assert.deepStrictEqual((yield* store.keys("")).filter((key) => !/:lane:\d+$/.test(key)), [])
    }))

  it.effect("has a holder of each webhook, also of two in one process", () =>
    Effect.gen(function*() {
      const store = Storage.makeMemory()
      const gate = yield* Deferred.make<void>()
      let isCutOff = false
      const cut = new Storage.StorageUnavailable({ reason: "cut off" })
      const first = yield* opened({
        ...store,
        modify: (target, f) => isCutOff ? Effect.fail(cut) : store.modify(target, f),
        get: (keys) => isCutOff ? Effect.fail(cut) : store.get(keys)
      }, { onEvent: () => Deferred.await(gate) })
      for (const uuid of ["1", "2"]) yield* first.send(delivery(follow(uuid)))
      isCutOff = true
      const handled: Array<string> = []
      yield* opened(store, {
        onEvent: ({ event_uuid }) => {
          handled.push(event_uuid)
          return Effect.sleep("1 minute")
        }
      })
      yield* TestClock.adjust("20 seconds")
      isCutOff = false
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(handled, ["1", "2"])
    }))

  it.effect("gives up an event during which processes end again and again", () =>
    Effect.gen(function*() {
      const store = Storage.makeMemory()
      for (let i = 0; i < 11; i++) {
        let isKilled = false
        const { send } = yield* opened({
          ...store,
          modify: (target, f) => isKilled ? Effect.never : store.modify(target, f),
          get: (keys) => isKilled ? Effect.never : store.get(keys)
        }, { onEvent: () => Effect.never })
        if (i === 0) { for (const uuid of ["1", "2"]) yield* send(delivery(follow(uuid))) }
        yield* TestClock.adjust("11 seconds")
        isKilled = true
      }
      const { uuids, webhook } = yield* opened(store)
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual(uuids(), ["2"])
      const letters = yield* webhook.deadLetters.list
      assert.deepStrictEqual(letters.map(({ event, reason }) => [event.event_uuid, reason]), [
        ["1", "10 processes ended while they handled it"]
      ])
    }))

  it.effect("gives up the first of two events that end processes before it handles the other", () =>
    Effect.gen(function*() {
      const store = Storage.makeMemory()
      const slowly: Storage.Storage = {
        ...store,
        modify: (target, f) => Effect.andThen(Effect.yieldNow, store.modify(target, f))
      }
      const letters = (yield* opened(store, { ack: "after" })).webhook.deadLetters.list
      let processes = 0
      while ((yield* letters).length < 2) {
        assert.isBelow(++processes, 30)
        let isKilled = false
        const { send } = yield* opened({
          ...slowly,
          modify: (target, f) => Effect.suspend(() => isKilled ? Effect.never : slowly.modify(target, f)),
          get: (keys) => Effect.suspend(() => isKilled ? Effect.never : store.get(keys))
        }, {
          onEvent: ({ event_uuid }) => {
            if (event_uuid === "2") isKilled = true
            return Effect.never
          }
        })
        if (processes === 1) {
          // These users share a lane.
          yield* send(delivery(follow("1", "42")))
          yield* send(delivery(follow("2", "53")))
        }
        yield* TestClock.adjust("11 seconds")
        isKilled = true
      }
      assert.deepStrictEqual((yield* letters).map(({ event }) => event.event_uuid), ["1", "2"])
      assert.lengthOf((yield* store.keys("")).filter((key) => /:lane:\d+$/.test(key)), 1)
    }))
})

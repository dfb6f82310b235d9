import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import * as Credentials from "../src/auth/Credentials.ts"
import { catalogue } from "../src/Catalogue.ts"
import * as Client from "../src/client/Client.ts"
import * as Errors from "../src/errors/Errors.ts"
import type { Definition } from "../src/schema/Definition.ts"
import { type Answer, baseUrl, fails, make, secrets, transportError } from "./support/Service.ts"

const message = { id: "1:2", message_id: "m", encoded_message_create_event: "CwAB" }

const lost = transportError({ phase: "headers", requestSent: true, message: "gone" })
const unsent = transportError({ phase: "connect", requestSent: false, code: "ECONNREFUSED", message: "refused" })

const sent: Answer = { status: 201, body: { data: { encoded_message_event: "CwAB" } } }

/** Runs a call whose pauses take no time. */
const running = Effect.fnUntraced(function*<A, E>(call: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(call)
  yield* TestClock.adjust("1 minute")
  return yield* Fiber.join(fiber)
})

const answering = (...answers: ReadonlyArray<Answer | typeof lost>) => make((_, i) => answers[i] ?? sent)

describe("a message of encrypted chat", () => {
  it.effect("is sent again, the same, after a lost answer or a failure of the service", () =>
    Effect.gen(function*() {
      for (const first of [lost, { status: 503 }]) {
        const service = answering(first)
        const call = catalogue.sendChatMessage(message, { retries: 1 })
        const { data } = yield* running(Effect.provide(call, service.layer()))
        assert.strictEqual(data?.encoded_message_event, "CwAB")
        assert.lengthOf(service.requests, 2)
        assert.strictEqual(service.requests[0]?.body, service.requests[1]?.body)
        assert.strictEqual(service.requests[1]?.path, "/2/chat/conversations/1-2/messages")
      }
    }))

  it.effect("has an unknown outcome when retries are exhausted, whatever the last attempt met", () =>
    Effect.gen(function*() {
      for (const last of [lost, unsent, { status: 500 }, { status: 403, body: { title: "Forbidden" } }]) {
        const service = answering(lost, last)
        const call = catalogue.sendChatMessage(message, { retries: 1 })
        const error = yield* fails(running(Effect.provide(call, service.layer())), Errors.OutcomeUnknown)
        assert.strictEqual(error.confirmWith, "getChatConversationEvents")
        assert.lengthOf(service.requests, 2)
      }
      const service = answering(unsent)
      yield* fails(
        Effect.provide(catalogue.sendChatMessage(message, { retries: 0 }), service.layer()),
        Errors.TransportFailure
      )
    }))

  it.effect("has an unknown outcome when the credential that replaces a refused one does not fit", () =>
    Effect.gen(function*() {
      const service = answering(lost, { status: 401 })
      const values = { bearerToken: Redacted.make("a") }
      const credentials = Credentials.Credentials.of({
        current: Effect.succeed(values),
        renew: () => Effect.succeed({ bearerToken: Redacted.make("b") }),
        admit: (call, given) =>
          given === values ? call : new Errors.LoginRequired({ account: "ada", reason: "not renewable" })
      })
      const layer = Client.layer({ baseUrl, retries: 1 }).pipe(
        Layer.provide(Layer.succeed(Credentials.Credentials, credentials)),
        Layer.provide(Layer.succeed(HttpClient.HttpClient, service.http))
      )
      const call = catalogue.sendChatMessage({ ...message, user_auth: false })
      const error = yield* fails(running(Effect.provide(call, layer)), Errors.OutcomeUnknown)
      assert.instanceOf(error.cause, Errors.LoginRequired)
      assert.lengthOf(service.requests, 2)
    }))

  it("is the only create that may be sent twice", () => {
    const keyed = Object.values(catalogue).map(({ definition }): Definition => definition).filter(({ key }) => key)
    assert.deepStrictEqual(keyed.map(({ effect, key, name }) => [name, effect, key]), [
      ["sendChatMessage", "create", "message_id"]
    ])
  })

  it.effect("is base64 text: anything else is refused before it is sent", () =>
    Effect.gen(function*() {
      const service = answering()
      const call = catalogue.sendChatMessage({ ...message, encoded_message_create_event: "not encrypted" })
      const error = yield* fails(Effect.provide(call, service.layer()), Errors.InvalidParameters)
      assert.strictEqual(error.parameter, "encoded_message_create_event")
      assert.lengthOf(service.requests, 0)
    }))
})

describe("numbers that the service sends as text", () => {
  it.effect.each(["neutral", "x"] as const)("are numbers here, on the %s wire", (wire) =>
    Effect.gen(function*() {
      const data = { id: "1", start_ms: "1795600000000", total_watched: 3, twitter_user_id: "7", chat_option: 2 }
      const service = make(() => ({ body: { data } }))
      const call = catalogue.getBroadcast({ id: "1", broadcast_fields: ["start_ms", "total_watched", "user_id"] })
      const broadcast = yield* Effect.provide(call, service.layer({ ...secrets, wire }))
      const { data: read } = broadcast
      assert.strictEqual(read?.start_ms, 1_795_600_000_000)
      assert.strictEqual(read?.total_watched, 3)
      assert.lengthOf(broadcast.anomalies, 0)
      if (wire === "x") assert.strictEqual(read?.user_id, "7")
    }))

  it.effect("are omitted where they are none", () =>
    Effect.gen(function*() {
      const service = make(() => ({ body: { data: { id: "1", start_ms: "soon" } } }))
      const call = catalogue.getBroadcast({ id: "1", broadcast_fields: ["start_ms"] })
      const { anomalies, data } = yield* Effect.provide(call, service.layer())
      assert.isUndefined(data?.start_ms)
      assert.deepStrictEqual(anomalies.map(({ path }) => path), ["data.start_ms"])
    }))

  it.effect("are sent as text", () =>
    Effect.gen(function*() {
      const service = make(() => ({ status: 201, body: { data: {} } }))
      const call = catalogue.createScheduledBroadcast({
        source_id: "s",
        scheduled_start_ms: 1_795_600_000_000,
        scheduled_end_ms: 1_795_600_000_001,
        chat_option: 1,
        recurrence: { frequency: "Weekly", repeats: 4 }
      })
      yield* Effect.provide(call, service.layer())
      assert.deepStrictEqual(JSON.parse(service.requests[0]?.body ?? ""), {
        source_id: "s",
        scheduled_start_ms: "1795600000000",
        scheduled_end_ms: "1795600000001",
        chat_option: "1",
        recurrence: { frequency: "Weekly", repeats: "4" }
      })
    }))
})

describe("a Community Note", () => {
  const note = {
    post_id: "1",
    test_mode: true as const,
    classification: "not_misleading" as const,
    misleading_tags: [],
    text: "It is right: https://example.com",
    trustworthy_sources: true
  }

  it.effect("is sent with the names of the service's document on every wire", () =>
    Effect.gen(function*() {
      for (const wire of ["neutral", "x", "x-2026-02"] as const) {
        const service = make(() => ({ status: 201, body: { data: { id: "2" } } }))
        yield* Effect.provide(catalogue.createCommunityNote(note), service.layer({ ...secrets, wire }))
        const { info, post_id, test_mode } = JSON.parse(service.requests[0]?.body ?? "")
        assert.deepStrictEqual([post_id, test_mode, info.text], ["1", true, note.text])
      }
    }))

  it.effect.each(
    [
      ["test_mode", { test_mode: false }, /must be true: .*introduction of Community Notes/],
      ["text", { text: "No link" }, /with a link/],
      ["text", { text: `https://example.com ${"a".repeat(280)}` }, /1 to 280 characters/]
    ] as const
  )("is refused before it is sent for its %s", ([parameter, wrong, rule]) =>
    Effect.gen(function*() {
      const service = answering()
      const call = catalogue.createCommunityNote({ ...note, ...wrong } as never)
      const error = yield* fails(Effect.provide(call, service.layer()), Errors.InvalidParameters)
      assert.strictEqual(error.parameter, parameter)
      assert.match(error.message, rule)
      assert.lengthOf(service.requests, 0)
    }))
})

describe("a structure", () => {
  const blocks = [{ type: "unstyled", text: "Tea", inlineStyleRanges: [{ style: "bold", offset: 0, length: 3 }] }]
  const keys = { id: "1-2", conversation_key_version: "1" }

  it.effect("is refused with members that the service does not have, which would be lost", () =>
    Effect.gen(function*() {
      const service = answering()
      const draft = catalogue.createArticleDraft({ title: "Tea", content_state: { blocks, entities: [] } } as never)
      const content = yield* fails(Effect.provide(draft, service.layer()), Errors.InvalidParameters)
      assert.strictEqual(content.parameter, "content_state")
      const change = catalogue.addChatConversationKeys({
        ...keys,
        conversation_participant_keys: [{ userId: "1", encryptedKey: "S2V5", publicKeyVersion: "1" }]
      } as never)
      const unnamed = yield* fails(Effect.provide(change, service.layer()), Errors.InvalidParameters)
      assert.strictEqual(unnamed.parameter, "conversation_participant_keys")
      assert.lengthOf(service.requests, 0)
    }))
})

describe("the backup of private keys", () => {
  const keys = { version: "1", public_key: "BAQx" }
  const token = "eyJhbGciOiJ-realm-token"
  const backup = { realms: [{ id: "1" }], tokens: { 1: token } }

  it.effect("is in the response, and in no text of it or of an error", () =>
    Effect.gen(function*() {
      const bodies = [
        { data: { public_key_version: "1", juicebox_config: backup } },
        { data: { public_key_version: "1", juicebox_config: JSON.stringify(backup) } },
        { data: { public_key_version: "1", juicebox_config: token } },
        { data: [{ juicebox_config: token }] },
        `{"data":{"juicebox_config":{"tokens":"${token}"`
      ]
      for (const body of bodies) {
        const service = make(() => ({ body }))
        const exit = yield* Effect.exit(Effect.provide(catalogue.addPublicKey(keys), service.layer()))
        assert.strictEqual(Exit.isSuccess(exit), bodies.indexOf(body) < 3)
        assert.notInclude(inspect(exit, { depth: 20, showHidden: true }), token)
        if (Exit.isFailure(exit)) continue
        const { anomalies, data } = exit.value
        assert.deepStrictEqual(data?.juicebox_config, body === bodies[0] ? backup : undefined)
        assert.notInclude(JSON.stringify(anomalies) + String(exit.value), token)
      }
    }))
})

describe("the document of the service", () => {
  it.effect("comes whole, without a credential", () =>
    Effect.gen(function*() {
      const document = { openapi: "3.0.0", paths: { "/2/tweets": {} } }
      for (const settings of [{}, secrets]) {
        const service = make(() => ({ body: document }))
        const { data } = yield* Effect.provide(
          catalogue.getOpenApiDocument(),
          service.layer({ ...settings, wire: "x" })
        )
        assert.deepStrictEqual(data, document)
        assert.notProperty(service.requests[0]?.headers, "authorization")
      }
    }))
})

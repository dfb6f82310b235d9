/** Readers of responses, parameters and deliveries. */
import type { Client } from "@postwire/core/client/Client"
import * as Errors from "@postwire/core/errors/Errors"
import * as Signature from "@postwire/core/events/Signature"
import * as WebhookEvent from "@postwire/core/events/WebhookEvent"
import { parametersOf } from "@postwire/core/schema/Definition"
import type { WireName } from "@postwire/core/schema/WireName"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Wire from "@postwire/core/wire/Wire"
import { Cause, type Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import assert from "node:assert/strict"
import { answerOf, callOf, selectionsOf } from "../../../packages/core/test/support/Calls.ts"
import { all, make, rowOf, secrets } from "../../../packages/core/test/support/Service.ts"
import { hostile } from "../../../packages/core/test/support/Values.ts"
import type { Domain } from "./Loop.ts"
import * as Mutations from "./Mutations.ts"

const million = 1_000_000

const operations = new Map(all.map(([name, operation]) => [name, { operation, row: rowOf(name) }]))

const headOf = (input: string): readonly [words: ReadonlyArray<string>, body: string] => {
  const at = input.indexOf("\n")
  return [input.slice(0, at).split(" "), input.slice(at + 1)]
}

const noSecret = (text: string): void => assert.ok(!text.includes("canary"), "a secret is in a message")

let answer = ""

const clients = new Map(Wire.names.map((wire) => {
  const service = make(({ path }) => ({ body: path === "/2/users/me" ? { data: { id: "77" } } : answer }))
  const context: unknown = Effect.runSync(Layer.buildWithScope(service.layer({ ...secrets, wire }), Scope.makeUnsafe()))
  // The layer has the services of the client.
  return [wire, { service, context: context as Context.Context<Client> }] as const
}))

const columnOf = (wire: string): WireName => wire === "neutral" ? wire : "x-2026-02"

export const bodies: Domain = {
  name: "responses",
  holds: "every body is read or refused as undecodable, through the whole client; no error and no anomaly has a secret",
  cases: million,
  modules: /packages\/core\/src\/(wire|schema|client)\//,
  seeds: [...operations].flatMap(([name, { row }]) =>
    Wire.names.map((wire) => `${name} ${wire}\n${JSON.stringify(answerOf(row, columnOf(wire)))}`)
  ),
  mutate: Mutations.json(
    Mutations.values,
    "data includes errors meta id text entities public_metrics author_id users tweets posts next_token attachments"
      .split(" ")
  ),
  run: async (input) => {
    const [[name = "", wire = ""], body] = headOf(input)
    const { operation, row } = operations.get(name)!
    const { context, service } = clients.get(Wire.names.find((known) => known === wire) ?? "neutral")!
    service.requests.length = 0
    answer = body
    const { given } = callOf(row, selectionsOf(row)[0]!, "neutral")
    const exit = await Effect.runPromiseExit(Effect.provideContext(operation(given), context))
    if (Exit.isSuccess(exit)) return noSecret(JSON.stringify(exit.value.anomalies))
    assert.ok(!Cause.hasDies(exit.cause), Cause.pretty(exit.cause))
    const error = Cause.squash(exit.cause)
    assert.ok(error instanceof Error && "_tag" in error)
    noSecret(`${error.message} ${JSON.stringify(error)}`)
  }
}

const refusedNames = ["user_auth", "parameters"]

/** Values that JSON does not have stand in it as their number. */
const revive = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || !("hostile" in value)) return value
  return hostile[Number(value.hostile) % hostile.length]
}

const toJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, held: unknown) => typeof held === "bigint" ? String(held) : held))

export const parameters: Domain = {
  name: "parameters",
  holds: "every call is a well-formed request, or an error on one line, of a parameter and its rule",
  cases: million,
  modules: /packages\/core\/src\/(wire|schema)\//,
  seeds: [...operations].flatMap(([name, { row }]) =>
    selectionsOf(row).map((selection) => `${name}\n${JSON.stringify(toJson(callOf(row, selection, "neutral").given))}`)
  ),
  mutate: Mutations.json(
    [...Mutations.values, ...hostile.map((_, i) => ({ hostile: i })), 10, 100, 101, "x".repeat(600)],
    [...new Set(all.flatMap(([, { definition }]) => Object.keys(parametersOf(definition)))), ...refusedNames, "nope"]
  ),
  run: (input) => {
    const [[name = ""], body] = headOf(input)
    const { operation: { definition } } = operations.get(name)!
    let given: unknown
    try {
      given = JSON.parse(body, revive)
    } catch {
      given = body
    }
    for (const wire of [Wire.neutral, Wire.x]) {
      const encoded = RequestEncoder.encode(definition, given, wire)
      if (encoded instanceof Error) {
        assert.ok(encoded instanceof TypeError)
        assert.doesNotMatch(encoded.message, /[\r\n\0]/)
        assert.ok(encoded.message.length < 600, `${encoded.message.length} characters`)
        if (encoded instanceof Errors.InvalidParameters) assert.notEqual(encoded.rule, "")
        continue
      }
      assert.match(encoded.path, /^\/2(\/[A-Za-z0-9_.~%-]*)+$/)
      assert.match(String(encoded.query), /^\??([A-Za-z0-9_.~%-]+=[A-Za-z0-9._~%-]+(&|$))*$/)
    }
  }
}

const keys = ["one", "two"].map((key) => Redacted.make(`canary-${key}`))

const isValid = Signature.verifier(keys)

const sign = (body: string): string => Signature.sign(keys[0]!, body)

export const deliveries: Domain = {
  name: "deliveries of webhooks",
  holds: "every JSON object is an event with an identity; only the signature of its own bytes is valid",
  cases: million,
  modules: /packages\/core\/src\/(events|wire|schema)\//,
  seeds: [
    {
      data: {
        event_type: "profile.update.bio",
        event_uuid: "1",
        filter: { user_id: "1" },
        payload: { before: "a", after: "b" }
      }
    },
    {
      data: {
        event_type: "dm.received",
        event_uuid: "2",
        payload: { direct_message_events: [{ created_timestamp: "1" }] }
      }
    },
    {
      data: {
        event_type: "post.create",
        event_uuid: "3",
        payload: { id: "1", text: "a", created_at: "2026-01-31T12:00:00Z" }
      }
    },
    {
      data: { id: "1", text: "a", author_id: "2" },
      matching_rules: [{ id: "1", tag: "cat" }],
      includes: { users: [] }
    },
    { replay_job_status: { webhook_id: "1", job_id: "2", job_state: "Complete" } },
    { for_user_id: "1", tweet_create_events: [{ id_str: "1" }] }
  ].map((body) => `event\n${JSON.stringify(body)}`),
  mutate: Mutations.json(
    [...Mutations.values, "post.create", "chat.received", "oauth.revoke", "follow.follow", "dm.sent"],
    "data event_type event_uuid filter payload id created_at matching_rules includes for_user_id users".split(" ")
  ),
  run: (input) => {
    const [, body] = headOf(input)
    const bytes = Buffer.from(body)
    const signature = sign(body)
    assert.ok(isValid(bytes, signature))
    if (bytes.length > 0) {
      bytes[bytes.length >> 1]! ^= 1
      assert.ok(!isValid(bytes, signature))
    }
    assert.ok(!isValid(bytes, body))
    assert.equal(Signature.answer(keys[0]!, body) === undefined, !/^[A-Za-z0-9+/=_-]{16,128}$/.test(body))
    let parsed: unknown
    try {
      parsed = JSON.parse(body)
    } catch {
      return
    }
    if (typeof parsed !== "object" || parsed === null) return
    const { id, user } = WebhookEvent.identify(parsed, body)
    assert.ok(typeof id === "string" && id !== "" && typeof user === "string")
    const { anomalies, event } = WebhookEvent.decode(body)
    assert.ok(typeof event.event_type === "string" && typeof event.event_uuid === "string")
    JSON.stringify(anomalies)
  }
}

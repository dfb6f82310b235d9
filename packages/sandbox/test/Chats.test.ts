import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { make } from "./support/Requests.ts"

const signature = { signature: "AAAA", signature_version: "7", public_key_version: "1" }

const signed = (message_id: string, detail = "CwABAAAA") => ({
  message_id,
  encoded_message_event_detail: detail,
  message_event_signature: signature
})

const keys = {
  version: "1",
  public_key: { public_key: "AAAA", signing_public_key: "AAAA", identity_public_key_signature: "AAAA" }
}

/** Two users with keys, and one without. */
const people = Effect.gen(function*() {
  const bench = yield* make({ posts: 0 })
  const person = (username: string) => {
    const id = bench.store.users.insert({ username, name: username, createdAt: 1_700_000_000_000 })
    const as = bench.newcomer({ userId: id })
    const send = (method: string, path: string, body?: object) =>
      bench.request(method, path, { as, body: body && JSON.stringify(body) })
    return { id, send, chat: (path: string, body: object) => send("POST", `/2/chat/conversations/${path}`, body) }
  }
  const [ada, ben, cleo] = [person("ada1"), person("ben1"), person("cleo1")]
  for (const { id, send } of [ada, ben]) yield* send("POST", `/2/users/${id}/public_keys`, keys)
  return { bench, ada, ben, cleo }
})

const message = {
  message_id: "m1",
  encoded_message_create_event: "CwABAAAA",
  encoded_message_event_signature: "CwABAAAB"
}

describe("encrypted chat", () => {
  it.effect("has a message once, however often it is sent, and shows it to the members alone", () =>
    Effect.gen(function*() {
      const { ada, ben, cleo } = yield* people
      const first = yield* ada.chat(`${ben.id}/messages`, message)
      const again = yield* ada.chat(`${ben.id}/messages`, message)
      assert.deepStrictEqual(again.body, first.body)
      const pair = [ada.id, ben.id].sort().join("-")
      for (const path of [ada.id, pair, pair.replace("-", "%3A")]) {
        const { body, status } = yield* ben.send("GET", `/2/chat/conversations/${path}/events`)
        assert.strictEqual(status, path.includes("%3A") ? 400 : 200, path)
        if (status === 200) assert.lengthOf(body.data, 1)
      }
      assert.strictEqual((yield* cleo.send("GET", `/2/chat/conversations/${pair}/events`)).status, 404)
    }))

  it.effect("has the messages of two members with one message id", () =>
    Effect.gen(function*() {
      const { ada, ben } = yield* people
      const first = yield* ada.chat(`${ben.id}/messages`, message)
      const other = yield* ben.chat(`${ada.id}/messages`, message)
      assert.strictEqual(other.status, 201)
      assert.notDeepEqual(other.body, first.body)
      const { body } = yield* ben.send(
        "GET",
        `/2/chat/conversations/${ada.id}/events?chat_message_event.fields=sender_id`
      )
      assert.deepStrictEqual(body.data.map((event: { readonly sender_id: string }) => event.sender_id), [
        ben.id,
        ada.id
      ])
    }))

  it.effect("requires signatures, as many as a change has", () =>
    Effect.gen(function*() {
      const { ada, ben } = yield* people
      const { encoded_message_event_signature: _, ...unsigned } = message
      assert.strictEqual((yield* ada.chat(`${ben.id}/messages`, unsigned)).status, 400)
      const change = { conversation_key_version: "2", conversation_participant_keys: [{ user_id: ben.id }] }
      assert.strictEqual((yield* ada.chat(`${ben.id}/keys`, change)).status, 400)
      const two = { ...change, action_signatures: [signed("a"), signed("b")] }
      assert.strictEqual((yield* ada.chat(`${ben.id}/keys`, two)).status, 400)
      const one = { ...change, action_signatures: [signed("a", "DAADCwABAAAAATIAAA==")] }
      assert.strictEqual((yield* ada.chat(`${ben.id}/keys`, one)).status, 200)
      const { body } = yield* ben.send("GET", `/2/chat/conversations/${ada.id}/events`)
      assert.lengthOf(body.meta.conversation_key_events, 1)
    }))

  it.effect("creates a group with the signed title, of users who have keys", () =>
    Effect.gen(function*() {
      const { ada, ben, cleo } = yield* people
      const { body: { data: { conversation_id } } } = yield* ada.chat("group/initialize", {})
      const title = "Team"
      const detail = Buffer.concat([Buffer.from([11, 0, 3, 0, 0, 0, title.length]), Buffer.from(title)])
      const group = {
        conversation_id,
        group_name: title,
        group_members: [ada.id, ben.id],
        conversation_key_version: "2",
        conversation_participant_keys: [],
        action_signatures: [signed("a", "DAADCwABAAAAATIAAA=="), signed("b", detail.toString("base64"))]
      }
      for (const wrong of [{ group_name: "Team " }, { group_members: [ada.id, cleo.id] }]) {
        assert.strictEqual((yield* ada.chat("group", { ...group, ...wrong })).status, 400)
      }
      assert.strictEqual((yield* ben.chat("group", group)).status, 400)
      assert.strictEqual((yield* ada.chat("group", group)).status, 201)
      const { body } = yield* ben.send("GET", "/2/chat/conversations?chat_conversation.fields=group_name,member_ids")
      assert.deepStrictEqual(body.data, [{ id: conversation_id, group_name: title, member_ids: [ada.id, ben.id] }])
    }))

  it.effect("lets a user delete own messages for all, and any for themselves", () =>
    Effect.gen(function*() {
      const { ada, ben } = yield* people
      yield* ada.chat(`${ben.id}/messages`, message)
      const events = (of: typeof ada, peer: string) => of.send("GET", `/2/chat/conversations/${peer}/events`)
      const { body: { data: [{ id }] } } = yield* events(ben, ada.id)
      const deletion = (delete_message_action: string, message_id: string) => ({
        sequence_ids: [id],
        delete_message_action,
        action_signatures: [signed(message_id)]
      })
      const by = (of: typeof ada, peer: string, body: object) => of.chat(`${peer}/messages/delete`, body)
      assert.strictEqual((yield* by(ben, ada.id, deletion("delete_for_all", "x"))).status, 400)
      assert.strictEqual((yield* by(ben, ada.id, deletion("delete_for_self", "y"))).status, 200)
      assert.lengthOf((yield* events(ben, ada.id)).body.data, 2)
      assert.lengthOf((yield* events(ada, ben.id)).body.data, 1)
      assert.strictEqual((yield* by(ada, ben.id, deletion("delete_for_all", "z"))).status, 200)
      assert.lengthOf((yield* events(ada, ben.id)).body.data, 2)
    }))
})

import * as TokenStore from "@postwire/core/storage/TokenStore"
import { createClient } from "@postwire/node/EffectClient"
import { sandboxTest } from "@postwire/sandbox/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { assert, describe } from "vitest"
import * as MediaBytes from "../../core/test/support/MediaBytes.ts"
import * as ChatEnvelope from "../../sandbox/src/store/ChatEnvelope.ts"
import * as Chat from "../src/Chat.ts"
import { type Message, openChat, registerChat, type TimelineItem } from "../src/index.ts"
import * as Library from "../src/library/Library.ts"
import { needsLibrary } from "./support/Needs.ts"
import { person, stranger } from "./support/Scene.ts"

needsLibrary()

const test = sandboxTest({ posts: 0 })

const texts = (items: ReadonlyArray<TimelineItem>) =>
  items.map((item) => item.kind === "tombstone" ? item.reason : item.text)

const message = (items: ReadonlyArray<TimelineItem>, text: string): Message =>
  items.find((item): item is Message => item.kind === "message" && item.text === text) ?? assert.fail(`no ${text}`)

describe("two users", () => {
  test("write, answer and edit, and nobody else can read it", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    const sent = await ada.chat.send(ben.id, "Hello, Ben")
    const received = message(await ben.chat.read(ada.id), "Hello, Ben")
    assert.include(received, { id: sent.id, senderId: ada.id, edited: false })
    assert.strictEqual(received.sequenceId, sent.sequenceId)
    await ben.chat.reply(received, "Hello, Ada")
    await ada.chat.edit(message(await ada.chat.read(ben.id), "Hello, Ben"), "Hello, dear Ben")
    const read = await ben.chat.read(ada.id)
    assert.deepStrictEqual(texts(read), ["Hello, dear Ben", "Hello, Ada"])
    assert.deepStrictEqual(message(read, "Hello, Ada").replyTo, { sequenceId: received.sequenceId, text: "Hello, Ben" })
    await ben.chat.markRead(received)
    const { conversations } = await ben.chat.conversations()
    assert.deepStrictEqual(conversations.map(({ members }) => [...members].sort()), [[ada.id, ben.id].sort()])
    const served = JSON.stringify(sandbox.requests)
    assert.notInclude(served, "Hello")
  })

  test("a member rotates the key, and both read what was sent before and after", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await ada.chat.send(ben.id, "before")
    await ben.chat.rotate(ada.id)
    await ada.chat.send(ben.id, "after")
    const read = await ben.chat.read(ada.id)
    assert.deepStrictEqual(texts(read), ["before", "after"])
    assert.notStrictEqual(message(read, "before").keyVersion, message(read, "after").keyVersion)
  })

  test("first messages at once begin the conversation with one key", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await Promise.all(["one", "two", "three"].map((text) => ada.chat.send(ben.id, text)))
    assert.lengthOf(sandbox.requests.filter(({ path }) => path.endsWith("/keys")), 1)
    assert.sameMembers(texts(await ben.chat.read(ada.id)), ["one", "two", "three"])
  })

  test("a picture is decrypted with the key that its message had", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    const data = Uint8Array.from(MediaBytes.png())
    await ada.chat.send(ben.id, { text: "look", files: [{ data, filename: "a.png" }] })
    await ada.chat.rotate(ben.id)
    await ada.chat.send(ben.id, "later")
    const shown = message(await ben.chat.read(ada.id), "look")
    const [file = assert.fail()] = shown.media
    assert.include(file, { filename: "a.png", size: data.length })
    assert.deepStrictEqual(await ben.chat.media(shown, file), data)
  })

  test("after a lost answer the same message is sent again, and is read once", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await ada.chat.send(ben.id, "first")
    sandbox.faults.add({ operation: "sendChatMessage", times: 1, reset: "after" })
    const sent = await ada.chat.send(ben.id, "second")
    const sends = sandbox.requests.filter(({ path }) => path.endsWith("/messages"))
    assert.lengthOf(sends, 3)
    assert.strictEqual(JSON.stringify(sends[1]?.body), JSON.stringify(sends[2]?.body))
    const read = await ben.chat.read(ada.id)
    assert.deepStrictEqual(texts(read), ["first", "second"])
    assert.strictEqual(message(read, "second").id, sent.id)
  })

  test("live messages arrive once", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    const live = ben.chat.listen()[Symbol.asyncIterator]()
    const next = live.next()
    // The subscription and the stream are there when the request is.
    while (!sandbox.requests.some(({ path }) => path.endsWith("/activity/stream"))) await new Promise(setImmediate)
    await ada.chat.send(ben.id, "live")
    const { value } = await next
    assert.include(value, { kind: "message", text: "live", senderId: ada.id })
    await live.return?.()
  })

  test("old direct messages are part of the same timeline where they are wanted", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await ada.client.createDirectMessage({ participant_id: ben.id, text: "in the open", user_auth: false })
    await ada.chat.send(ben.id, "in private")
    const read = await ben.chat.read(ada.id, { directMessages: true })
    assert.deepStrictEqual(texts(read), ["in the open", "in private"])
    assert.deepStrictEqual(read.map(({ kind }) => kind), ["direct message", "message"])
    assert.deepStrictEqual(texts(await ben.chat.read(ada.id)), ["in private"])
  })
})

describe("a key of another conversation", () => {
  /** An event with another conversation in its envelope, which the service writes. */
  const moved = (event: string, from: string, to: string) => {
    const text = (value: string) => `\0\0\0${String.fromCharCode(value.length)}${value}`
    const bytes = Buffer.from(event, "base64").toString("latin1").replace(text(from), text(to))
    return Buffer.from(bytes, "latin1").toString("base64")
  }

  test.for(["as it is", "in another envelope"])("is not used for this one, %s", async (how, { sandbox }) => {
    await using ben = await person(sandbox, "ben1")
    const { client, id, store } = stranger(sandbox, "ada1")
    await registerChat(client, { store })
    await using cleo = await person(sandbox, "cleo1")
    const group = await ben.chat.createGroup({ title: "three", members: [id, cleo.id] })
    const served = await client.getChatConversationEvents({ id: group, chat_message_event_fields: ["encoded_event"] })
    const own = [id, ben.id].toSorted().join(":")
    const events = (served.meta.conversation_key_events ?? [])
      .map((event) => how === "as it is" ? event : moved(event, group, own))
    assert.isNotEmpty(events)
    const forged = {
      ...client,
      getChatConversationEvents: async () => {
        Object.assign(served, { data: [] })
        Object.assign(served.meta, { conversation_key_events: events })
        return served
      }
    }
    await using chat = await openChat(forged, { store })
    await chat.send(ben.id, "for two")
    // A key of its own was made.
    assert.lengthOf(sandbox.requests.filter(({ path }) => path.endsWith("/keys")), 1)
    await client.close()
  })
})

describe("a stranger whom the service names as a sender", () => {
  test("gives a conversation of two no key", async ({ sandbox }) => {
    await using ben = await person(sandbox, "ben1")
    await using ada = await person(sandbox, "ada1")
    const { client, id: mallory, store } = stranger(sandbox, "mallory1")
    const { keyBlob = assert.fail(), version } = await registerChat(client, { store })
    const { data: [record = assert.fail()] = [] } = await client.getUserPublicKeys({
      id: ada.id,
      user_auth: false,
      public_key_fields: ["public_key"]
    })
    const own = [ada.id, ben.id].toSorted().join(":")
    const change = await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const library = yield* Library.open(mallory)
      yield* library.load(Redacted.make(keyBlob))
      library.setIdentity(mallory, version)
      return library.prepareConversationKeyChange({
        publicKeys: [{ userId: ada.id, publicKey: record.public_key!, keyVersion: record.public_key_version! }],
        conversationId: own
      })
    })))
    const [signature = assert.fail()] = change.actionSignatures
    const event = ChatEnvelope.encode({
      sequenceId: "1",
      messageId: signature.messageId,
      senderId: mallory,
      conversationId: own,
      createdAt: Date.now(),
      detail: ChatEnvelope.bytesOf(signature.encodedMessageEventDetail),
      signature: ChatEnvelope.signatureOf({
        signature: signature.signature,
        public_key_version: signature.publicKeyVersion,
        signature_version: signature.signatureVersion
      })
    })
    const served = {
      data: [{ id: "1", sender_id: mallory, encoded_event: event }],
      meta: { conversation_key_events: [event] }
    }
    const forged = { ...ada.client, getChatConversationEvents: () => Promise.resolve(served) }
    await using chat = await openChat(forged, { store: ada.store })
    await chat.read(ben.id)
    await chat.send(ben.id, "for two")
    assert.lengthOf(sandbox.requests.filter(({ path }) => path.endsWith("/keys")), 1)
    await client.close()
  })
})

describe("with Effect", () => {
  test("a Layer has the chat of a user", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    const client = createClient(sandbox.user({ username: "cleo1" }).settings())
    const store = TokenStore.makeMemory()
    const program = Effect.gen(function*() {
      const { keyBlob } = yield* Chat.register({ store })
      assert.include(String(keyBlob), "redacted")
      const send = Chat.Chat.use((chat) => chat.send(ben.id, "from a Layer"))
      return yield* Effect.provide(send, Chat.layer({ store: TokenStore.makeMemory(), keyBlob }))
    })
    const { conversation } = await client.effect.runPromise(program)
    await client.close()
    assert.deepStrictEqual(texts(await ben.chat.read(conversation)), ["from a Layer"])
    assert.isEmpty(await ada.chat.read(ben.id))
  })
})

describe("a group", () => {
  test("has a title, and members who read what is sent after they joined", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await using cleo = await person(sandbox, "cleo1")
    const title = "Tëam ✓ 1"
    const group = await ada.chat.createGroup({ members: [ben.id], title })
    await ada.chat.send(group, "for two")
    await ada.chat.addMembers(group, [cleo.id])
    await ben.chat.send(group, "for three")
    assert.deepStrictEqual(texts(await ada.chat.read(group)), ["for two", "for three"])
    assert.deepStrictEqual(texts(await cleo.chat.read(group)), ["no key", "for three"])
    const { conversations } = await cleo.chat.conversations()
    assert.deepInclude(conversations.map(({ id, title }) => ({ id, title })), { id: group, title })
  })
})

describe("refusals", () => {
  test("a user without keys cannot be written to, and nothing is sent", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    const { id } = stranger(sandbox, "ben1")
    const error = await ada.chat.send(id, "Hello").then(() => assert.fail(), (error: unknown) => error)
    assert.include(error, { _tag: "ChatRefused", fault: "no public keys" })
    assert.isFalse(sandbox.requests.some(({ method, path }) => method === "POST" && path.includes("/chat/")))
  })

  test("a conversation of others, and a limit out of range, are refused by the rule", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    for (const conversation of ["1-2", "ada", ada.id, "g", ""]) {
      const error = await ada.chat.read(conversation).then(() => assert.fail(), (error: unknown) => error)
      assert.include(error, { _tag: "InvalidParameters", parameter: "conversation" })
    }
    const error = await ada.chat.read("1", { limit: 0 }).then(() => assert.fail(), (error: unknown) => error)
    assert.include(error, { _tag: "InvalidParameters", parameter: "limit" })
  })
})

describe("what a service or a member may do", () => {
  test("a message that is served twice is read once, and a changed one is a tombstone", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await ada.chat.send(ben.id, "one")
    await ada.chat.send(ben.id, "two")
    const { client } = ben
    const tampering = {
      ...client,
      getChatConversationEvents: async (parameters: { readonly id: string }) => {
        const response = await client.getChatConversationEvents({
          ...parameters,
          chat_message_event_fields: ["created_at", "encoded_event", "sender_id"]
        })
        const [two = assert.fail(), one = assert.fail()] = response.data ?? []
        const bytes = Buffer.from(two.encoded_event ?? "", "base64")
        // A byte of the encrypted contents, which come before the signature.
        bytes[bytes.length - 200] = (bytes[bytes.length - 200] ?? 0) ^ 1
        const changed = { ...two, encoded_event: bytes.toString("base64") }
        return { ...response, data: [changed, one, { ...one, id: `${one.id}0` }], meta: response.meta }
      }
    }
    await using chat = await openChat(tampering, { store: ben.store })
    assert.deepStrictEqual(texts(await chat.read(ada.id)), ["one", "unverified"])
  })

  test("nobody edits the messages of another", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await ada.chat.send(ben.id, "mine")
    await ben.chat.edit(message(await ben.chat.read(ada.id), "mine"), "yours")
    assert.deepStrictEqual(texts(await ada.chat.read(ben.id)), ["mine"])
  })
})

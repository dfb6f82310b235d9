import { sandboxTest } from "@postwire/sandbox/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { assert, describe } from "vitest"
import { type Chat, type Message, openChat, type TimelineItem } from "../src/index.ts"
import * as Library from "../src/library/Library.ts"
import { needsLibrary } from "./support/Needs.ts"
import { memory, type Person, person } from "./support/Scene.ts"

needsLibrary()

const test = sandboxTest({ posts: 0 })

const shown = (items: ReadonlyArray<TimelineItem>) =>
  items.map((item) => item.kind === "tombstone" ? item.reason : item.text)

const message = (items: ReadonlyArray<TimelineItem>, text: string): Message =>
  items.find((item): item is Message => item.kind === "message" && item.text === text) ?? assert.fail(`no ${text}`)

const failure = (promise: Promise<unknown>) =>
  promise.then(() => assert.fail("it succeeded"), (error: unknown) => error)

/** Registers other keys of a user, as a second device does that has lost the first ones. Returns the chat that they open. */
const renew = async ({ client, id, store }: Person): Promise<Chat> => {
  const keyBlob = await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const library = yield* Library.open(id)
    const { generateVersion, publicKey, version = "1" } = library.generateKeypairs()
    yield* Effect.promise(() =>
      client.addPublicKey({
        version,
        generate_version: generateVersion,
        public_key: publicKey.publicKey,
        signing_public_key: publicKey.signingPublicKey,
        identity_public_key_signature: publicKey.identityPublicKeySignature,
        registration_method: publicKey.registrationMethod
      })
    )
    return yield* library.keyBlob
  })))
  return openChat(client, { store, keyBlob: Redacted.value(keyBlob) })
}

/** Keys of the service: a record of them, and one that has another identity key with the signing key. */
const forge = ({ client, id }: Person) =>
  Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const { data: [real] = [] } = yield* Effect.promise(() =>
      client.getUserPublicKeys({ id, public_key_fields: ["public_key"] })
    )
    const { public_key: identity = assert.fail(), public_key_version = assert.fail() } = real ?? {}
    const library = yield* Library.open(id)
    const { publicKey } = library.generateKeypairs()
    library.setIdentity(id, public_key_version)
    const own = {
      public_key_version,
      public_key: publicKey.publicKey,
      signing_public_key: publicKey.signingPublicKey,
      identity_public_key_signature: publicKey.identityPublicKeySignature
    }
    const signature = library.sign(Buffer.from(identity, "base64"))
    const forged = {
      ...own,
      public_key: identity,
      identity_public_key_signature: Buffer.from(signature).toString("base64")
    }
    return { own, forged, keyBlob: Redacted.value(yield* library.keyBlob) }
  })))

describe("the key to encrypt with", () => {
  test("is never one that a former member has made, which reads messages alone", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await using cleo = await person(sandbox, "cleo1")
    const group = await ada.chat.createGroup({ members: [ben.id, cleo.id] })
    await cleo.chat.rotate(group)
    await cleo.chat.send(group, "from Cleo")
    let members = [ada.id, ben.id, cleo.id]
    const client = {
      ...ada.client,
      getChatConversation: async () => ({ data: { id: group, admin_ids: [ada.id], member_ids: members } })
    }
    // Keys that were stored while she was a member are not used, either.
    for (const readsBefore of [false, true]) {
      members = [ada.id, ben.id, cleo.id]
      await using chat = await openChat(client, { store: ada.store })
      if (readsBefore) await chat.read(group)
      members = [ada.id, ben.id]
      const old = message(await chat.read(group), "from Cleo")
      await chat.send(group, `without Cleo ${readsBefore}`)
      const { keyVersion } = message(await ben.chat.read(group), `without Cleo ${readsBefore}`)
      assert.notStrictEqual(keyVersion, old.keyVersion)
    }
  })

  test("is found behind events that bring none", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await ada.chat.send(ben.id, "one")
    const one = message(await ada.chat.read(ben.id), "one")
    await ben.chat.rotate(ada.id)
    await ada.chat.delete(one, "everyone")
    const client = {
      ...ada.client,
      getChatConversationEvents: async (parameters: Parameters<typeof ada.client.getChatConversationEvents>[0]) => {
        const page = await ada.client.getChatConversationEvents({ ...parameters, max_results: 1 })
        return { ...page, meta: { ...page.meta, conversation_key_events: [] } }
      }
    }
    await using chat = await openChat(client, { store: ada.store })
    await chat.send(ben.id, "two")
    assert.notStrictEqual(message(await ben.chat.read(ada.id), "two").keyVersion, one.keyVersion)
    assert.lengthOf(sandbox.requests.filter(({ path }) => path.endsWith("/keys")), 2)
  })
})

describe("a reply to a message from before a rotation", () => {
  test("quotes it, proven by the change that brought its key", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await ada.chat.send(ben.id, "before")
    const before = message(await ben.chat.read(ada.id), "before")
    await ada.chat.rotate(ben.id)
    await ben.chat.reply(before, "proven")
    // As of a live message, which comes with the latest change alone.
    await ben.chat.reply({ ...before, keyChange: undefined }, "unproven")
    const read = await ada.chat.read(ben.id)
    const { sequenceId } = before
    assert.deepStrictEqual(message(read, "proven").replyTo, { sequenceId, text: "before" })
    assert.deepStrictEqual(message(read, "unproven").replyTo, { sequenceId, text: undefined })
  })
})

describe("a user whose keys have changed", () => {
  test("is named by what cannot be read, and is not written to, until the keys are accepted", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await ada.chat.send(ben.id, "with the first keys")
    for (const [reader, peer] of [[ada, ben], [ben, ada]] as const) {
      assert.deepStrictEqual(shown(await reader.chat.read(peer.id)), ["with the first keys"])
    }
    await using renewed = await renew(ben)
    await renewed.rotate(ada.id)
    await renewed.send(ada.id, "with others")
    const read = await ada.chat.read(ben.id)
    assert.deepStrictEqual(shown(read), ["with the first keys", "changed keys"])
    assert.include(read[1], { senderId: ben.id })
    const sends = () => sandbox.requests.filter(({ path }) => path.endsWith("/messages")).length
    const before = sends()
    for (const attempt of [() => ada.chat.send(ben.id, "to whom?"), () => ada.chat.rotate(ben.id)]) {
      assert.include(await failure(attempt()), {
        _tag: "ChatRefused",
        fault: "changed keys",
        subject: `the keys of user ${ben.id}`
      })
    }
    assert.strictEqual(sends(), before)
    // The store remembers: another process knows the first keys.
    await using again = await openChat(ada.client, { store: ada.store })
    assert.include(await failure(again.send(ben.id, "to whom?")), { fault: "changed keys" })
    await again.acceptKeys(ben.id)
    assert.deepStrictEqual(shown(await again.read(ben.id)).at(-1), "with others")
    await again.send(ben.id, "to you")
    assert.strictEqual(shown(await renewed.read(ada.id)).at(-1), "to you")
  })
})

describe("a service that signs a user's identity key with a signing key of its own", () => {
  test("is noticed, of others and of oneself", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await ada.chat.send(ben.id, "honest")
    await ada.chat.read(ben.id)
    for (const [victim, peer] of [[ben, ada.id], [ada, ben.id]] as const) {
      const { forged, keyBlob, own } = await forge(victim)
      const serving = (row: typeof own, of: Person) => ({
        ...of.client,
        getUserPublicKeys: async (parameters: Parameters<typeof ada.client.getUserPublicKeys>[0]) =>
          parameters.id === victim.id && isHostile ? { data: [row] } : ada.client.getUserPublicKeys(parameters)
      })
      let isHostile = true
      await using service = await openChat(serving(own, victim), { store: memory(), keyBlob })
      await service.rotate(peer)
      await service.send(peer, "forged")
      isHostile = victim === ben
      await using chat = await openChat(serving(forged, ada), { store: ada.store })
      isHostile = true
      assert.notInclude(shown(await chat.read(ben.id)), "forged")
      assert.include(await failure(chat.send(ben.id, "to whom?")), { fault: "changed keys" })
      if (victim === ben) continue
      assert.include(await failure(openChat(serving(forged, ada), { store: ada.store })), { fault: "other keys" })
    }
  })
})

describe("fingerprints", () => {
  test("are the same for both users, and of both keys", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    const fingerprint = await ben.chat.fingerprint()
    assert.match(fingerprint, /^([\da-f]{4} ){7}[\da-f]{4}$/)
    assert.deepStrictEqual(await ada.chat.acceptKeys(ben.id), [fingerprint])
    const { forged } = await forge(ben)
    const client = {
      ...ada.client,
      getUserPublicKeys: async (parameters: Parameters<typeof ada.client.getUserPublicKeys>[0]) =>
        parameters.id === ben.id ? { data: [forged] } : ada.client.getUserPublicKeys(parameters)
    }
    await using chat = await openChat(client, { store: ada.store })
    assert.notInclude(await chat.acceptKeys(ben.id), fingerprint)
  })

  test("of an earlier version, which are identity keys alone, have to be accepted anew", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    const { forged } = await forge(ben)
    const [[name, text = ""] = assert.fail()] = ada.store.texts
    ada.store.texts.set(
      name,
      JSON.stringify({ ...JSON.parse(text), identities: { [ben.id]: [forged.public_key] } })
    )
    assert.include(await failure(ada.chat.send(ben.id, "Hello")), { fault: "changed keys" })
    await ada.chat.acceptKeys(ben.id)
    await ada.chat.send(ben.id, "Hello")
  })
})

describe("a member whom the service adds to a group", () => {
  test("gets no key, until the members are accepted", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await using cleo = await person(sandbox, "cleo1")
    const group = await ben.chat.createGroup({ members: [ada.id] })
    let isHostile = false
    const client = {
      ...ada.client,
      getChatConversation: async (parameters: Parameters<typeof ada.client.getChatConversation>[0]) => {
        const answer = await ada.client.getChatConversation({ ...parameters, chat_conversation_fields: ["member_ids"] })
        const members = [...answer.data?.member_ids ?? [], ...isHostile ? [cleo.id] : []]
        return { data: { id: group, admin_ids: [ben.id], member_ids: members } }
      }
    }
    await using chat = await openChat(client, { store: ada.store })
    await chat.send(group, "to two")
    isHostile = true
    const attempts = [
      () => chat.send(group, "to three?"),
      () => chat.rotate(group),
      () => chat.addMembers(group, [cleo.id])
    ]
    for (const attempt of attempts) {
      assert.include(await failure(attempt()), {
        _tag: "ChatRefused",
        fault: "new members",
        subject: `the conversation ${group} with user ${cleo.id}`
      })
    }
    isHostile = false
    await ben.chat.addMembers(group, [cleo.id])
    assert.include(await failure(chat.send(group, "to three?")), { fault: "new members" })
    assert.sameMembers([...await chat.acceptMembers(group)], [ada.id, ben.id, cleo.id])
    await chat.send(group, "to three")
    assert.deepStrictEqual(shown(await cleo.chat.read(group)).at(-1), "to three")
  })
})

describe("a group whose creation is in doubt", () => {
  test("is not created twice", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    const refusing = {
      ...ada.client,
      getChatConversation: () => Promise.reject(Object.assign(new Error("no"), { _tag: "ServerFailure" }))
    }
    await using chat = await openChat(refusing, { store: ada.store })
    const created = () => sandbox.requests.filter(({ path }) => path.endsWith("/conversations/group")).length
    sandbox.faults.add({ operation: "createChatGroup", times: 1, reset: "after" })
    assert.include(await failure(chat.createGroup({ members: [ben.id] })), { _tag: "OutcomeUnknown" })
    assert.strictEqual(created(), 1)
    sandbox.faults.add({ operation: "createChatGroup", times: 1, reset: "after" })
    await ada.chat.createGroup({ members: [ben.id] })
    assert.strictEqual(created(), 2)
    sandbox.faults.add({ operation: "createChatGroup", times: 1, reset: "before" })
    const group = await ada.chat.createGroup({ members: [ben.id] })
    assert.strictEqual(created(), 4)
    await ben.chat.send(group, "here")
  })
})

describe("listening", () => {
  test("outlives failures, and shows a tombstone for what cannot be read", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    const group = await ben.chat.createGroup({ members: [ada.id] })
    await ben.chat.send(group, "to the group")
    await ben.chat.send(ada.id, "to Ada")
    const payloadOf = async (id: string) => {
      const { data = [], meta } = await ada.client.getChatConversationEvents({
        id,
        max_results: 1,
        chat_message_event_fields: ["encoded_event"]
      })
      return {
        conversation_id: id,
        sender_id: ben.id,
        encoded_event: data[0]?.encoded_event ?? assert.fail(),
        conversation_key_change_event: meta.conversation_key_events?.at(-1) ?? assert.fail()
      }
    }
    const pair = [ada.id, ben.id].toSorted().join("-")
    const own = await payloadOf(pair)
    const payloads = [await payloadOf(group), { ...own, encoded_event: "AAAA" }, { conversation_id: pair }, own]
    const unavailable = Object.assign(new Error("the service is down"), { _tag: "ServerFailure" })
    const client = {
      ...ada.client,
      getChatConversation: () => Promise.reject(unavailable),
      streamActivity: async function*() {
        for (const payload of payloads) {
          yield {
            event: { event_uuid: "1", event_type: "chat.received" as const, filter: { user_id: ada.id }, payload }
          }
        }
      }
    }
    await using chat = await openChat(client, { store: ada.store })
    const items: Array<TimelineItem> = []
    for await (const item of chat.listen()) items.push(item)
    assert.deepStrictEqual(shown(items), ["unavailable", "unknown", "unknown", "to Ada"])
    assert.include(items[0], { conversation: group, senderId: ben.id, error: unavailable })
  })
})

describe("a message", () => {
  test("is deleted for everybody, or for one user alone", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    for (const text of ["one", "two"]) await ada.chat.send(ben.id, text)
    const read = await ben.chat.read(ada.id)
    await ben.chat.delete(message(read, "one"), "me")
    assert.deepStrictEqual(shown(await ben.chat.read(ada.id)), ["deleted", "two"])
    assert.deepStrictEqual(shown(await ada.chat.read(ben.id)), ["one", "two"])
    await ada.chat.delete(message(read, "two"), "everyone")
    assert.deepStrictEqual(shown(await ben.chat.read(ada.id)), ["deleted", "deleted"])
    await failure(ben.chat.delete(message(read, "one"), "everyone"))
  })

  test("is announced while it is typed", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    await ada.chat.send(ben.id, "one")
    await ada.chat.typing(ben.id)
    assert.isTrue(sandbox.requests.some(({ path }) => path.endsWith("/typing")))
  })
})

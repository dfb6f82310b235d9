import { it } from "@effect/vitest"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import type { Event } from "@xdevplatform/chat-xdk"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { assert, describe } from "vitest"
import type { Opened } from "../src/conversations/ConversationKeys.ts"
import * as History from "../src/conversations/History.ts"
import type { TimelineItem } from "../src/conversations/Message.ts"
import * as Recent from "../src/conversations/Recent.ts"
import * as ChatStore from "../src/keys/ChatStore.ts"
import * as PublicKeys from "../src/keys/PublicKeys.ts"
import * as Library from "../src/library/Library.ts"
import * as Calls from "../src/service/Calls.ts"
import * as Listening from "../src/sessions/Listening.ts"
import { needsLibrary } from "./support/Needs.ts"

needsLibrary()

const conversation = { id: "1:2", path: "1-2", peer: "2" }

/** A chat of user 1 whose events are JSON, so that a test can state what the library verified. */
const opened = Effect.fnUntraced(function*() {
  const library = Object.assign(yield* Library.open("1"), {
    decryptEvent: (event: string): Event => JSON.parse(event),
    decryptEvents: () => ({ messages: [], conversationKeys: { keys: {}, latestVersion: null }, errors: {} })
  })
  const store = ChatStore.make(TokenStore.makeMemory(), "1")
  const forgotten: Array<string> = []
  const made: Opened = {
    userId: "1",
    library,
    store,
    publicKeys: {
      ...PublicKeys.make({ library, store, userId: "1" }),
      signers: () => Effect.succeed([]),
      forget: (userIds) => void forgotten.push(...userIds)
    },
    turn: Semaphore.makeUnsafe(1),
    isNewlyUnreadable: Recent.make()
  }
  return { opened: made, forgotten }
})

const event = (sequenceId: string, more: Partial<Event> = {}): Event => ({
  type: "message",
  verified: true,
  sequenceId,
  id: `id of ${sequenceId}`,
  senderId: "2",
  conversationId: "1:2",
  createdAtMsec: 1_000,
  content: { content_type: "text", text: `text of ${sequenceId}` },
  ...more
})

const edit = (sequenceId: string, target: string, more: Partial<Event> = {}): Event =>
  event(sequenceId, { content: { content_type: "edit", new_text: "edited", target_message_id: target }, ...more })

const deletion = (sequenceId: string, target: string, more: Partial<Event> = {}): Event =>
  event(sequenceId, { type: "messageDeleted", messageIds: [target], deleteForAll: true, ...more })

const nothing = Calls.ofMethods({ streamActivity: async function*() {} })

const itemsOf = (chat: Opened, events: ReadonlyArray<Event>) =>
  Effect.provideContext(
    History.verified(
      chat,
      conversation,
      events.map((event) => ({
        sequenceId: event.sequenceId,
        senderId: event.senderId,
        createdAt: "no date",
        event: JSON.stringify(event)
      })),
      [],
      ["1", "2"]
    ),
    nothing
  )

const shown = (items: ReadonlyArray<TimelineItem>) =>
  items.map((item) => item.kind === "tombstone" ? item.reason : item.text)

/** The texts and tombstones of events. */
const shownOf = (...events: ReadonlyArray<Event>) =>
  Effect.scoped(Effect.flatMap(opened(), ({ opened }) => Effect.map(itemsOf(opened, events), shown)))

describe("items", () => {
  it.effect("have the order of the service, and no invalid date", () =>
    Effect.scoped(Effect.gen(function*() {
      const late = event("9", { createdAtMsec: 5_000 })
      const items = yield* itemsOf((yield* opened()).opened, [
        event("11", { createdAtMsec: 9e15 }),
        event("10", { createdAtMsec: 2_000 }),
        late
      ])
      assert.deepStrictEqual(shown(items), ["text of 9", "text of 10", "text of 11"])
      assert.deepStrictEqual(items.map(({ createdAt }) => createdAt?.getTime()), [5_000, 2_000, undefined])
    })))

  it.effect("are messages only if their signature verified", () =>
    Effect.gen(function*() {
      const { verified: _, ...unsaid } = event("1")
      assert.deepStrictEqual(yield* shownOf(unsaid), ["unverified"])
      assert.deepStrictEqual(yield* shownOf(event("1", { verified: false })), ["unverified"])
      assert.deepStrictEqual(yield* shownOf(event("1", { conversationId: "g1" })), ["unverified"])
      assert.deepStrictEqual(yield* shownOf(event("1", { type: "typing", verified: false })), [])
    }))

  it.effect("that are served twice are read once; others with the same id are not lost", () =>
    Effect.gen(function*() {
      const items = yield* shownOf(
        event("1"),
        event("2", { id: "id of 1" }),
        event("3", { id: "id of 1", senderId: "1" })
      )
      assert.deepStrictEqual(items, ["text of 1", "text of 3"])
    }))

  it.effect("are edited by their sender alone", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* shownOf(event("1"), edit("2", "1")), ["edited"])
      assert.deepStrictEqual(yield* shownOf(event("1"), edit("2", "1", { senderId: "1" })), ["text of 1"])
      const twice = edit("4", "1", { content: { content_type: "edit", new_text: "again", target_message_id: "1" } })
      assert.deepStrictEqual(yield* shownOf(edit("3", "1"), twice), ["again"])
    }))

  it.effect("are deleted by their sender, with their edits, or for this user by this user", () =>
    Effect.gen(function*() {
      const own = { senderId: "1", deleteForAll: false }
      assert.deepStrictEqual(yield* shownOf(event("1"), edit("2", "1"), deletion("3", "1")), ["deleted"])
      assert.deepStrictEqual(yield* shownOf(edit("2", "1"), deletion("3", "1")), [])
      assert.deepStrictEqual(yield* shownOf(event("1"), deletion("3", "1"), edit("4", "1")), ["deleted"])
      assert.deepStrictEqual(yield* shownOf(event("1"), deletion("3", "1", own)), ["deleted"])
      assert.deepStrictEqual(yield* shownOf(event("1"), deletion("3", "1", { senderId: "1" })), ["text of 1"])
      assert.deepStrictEqual(yield* shownOf(event("1"), deletion("3", "1", { deleteForAll: false })), ["text of 1"])
    }))

  it.effect("that cannot be read have the keys of their senders fetched again once", () =>
    Effect.scoped(Effect.gen(function*() {
      const { forgotten, opened: chat } = yield* opened()
      for (let reads = 0; reads < 3; reads++) yield* itemsOf(chat, [event("1", { verified: false })])
      assert.deepStrictEqual(forgotten, ["1", "2"])
      yield* itemsOf(chat, [event("1", { verified: false }), event("2", { verified: false })])
      assert.lengthOf(forgotten, 4)
    })))

  it.effect("that arrive live are told apart by conversation, sender and id", () =>
    Effect.scoped(Effect.gen(function*() {
      const { opened: chat } = yield* opened()
      const payloads = [
        event("1"),
        event("1"),
        event("2", { id: "id of 1", senderId: "1" }),
        event("3", {
          id: "id of 1",
          conversationId: "1:3"
        })
      ]
      const activity = Stream.fromIterable(payloads.map((one) => ({
        event_uuid: "1",
        event_type: "chat.received" as const,
        filter: { user_id: "1" },
        payload: { conversation_id: one.conversationId!, sender_id: one.senderId!, encoded_event: JSON.stringify(one) }
      })))
      const subscriptions = ["chat.received", "chat.sent"].map((event_type) => ({
        event_type,
        filter: { user_id: "1" }
      }))
      const client = Calls.ofMethods(Object.assign({ streamActivity: async function*() {} }, {
        getActivitySubscriptions: () => Promise.resolve({ data: subscriptions, meta: {} })
      }))
      const items = yield* Effect.provideContext(Stream.runCollect(Listening.listen(chat, activity)), client)
      assert.deepStrictEqual(shown(items), ["text of 1", "text of 2", "text of 3"])
    })))
})

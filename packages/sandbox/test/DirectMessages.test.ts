import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import {
  blockDirectMessages,
  createDirectMessage,
  deleteDirectMessageEvent,
  downloadDirectMessageMedia,
  getDirectMessageEvent,
  getDirectMessageEvents,
  unblockDirectMessages
} from "@postwire/core/operations/DirectMessages"
import { uploadMedia } from "@postwire/core/operations/Media"
import * as ConversationId from "@postwire/core/schema/ConversationId"
import { createClient } from "@postwire/node"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import * as MediaBytes from "../../core/test/support/MediaBytes.ts"
import { start } from "../src/Sandbox.ts"
import { make } from "./support/Requests.ts"

describe("direct message events", () => {
  it.effect("of two users are in the conversation that their ids name, whoever writes", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, sandbox } = bench
      for (const username of ["young", "younger"]) {
        const user = sandbox.user({ username })
        user.message(ada, "Hello")
        const dm_conversation_id = ConversationId.ofUsers(user.id, ada.id)
        assert.strictEqual(ConversationId.ofUsers(ada.id, user.id), dm_conversation_id)
        const { data } = yield* createDirectMessage({ dm_conversation_id, text: "Hello back" }).pipe(
          Effect.provide(bench.client())
        )
        assert.strictEqual(data?.dm_conversation_id, dm_conversation_id)
        const events = yield* getDirectMessageEvents({ dm_conversation_id }).pipe(Effect.provide(bench.client()))
        assert.deepStrictEqual(events.data?.map(({ text }) => text), ["Hello back", "Hello"])
      }
      // As numbers, not as texts.
      assert.strictEqual(ConversationId.ofUsers("2244994945", "783214"), "783214-2244994945")
    }))

  it.effect("are seen by those who take part, with what they name", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, sandbox, secrets } = bench
      const [grace, alan] = [sandbox.user({ username: "grace" }), sandbox.user({ username: "alan" })]
      const message = grace.message(ada, "Hello #effect")
      const others = grace.message(alan, "Not for ada")
      for (const wire of ["neutral", "x", "x-2026-02"] as const) {
        const { data, includes } = yield* getDirectMessageEvent({
          event_id: message.id,
          dm_event_fields: ["entities", "sender_id"],
          expansions: ["sender_id"]
        }).pipe(Effect.provide(bench.client(wire)))
        assert.deepInclude(data, {
          id: message.id,
          text: "Hello #effect",
          event_type: "MessageCreate",
          sender_id: grace.id
        })
        assert.strictEqual(data?.entities?.hashtags?.[0]?.tag, "effect")
        assert.deepStrictEqual(includes.users?.map(({ username }) => username), ["grace"])
      }
      const problems = yield* Effect.forEach([others.id, "1"], (event_id) => getDirectMessageEvent({ event_id })).pipe(
        Effect.provide(bench.client("neutral", { ...secrets }))
      )
      assert.deepStrictEqual(problems.map(({ errors }) => errors[0]?.title), ["Authorization Error", "Not Found Error"])
    }))

  it.effect("are deleted by who sent them, for everybody, and once", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, sandbox } = bench
      const grace = sandbox.user({ username: "grace" })
      const [hers, mine] = [grace.message(ada, "hers"), ada.message(grace, "mine")]
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(deleteDirectMessageEvent({ event_id: hers.id })))._tag, "Forbidden")
        assert.deepStrictEqual((yield* deleteDirectMessageEvent({ event_id: mine.id })).data, { deleted: true })
        assert.strictEqual((yield* Effect.flip(deleteDirectMessageEvent({ event_id: mine.id })))._tag, "NotFound")
        const { data } = yield* getDirectMessageEvents({ participant_id: grace.id })
        assert.deepStrictEqual(data?.map(({ id }) => id), [hers.id])
      }).pipe(Effect.provide(bench.client()))
    }))
})

describe("blocked direct messages", () => {
  it.effect("do not come, until that is over; the one who blocks may write", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, client, sandbox } = bench
      const grace = sandbox.user({ username: "grace" })
      const asGrace = client("neutral", grace.settings())
      const fromAda = createDirectMessage({ participant_id: grace.id, text: "Hi" }).pipe(Effect.provide(client()))
      const blocked = yield* blockDirectMessages({ id: ada.id }).pipe(Effect.provide(asGrace))
      assert.deepStrictEqual(blocked.data, { blocked: true })
      const refused = yield* Effect.flip(fromAda)
      assert.deepInclude(refused, { _tag: "Forbidden", detail: "You cannot send messages to this user." })
      const written = yield* createDirectMessage({ participant_id: ada.id, text: "Sorry" }).pipe(
        Effect.provide(asGrace)
      )
      const inConversation = createDirectMessage({
        dm_conversation_id: written.data!.dm_conversation_id,
        text: "Hi"
      }).pipe(Effect.provide(client()))
      assert.strictEqual((yield* Effect.flip(inConversation))._tag, "Forbidden")
      for (const _ of [1, 2]) {
        const { data } = yield* unblockDirectMessages({ id: ada.id }).pipe(Effect.provide(asGrace))
        assert.deepStrictEqual(data, { blocked: false })
      }
      assert.isDefined((yield* fromAda).data)
    }))

  it.effect("are of another user, who exists", () =>
    Effect.gen(function*() {
      const { ada, client } = yield* make({ posts: 0 })
      const tags = yield* Effect.forEach(["1", ada.id], (id) =>
        Effect.map(Effect.flip(blockDirectMessages({ id })), ({ _tag }) => _tag)).pipe(Effect.provide(client()))
      assert.deepStrictEqual(tags, ["NotFound", "BadRequest"])
    }))
})

describe("the files of direct messages", () => {
  it.effect("are bytes for those who take part, and nothing for others", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { client, sandbox } = bench
      const [grace, alan] = [sandbox.user({ username: "grace" }), sandbox.user({ username: "alan" })]
      const picture = MediaBytes.png()
      const named = yield* Effect.gen(function*() {
        const { data: media } = yield* uploadMedia({ media: picture, media_category: "dm_image" })
        const { data: sent } = yield* createDirectMessage({ participant_id: grace.id, media_id: media!.id })
        return { dm_id: sent!.dm_event_id, media_id: media!.id, resource_id: `${media!.media_key}.png` }
      }).pipe(Effect.provide(client()))
      const { data } = yield* downloadDirectMessageMedia(named).pipe(Effect.provide(client("x", grace.settings())))
      assert.deepStrictEqual(data, picture)
      const raw = yield* downloadDirectMessageMedia.as("raw")(named).pipe(Effect.provide(client()))
      assert.strictEqual(raw.headers["content-type"], "application/octet-stream")
      const stranger = yield* Effect.flip(downloadDirectMessageMedia(named)).pipe(
        Effect.provide(client("neutral", alan.settings()))
      )
      assert.strictEqual(stranger._tag, "Forbidden")
      const absent = yield* Effect.flip(downloadDirectMessageMedia({ ...named, resource_id: "other.png" })).pipe(
        Effect.provide(client())
      )
      assert.strictEqual(absent._tag, "NotFound")
      const longer = Client.layer({ baseUrl: sandbox.baseUrl, maxBodySize: picture.length - 1 }).pipe(
        Layer.provide([Credentials.layer(bench.secrets), Layer.succeed(HttpClient.HttpClient, bench.http)])
      )
      const cut = yield* Effect.flip(downloadDirectMessageMedia(named)).pipe(Effect.provide(longer))
      assert.strictEqual(cut._tag, "UndecodableResponse")
    }))

  it("come with Promises, over a connection", async () => {
    await using sandbox = await start({ posts: 0 })
    await using client = createClient(sandbox.settings)
    const grace = sandbox.user({ username: "grace" })
    const picture = MediaBytes.png()
    const { data: media } = await client.uploadMedia({ media: picture, media_category: "dm_image" })
    const { data: sent } = await client.createDirectMessage({ participant_id: grace.id, media_id: media!.id })
    const resource_id = `${media!.media_key}.png`
    const named = { dm_id: sent!.dm_event_id, media_id: media!.id, resource_id }
    assert.deepStrictEqual((await client.downloadDirectMessageMedia(named)).data, picture)
    const { includes } = await client.getDirectMessageEvents({
      dm_conversation_id: sent!.dm_conversation_id,
      expansions: ["attachments.media_keys"],
      media_fields: ["url"]
    })
    const url = includes.media?.[0]?.url ?? ""
    assert.strictEqual(new URL(url).pathname.split("/").slice(-3).join(), Object.values(named).join())
    assert.deepStrictEqual(new Uint8Array(await (await fetch(url)).arrayBuffer()), picture)
    const raw = await client.as("raw").downloadDirectMessageMedia(named)
    assert.deepStrictEqual(new Uint8Array(await raw.arrayBuffer()), picture)
  })
})

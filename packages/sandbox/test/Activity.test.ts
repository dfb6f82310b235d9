import { expect, it } from "@effect/vitest"
import { type EventType, eventTypes } from "@postwire/core/schema/models/Activity"
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import type { ServerOptions } from "../src/admin/Options.ts"
import { Sandbox } from "../src/index.ts"
import { ask, json, listen, settle } from "./support/Listening.ts"
import * as Receiver from "./support/Receiver.ts"

const start = Date.UTC(2026, 7, 1, 12)

const layerOf = (options: ServerOptions = {}) => Sandbox.layer({ posts: 0, start, ...options })

const subscriptions = "/2/activity/subscriptions"

const stream = "/2/activity/stream"

const subscribe = (event_type: string, filter: object, more: object = {}, token?: string) =>
  json("POST", subscriptions, { event_type, filter, ...more }, token)

const uuid = /^-?\d{1,19}$/

/** The type and the user of each event, in order. */
const shortly = (items: ReadonlyArray<{ readonly data: { readonly event_type: string; readonly tag: string } }>) =>
  items.map(({ data }) => `${data.event_type} ${data.tag}`)

describe("subscriptions", () => {
  it.effect("are made, changed, listed by page and deleted", () =>
    Effect.gen(function*() {
      const { ada, seeded: { consumerSecret }, user } = yield* Sandbox.Sandbox
      const url = Receiver.addressOf(consumerSecret)
      const { data: hook } = yield* json("POST", "/2/webhooks", { url })
      const made = yield* subscribe("post.create", { user_id: ada.id }, { tag: "own" })
      expect(made.data).toMatchObject({
        subscription: {
          event_type: "post.create",
          filter: { user_id: ada.id },
          tag: "own",
          created_at: expect.any(String)
        },
        total_subscriptions: 1
      })
      const { subscription_id: id } = made.data.subscription
      yield* TestClock.adjust("1 minute")
      const changed = yield* json("PUT", `${subscriptions}/${id}`, { webhook_id: hook.id })
      expect(changed.data.subscription).toMatchObject({ tag: "own", webhook_id: hook.id })
      expect(changed.data.subscription.updated_at > changed.data.subscription.created_at).toBe(true)
      expect(yield* json("PUT", `${subscriptions}/${id}`, { webhook_id: "1" })).toMatchObject({ status: 404 })
      const others: Array<string> = []
      for (let i = 0; i < 4; i++) {
        others.push((yield* subscribe("post.create", { user_id: user().id })).data.subscription.subscription_id)
      }
      const first = yield* json("GET", `${subscriptions}?max_results=3`)
      const second = yield* json("GET", `${subscriptions}?max_results=3&pagination_token=${first.meta.next_token}`)
      expect([first, second].map(({ data }) => data.length)).toEqual([3, 2])
      expect(second.meta).toEqual({ result_count: 2, total_subscriptions: 5 })
      expect(yield* json("DELETE", `${subscriptions}/${id}`)).toEqual({
        data: { deleted: true },
        meta: { total_subscriptions: 4 }
      })
      expect((yield* ask("DELETE", `${subscriptions}/${id}`)).status).toBe(404)
      expect(yield* json("DELETE", `${subscriptions}?ids=${others[0]},${id}`)).toMatchObject({
        data: [{ subscription_id: others[0], deleted: true }, { subscription_id: id, deleted: false }],
        errors: [{ subscription_id: id, reason: "SubscriptionNotFound" }],
        meta: { total_subscriptions: 3 }
      })
    }).pipe(Effect.provide(layerOf())))

  it.effect("are refused twice, beyond 1,500, and with a filter that does not fit", () =>
    Effect.gen(function*() {
      const { ada, store } = yield* Sandbox.Sandbox
      yield* subscribe("post.create", { user_id: ada.id })
      const message = ({ errors }: { readonly errors: ReadonlyArray<{ readonly message: string }> }) =>
        errors[0]?.message
      expect(message(yield* subscribe("post.create", { user_id: ada.id }))).toMatch(/^DuplicateSubscriptionFailed/)
      for (
        const [type, filter, why] of [
          ["post.create", {}, /needs a `user_id`/],
          ["post.create", { user_id: ada.id, direction: "inbound" }, /no `direction`/],
          ["post.create", { user_id: ada.id, keyword: "cat" }, /Only news.new/],
          ["news.new", { user_id: ada.id }, /needs a `keyword`/],
          ["post.imagined", { user_id: ada.id }, /event_type/]
        ] as const
      ) expect(message(yield* subscribe(type, filter))).toMatch(why)
      expect(yield* subscribe("post.create", { user_id: "1" })).toMatchObject({ status: 404 })
      const { appId } = store.activity.matching("post.create", ada.id)[0]!
      store.transaction(() => {
        for (let i = 1; i < 1_500; i++) {
          store.activity.insert({ appId, eventType: "news.new", filter: { keyword: `${i}` }, now: start })
        }
      })
      expect(message(yield* subscribe("news.new", { keyword: "cat" }))).toMatch(/^SubscriptionLimitExceeded/)
    }).pipe(Effect.provide(layerOf())))

  it.effect("to private events need the grant of that user, with the scope of the type", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const types: ReadonlyArray<readonly [EventType, string]> = [
        ["post.mention.create", "post.read"],
        ["like.create", "like.read"],
        ["mute.mute", "mute.read"],
        ["block.unblock", "block.read"],
        ["dm.received", "dm.read"],
        ["chat.sent", "dm.read"],
        ["broadcast.chat", "broadcast.read"]
      ]
      for (const [type, scope] of types) {
        const { id, username } = sandbox.user()
        const client = sandbox.app()
        const sign = (scopes: ReadonlyArray<string>) => sandbox.grants.make({ app: client.id, user: username, scopes })
        const token = client.settings.bearerToken
        const refused = yield* subscribe(type, { user_id: id }, {}, token)
        expect(refused).toMatchObject({ status: 403 })
        expect(refused.detail).toContain(scope)
        sign(["users.read"])
        expect(yield* subscribe(type, { user_id: id }, {}, token)).toMatchObject({ status: 403 })
        sign([scope])
        expect((yield* subscribe(type, { user_id: id }, {}, token)).data.subscription.event_type).toBe(type)
      }
    }).pipe(Effect.provide(layerOf())))
})

describe("the stream of activity", () => {
  it.effect("brings what happens, once for each subscription", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { ada, trigger } = sandbox
      const grace = sandbox.user({ username: "grace" })
      const all = eventTypes.filter((type) => type !== "news.new" && type !== "oauth.revoke")
      for (const type of all) yield* subscribe(type, { user_id: ada.id }, { tag: "ada" })
      yield* subscribe("post.create", { user_id: grace.id }, { tag: "grace" })
      const { items, lines } = yield* listen(stream)
      const made = ada.post("Hello")
      grace.reply(made, "@ada hello")
      grace.quote(made, "look")
      grace.repost(made)
      grace.likes(made)
      ada.likes(made)
      grace.follows(ada)
      ada.follows(grace)
      ada.mutes(grace)
      ada.blocks(grace)
      const { mutes, blocks, posts, spaces } = sandbox.store
      mutes.set(ada.id, grace.id, false)
      blocks.set(ada.id, grace.id, false)
      ada.message(grace, "one")
      grace.message(ada, "two")
      ada.space({ title: "Talk" })
      spaces.end(spaces.byCreators([ada.id], start)[0]!, start)
      posts.delete(made.id)
      sandbox.store.users.update(ada.id, "profile.update.bio", "A lighthouse")
      yield* settle
      expect(shortly(items())).toEqual([
        "post.create ada",
        "post.create grace",
        "post.mention.create ada",
        "post.reply.create ada",
        "post.create grace",
        "post.quote.create ada",
        "post.create grace",
        "post.repost.create ada",
        "like.create ada",
        "like.create ada",
        "follow.follow ada",
        "follow.follow ada",
        "mute.mute ada",
        "block.block ada",
        "follow.unfollow ada",
        "follow.unfollow ada",
        "mute.unmute ada",
        "block.unblock ada",
        "dm.sent ada",
        "dm.received ada",
        "spaces.start ada",
        "spaces.end ada",
        "post.delete ada",
        "profile.update.bio ada"
      ])
      const uuids = items().map(({ data }) => data.event_uuid)
      expect(new Set(uuids).size).toBe(uuids.length)
      for (const id of uuids) expect(id).toMatch(uuid)
      const of = (type: string) => items().find(({ data }) => data.event_type === type)?.data
      expect(of("post.mention.create")).toMatchObject({
        filter: { user_id: ada.id },
        payload: { text: "@ada hello", author_id: grace.id, in_reply_to_user_id: ada.id },
        includes: { users: [{ id: grace.id, username: "grace" }, { id: ada.id }], posts: [{ id: made.id }] }
      })
      expect(of("like.create").payload).toMatchObject({ liked_post_id: made.id, liked_post_author_id: ada.id })
      expect(of("follow.follow").payload).toMatchObject({
        source: { data: { username: "grace" } },
        target: { data: { id: ada.id } }
      })
      expect(of("dm.received").payload).toMatchObject({
        direct_message_events: [{
          type: "message_create",
          message_create: { sender_id: grace.id, target: { recipient_id: ada.id }, message_data: { text: "two" } }
        }],
        users: { [grace.id]: { data: { username: "grace" } } }
      })
      expect(of("post.delete").payload).toEqual({ id: made.id, author_id: ada.id })
      expect(of("profile.update.bio").payload.after).toBe("A lighthouse")
      lines.length = 0
      for (const type of all) {
        const { events, subscriptions } = trigger({ event_type: type })
        expect(subscriptions).toBe(1)
        expect(events).toMatchObject([{ event_type: type, tag: "ada" }])
      }
      yield* settle
      expect(new Set(items().map(({ data }) => data.event_type))).toEqual(new Set(all))
    }).pipe(Effect.provide(layerOf())))

  it.effect("brings each user whom another adds to a group of encrypted chat, under both names of the type", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { ada } = sandbox
      const people = [ada, sandbox.user({ username: "grace" }), sandbox.user({ username: "joan" })]
      const [, grace, joan] = people
      const token = ada.settings().bearerToken
      for (const { id, username, settings } of people) {
        sandbox.store.chats.addPublicKeys(id, { public_key_version: "1" })
        for (const type of ["chat.conversation_join", "chat.conversation.join"]) {
          yield* subscribe(type, { user_id: id }, { tag: username }, settings().bearerToken)
        }
      }
      const { items } = yield* listen(stream)
      const chat = (path: string, body: object) => json("POST", `/2/chat/conversations/${path}`, body, token)
      const signed = (message_id: string, bytes: Uint8Array) => ({
        message_id,
        encoded_message_event_detail: Buffer.from(bytes).toString("base64"),
        message_event_signature: { signature: "AAAA", signature_version: "7", public_key_version: "1" }
      })
      // The encoded details of a change of keys, and of members.
      const change = (id: string) => ({
        conversation_key_version: "2",
        conversation_participant_keys: [],
        action_signatures: [
          signed(`${id} key`, Uint8Array.of(12, 0, 3, 0, 0)),
          signed(id, Uint8Array.of(12, 0, 5, 0, 0))
        ]
      })
      const { data: { conversation_id } } = yield* chat("group/initialize", {})
      const group = { conversation_id, group_members: [ada.id, grace!.id], ...change("create") }
      expect((yield* chat("group", group)).data.conversation_id).toBe(conversation_id)
      // One of them is a member.
      yield* chat(`${conversation_id}/members`, { user_ids: [grace!.id, joan!.id], ...change("add") })
      yield* settle
      expect(shortly(items())).toEqual([
        "chat.conversation_join grace",
        "chat.conversation.join grace",
        "chat.conversation_join joan",
        "chat.conversation.join joan"
      ])
      const { data: events, meta } = yield* json(
        "GET",
        `/2/chat/conversations/${conversation_id}/events?chat_message_event.fields=encoded_event`,
        undefined,
        token
      )
      const encoded = events.map((event: { readonly encoded_event: string }) => event.encoded_event)
      expect(items()[3].data.payload).toEqual({
        conversation_id,
        sender_id: ada.id,
        encoded_event: encoded[0],
        conversation_key_version: "2",
        conversation_key_change_event: encoded[1]
      })
      expect(items()[0].data.payload.encoded_event).toBe(encoded[2])
      expect(meta.conversation_key_events).toEqual([encoded[3], encoded[1]])
    }).pipe(Effect.provide(layerOf())))

  it.effect("brings the start, the chat and the end of broadcasts to their owner", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { ada, clock, snapshot } = sandbox
      const grace = sandbox.user({ username: "grace" })
      const token = ada.settings().bearerToken
      for (const user of [ada, grace]) {
        for (const type of ["broadcast.start", "broadcast.end", "broadcast.chat"]) {
          yield* subscribe(type, { user_id: user.id }, { tag: user.username }, user.settings().bearerToken)
        }
      }
      const { items } = yield* listen(stream)
      const hour = 3_600_000
      const planned = (title: string, hours: number, more: object = {}) =>
        json("POST", "/2/broadcasts/scheduled", {
          title,
          source_id: "source",
          scheduled_start_ms: String(start + hours * hour),
          scheduled_end_ms: String(start + (hours + 1) * hour),
          ...more
        }, token)
      const { data: { broadcast_id: first } } = yield* planned("By itself", 2, { available_for_replay: true })
      const { data: { broadcast_id: second } } = yield* planned("By hand", 1, { manual_publish: true })
      const chat = (user: typeof ada, text: string) =>
        json("POST", `/2/broadcasts/${second}/chat`, { text }, user.settings().bearerToken)
      yield* TestClock.adjust("70 minutes")
      expect((yield* chat(grace, "early")).status).toBe(403)
      expect(items()).toEqual([])
      yield* json("POST", `/2/broadcasts/scheduled/${second}/live`, undefined, token)
      yield* settle
      yield* chat(grace, "hello")
      yield* chat(ada, "welcome")
      const before = snapshot()
      clock.advance("1 hour")
      yield* settle
      yield* TestClock.adjust("1 hour")
      yield* settle
      const found = items().map(({ data: { event_type, payload, tag } }) => [event_type, tag, payload])
      const user = { data: expect.objectContaining({ id: ada.id, username: "ada" }) }
      const by = { user, broadcast_id: first, title: "By itself", available_for_replay: true, start: start + 2 * hour }
      const live = { user, broadcast_id: second, title: "By hand", start: start + 70 * 60_000 }
      expect(found).toEqual([
        ["broadcast.start", "ada", expect.objectContaining({ ...live, broadcast_state: "RUNNING" })],
        [
          "broadcast.chat",
          "ada",
          expect.objectContaining({
            broadcast_id: second,
            message: "hello",
            message_id: expect.stringMatching(/^\d+$/),
            author: { data: expect.objectContaining({ username: "grace" }) }
          })
        ],
        ["broadcast.chat", "ada", expect.objectContaining({ message: "welcome" })],
        ["broadcast.start", "ada", expect.objectContaining({ ...by, broadcast_state: "RUNNING" })],
        ["broadcast.end", "ada", expect.objectContaining({ ...live, broadcast_state: "ENDED", end: start + 2 * hour })],
        ["broadcast.end", "ada", expect.objectContaining({ ...by, broadcast_state: "ENDED", end: start + 3 * hour })]
      ])
      // A restored state has no news; what happens to it later is.
      sandbox.restore(before)
      yield* settle
      clock.set(start + 1.5 * hour)
      yield* settle
      const again = yield* listen(stream)
      yield* TestClock.adjust("30 minutes")
      yield* settle
      yield* TestClock.adjust("1 hour")
      yield* settle
      expect(again.items().map(({ data: { event_type, payload } }) => `${event_type} ${payload.title}`)).toEqual([
        "broadcast.start By itself",
        "broadcast.end By hand",
        "broadcast.end By itself"
      ])
    }).pipe(Effect.provide(layerOf())))

  for (const wire of ["x", "x-2026-02"] as const) {
    it.effect(`speaks February's words and says numbers as text, too, on the ${wire} wire`, () =>
      Effect.gen(function*() {
        const { ada, user } = yield* Sandbox.Sandbox
        yield* subscribe("post.mention.create", { user_id: ada.id })
        yield* subscribe("like.create", { user_id: ada.id })
        const { items } = yield* listen(stream)
        const grace = user({ username: "grace" })
        const { id } = grace.post("@ada hello")
        const { id: liked } = ada.post("mine")
        grace.likes({ id: liked })
        yield* settle
        const [mention, like] = items().map(({ data }) => data)
        expect(mention).toMatchObject({
          payload: {
            edit_history_tweet_ids: [id],
            public_metrics: { retweet_count: 0, retweet_count_str: "0", like_count: 0, like_count_str: "0" }
          }
        })
        // As the service has it, beside the event.
        expect(items()[0]).toMatchObject({
          includes: { users: [{ id: grace.id, public_metrics: { tweet_count: 1, tweet_count_str: "1" } }] }
        })
        expect(like.payload).toMatchObject({
          liked_tweet_id: liked,
          tweet_author_id: ada.id,
          timestamp_ms_str: `${start}`
        })
        expect(JSON.stringify(items())).not.toMatch(/"[a-z_]*post[a-z_]*":/)
      }).pipe(Effect.provide(layerOf({ wire }))))
  }

  it.effect("has two connections, backfill and recovery, for apps of every access level", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { ada } = sandbox
      const { settings: { bearerToken } } = sandbox.app({ access: "standard" })
      yield* subscribe("post.create", { user_id: ada.id }, {}, bearerToken)
      const begun = sandbox.clock.now()
      ada.post("before")
      yield* TestClock.adjust("2 minutes")
      const first = yield* listen(stream, bearerToken)
      const second = yield* listen(`${stream}?backfill_minutes=5`, bearerToken)
      expect((yield* ask("GET", stream, undefined, bearerToken)).status).toBe(429)
      ada.post("after")
      yield* settle
      const texts = ({ items }: typeof first) => items().map(({ data }) => data.payload.text)
      expect(texts(first)).toEqual(["after"])
      expect(texts(second)).toEqual(["before", "after"])
      yield* TestClock.adjust("1 minute")
      const recovered = yield* listen(
        `${stream}?start_time=${new Date(begun).toISOString().replace(".000", "")}`,
        bearerToken
      )
      expect(texts(recovered)).toEqual(["before", "after"])
      // Another app gets nothing of it.
      const other = yield* listen(stream)
      ada.post("more")
      yield* settle
      expect(other.items()).toEqual([])
    }).pipe(Effect.provide(layerOf())))

  it.effect("has no posts of protected accounts, and nothing private after the grant has ended", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const client = sandbox.app()
      const hermit = sandbox.user({ username: "hermit", protected: true })
      const grant = sandbox.grants.make({ app: client.id, user: "hermit" })
      const { bearerToken } = client.settings
      for (const type of ["post.create", "post.delete", "like.create", "oauth.revoke"]) {
        yield* subscribe(type, { user_id: hermit.id }, { tag: "hermit" }, bearerToken)
      }
      const { items } = yield* listen(stream, bearerToken)
      const { id } = hermit.post("hidden")
      sandbox.store.posts.delete(id)
      const [one, two] = [sandbox.ada.post("one"), sandbox.ada.post("two")]
      hermit.likes(one)
      sandbox.grants.revoke(grant.id)
      hermit.likes(two)
      yield* settle
      expect(shortly(items())).toEqual(["like.create hermit", "oauth.revoke hermit"])
      expect(items()[1].data.payload).toMatchObject({ user_id: hermit.id, app_id: client.id })
    }).pipe(Effect.provide(layerOf())))

  it.effect("takes the direction of a subscription", () =>
    Effect.gen(function*() {
      const { ada, user } = yield* Sandbox.Sandbox
      const grace = user({ username: "grace" })
      for (const type of ["follow.follow", "post.mention.create"]) {
        yield* subscribe(type, { user_id: ada.id }, { tag: "any" })
        for (const direction of ["inbound", "outbound"]) {
          yield* subscribe(type, { user_id: ada.id, direction }, { tag: direction })
        }
      }
      const { items } = yield* listen(stream)
      ada.follows(grace)
      grace.follows(ada)
      ada.post("@grace hello")
      grace.post("@ada hello")
      // Nobody mentions themselves.
      ada.post("@ada")
      yield* settle
      expect(shortly(items())).toEqual([
        "follow.follow any",
        "follow.follow outbound",
        "follow.follow any",
        "follow.follow inbound",
        "post.mention.create outbound",
        "post.mention.create any",
        "post.mention.create inbound"
      ])
    }).pipe(Effect.provide(layerOf())))

  it.effect("is charged by the type of event, once for each event", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { ada, bill, seeded: { consumerSecret } } = sandbox
      const url = Receiver.addressOf(consumerSecret)
      const { data: hook } = yield* json("POST", "/2/webhooks", { url })
      for (const type of ["post.create", "follow.follow", "dm.sent"]) {
        yield* subscribe(type, { user_id: ada.id }, { webhook_id: hook.id })
      }
      const grace = sandbox.user()
      bill.clear()
      ada.post("by the webhook alone")
      yield* settle
      expect(bill.statement().dollars).toBe(0.005)
      yield* listen(stream)
      yield* listen(stream)
      bill.clear()
      ada.post("one")
      grace.follows(ada)
      ada.message(grace, "free")
      yield* settle
      expect(bill.statement().dollars).toBe(0.015)
      expect(bill.statement().apps[0]?.lines).toMatchObject([{ operation: "streamActivity", charged: 2, repeated: 4 }])
    }).pipe(Effect.provide(layerOf())))
})

describe("a trigger", () => {
  it.effect("makes news for keywords, and events that nobody has subscribed to", () =>
    Effect.gen(function*() {
      const { ada, store, trigger } = yield* Sandbox.Sandbox
      const nobody = trigger({ event_type: "post.mention.create", set: { text: "are you open?", lang: "en" } })
      expect(nobody).toMatchObject({
        events: [{ filter: { user_id: ada.id }, payload: { text: "@ada are you open?", lang: "en" } }],
        subscriptions: 0
      })
      expect(store.posts.byId(String(Reflect.get(nobody.events[0]!.payload, "id")))?.text).toBe("@ada are you open?")
      yield* subscribe("news.new", { keyword: "cats" }, { tag: "cats" })
      yield* subscribe("news.new", { keyword: "dogs" }, { tag: "dogs" })
      expect(trigger({ event_type: "news.new", set: { "contexts.topic": "Pets" } })).toMatchObject({
        events: [{ tag: "cats", payload: { contexts: { topic: "Pets" } } }, { tag: "dogs" }],
        subscriptions: 2
      })
      expect(() => trigger({ event_type: "post.create", user_id: "1" })).toThrow(RangeError)
      expect(trigger({ event_type: "profile.update.bio", set: { after: "New" } }).events[0]?.payload).toMatchObject({
        after: "New"
      })
      expect(store.users.byId(ada.id)?.description).toBe("New")
      for (const type of eventTypes) {
        for (let i = 0; i < 2; i++) expect(trigger({ event_type: type }).events.length).toBeGreaterThan(0)
      }
    }).pipe(Effect.provide(layerOf())))
})

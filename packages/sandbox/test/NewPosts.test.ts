import { assert, describe, it } from "@effect/vitest"
import type { Client } from "@postwire/core/client/Client"
import { getDirectMessageEvents } from "@postwire/core/operations/DirectMessages"
import { like } from "@postwire/core/operations/Likes"
import { createPost } from "@postwire/core/operations/Posts"
import * as Wire from "@postwire/core/wire/Wire"
import { Effect, Predicate, Redacted } from "effect"
import { type Bench, make, now } from "./support/Requests.ts"

/** Creates posts of ada's, and reads posts back. */
const using = ({ request }: Bench) => {
  const create = (body: object, path = "/2/posts") => request("POST", path, { body })
  const created = Effect.fnUntraced(function*(body: object, path?: string) {
    const { body: answer, status } = yield* create(body, path)
    assert.strictEqual(status, 201, JSON.stringify(answer))
    return String(answer.data.id)
  })
  const read = Effect.fnUntraced(function*(id: string, fields: string, options: { readonly as?: "app" } = {}) {
    return (yield* request("GET", `/2/posts/${id}?post.fields=${fields}`, options)).body
  })
  const listed = Effect.fnUntraced(
    function*(path: string, options: { readonly as?: { readonly header: string } } = {}) {
      const { body, status } = yield* request("GET", path, options)
      assert.strictEqual(status, 200, JSON.stringify(body))
      return ((body.data ?? []) as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
    }
  )
  return { create, created, read, listed }
}

describe("a new post", () => {
  it.effect("shows what it was given, where there is a field for it", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { created, read } = using(bench)
      const [media, preview] = bench.seeded.mediaIds
      const plain = yield* created({
        text: "one",
        community_id: "77",
        card_uri: "card://1",
        made_with_ai: true,
        paid_partnership: true,
        share_with_followers: true,
        nullcast: false,
        reply_settings: "verified"
      })
      assert.deepInclude(
        (yield* read(plain, "community_id,card_uri,paid_partnership,reply_settings,edit_controls")).data,
        {
          community_id: "77",
          card_uri: "card://1",
          paid_partnership: true,
          reply_settings: "verified"
        }
      )
      const poll = yield* created({
        text: "two",
        poll: { options: ["a", "b"], duration_minutes: 5, reply_settings: "following" }
      }, "/2/tweets")
      assert.lengthOf((yield* read(poll, "attachments")).data.attachments.poll_ids, 1)
      const shown = yield* created({
        media: {
          media_ids: [media],
          title: "A title",
          description: "What it shows",
          preview_media_id: preview,
          embeddable: true,
          call_to_actions: { visit_site: { url: "https://example.com" }, app_install: { app_store_id: "1" } }
        }
      })
      const { data } = yield* read(shown, "attachments,paid_partnership")
      assert.lengthOf(data.attachments.media_keys, 1)
      assert.isFalse(data.paid_partnership)
      const repost = bench.sandbox.user().repost({ id: plain })
      assert.notProperty((yield* read(repost.id, "paid_partnership")).data, "paid_partnership")
    }))

  it.effect("is refused when its parts do not go together or are out of bounds", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { create } = using(bench)
      const quoted = bench.ada.post("quoted").id
      const media_ids = bench.seeded.mediaIds.slice(0, 1)
      const poll = { options: ["a", "b"], duration_minutes: 5 }
      const text = "text"
      const together = /A post has one of a card, media, a poll and a quoted post/
      for (
        const [body, message] of [
          [{ text, poll, media: { media_ids } }, together],
          [{ text, poll, quote_post_id: quoted }, together],
          [{ text, poll, card_uri: "card://1" }, together],
          [{ text, quote_post_id: quoted, media: { media_ids } }, together],
          [{ text, quote_post_id: quoted, card_uri: "card://1" }, together],
          [{ text, media: { media_ids }, card_uri: "card://1" }, together],
          [{ text, card_uri: "card://1", direct_message_deep_link: "https://a.example" }, /a card or a direct message/],
          [{ text, poll: { ...poll, options: ["a", "b".repeat(26)] } }, /poll_options/],
          [{ text, poll: { ...poll, options: ["a"] } }, /poll_options/],
          [{ text, poll: { ...poll, duration_minutes: 4 } }, /poll_duration_minutes/],
          [{ text, poll: { ...poll, reply_settings: "everyone" } }, /\[everyone\] is not one of/],
          [{ text, reply_settings: "everyone" }, /\[everyone\] is not one of/],
          [{ text, media: { media_ids: ["1", "2", "3", "4", "5"] } }, /media_ids/],
          [{ text, media: { media_ids, tagged_user_ids: Array(11).fill("1") } }, /media_tagged_user_ids/],
          [{ text, media: { media_ids, preview_media_id: "1" } }, /media IDs are invalid/],
          [
            { text, media: { media_ids, call_to_actions: { watch_now: { url: "http://example.com" } } } },
            /https address/
          ],
          [{ text, media: { title: "a" } }, /media_title needs media_ids/],
          [{ text, media: { call_to_actions: { visit_site: { url: "https://example.com" } } } }, /media_ids/],
          [{ text, community_id: "none" }, /community_id/]
        ] as const
      ) {
        const { body: answer, status } = yield* create(body)
        assert.strictEqual(status, 400, JSON.stringify(body))
        assert.match(answer.errors[0].message, message, JSON.stringify(body))
      }
      assert.strictEqual(bench.store.counts().posts, 1)
    }))

  it.effect("is in no timeline and no search when it is promoted only", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { created, listed, read } = using(bench)
      const own = `/2/users/${bench.ada.id}`
      const quoted = bench.sandbox.user().post("quoted").id
      const list = bench.ada.list({ name: "own", members: [bench.ada] })
      const promoted = { text: "buy @ada needle", nullcast: true, quote_post_id: quoted }
      const id = yield* created(promoted)
      bench.clock.advance("1 minute")
      for (
        const path of [
          `${own}/posts`,
          `${own}/mentions`,
          `${own}/timelines/reverse_chronological`,
          `/2/lists/${list.id}/posts`,
          `/2/posts/${quoted}/quote_posts`,
          "/2/posts/search/recent?query=needle"
        ]
      ) assert.isEmpty(yield* listed(path), path)
      const { data } = yield* read(id, "edit_controls", { as: "app" })
      assert.strictEqual(data.id, id)
      assert.isFalse(data.edit_controls.is_edit_eligible)
      const me = yield* bench.request("GET", "/2/users/me?user.fields=public_metrics,most_recent_post_id")
      assert.strictEqual(me.body.data.public_metrics.post_count, 0)
      assert.notProperty(me.body.data, "most_recent_post_id")
      // Nobody has read it, so it can be said again.
      for (const promotion of [id, yield* created(promoted)]) assert.isTrue(bench.store.posts.delete(promotion))
      assert.strictEqual(bench.store.counts().posts, 1)
    }))

  it.effect("is for subscribers alone, or for followers as well, when it is exclusive", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { created, listed } = using(bench)
      const { ada, sandbox } = bench
      const subscribers = yield* created({ text: "needle 1", for_super_followers_only: true })
      const followers = yield* created({ text: "needle 2", for_super_followers_only: true, share_with_followers: true })
      bench.clock.advance("1 minute")
      const as = (user: ReturnType<typeof sandbox.user>) => ({
        as: { header: `Bearer ${user.settings().bearerToken}` }
      })
      const users = {
        stranger: sandbox.user({ verified: "blue" }),
        follower: sandbox.user().follows(ada),
        subscriber: sandbox.user({ verified: "blue" }).follows(ada),
        ada
      }
      const seen = {
        stranger: [],
        follower: [followers],
        subscriber: [followers, subscribers],
        ada: [followers, subscribers]
      }
      for (const [name, user] of Object.entries(users)) {
        const expected = seen[name as keyof typeof seen]
        assert.deepStrictEqual(yield* listed(`/2/users/${ada.id}/posts`, as(user)), expected, name)
        assert.deepStrictEqual(yield* listed(`/2/posts?ids=${followers},${subscribers}`, as(user)), expected, name)
        assert.deepStrictEqual(yield* listed(`/2/users/${user.id}/timelines/reverse_chronological`, as(user)), expected)
        assert.isEmpty(yield* listed("/2/posts/search/recent?query=needle", as(user)))
      }
    }))
})

describe("an edit", () => {
  it.effect("takes the place of the version before, and all versions know of each other", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { created, listed, read } = using(bench)
      const root = yield* created({ text: "root" })
      const first = yield* created({ text: "first needle", reply: { in_reply_to_post_id: root } })
      bench.clock.advance("59 minutes")
      const second = yield* created({ text: "second needle", edit_options: { previous_post_id: first } }, "/2/tweets")
      bench.clock.advance("40 seconds")
      for (const id of [first, second]) {
        const { data } = yield* read(id, "conversation_id,created_at,edit_controls,referenced_posts")
        assert.deepStrictEqual(data.edit_history_post_ids, [first, second])
        assert.strictEqual(data.conversation_id, root)
        assert.deepStrictEqual(data.referenced_posts, [{ type: "replied_to", id: root }])
        assert.deepStrictEqual(data.edit_controls, {
          is_edit_eligible: true,
          editable_until: "2026-11-20T13:00:00.000Z",
          edits_remaining: 4
        })
      }
      assert.deepStrictEqual(yield* listed("/2/posts/search/recent?query=needle"), [second])
      assert.deepStrictEqual(yield* listed(`/2/users/${bench.ada.id}/posts`), [second, root])
      const { data } = yield* read(root, "public_metrics")
      assert.strictEqual(data.public_metrics.reply_count, 1)
      const history = yield* bench.request("GET", `/2/posts/${second}?expansions=edit_history_post_ids`)
      assert.deepStrictEqual(
        history.body.includes.posts.map(({ text }: { readonly text: string }) => text),
        ["first needle", "second needle"]
      )
      assert.strictEqual((yield* bench.request("DELETE", `/2/posts/${second}`)).status, 200)
      assert.isUndefined(bench.store.posts.byId(first))
      assert.strictEqual((yield* read(root, "public_metrics")).data.public_metrics.reply_count, 0)
      assert.strictEqual(bench.store.users.byId(bench.ada.id)?.public_metrics.post_count, 1)
    }))

  it.effect("is refused after an hour, after five of them, of another version or kind, and of somebody else's post", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { create, created, read } = using(bench)
      let texts = 0
      const edit = (previous_post_id: string) => ({ text: `edit ${++texts}`, edit_options: { previous_post_id } })
      const refused = Effect.fnUntraced(function*(id: string, detail: RegExp) {
        const { body, status } = yield* create(edit(id))
        assert.strictEqual(status, 403)
        assert.match(body.detail, detail)
      })
      const first = yield* created({ text: "first" })
      let latest = first
      for (let remaining = 4; remaining >= 0; remaining--) {
        latest = yield* created(edit(latest))
        assert.strictEqual((yield* read(latest, "edit_controls")).data.edit_controls.edits_remaining, remaining)
      }
      yield* refused(latest, /as often as it can be/)
      yield* refused(first, /not the latest version/)
      const other = bench.sandbox.user().post("hers")
      yield* refused(other.id, /another user/)
      yield* refused(yield* created({ text: "mine", reply: { in_reply_to_post_id: other.id } }), /of this kind/)
      yield* refused(
        yield* created({ text: "ask", poll: { options: ["a", "b"], duration_minutes: 5 } }),
        /of this kind/
      )
      yield* refused(yield* created({ text: "ours", community_id: "77" }), /of this kind/)
      const late = yield* created({ text: "late" })
      bench.clock.advance("1 hour")
      yield* refused(late, /is over/)
      assert.strictEqual((yield* create(edit("1"))).status, 404)
    }))
})

describe("answers of a date", () => {
  it.effect.each(Wire.names)("have the forms of its documents: %s", (wire) =>
    Effect.gen(function*() {
      const bench = yield* make({ wire, posts: 0 })
      const { request, sandbox: { ada }, store } = bench
      const [isFebruary, isAugust] = [wire === "x-2026-02", wire === "x"]
      const get = (path: string, as: "app" | "user") => Effect.map(request("GET", path, { as }), ({ body }) => body)

      const posts = wire === "neutral" ? "posts" : "tweets"
      const { data: counts } = yield* get(`/2/${posts}/search/stream/rules/counts`, "app")
      assert.strictEqual(typeof counts.cap_per_client_app, isAugust ? "string" : "number")
      assert.strictEqual(counts.client_app_rules_count.rule_count, 0)

      const { id } = ada.post("From Vienna to Kyoto #engine")
      const { data: post } = yield* get(`/2/${posts}/${id}?${isFebruary ? "tweet" : "post"}.fields=entities`, "user")
      assert.strictEqual("annotations" in post.entities, !isAugust)
      assert.deepStrictEqual(post.entities.hashtags.map(({ tag }: { readonly tag: string }) => tag), ["engine"])

      store.spaces.insertTopic({ id: "7", name: "Engines", description: "How they turn" })
      const space = store.spaces.insert({
        creatorId: ada.id,
        createdAt: now,
        startedAt: now,
        people: { topic_ids: ["7"] }
      })
      const asked = isAugust ? "expansions=topic_ids" : "space.fields=topic_ids"
      const { data: { topics } } = yield* get(`/2/spaces/${space}?${asked}`, "user")
      assert.deepStrictEqual(topics, isFebruary ? [{ id: "7", name: "Engines" }] : undefined)
    }))

  it.effect("have the marked parts of a message, the post of a repost and the versions of a new post where it has them", () =>
    Effect.gen(function*() {
      const hashtags = [{ start: 3, end: 9, tag: "party" }]
      for (const wire of ["neutral", "x", "x-2026-02"] as const) {
        const bench = yield* make({ wire, posts: 0 })
        const { client, request, sandbox, seeded: { ada } } = bench
        const isFebruary = wire === "x-2026-02"
        const grace = sandbox.user({ username: "grace" })
        const post = grace.post("hers")
        grace.message(sandbox.ada, "to #party")
        const { body: messages } = yield* request("GET", "/2/dm_events?dm_event.fields=entities")
        assert.deepInclude(messages.data[0], isFebruary ? { hashtags } : { entities: { hashtags } })
        assert.strictEqual("entities" in messages.data[0], !isFebruary)
        const read = yield* Effect.provide(getDirectMessageEvents({ dm_event_fields: ["entities"] }), client(wire))
        assert.isEmpty(read.anomalies)
        assert.deepStrictEqual(read.data?.[0]?.entities, { hashtags })

        const isNeutral = wire === "neutral"
        const { body: repost } = yield* request("POST", `/2/users/${ada.id}/${isNeutral ? "reposts" : "retweets"}`, {
          body: isNeutral ? { post_id: post.id } : { tweet_id: post.id }
        })
        assert.deepStrictEqual(repost.data, {
          [isNeutral ? "reposted" : "retweeted"]: true,
          [isFebruary ? "id" : "rest_id"]: post.id
        })
        const { body: created } = yield* request("POST", isNeutral ? "/2/posts" : "/2/tweets", {
          body: { text: "mine" }
        })
        const { id } = created.data
        assert.deepStrictEqual(created.data, {
          id,
          text: "mine",
          ...(isFebruary ? {} : { edit_history_post_ids: [id] })
        })
      }
    }))
})

describe("a self-serve plan", () => {
  const rule = (error: unknown) => Predicate.isObject(error) ? [error["_tag"], error["planRule"] !== undefined] : error

  for (const wire of ["neutral", "x", "x-2026-02"] as const) {
    it.effect(`permits replies to authors who have summoned the user, on the ${wire} wire`, () =>
      Effect.gen(function*() {
        const { ada, client, sandbox } = yield* make({ posts: 0, plan: "self-serve" })
        const grace = sandbox.user({ username: "grace", verified: "blue" })
        let count = 0
        const reply = ({ id }: { readonly id: string }) =>
          createPost({ text: `reply ${++count}`, in_reply_to_post_id: id }).pipe(
            Effect.match({ onFailure: rule, onSuccess: ({ data }) => data?.text }),
            Effect.provide(client(wire))
          )
        const own = ada.post("mine")
        const plain = grace.post("to nobody")
        const forbidden = ["Forbidden", true]
        assert.deepStrictEqual(yield* reply(plain), forbidden)
        assert.strictEqual(yield* reply(own), "reply 2")
        assert.strictEqual(yield* reply(grace.post("@ada hello")), "reply 3")
        assert.strictEqual(yield* reply(grace.post(`${"long ".repeat(60)} @ada`)), "reply 4")
        assert.strictEqual(yield* reply(grace.quote(own, "look")), "reply 5")
        assert.deepStrictEqual(yield* reply(grace.quote(plain, "myself")), forbidden)
        sandbox.plan.set("enterprise")
        assert.strictEqual(yield* reply(plain), "reply 7")
      }))
  }

  it.effect("has no quotes and no operations of Enterprise plans, until it is changed", () =>
    Effect.gen(function*() {
      const { ada, client, request, sandbox } = yield* make({ posts: 0 })
      const { id } = sandbox.user().post("hello")
      const quote = (text: string) => createPost({ text, quote_post_id: id })
      const refused = <A, E>(call: Effect.Effect<A, E, Client>) =>
        Effect.map(Effect.provide(Effect.flip(call), client()), rule)
      const admin = (body?: object) =>
        request(body === undefined ? "GET" : "POST", "/_sandbox/plan", {
          as: { header: `Bearer ${Redacted.value(sandbox.adminToken)}` },
          body
        })
      assert.deepStrictEqual((yield* admin()).body, { plan: "enterprise" })
      assert.deepStrictEqual((yield* admin({ plan: "self-serve" })).body, { plan: "self-serve" })
      assert.strictEqual((yield* admin({ plan: "free" })).status, 400)
      assert.deepStrictEqual(yield* refused(quote("look")), ["Forbidden", true])
      assert.deepStrictEqual(yield* refused(like({ post_id: id })), ["Forbidden", true])
      const { body, status } = yield* request("POST", `/2/users/${ada.id}/likes`, { body: { post_id: id } })
      assert.strictEqual(status, 403)
      assert.strictEqual(body.reason, "client-not-enrolled")
      sandbox.reset()
      assert.strictEqual(sandbox.plan.current(), "enterprise")
    }))
})

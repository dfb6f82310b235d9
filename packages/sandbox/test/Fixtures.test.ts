import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@postwire/node"
import { Effect } from "effect"
import * as Sandbox from "../src/Sandbox.ts"
import { type Bench, day, make, minute, now, second } from "./support/Requests.ts"

const get = (bench: Bench, path: string, token = bench.secrets.bearerToken) =>
  Effect.map(bench.request("GET", path, { as: { header: `Bearer ${token}` } }), ({ body }) => body)

const idsOf = (body: { readonly data?: ReadonlyArray<{ readonly id: string }> }) => body.data?.map(({ id }) => id) ?? []

describe("fixtures", () => {
  it.effect("are users with posts, seen as the service shows them", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { sandbox } = bench
      const grace = sandbox.user({
        username: "grace",
        name: "Grace Hopper",
        description: "compilers",
        location: "Arlington",
        url: "https://grace.example.com",
        verified: "blue",
        receivesMessages: false,
        at: "2020-01-02T03:04:05Z"
      })
      const first = grace.post("needle one")
      const last = first.post({ text: "needle two", lang: "en", impressions: 7, sensitive: true }).post("needle three")
      assert.strictEqual(last.author, grace)
      const { data: user } = yield* get(
        bench,
        "/2/users/by/username/grace?user.fields=created_at,description,location,url,verified_type,public_metrics,receives_your_dm"
      )
      assert.deepInclude(user, {
        id: grace.id,
        name: "Grace Hopper",
        description: "compilers",
        location: "Arlington",
        url: "https://grace.example.com",
        verified_type: "blue",
        receives_your_dm: false,
        created_at: "2020-01-02T03:04:05.000Z"
      })
      assert.strictEqual(user.public_metrics.post_count, 3)
      // A search finds them at once.
      const found = yield* get(bench, "/2/posts/search/recent?query=needle&post.fields=created_at,lang,public_metrics")
      assert.deepStrictEqual(
        found.data.map(({ text }: { text: string }) => text),
        ["needle three", "needle two", "needle one"]
      )
      assert.deepInclude(found.data[1], { lang: "en", id: idsOf(found)[1] })
      assert.strictEqual(found.data[1].public_metrics.impression_count, 7)
      const times = found.data.map(({ created_at }: { created_at: string }) => Date.parse(created_at))
      assert.deepStrictEqual([times[0] - times[1], times[1] - times[2]], [second, second])
      assert.isBelow(times[0], now - 50 * minute)
      // Names of their own where none are given.
      assert.deepStrictEqual([sandbox.user().username, sandbox.user().username], ["user1", "user2"])
      assert.throws(() => sandbox.user({ username: "GRACE" }), /GRACE is taken/)
      assert.throws(() => sandbox.user({ username: "ada" }), /ada is taken/)
    }))

  it.effect("are answers, quotes, reposts, media and polls", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, user } = bench.sandbox
      const grace = user({ username: "grace" })
      const root = ada.post("root")
      const reply = grace.reply(root, "no")
      const quote = grace.quote(root, { text: "look", media: ["photo", "video"] })
      const repost = grace.repost(root)
      const poll = grace.post({
        text: "which",
        poll: { choices: ["a", "b"], votes: [3, 4], minutes: 120 },
        replySettings: "following"
      })
      const open = grace.post({ text: "again", poll: ["a", "b", "c"] })
      const { data, includes } = yield* get(
        bench,
        `/2/posts?ids=${[reply, quote, repost, poll, open].map(({ id }) => id)}&post.fields=referenced_posts,` +
          "conversation_id,reply_settings&expansions=attachments.media_keys,attachments.poll_ids" +
          "&poll.fields=voting_status,options&media.fields=type"
      )
      assert.deepStrictEqual(data[0].referenced_posts, [{ type: "replied_to", id: root.id }])
      assert.strictEqual(data[0].conversation_id, root.id)
      assert.deepStrictEqual(data[1].referenced_posts, [{ type: "quoted", id: root.id }])
      assert.deepStrictEqual(data[2].referenced_posts, [{ type: "reposted", id: root.id }])
      assert.strictEqual(data[2].text, "RT @ada: root")
      assert.strictEqual(data[3].reply_settings, "following")
      assert.deepStrictEqual(includes.media.map(({ type }: { type: string }) => type), ["photo", "video"])
      assert.deepStrictEqual(
        includes.polls.map((poll: { voting_status: string; options: ReadonlyArray<{ votes: number }> }) => [
          poll.voting_status,
          poll.options.map(({ votes }) => votes)
        ]),
        [["open", [3, 4]], ["open", [0, 0, 0]]]
      )
      assert.throws(() => grace.repost({ id: "1" }), /no post 1/)
    }))

  it.effect("may be older than what is there", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 60 })
      const { sandbox } = bench
      const at = now - 3 * day
      const posts = [
        sandbox.ada.post({ text: "needle old", at }),
        sandbox.ada.post({ text: "needle older", at: at - 1 })
      ]
      const twin = sandbox.ada.post({ text: "needle twin", at: new Date(at) })
      const later = sandbox.ada.post("needle now")
      assert.strictEqual(new Set([...posts, twin, later].map(({ id }) => id)).size, 4)
      const found = yield* get(bench, "/2/posts/search/recent?query=needle&post.fields=created_at")
      assert.deepStrictEqual(idsOf(found), [later, twin, ...posts].map(({ id }) => id))
      assert.strictEqual(found.data[2].created_at, new Date(at).toISOString())
      const iso = (time: number) => new Date(time).toISOString()
      const window = yield* get(
        bench,
        `/2/posts/search/recent?query=needle&start_time=${iso(at)}&end_time=${iso(at + second)}`
      )
      assert.deepStrictEqual(idsOf(window), [twin.id, posts[0]!.id])
      assert.throws(() => sandbox.ada.post({ text: "x", at: "soon" }), /soon/)
    }))

  it.effect("are ties between users", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, user } = bench.sandbox
      const grace = user({ username: "grace", protected: true })
      const alan = user({ username: "alan" })
      const secret = grace.post("hidden")
      const page = `/2/posts/${secret.id}`
      assert.isUndefined((yield* get(bench, page)).data)
      ada.requestsToFollow(grace)
      assert.isUndefined((yield* get(bench, page)).data)
      assert.strictEqual(ada.follows(grace, alan).id, ada.id)
      assert.strictEqual((yield* get(bench, page)).data.text, "hidden")
      assert.includeMembers(idsOf(yield* get(bench, `/2/users/${ada.id}/following`)), [grace.id, alan.id])
      grace.blocks(ada)
      assert.isUndefined((yield* get(bench, page)).data)
      ada.blocks(alan).mutes(grace)
      assert.include(idsOf(yield* get(bench, `/2/users/${ada.id}/blocking`)), alan.id)
      assert.include(idsOf(yield* get(bench, `/2/users/${ada.id}/muting`)), grace.id)
      const posts = [alan.post("a"), alan.post("b")]
      grace.likes(...posts).pins(secret)
      ada.bookmarks(...posts)
      assert.deepStrictEqual(
        idsOf(yield* get(bench, `/2/posts/${posts[0]!.id}/liking_users`)),
        [grace.id]
      )
      assert.includeMembers(idsOf(yield* get(bench, `/2/users/${ada.id}/bookmarks`)), posts.map(({ id }) => id))
      assert.strictEqual(bench.store.users.byId(grace.id)?.pinned_post_id, secret.id)
    }))

  it.effect("are lists, spaces, messages and uploads", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, user } = bench.sandbox
      const [grace, alan] = [user({ username: "grace" }), user({ username: "alan" })]
      const post = grace.post("listed")
      const list = ada.list({ name: "Pioneers", private: true, members: [grace], followers: [alan] })
      assert.deepStrictEqual(idsOf(yield* get(bench, `/2/lists/${list.id}/posts`)), [post.id])
      assert.deepStrictEqual(idsOf(yield* get(bench, `/2/lists/${list.id}/followers`)), [alan.id])
      const live = ada.space({ title: "Needle live", ticketed: true, buyers: [alan], posts: [post], speakers: [grace] })
      const ended = ada.space({ title: "Needle ended", state: "ended" })
      const scheduled = ada.space({ title: "Needle scheduled", state: "scheduled" })
      const spaces = yield* get(bench, "/2/spaces/search?query=needle&space.fields=state,speaker_ids")
      assert.sameDeepMembers(
        spaces.data.map(({ id, state }: { id: string; state: string }) => [id, state]),
        [[live.id, "live"], [ended.id, "ended"], [scheduled.id, "scheduled"]]
      )
      assert.deepStrictEqual(idsOf(yield* get(bench, `/2/spaces/${live.id}/buyers`)), [alan.id])
      assert.deepStrictEqual(idsOf(yield* get(bench, `/2/spaces/${live.id}/posts`)), [post.id])
      bench.sandbox.clock.advance("2 days")
      assert.strictEqual(
        bench.store.spaces.byIds([scheduled.id], bench.sandbox.clock.now())[0]?.scheduled_start,
        new Date(now + day).toISOString()
      )
      const hello = grace.message(ada, "hello")
      const again = ada.message(grace, { text: "hi", media: "photo" })
      assert.strictEqual(again.conversationId, hello.conversationId)
      const group = alan.message([ada, grace], "all of you")
      const events = yield* get(bench, "/2/dm_events?event_types=MessageCreate")
      assert.deepStrictEqual(idsOf(events).slice(0, 3), [group.id, again.id, hello.id])
      const media = ada.media("video")
      const { status } = yield* bench.request("POST", "/2/posts", { body: { media: { media_ids: [media.id] } } })
      assert.strictEqual(status, 201)
    }))

  it.effect("are credentials for every user and app", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { sandbox } = bench
      const grace = sandbox.user({ username: "grace" })
      const status = (method: string, path: string, token: string, body?: object) =>
        Effect.map(bench.request(method, path, { as: { header: `Bearer ${token}` }, body }), (answer) => answer.status)
      const post = (token: string) => status("POST", "/2/posts", token, { text: `hi ${token}` })
      const full = grace.settings()
      assert.strictEqual((yield* get(bench, "/2/users/me", full.bearerToken)).data.id, grace.id)
      assert.strictEqual(yield* post(full.bearerToken), 201)
      assert.strictEqual(yield* post(grace.settings({ rights: "read" }).bearerToken), 403)
      const narrow = grace.settings({ scopes: ["post.read", "users.read"] })
      assert.strictEqual(yield* post(narrow.bearerToken), 403)
      assert.strictEqual(yield* status("GET", "/2/users/me", narrow.bearerToken), 200)

      const app = sandbox.app({ access: "standard", rights: "read" })
      assert.strictEqual(yield* status("GET", `/2/users/${grace.id}`, app.settings.bearerToken), 200)
      assert.strictEqual(yield* status("GET", "/2/posts/search/all?query=a", app.settings.bearerToken), 403)
      // What an app is granted later does not change what it gave out before.
      const before = grace.settings({ app })
      assert.strictEqual(before.consumerKey, app.settings.consumerKey)
      app.setRights("read-write")
      assert.strictEqual(yield* post(before.bearerToken), 403)
      assert.strictEqual(yield* post(grace.settings({ app }).bearerToken), 201)
      assert.strictEqual(sandbox.settings.bearerToken, bench.secrets.bearerToken)
    }))

  it("are what a client takes, signatures included", async () => {
    await using sandbox = await Sandbox.start({ posts: 0 })
    const grace = sandbox.user({ username: "grace" })
    await using client = createClient(grace.settings())
    const { accessToken, accessTokenSecret, baseUrl, consumerKey, consumerSecret } = grace.settings()
    await using signing = createClient({ baseUrl, consumerKey, consumerSecret, accessToken, accessTokenSecret })
    assert.strictEqual((await client.getMe({ user_auth: false })).data?.id, grace.id)
    assert.strictEqual((await signing.getMe({ user_auth: true })).data?.id, grace.id)
    await using ada = createClient(sandbox.settings)
    assert.strictEqual((await ada.getMe({ user_auth: false })).data?.id, sandbox.ada.id)
    assert.deepStrictEqual(
      sandbox.requests.map(({ caller }) => [caller?.form, caller?.userId]),
      [
        ["OAuth 2.0 User Context", grace.id],
        ["OAuth 1.0a User Context", grace.id],
        ["OAuth 2.0 User Context", sandbox.ada.id]
      ]
    )
  })

  it("have the same ids and secrets each time", async () => {
    const arrange = (sandbox: Sandbox.RunningSandbox) => {
      const grace = sandbox.user()
      const app = sandbox.app()
      const { baseUrl: _, ...settings } = grace.settings({ app })
      return {
        settings,
        ids: [
          grace,
          app,
          grace.post("a"),
          grace.post({ text: "b", at: Date.UTC(2026, 0) }),
          grace.list({ name: "l" }),
          grace.space(),
          grace.message(sandbox.ada, "m"),
          grace.media()
        ].map(({ id }) => id)
      }
    }
    for (const posts of [0, 60]) {
      const options = { posts, start: new Date(now) }
      await using one = await Sandbox.start(options)
      await using two = await Sandbox.start(options)
      await using other = await Sandbox.start({ ...options, seed: 2 })
      const first = arrange(one)
      // Time that passes is not part of it.
      await new Promise((resolve) => setTimeout(resolve, 5))
      assert.deepStrictEqual(arrange(two), first)
      assert.notDeepEqual(arrange(other).settings, first.settings)
      assert.notDeepEqual(arrange(one), first)
      one.reset()
      assert.deepStrictEqual(arrange(one), first)
      // The same secrets would come again, where they are already.
      one.reset()
      one.restore(two.snapshot())
      const again = arrange(one)
      assert.strictEqual(new Set([...first.ids, ...again.ids]).size, 16)
    }
  })

  it.effect("stay recent when the clock is moved", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      bench.sandbox.clock.advance("30 days")
      const post = bench.sandbox.ada.post("needle")
      assert.deepStrictEqual(idsOf(yield* get(bench, "/2/posts/search/recent?query=needle")), [post.id])
      bench.sandbox.clock.set(now + 300 * day)
      // However many there are.
      bench.store.transaction(() => {
        for (let i = 0; i < 3_700; i++) bench.sandbox.ada.post("hay")
      })
      const other = bench.sandbox.ada.post("needle")
      assert.deepStrictEqual(idsOf(yield* get(bench, "/2/posts/search/recent?query=needle")), [other.id])
    }))
})

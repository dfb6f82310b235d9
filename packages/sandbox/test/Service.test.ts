import { assert, describe, it } from "@effect/vitest"
import { BadRequest } from "@postwire/core/errors/Errors"
import { bookmark, getBookmarks } from "@postwire/core/operations/Bookmarks"
import { createDirectMessage, getDirectMessageEvents } from "@postwire/core/operations/DirectMessages"
import { like, unlike } from "@postwire/core/operations/Likes"
import { createPost, deletePost, getPost, getPosts } from "@postwire/core/operations/Posts"
import { searchAllPosts, searchRecentPosts } from "@postwire/core/operations/Search"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import { getMe, getUser } from "@postwire/core/operations/Users"
import * as Wire from "@postwire/core/wire/Wire"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Answer, type Bench, day, make, minute, now, type RequestOptions, second } from "./support/Requests.ts"

const assertProblem = (answer: Answer, status: number, detail?: RegExp) => {
  const shown = JSON.stringify(answer.body)
  assert.strictEqual(answer.status, status, shown)
  assert.strictEqual(answer.headers["content-type"], "application/problem+json")
  assert.strictEqual(answer.body.status, status)
  for (const member of ["title", "detail", "type"]) assert.isNotEmpty(answer.body[member])
  assert.notProperty(answer.body, "data")
  if (detail !== undefined) assert.match(shown, detail)
}

const idsOf = (items: ReadonlyArray<{ readonly id: string }> | undefined) => (items ?? []).map((item) => item.id)

/** Somebody else, with a public account that takes messages. */
const grace = (bench: Bench) =>
  bench.store.users.insert({ username: "Grace_H", name: "Grace", createdAt: now - 9000 * day, photoTagging: false })

/** Posts one after the other, at these times. */
const posts = (bench: Bench, text: string, times: ReadonlyArray<number>, authorId = bench.seeded.ada.id) =>
  times.map((createdAt) => bench.store.posts.insert({ authorId, text, createdAt }))

describe("operations", () => {
  it.effect("answer ambiguous paths in the words of the request, and else in neutral ones", () =>
    Effect.gen(function*() {
      const { request, seeded } = yield* make({ posts: 200 })
      const metrics = (answer: Answer) => Object.keys(answer.body.data.public_metrics)
      const path = `/2/users/${seeded.ada.id}?user.fields=public_metrics`
      assert.include(metrics(yield* request("GET", path)), "post_count")
      assert.include(metrics(yield* request("GET", `${path}&tweet.fields=id`)), "tweet_count")
      assert.include(metrics(yield* request("GET", `${path}&post.fields=id`)), "post_count")
      const liked = `/2/users/${seeded.ada.id}/likes`
      const [wordX, wordNeutral] = yield* Effect.all([
        request("POST", liked, { body: { tweet_id: "1" } }),
        request("POST", liked, { body: { post_id: "1" } })
      ])
      assertProblem(wordX, 404, /"parameter":"tweet_id"/)
      assert.strictEqual(wordX.body.errors[0].resource_type, "post")
      assertProblem(wordNeutral, 404, /"parameter":"post_id"/)
    }))

  it.effect("speak the words of one date alone where they are told to", () =>
    Effect.gen(function*() {
      const requests = [
        ["GET", "/2/users/me?user.fields=public_metrics", undefined, { neutral: 200, x: 200, "x-2026-02": 200 }],
        ["GET", "/2/posts?ids=1", undefined, { neutral: 200, x: 404, "x-2026-02": 404 }],
        ["GET", "/2/tweets?ids=1", undefined, { neutral: 404, x: 200, "x-2026-02": 200 }],
        ["GET", "/2/users/me?post.fields=id", undefined, { neutral: 200, x: 200, "x-2026-02": 400 }],
        ["GET", "/2/users/me?tweet.fields=id", undefined, { neutral: 400, x: 400, "x-2026-02": 200 }],
        ["GET", "/2/users/me?user.fields=pinned_post_id", undefined, { neutral: 200, x: 400, "x-2026-02": 400 }],
        ["GET", "/2/users/me?user.fields=pinned_tweet_id", undefined, { neutral: 400, x: 400, "x-2026-02": 200 }],
        ["GET", "/2/users/me?expansions=pinned_post_id", undefined, { neutral: 200, x: 200, "x-2026-02": 400 }],
        ["POST", "/2/users/me/likes", { post_id: "1" }, { neutral: 404, x: 400, "x-2026-02": 400 }],
        ["POST", "/2/users/me/likes", { tweet_id: "1" }, { neutral: 400, x: 404, "x-2026-02": 404 }]
      ] as const
      for (const wire of Wire.names) {
        const { request, seeded } = yield* make({ wire, posts: 0 })
        for (const [method, path, body, statuses] of requests) {
          const answer = yield* request(method, path.replace("/me/", `/${seeded.ada.id}/`), { body })
          assert.strictEqual(answer.status, statuses[wire], `${wire} ${path} ${JSON.stringify(answer.body)}`)
        }
        const { body } = yield* request("GET", "/2/users/me?user.fields=public_metrics")
        assert.property(body.data.public_metrics, wire === "x-2026-02" ? "tweet_count" : "post_count")
      }
    }))

  it.effect("have the types of problems of their date, and clients read them alike", () =>
    Effect.gen(function*() {
      for (const wire of Wire.names) {
        const { client, request } = yield* make({ wire, posts: 0 })
        const host = wire === "x" ? "https://api.x.com/2/problems/" : "https://api.twitter.com/2/problems/"
        const path = wire === "neutral" ? "/2/posts" : "/2/tweets"
        const [unknown, wrong, partial, refused] = yield* Effect.forEach(
          [`${path}?ids=1&colour=red`, `${path}?ids=a`, `${path}?ids=1`, `/2/users/me`],
          (path, i) => request("GET", path, { as: i === 3 ? "app" : "user" })
        )
        assert.strictEqual(unknown?.body.type, `${host}invalid-request`)
        assert.strictEqual(wrong?.body.type, `${host}invalid-request`)
        assert.strictEqual(partial?.body.errors[0].type, `${host}resource-not-found`)
        assert.strictEqual(refused?.body.type, `${host}unsupported-authentication`)
        const gone = yield* Effect.flip(Effect.provide(deletePost({ id: "1" }), client(wire)))
        assert.deepInclude(gone, { _tag: "NotFound", type: `${host}resource-not-found` })
        const { errors } = yield* Effect.provide(getPost({ id: "1" }), client(wire))
        assert.deepInclude(errors[0], { type: `${host}resource-not-found`, resource_type: "post" })
      }
    }))

  it.effect("tell a client of the other date which setting to try", () =>
    Effect.gen(function*() {
      const asking = getPosts({
        ids: ["1"],
        post_fields: ["author_id", "edit_history_post_ids", "referenced_posts", "public_metrics"],
        expansions: ["edit_history_post_ids", "referenced_posts.id"]
      }).pipe(Effect.asVoid)
      for (const [own, other] of [["x", "x-2026-02"], ["x-2026-02", "x"]] as const) {
        const service = yield* make({ wire: other, posts: 0 })
        for (
          const call of [asking, Effect.asVoid(getMe({ expansions: ["most_recent_post_id", "pinned_post_id"] }))]
        ) {
          const error = yield* Effect.flip(Effect.provide(call, service.client(own)))
          assert.instanceOf(error, BadRequest)
          assert.strictEqual(error.otherWire, other)
          assert.include(error.message, `try wire: "${other}", or set POSTWIRE_WIRE.`)
          yield* Effect.provide(call, service.client(other))
        }
      }
    }))

  for (const wire of Wire.names) {
    for (const user_auth of [true, false]) {
      const form = user_auth ? "OAuth 1.0a" : "a user's bearer token"
      it.effect(`all work through the client on the ${wire} wire with ${form}`, () =>
        Effect.gen(function*() {
          const bench = yield* make({ wire })
          const { ada, mediaIds } = bench.seeded
          const other = grace(bench)
          yield* Effect.gen(function*() {
            assert.strictEqual((yield* getMe({ user_auth, user_fields: ["created_at"] })).data?.id, ada.id)
            for (const by of [{ id: other }, { username: "grace_h" }]) {
              const { data } = yield* getUser({ ...by, user_auth, user_fields: ["public_metrics"] })
              assert.strictEqual(data?.username, "Grace_H")
              assert.strictEqual(data?.public_metrics.post_count, 0)
            }

            const { data: quoted } = yield* createPost({ text: "quoted by me", user_auth })
            const { data: created } = yield* createPost({
              text: "hay @grace_h needle #tag",
              quote_post_id: quoted!.id,
              in_reply_to_post_id: quoted!.id,
              exclude_reply_user_ids: [other],
              reply_settings: "following",
              user_auth
            })
            assert.strictEqual(created?.text, "hay @grace_h needle #tag")
            const { data: shown } = yield* createPost({
              media_ids: mediaIds.slice(0, 1),
              media_tagged_user_ids: [other],
              user_auth
            })
            yield* deletePost({ id: shown!.id, user_auth })
            const { data: plain } = yield* createPost({
              text: "nobody is left out",
              in_reply_to_post_id: quoted!.id,
              exclude_reply_user_ids: [],
              user_auth
            })
            yield* deletePost({ id: plain!.id, user_auth })
            const post_fields = [
              "author_id",
              "created_at",
              "referenced_posts",
              "public_metrics",
              "reply_settings"
            ] as const
            const { data: post } = yield* getPost({ id: created!.id, post_fields, user_auth })
            assert.deepStrictEqual(post, {
              id: created!.id,
              text: "hay @grace_h needle #tag",
              edit_history_post_ids: [created!.id],
              author_id: ada.id,
              created_at: new Date(now).toISOString(),
              referenced_posts: [{ type: "quoted", id: quoted!.id }, { type: "replied_to", id: quoted!.id }],
              public_metrics: {
                repost_count: 0,
                reply_count: 0,
                like_count: 0,
                quote_count: 0,
                bookmark_count: 0,
                impression_count: 0
              },
              reply_settings: "following"
            })
            const several = yield* getPosts({ ids: [created!.id, "1", quoted!.id], user_auth })
            assert.deepStrictEqual(idsOf(several.data), [created!.id, quoted!.id])
            assert.strictEqual(several.errors[0]?.resource_type, "post")
            assert.strictEqual(several.errors[0]?.resource_id, "1")

            const post_id = created!.id
            for (const liked of [true, true, false, false]) {
              const { data } = yield* liked ? like({ post_id, user_auth }) : unlike({ post_id, user_auth })
              assert.deepStrictEqual(data, { liked })
              const { data: metrics } = yield* getPost({ id: post_id, post_fields: ["public_metrics"] })
              assert.strictEqual(metrics?.public_metrics.like_count, Number(liked))
            }
            for (let time = 0; time < 2; time++) {
              assert.deepStrictEqual((yield* bookmark({ post_id })).data, { bookmarked: true })
            }
            const bookmarks = yield* getBookmarks({ max_results: 1 })
            assert.deepStrictEqual(idsOf(bookmarks.data), [post_id])
            assert.isDefined(bookmarks.meta.next_token)

            const timeline = yield* getUsersPosts({ id: ada.id, exclude: ["retweets"], max_results: 5, user_auth })
            assert.deepStrictEqual(idsOf(timeline.data).slice(0, 2), [post_id, quoted!.id])
            yield* TestClock.adjust("31 seconds")
            const found = yield* searchRecentPosts({ query: "#tag from:ada", user_auth })
            assert.deepStrictEqual(idsOf(found.data), [post_id])
            assert.deepStrictEqual(found.meta, { newest_id: post_id, oldest_id: post_id, result_count: 1 })
            assert.deepStrictEqual(idsOf((yield* searchAllPosts({ query: "#tag from:ada" })).data), [post_id])

            const sent = yield* createDirectMessage({ participant_id: other, text: "hello", user_auth })
            const dm_conversation_id = sent.data!.dm_conversation_id
            const again = yield* createDirectMessage({
              dm_conversation_id,
              media_id: mediaIds[1]!,
              text: "once more",
              user_auth
            })
            assert.strictEqual(again.data?.dm_conversation_id, dm_conversation_id)
            for (const where of [{}, { participant_id: other }, { dm_conversation_id }]) {
              const events = yield* getDirectMessageEvents({
                ...where,
                user_auth,
                max_results: 2,
                dm_event_fields: ["attachments", "sender_id"],
                expansions: ["sender_id", "attachments.media_keys"]
              })
              assert.deepStrictEqual(idsOf(events.data), [again.data!.dm_event_id, sent.data!.dm_event_id])
              assert.deepStrictEqual(events.data?.map((event) => event.text), ["once more", "hello"])
              assert.deepStrictEqual(idsOf(events.includes.users), [ada.id])
              assert.deepStrictEqual(
                events.includes.media?.map((media) => media.media_key),
                events.data?.[0]?.attachments?.media_keys
              )
            }

            assert.deepStrictEqual((yield* deletePost({ id: post_id, user_auth })).data, { deleted: true })
            const gone = yield* getPost({ id: post_id, user_auth })
            assert.isUndefined(gone.data)
            assert.strictEqual(gone.errors[0]?.resource_id, post_id)
            const refused = yield* Effect.flip(deletePost({ id: post_id, user_auth }))
            assert.strictEqual(refused._tag, "NotFound")
          }).pipe(Effect.provide(bench.client(wire)))
        }))
    }
  }

  it.effect("report what does not exist beside what does", () =>
    Effect.gen(function*() {
      const { request } = yield* make()
      for (
        const [path, parameter, value, kind] of [
          ["/2/posts/5", "id", "5", "post"],
          ["/2/tweets/5", "id", "5", "post"],
          ["/2/tweets/5?tweet.fields=id", "id", "5", "tweet"],
          ["/2/posts?ids=5", "ids", "5", "post"],
          ["/2/users/5", "id", "5", "user"],
          ["/2/users/by/username/nobody_here", "username", "nobody_here", "user"],
          ["/2/users/5/posts", "id", "5", "user"]
        ] as const
      ) {
        const { body, status } = yield* request("GET", path, { as: "app" })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(body, {
          errors: [{
            title: "Not Found Error",
            detail: `Could not find ${kind === "tweet" ? "post" : kind} with ${parameter}: [${value}].`,
            type: `https://api.${path.endsWith("tweets/5") ? "x" : "twitter"}.com/2/problems/resource-not-found`,
            resource_type: kind,
            resource_id: value,
            parameter,
            value
          }]
        }, path)
      }
    }))

  it.effect("refuse what the state does not allow", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      const { request, seeded: { ada, mediaIds }, store } = bench
      const other = grace(bench)
      const shy = store.users.insert({ username: "shy", name: "Shy", createdAt: now, receivesDm: false })
      const [foreign = ""] = posts(bench, "foreign", [now], other)
      const closed = store.messages.open(other, shy)
      for (
        const [method, path, body, status] of [
          ["DELETE", `/2/posts/${foreign}`, undefined, 403],
          ["DELETE", "/2/posts/5", undefined, 404],
          ["POST", `/2/users/${ada.id}/likes`, { post_id: "5" }, 404],
          ["POST", `/2/users/${ada.id}/bookmarks`, { post_id: "5" }, 404],
          ["POST", "/2/posts", { text: "a", quote_post_id: "5" }, 400],
          ["POST", "/2/posts", { text: "a", reply: { in_reply_to_post_id: "5" } }, 400],
          ["POST", "/2/posts", { text: "a", media: { media_ids: [mediaIds[0], "5"] } }, 400],
          ["POST", "/2/posts", { text: "a", geo: { place_id: "nowhere" } }, 400],
          ["POST", "/2/posts", { text: "" }, 400],
          ["POST", "/2/posts", { text: "a", poll: { options: ["one"], duration_minutes: 60 } }, 400],
          ["POST", "/2/posts", { text: "a", poll: { options: ["a", "b", "c", "d", "e"], duration_minutes: 60 } }, 400],
          ["POST", "/2/posts", { text: "a", poll: { options: ["a", "b"], duration_minutes: 4 } }, 400],
          ["POST", "/2/posts", { text: "a", poll: { options: ["a", "b"], duration_minutes: 9e15 } }, 400],
          ["POST", `/2/dm_conversations/with/${shy}/messages`, { text: "a" }, 403],
          ["POST", `/2/dm_conversations/with/${ada.id}/messages`, { text: "a" }, 400],
          ["POST", "/2/dm_conversations/with/5/messages", { text: "a" }, 400],
          ["POST", `/2/dm_conversations/${closed}/messages`, { text: "a" }, 403],
          ["POST", "/2/dm_conversations/5/messages", { text: "a" }, 403],
          ["POST", `/2/dm_conversations/with/${other}/messages`, { attachments: [{ media_id: "5" }] }, 400],
          ["GET", `/2/dm_conversations/${closed}/dm_events`, undefined, 403]
        ] as const
      ) assertProblem(yield* request(method, path, { body }), status)
      assert.isDefined(store.posts.byId(foreign))
      const empty = yield* request("GET", "/2/dm_conversations/with/5/dm_events")
      assert.deepStrictEqual(empty.body, { meta: { result_count: 0 } })
      const poll = yield* request("POST", "/2/posts", {
        body: { text: "?", poll: { options: ["a", "b"], duration_minutes: 60 } }
      })
      const { body } = yield* request(
        "GET",
        `/2/posts/${poll.body.data.id}?expansions=attachments.poll_ids&poll.fields=end_datetime,voting_status`
      )
      assert.deepInclude(body.includes.polls[0], {
        end_datetime: new Date(now + 60 * minute).toISOString(),
        voting_status: "open"
      })
    }))
})

describe("requests that break a rule", () => {
  it.effect("are told where a query goes wrong, counted in characters", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 5 })
      for (const path of ["/2/posts/search/recent", "/2/tweets/search/all", "/2/posts/counts/recent"]) {
        for (
          const [query, message] of [
            ["🚀 \"side", "This \" has no partner (at position 3)"],
            ["(a b", "This ( has no ) (at position 1)"],
            ["-a", "The query only excludes posts; it needs at least one term to search for (at position 1)"]
          ] as const
        ) {
          const { body, status } = yield* bench.request("GET", `${path}?query=${encodeURIComponent(query)}`, {
            as: bench.newcomer({ userId: bench.seeded.ada.id })
          })
          assert.strictEqual(status, 400)
          assert.deepStrictEqual(body, {
            errors: [{ message, parameters: { query: [query] } }],
            title: "Invalid Request",
            detail: "One or more parameters to your request was invalid.",
            type: `https://api.${path.includes("tweets") ? "x" : "twitter"}.com/2/problems/invalid-request`,
            status: 400
          })
        }
      }
    }))

  const id19 = "1".repeat(19)
  const times = "start_time=2026-11-19T00:00:00Z"

  it.effect("are refused with the parameter that broke it", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada } } = yield* make()
      const own = `/2/users/${ada.id}`
      for (
        const [path, parameter] of [
          ["/2/posts/abc", "id"],
          ["/2/posts/", "id"],
          ["/2/posts/1e3", "id"],
          [`/2/posts/${id19}1`, "id"],
          ["/2/posts/%00", "id"],
          ["/2/posts/1%2F2", "id"],
          ["/2/users/me2", "id"],
          ["/2/users/by/username/a%20b", "username"],
          [`/2/users/by/username/${"a".repeat(16)}`, "username"],
          ["/2/posts", "ids"],
          ["/2/posts?ids=", "ids"],
          ["/2/posts?ids=1,%202", "ids"],
          ["/2/posts?ids=1,,2", "ids"],
          [`/2/posts?ids=${Array(101).fill("1").join(",")}`, "ids"],
          ["/2/posts?ids=1&ids=2", "ids"],
          ["/2/posts?ids=1&tweet.fields=id&post.fields=id", "post.fields"],
          ["/2/posts/1?post_fields=id", "post_fields"],
          ["/2/posts/1?tweet.fields=id", "tweet.fields"],
          ["/2/tweets/1?tweet.fields=id&post.fields=id", "post.fields"],
          ["/2/tweets/search/recent?query=a&next_token=x&pagination_token=x", "pagination_token"],
          ["/2/posts/1?expansions=", "expansions"],
          ["/2/posts/1?post.fields=a%20b", "post.fields"],
          ["/2/posts/1?__proto__=1", "__proto__"],
          ["/2/posts/1?constructor=1", "constructor"],
          ["/2/posts/1?user_auth=true", "user_auth"],
          ["/2/posts/search/recent", "query"],
          ["/2/posts/search/recent?query=", "query"],
          [`/2/posts/search/recent?query=${"a".repeat(1025)}`, "query"],
          ["/2/posts/search/recent?query=(", "query"],
          ["/2/posts/search/recent?query=-a", "query"],
          ["/2/posts/search/recent?query=nothing:known", "query"],
          ["/2/posts/search/recent?query=a&max_results=9", "max_results"],
          ["/2/posts/search/recent?query=a&max_results=101", "max_results"],
          ["/2/posts/search/recent?query=a&max_results=1e1", "max_results"],
          ["/2/posts/search/recent?query=a&max_results=10.5", "max_results"],
          ["/2/posts/search/recent?query=a&max_results=-10", "max_results"],
          ["/2/posts/search/recent?query=a&start_time=yesterday", "start_time"],
          ["/2/posts/search/recent?query=a&end_time=2026-02-30T25:00:00Z", "end_time"],
          ["/2/posts/search/recent?query=a&since_id=x", "since_id"],
          ["/2/posts/search/recent?query=a&pagination_token=x", "pagination_token"],
          ["/2/posts/search/recent?query=a&next_token=", "next_token"],
          [`/2/posts/search/recent?query=a&${times}&end_time=2026-11-18T00:00:00Z`, "start_time"],
          ["/2/posts/search/all?query=a&max_results=501", "max_results"],
          [`${own}/bookmarks?max_results=0`, "max_results"],
          [`${own}/posts?max_results=4`, "max_results"],
          [`${own}/posts?start_time=2010-11-05T23:59:59Z`, "start_time"],
          [`${own}/posts?end_time=2010-11-06T00:00:00Z`, "end_time"],
          ["/2/dm_events?max_results=101", "max_results"],
          ["/2/dm_conversations/with/x/dm_events", "participant_id"],
          ["/2/dm_conversations/a%20b/dm_events", "dm_conversation_id"]
        ] as const
      ) {
        const answer = yield* request("GET", path)
        assertProblem(answer, 400)
        assert.include(JSON.stringify(answer.body.errors), parameter, path)
        assert.match(answer.body.type, /invalid-request$/)
      }
    }))

  it.effect("are refused when the body is at fault", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada } } = yield* make()
      const message = "/2/dm_conversations/with/1/messages"
      for (
        const [path, body, fault] of [
          ["/2/posts", undefined, /content type/],
          ["/2/posts", "", /./],
          ["/2/posts", "{", /not JSON/],
          ["/2/posts", "{\"text\":\"a\"}}", /not JSON/],
          ["/2/posts", new Uint8Array([0xff, 0xfe, 0]), /not JSON/],
          ["/2/posts", "[]", /not an object/],
          ["/2/posts", "null", /not an object/],
          ["/2/posts", "\"text\"", /not an object/],
          ["/2/posts", {}, /text/],
          ["/2/posts", { text: 5 }, /text/],
          ["/2/posts", { text: null }, /text/],
          ["/2/posts", { text: "a", quote_post_id: 5 }, /quote_post_id/],
          ["/2/posts", { text: "a", media: [], poll: { options: ["a", "b"] } }, /poll_duration_minutes/],
          ["/2/posts", { text: "a", poll: { duration_minutes: 5 } }, /poll_options/],
          ["/2/posts", { text: "a", poll: { options: "a", duration_minutes: 5 } }, /poll_options/],
          ["/2/posts", { text: "a", poll: { options: ["a", "b"], duration_minutes: "5" } }, /poll_duration_minutes/],
          ["/2/posts", { text: "a", media: { tagged_user_ids: ["1"] } }, /media_ids/],
          ["/2/posts", { text: "a", media: { media_ids: [] } }, /media_ids/],
          ["/2/posts", { text: "a", reply: { exclude_reply_user_ids: ["1"] } }, /in_reply_to_post_id/],
          ["/2/posts", { text: "a", for_super_followers_only: "yes" }, /for_super_followers_only/],
          ["/2/posts", "{\"__proto__\":{\"text\":\"a\"}}", /text/],
          [message, {}, /text/],
          [message, { text: "" }, /text/],
          [message, { text: "a".repeat(10_001) }, /text/],
          [message, { attachments: [] }, /text/],
          [message, { attachments: [{ media_id: 1 }] }, /media_id/],
          [`/2/users/${ada.id}/likes`, {}, /post_id/],
          [`/2/users/${ada.id}/likes`, { post_id: "a" }, /post_id/],
          [`/2/users/${ada.id}/likes`, { post_id: { toString: "1" } }, /post_id/]
        ] as const
      ) assertProblem(yield* request("POST", path, { body }), 400, fault)
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json5"]) {
        assertProblem(yield* request("POST", "/2/posts", { body: { text: "a" }, type }), 400, /content type/)
      }
      for (const type of ["application/json; charset=utf-8", "Application/JSON"]) {
        assert.strictEqual((yield* request("POST", "/2/posts", { body: { text: type }, type })).status, 201)
      }
    }))

  it.effect("meet no operation: unknown paths and methods", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada } } = yield* make()
      for (
        const [method, path] of [
          ["GET", "/2"],
          ["GET", "/1.1/statuses/home_timeline.json"],
          ["GET", "/2/nothing"],
          ["GET", "/2/posts/1/2/3"],
          ["GET", "/2/posts/1/"],
          ["GET", "/2//posts/1"],
          ["GET", "/2/Posts/1"],
          ["GET", "/2/posts/%zz"],
          ["GET", `/2/posts/${"1".repeat(501)}`],
          ["PUT", "/2/posts/1"],
          ["PATCH", "/2/posts/1"],
          ["HEAD", "/2/posts/1"],
          ["OPTIONS", "/2/posts/1"],
          ["TRACE", "/2/posts/1"],
          ["PROPFIND", "/2/posts/1"],
          ["get", "/2/posts/1"],
          ["POST", "/2/users/me"],
          ["DELETE", `/2/users/${ada.id}/bookmarks`],
          ["GET", `/2/users/${ada.id}/likes`]
        ] as const
      ) assertProblem(yield* request(method, path), 404)
    }))
})

describe("fields and expansions", () => {
  const setting = Effect.gen(function*() {
    const bench = yield* make({ posts: 0 })
    const { seeded: { ada, mediaIds }, store } = bench
    const other = grace(bench)
    store.users.insert({ username: "12345", name: "Digits", createdAt: now })
    const mediaKeys = store.attachments.mediaKeys(mediaIds)
    const [quoted = ""] = [
      store.posts.insert({ authorId: other, text: "quoted", createdAt: now - minute, mediaKeys: [mediaKeys[1]!] })
    ]
    const place = yield* bench.request("GET", "/2/users/me")
    assert.strictEqual(place.status, 200)
    store.attachments.insertPlace({
      id: "here",
      full_name: "Here, There",
      name: "Here",
      country: "There",
      country_code: "TH",
      place_type: "city",
      geo: { type: "Feature", bbox: [0, 0, 1, 1], properties: {} }
    })
    const poll = store.attachments.insertPoll({
      options: ["a", "b"],
      durationMinutes: 5,
      createdAt: now,
      votes: [1, 2]
    })
    const post = store.posts.insert({
      authorId: ada.id,
      text: "hello @GRACE_H and @12345",
      createdAt: now,
      quotedPostId: quoted,
      inReplyToPostId: quoted,
      mediaKeys: [mediaKeys[0]!],
      pollId: poll,
      placeId: "here"
    })
    store.users.pin(ada.id, post)
    return { ...bench, other, quoted, post, poll, mediaKeys }
  })

  it.effect("bring what was asked for and nothing else", () =>
    Effect.gen(function*() {
      const { other, poll, post, quoted, mediaKeys, request, seeded: { ada } } = yield* setting
      const get = (query: string, path = `/2/posts/${post}`) =>
        Effect.map(request("GET", `${path}${query}`, { as: "app" }), ({ body }) => body)
      const user = (id: string, name: string, username: string) => ({ id, name, username })
      const adaUser = user(ada.id, "Ada Lovelace", "ada")
      const graceUser = user(other, "Grace", "Grace_H")
      const data = { id: post, text: "hello @GRACE_H and @12345", edit_history_post_ids: [post] }
      const quotedPost = { id: quoted, text: "quoted", edit_history_post_ids: [quoted] }
      const author_id = ada.id
      const referenced_posts = [{ type: "quoted", id: quoted }, { type: "replied_to", id: quoted }]

      assert.deepStrictEqual(yield* get(""), { data })
      // The field that an expansion starts from comes with it.
      assert.deepStrictEqual(yield* get("?expansions=author_id"), {
        data: { ...data, author_id },
        includes: { users: [adaUser] }
      })
      assert.deepStrictEqual(yield* get("?expansions=author_id&user.fields=verified&post.fields=lang"), {
        data: { ...data, author_id, lang: "und" },
        includes: { users: [{ ...adaUser, verified: false }] }
      })
      assert.deepStrictEqual(yield* get("?expansions=referenced_posts.id"), {
        data: { ...data, referenced_posts },
        includes: { posts: [quotedPost] }
      })
      assert.deepStrictEqual(yield* get("?expansions=author_id,referenced_posts.id.author_id"), {
        data: { ...data, author_id, referenced_posts },
        includes: { users: [adaUser, graceUser], posts: [{ ...quotedPost, author_id: other }] }
      })
      assert.deepStrictEqual(
        yield* get("?expansions=attachments.media_keys,referenced_posts.id.attachments.media_keys"),
        {
          data: {
            ...data,
            referenced_posts,
            attachments: { media_keys: [mediaKeys[0]], poll_ids: [poll] }
          },
          includes: {
            media: [{ media_key: mediaKeys[0], type: "photo" }, { media_key: mediaKeys[1], type: "photo" }],
            posts: [{ ...quotedPost, attachments: { media_keys: [mediaKeys[1]] } }]
          }
        }
      )
      const { includes } = yield* get("?expansions=attachments.poll_ids&poll.fields=duration_minutes")
      assert.deepInclude(includes.polls[0], {
        options: [{ position: 1, label: "a", votes: 1 }, { position: 2, label: "b", votes: 2 }],
        duration_minutes: 5
      })
      assert.deepStrictEqual((yield* get("?expansions=geo.place_id&place.fields=country")).includes, {
        places: [{ id: "here", full_name: "Here, There", country: "There" }]
      })
      assert.deepStrictEqual((yield* get("?expansions=in_reply_to_user_id")).includes, { users: [graceUser] })
      const mentions = yield* get("?expansions=entities.mentions.username")
      assert.deepStrictEqual(mentions.includes.users.map((user: { username: string }) => user.username), [
        "Grace_H",
        "12345"
      ])
      assert.notProperty(mentions, "errors")
      assert.deepStrictEqual(yield* get("?expansions=pinned_post_id,most_recent_post_id", "/2/users/by/username/ada"), {
        data: { ...adaUser, pinned_post_id: post, most_recent_post_id: post },
        includes: { posts: [data] }
      })
      assert.deepStrictEqual(yield* get("?expansions=pinned_post_id", `/2/users/${other}`), { data: graceUser })
      const list = yield* get(`?ids=${post},${quoted}&expansions=author_id`, "/2/posts")
      assert.deepStrictEqual(list.includes, { users: [adaUser, graceUser] })
    }))

  it.effect("have the names of the x wire there", () =>
    Effect.gen(function*() {
      const { post, quoted, request } = yield* setting
      const { body } = yield* request(
        "GET",
        `/2/tweets/${post}?expansions=referenced_tweets.id&tweet.fields=referenced_tweets,public_metrics`
      )
      assert.hasAllKeys(body.data, ["id", "text", "edit_history_tweet_ids", "referenced_tweets", "public_metrics"])
      assert.strictEqual(body.data.public_metrics.retweet_count, 0)
      assert.deepStrictEqual(body.includes, {
        tweets: [{
          id: quoted,
          text: "quoted",
          edit_history_tweet_ids: [quoted],
          public_metrics: {
            retweet_count: 0,
            reply_count: 1,
            like_count: 0,
            quote_count: 1,
            bookmark_count: 0,
            impression_count: 0
          }
        }]
      })
    }))

  it.effect("have the names of the request where the x path is asked in other words", () =>
    Effect.gen(function*() {
      const { post, request } = yield* setting
      const [neutral, mixed, alone] = yield* Effect.forEach([
        `/2/posts/${post}?expansions=referenced_posts.id&post.fields=public_metrics`,
        `/2/tweets/${post}?expansions=referenced_posts&post.fields=public_metrics`,
        `/2/tweets/${post}?expansions=referenced_tweets`
      ], (path) => request("GET", path))
      assert.hasAllKeys(mixed?.body.data, ["id", "text", "edit_history_post_ids", "referenced_posts", "public_metrics"])
      assert.deepStrictEqual(mixed?.body, neutral?.body)
      // What no wire spells so is refused as the newest one does.
      assert.match(alone?.body.errors[0].message, /\[referenced_tweets\] is not one of \[.*\breferenced_posts\b/)
    }))

  it.effect("of a search on the x wire page by either token", () =>
    Effect.gen(function*() {
      const { request } = yield* make({ posts: 300 })
      const path = "/2/tweets/search/recent?query=effect&max_results=10"
      const first = yield* request("GET", path)
      const token = first.body.meta.next_token
      const [one, other] = yield* Effect.forEach(["next_token", "pagination_token"], (name) =>
        request("GET", `${path}&${name}=${token}`))
      assert.isNotEmpty(one?.body.data)
      assert.notDeepEqual(one?.body.data, first.body.data)
      assert.deepStrictEqual(other?.body, one?.body)
    }))

  it.effect("tell which related object is gone", () =>
    Effect.gen(function*() {
      const { post, quoted, request, store } = yield* setting
      store.posts.delete(quoted)
      for (const [word, kind, path] of [["posts", "post", "posts"], ["tweets", "tweet", "tweets"]] as const) {
        const field = `referenced_${word}.id`
        const { body, status } = yield* request("GET", `/2/${path}/${post}?expansions=${field}`)
        assert.strictEqual(status, 200)
        assert.strictEqual(body.data.id, post)
        assert.notProperty(body, "includes")
        // The post refers to it twice.
        assert.lengthOf(body.errors, 1)
        assert.deepInclude(body.errors[0], {
          resource_id: quoted,
          resource_type: kind,
          parameter: field,
          section: "includes"
        })
      }
    }))
})

describe("pages", () => {
  it.effect("belong to one request, and their tokens tell nothing", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const own = `/2/users/${bench.seeded.ada.id}`
      const added = posts(bench, "needle", Array.from({ length: 17 }, (_, i) => now - minute + i * second))
      const token: string = (yield* bench.request("GET", `${own}/posts?max_results=5`)).body.meta.next_token
      assert.match(token, /^[\w-]+$/)
      assert.isTrue(added.every((id) => !token.includes(id)))
      const flipped = token.replace(/^./, (char) => char === "A" ? "B" : "A")
      for (
        const path of [
          `${own}/posts?max_results=5&pagination_token=${flipped}`,
          `${own}/posts?max_results=5&pagination_token=${token}A`,
          `${own}/posts?max_results=5&pagination_token=${token.slice(0, -1)}`,
          `${own}/posts?max_results=5&pagination_token=b26v89c19zqg8o3f`,
          `${own}/posts?exclude=replies&pagination_token=${token}`,
          `/2/users/${added.length}/posts?pagination_token=${token}`,
          `${own}/bookmarks?pagination_token=${token}`,
          `/2/dm_events?pagination_token=${token}`,
          `/2/posts/search/recent?query=needle&next_token=${token}`
        ]
      ) assertProblem(yield* bench.request("GET", path), 400, /_token/)
      for (const same of ["max_results=10", "max_results=5&post.fields=lang&expansions=author_id"]) {
        const answer = yield* bench.request("GET", `${own}/posts?${same}&pagination_token=${token}`)
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.body.data[0].id, added.at(-6))
      }
    }))

  it.effect("end at 800 bookmarks", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada } = bench.seeded
      const ids = bench.store.transaction(() =>
        posts(bench, "one", Array.from({ length: 810 }, (_, i) => now - day + i))
      )
      for (const id of ids) bench.store.bookmarks.set(ada.id, id, true)
      const found: Array<string> = []
      for (let token = ""; token !== undefined;) {
        const { body } = yield* bench.request(
          "GET",
          `/2/users/${ada.id}/bookmarks?max_results=100${token === "" ? "" : `&pagination_token=${token}`}`
        )
        found.push(...idsOf(body.data))
        token = body.meta.next_token
      }
      assert.deepStrictEqual(found, ids.toReversed().slice(0, 800))
    }))

  it.effect("leave out what is excluded", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { seeded: { ada }, store } = bench
      const other = grace(bench)
      const [foreign = ""] = posts(bench, "foreign", [now - 4 * minute], other)
      const [plain = ""] = posts(bench, "plain", [now - 3 * minute])
      const common = { authorId: ada.id, createdAt: now - 2 * minute }
      const reply = store.posts.insert({ ...common, text: "reply", inReplyToPostId: foreign })
      const repost = store.posts.insert({ ...common, text: "RT", repostedPostId: foreign })
      for (
        const [exclude, left] of [
          ["", [repost, reply, plain]],
          ["?exclude=replies", [repost, plain]],
          ["?exclude=retweets", [reply, plain]],
          ["?exclude=replies,retweets", [plain]]
        ] as const
      ) {
        const { body } = yield* bench.request("GET", `/2/users/${ada.id}/posts${exclude}`)
        assert.deepStrictEqual(idsOf(body.data), [...left])
      }
    }))
})

describe("time", () => {
  const iso = (millis: number) => `${new Date(millis).toISOString().slice(0, 19)}Z`

  it.effect("rules of recent search", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const hour = Math.floor((now - day) / 3_600_000) * 3_600_000
      const [a = "", b = "", c = "", d = "", e = "", f = "", g = ""] = posts(bench, "needle", [
        now - 7 * day - 1,
        now - 7 * day,
        hour - 1,
        hour,
        hour + minute,
        now - 30 * second - 1,
        now - 30 * second
      ])
      const search = Effect.fnUntraced(function*(query: string) {
        const { body, status } = yield* bench.request("GET", `/2/posts/search/recent?query=needle${query}`)
        assert.strictEqual(status, 200, JSON.stringify(body))
        return idsOf(body.data)
      })
      assert.deepStrictEqual(yield* search(""), [f, e, d, c, b])
      assert.deepStrictEqual(yield* search(`&start_time=${iso(hour)}`), [f, e, d])
      assert.deepStrictEqual(yield* search(`&end_time=${iso(hour)}`), [c, b])
      assert.deepStrictEqual(yield* search(`&start_time=${iso(hour)}&end_time=${iso(hour + minute)}`), [d])
      assert.deepStrictEqual(yield* search(`&since_id=${d}`), [f, e])
      assert.deepStrictEqual(yield* search(`&until_id=${d}`), [c, b])
      assert.deepStrictEqual(yield* search(`&since_id=${c}&start_time=${iso(hour + minute)}`), [f, e, d])
      assert.deepStrictEqual(yield* search(`&since_id=${c}&start_time=${iso(now - 9 * day)}`), [f, e, d])
      assert.deepStrictEqual(yield* search(`&since_id=${a}`), [f, e, d, c, b])
      assert.deepStrictEqual(yield* search(`&end_time=${iso(now - 10 * second)}`), [g, f, e, d, c, b])
      for (
        const rule of [
          `start_time=${iso(now - 7 * day - second)}`,
          `end_time=${iso(now - 9 * second)}`,
          `end_time=${iso(now + day)}`,
          `end_time=${iso(now - 8 * day)}`
        ]
      ) assertProblem(yield* bench.request("GET", `/2/posts/search/recent?query=needle&${rule}`), 400, /_time/)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* search(""), [g, f, e, d, c])
    }))

  it.effect("rules of full-archive search", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const [a = "", b = "", c = "", d = "", e = ""] = posts(bench, "needle", [
        now - 400 * day,
        now - 60 * day,
        now - 30 * second - 30 * day - 1,
        now - 30 * second - 30 * day,
        now - day
      ])
      // Every request comes from another app: of one, the archive takes one per second.
      const search = (query: string) =>
        Effect.map(
          bench.request("GET", `/2/posts/search/all?query=needle${query}`, { as: bench.newcomer() }),
          ({ body }) => idsOf(body.data)
        )
      assert.deepStrictEqual(yield* search(""), [e, d])
      assert.deepStrictEqual(yield* search("&start_time=2006-03-26T00:00:00Z"), [e, d, c, b, a])
      const tooEarly = "/2/posts/search/all?query=needle&start_time=2006-03-25T23:59:59Z"
      assertProblem(yield* bench.request("GET", tooEarly), 400, /start_time/)
      assert.deepStrictEqual(yield* search(`&start_time=${iso(now - 60 * day)}`), [e, d, c, b])
      assert.deepStrictEqual(yield* search(`&end_time=${iso(now - 40 * day)}`), [b])
      assert.deepStrictEqual(yield* search(`&end_time=${iso(now - 60 * day)}`), [])
      assert.deepStrictEqual(yield* search(`&end_time=${iso(now - 60 * day + second)}`), [b])
      assert.deepStrictEqual(yield* search(`&since_id=${a}`), [e, d, c, b])
      assert.deepStrictEqual(yield* search(`&since_id=${a}&start_time=${iso(now - 2 * day)}&until_id=${e}`), [d, c, b])
    }))

  it.effect("rules of timelines include both ends", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { seeded: { ada }, newcomer, request } = bench
      const t = now - day
      const [a = "", b = "", c = "", d = ""] = posts(bench, "to @ada", [t - 1, t, t + 999, t + 1_000])
      for (const path of ["posts", "mentions", "timelines/reverse_chronological"]) {
        const list = (query: string) =>
          Effect.map(
            request("GET", `/2/users/${ada.id}/${path}?${query}`, { as: newcomer({ userId: ada.id }) }),
            ({ body }) => idsOf(body.data)
          )
        assert.deepStrictEqual(yield* list(`start_time=${iso(t)}`), [d, c, b])
        assert.deepStrictEqual(yield* list(`end_time=${iso(t)}`), [c, b, a])
        assert.deepStrictEqual(yield* list(`start_time=${iso(t)}&end_time=${iso(t)}`), [c, b])
        assert.deepStrictEqual(yield* list(`since_id=${a}&until_id=${d}`), [c, b])
        assert.deepStrictEqual(yield* list("since_id=1"), [d, c, b, a])
        // Only the posts of a user have an earliest time.
        for (
          const [query, ofPosts] of [
            ["start_time=2010-11-05T23:59:59Z", 400],
            ["start_time=2010-11-06T00:00:00Z", 200],
            ["end_time=2010-11-06T00:00:00Z", 400],
            ["end_time=2010-11-06T00:00:01Z", 200]
          ] as const
        ) {
          const { status } = yield* request("GET", `/2/users/${ada.id}/${path}?${query}`, {
            as: newcomer({ userId: ada.id })
          })
          assert.strictEqual(status, path === "posts" ? ofPosts : 200, `${path} ${query}`)
        }
      }
    }))
})

describe("windows", () => {
  it.effect("are counted, spent and begun again", () =>
    Effect.gen(function*() {
      const { request } = yield* make()
      const me = (options?: RequestOptions) => request("GET", "/2/users/me", options)
      const reset = String((now + 15 * minute) / 1000)
      for (let left = 74; left >= 0; left--) {
        const { headers, status } = yield* me()
        assert.strictEqual(status, 200)
        assert.deepInclude(headers, {
          "x-rate-limit-limit": "75",
          "x-rate-limit-remaining": String(left),
          "x-rate-limit-reset": reset
        })
        if (left === 40) yield* TestClock.adjust("1 minute")
      }
      const spent = yield* me()
      assertProblem(spent, 429)
      assert.deepInclude(spent.headers, { "x-rate-limit-remaining": "0", "x-rate-limit-reset": reset })
      // Another credential and another operation have windows of their own.
      assert.strictEqual((yield* request("GET", "/2/users/by/username/ada")).headers["x-rate-limit-remaining"], "299")
      yield* TestClock.setTime(now + 15 * minute - 1)
      assertProblem(yield* me(), 429)
      yield* TestClock.setTime(now + 15 * minute)
      const again = yield* me()
      assert.strictEqual(again.status, 200)
      assert.deepInclude(again.headers, {
        "x-rate-limit-remaining": "74",
        "x-rate-limit-reset": String((now + 30 * minute) / 1000)
      })
    }))

  it.effect("reach the client as its budget", () =>
    Effect.gen(function*() {
      const bench = yield* make()
      yield* Effect.gen(function*() {
        const { rateLimit } = yield* searchRecentPosts({ query: "effect" })
        assert.deepStrictEqual(rateLimit, { limit: 450, remaining: 449, resetAt: new Date(now + 15 * minute) })
        for (let i = 0; i < 449; i++) yield* searchRecentPosts({ query: "effect" })
        const refused = yield* Effect.flip(searchRecentPosts({ query: "effect" }))
        assert.strictEqual(refused._tag, "RateLimited")
        const invalid = yield* Effect.flip(createPost({ text: "" })) as Effect.Effect<BadRequest>
        assert.strictEqual(invalid._tag, "BadRequest")
        assert.strictEqual(invalid.rateLimit?.remaining, 199)
      }).pipe(Effect.provide(bench.client()))
    }))
})

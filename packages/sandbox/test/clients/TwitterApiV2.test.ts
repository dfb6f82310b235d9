import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Agent } from "node:http"
import {
  ApiResponseError,
  EUploadMimeType,
  type ITwitterApiClientPlugin,
  type TweetV2SingleStreamResult,
  TwitterApi
} from "twitter-api-v2"
import * as MediaBytes from "../../../core/test/support/MediaBytes.ts"
import { serve } from "./Server.ts"

/**
 * The client knows one host. Its plugins see a request before it is signed, so the signature is of the address that the
 * sandbox is asked at, and its `httpAgent` decides that the connection is without TLS.
 */
const redirected = (baseUrl: string) => {
  const redirect: ITwitterApiClientPlugin = {
    onBeforeRequestConfig: ({ params }) => {
      params.url = params.url.replace("https://api.x.com", baseUrl)
    }
  }
  return { httpAgent: new Agent(), plugins: [redirect] }
}

const bench = Effect.map(serve("x-2026-02"), (server) => {
  const { reader, secrets } = server
  const settings = redirected(server.baseUrl)
  const bearer = (token: string) => new TwitterApi(token, settings).v2
  const signing = (keys: typeof reader) =>
    new TwitterApi({
      appKey: keys.consumerKey,
      appSecret: keys.consumerSecret,
      accessToken: keys.accessToken,
      accessSecret: keys.accessTokenSecret
    }, settings).v2
  return {
    ...server,
    bearer,
    signing,
    forms: { signed: signing(secrets), user: bearer(secrets.bearerToken) },
    app: bearer(secrets.appToken),
    readOnly: signing(reader)
  }
})

const refusal = (promise: Promise<unknown>): Promise<ApiResponseError> =>
  promise.then(() => assert.fail("It was not refused"), (error) => {
    assert.instanceOf(error, ApiResponseError)
    return error
  })

describe("twitter-api-v2", () => {
  it.live("reads, as a user and as an app", () =>
    Effect.gen(function*() {
      const { app, forms, liked, needles, seeded: { ada } } = yield* bench
      yield* Effect.promise(async () => {
        for (const client of Object.values(forms)) {
          const me = await client.me({ "user.fields": ["created_at", "public_metrics"] })
          assert.strictEqual(me.data.id, ada.id)
          assert.isNumber(me.data.public_metrics?.tweet_count)
        }
        for (const client of [app, ...Object.values(forms)]) {
          const user = await client.userByUsername("ada", { expansions: ["pinned_tweet_id"] })
          assert.strictEqual(user.data.id, ada.id)
          const post = await client.singleTweet(needles[0]!, {
            expansions: ["author_id", "referenced_tweets.id", "edit_history_tweet_ids"],
            "tweet.fields": ["public_metrics", "created_at", "referenced_tweets"],
            "user.fields": ["verified"]
          })
          assert.strictEqual(post.data.text, "needle 0 (50% & more)")
          assert.deepStrictEqual(post.data.edit_history_tweet_ids, [needles[0]])
          assert.deepStrictEqual(post.data.referenced_tweets, [{ type: "quoted", id: liked }])
          assert.strictEqual(post.data.public_metrics?.retweet_count, 0)
          assert.strictEqual(post.includes?.users?.[0]?.username, "ada")
          assert.isBoolean(post.includes?.users?.[0]?.verified)
          assert.includeMembers(post.includes?.tweets?.map(({ id }) => id) ?? [], [liked])
        }
      })
    }))

  it.live("pages forwards and backwards, and searches to the end", () =>
    Effect.gen(function*() {
      const { app, forms, liked, likers, needles } = yield* bench
      yield* Effect.promise(async () => {
        for (const client of [app, forms.signed]) {
          const first = await client.tweetLikedBy(liked, { max_results: 2, asPaginator: true })
          const second = await first.next()
          const third = await second.next()
          assert.deepStrictEqual([first, second, third].map(({ done }) => done), [false, false, true])
          const ids = [first, second, third].flatMap((page) => page.users.map(({ id }) => id))
          assert.sameMembers(ids, likers)
          assert.deepStrictEqual((await third.previous()).users, second.users)
          assert.deepStrictEqual((await second.previous()).users, first.users)

          const found: Array<string> = []
          const search = await client.search("needle", { max_results: 10, expansions: ["author_id"] })
          for await (const post of search) {
            found.push(post.id)
            assert.strictEqual(search.includes.author(post)?.username, "ada")
          }
          assert.deepStrictEqual(found, needles)
        }
      })
    }))

  it.live("writes, and what it writes is there", () =>
    Effect.gen(function*() {
      const { app, forms, needles: [quoted], seeded: { ada, mediaIds } } = yield* bench
      yield* Effect.promise(async () => {
        for (const client of Object.values(forms)) {
          const text = "It's (really) new! 100% é 😀 *&+="
          const shown = await client.tweet({ media: { media_ids: [mediaIds[0]!] } })
          await client.deleteTweet(shown.data.id)
          const { data: { id, ...created } } = await client.tweet(text, { quote_tweet_id: quoted! })
          assert.strictEqual(created.text, text)
          const reply = await client.reply("an answer", id)
          assert.deepStrictEqual((await client.like(ada.id, id)).data, { liked: true })
          const reposted: object = (await client.retweet(ada.id, id)).data
          assert.deepStrictEqual(reposted, { retweeted: true, id })
          const read = await app.singleTweet(id, { "tweet.fields": ["public_metrics", "referenced_tweets"] })
          assert.deepInclude(read.data.public_metrics, { like_count: 1, retweet_count: 1, reply_count: 1 })
          assert.deepStrictEqual(read.data.referenced_tweets, [{ type: "quoted", id: quoted! }])
          assert.deepStrictEqual((await client.unretweet(ada.id, id)).data, { retweeted: false })
          assert.deepStrictEqual((await client.unretweet(ada.id, id)).data, { retweeted: false })
          assert.deepStrictEqual((await client.unlike(ada.id, id)).data, { liked: false })
          assert.deepStrictEqual((await client.hideReply(reply.data.id, true)).data, { hidden: true })
          assert.deepStrictEqual((await client.deleteTweet(id)).data, { deleted: true })
          assert.strictEqual((await app.singleTweet(id)).errors?.[0]?.title, "Not Found Error")
        }
        const bookmarked = await forms.user.bookmark(quoted!)
        assert.deepStrictEqual(bookmarked.data, { bookmarked: true })
        assert.strictEqual((await forms.user.bookmarks({ max_results: 5 })).tweets[0]?.id, quoted)
      })
    }))

  it.live("makes a list, fills it, pins it, follows it, changes it and deletes it", () =>
    Effect.gen(function*() {
      const { forms, likers, seeded: { ada } } = yield* bench
      const member = likers[0]!
      yield* Effect.promise(async () => {
        for (const client of Object.values(forms)) {
          const { data: { id, ...created } } = await client.createList({ name: "Test List", private: true })
          assert.deepStrictEqual(created, { name: "Test List" })
          assert.deepStrictEqual((await client.addListMember(id, member)).data, { is_member: true })
          assert.deepStrictEqual((await client.listMembers(id)).users.map((user) => user.id), [member])
          assert.deepStrictEqual((await client.pinList(ada.id, id)).data, { pinned: true })
          assert.deepStrictEqual((await client.removeListMember(id, member)).data, { is_member: false })
          assert.deepStrictEqual((await client.unpinList(ada.id, id)).data, { pinned: false })
          const changed = await client.updateList(id, { description: "Test List Description", private: false })
          assert.deepStrictEqual(changed.data, { updated: true })
          const read = await client.list(id, { "list.fields": ["description", "private"], expansions: ["owner_id"] })
          assert.deepInclude(read.data, { description: "Test List Description", private: false, owner_id: ada.id })
          assert.strictEqual(read.includes?.users?.[0]?.username, "ada")
          assert.include((await client.listsOwned(ada.id)).lists.map((list) => list.id), id)
          assert.deepStrictEqual((await client.subscribeToList(ada.id, id)).data, { following: true })
          assert.include((await client.listFollowed(ada.id)).lists.map((list) => list.id), id)
          assert.deepStrictEqual((await client.unsubscribeOfList(ada.id, id)).data, { following: false })
          await client.addListMember(id, member)
          assert.strictEqual((await client.listMemberships(member)).lists[0]?.id, id)
          assert.deepStrictEqual((await client.removeList(id)).data, { deleted: true })
          assert.strictEqual((await refusal(client.removeList(id))).code, 404)
        }
      })
    }))

  it.live("uploads a photo in segments, a GIF and a video that is processed, describes and posts them", () =>
    Effect.gen(function*() {
      const { app, baseUrl, forms } = yield* bench
      yield* Effect.promise(async () => {
        // It waits a second for each of those that are processed.
        await Promise.all(
          Object.values(forms).map(async (client) => {
            const photo = Buffer.from(
              MediaBytes.concat(MediaBytes.png({ width: 40, height: 30 }), new Uint8Array(5_000))
            )
            const ids = await Promise.all([
              client.uploadMedia(photo, { media_type: EUploadMimeType.Png }, 2_000),
              client.uploadMedia(Buffer.from(MediaBytes.gif({ frames: 2 })), { media_type: EUploadMimeType.Gif }),
              client.uploadMedia(Buffer.from(MediaBytes.mp4()), {
                media_type: EUploadMimeType.Mp4,
                media_category: "tweet_video"
              })
            ])
            await client.createMediaMetadata(ids[0], { alt_text: { text: "one colour" } })
            const shown = await Promise.all(ids.map(async (id, n) => {
              const { data } = await client.tweet(`media ${n}`, { media: { media_ids: [id] } })
              const { includes } = await app.singleTweet(data.id, {
                expansions: ["attachments.media_keys"],
                "media.fields": ["alt_text", "url", "type", "width", "height"]
              })
              return includes?.media?.[0]
            }))
            assert.deepStrictEqual(shown.map((media) => media?.type), ["photo", "animated_gif", "video"])
            const [first] = shown
            assert.deepInclude(first, { alt_text: "one colour", width: 40, height: 30 })
            const served = await fetch(first?.url ?? "")
            assert.isTrue(first?.url?.startsWith(baseUrl))
            assert.deepStrictEqual(Buffer.from(await served.arrayBuffer()), photo)
          })
        )
        const wrong = await refusal(
          forms.signed.uploadMedia(Buffer.from(MediaBytes.png()), { media_type: EUploadMimeType.Mp4 })
        )
        assert.strictEqual(wrong.code, 400)
        const unknown = await refusal(forms.signed.tweet("no", { media: { media_ids: ["1"] } }))
        assert.strictEqual(unknown.code, 400)
      })
    }))

  it.live("tells refusals apart", () =>
    Effect.gen(function*() {
      const { app, bearer, forms, needles, readOnly, secrets, signing } = yield* bench
      yield* Effect.promise(async () => {
        for (const client of [bearer("unknown"), signing({ ...secrets, accessTokenSecret: "wrong" })]) {
          const error = await refusal(client.me())
          assert.strictEqual(error.code, 401)
          assert.isTrue(error.isAuthError)
          assert.strictEqual(error.data.title, "Unauthorized")
        }
        assert.strictEqual((await refusal(readOnly.tweet("no"))).code, 403)
        assert.strictEqual((await readOnly.singleTweet(needles[0]!)).data.id, needles[0])
        const alone = await refusal(app.tweet("no"))
        assert.strictEqual(alone.code, 403)
        assert.strictEqual(alone.data.type, "https://api.twitter.com/2/problems/unsupported-authentication")
        const wrong = await refusal(forms.user.search("needle", { max_results: 1 }))
        assert.strictEqual(wrong.code, 400)
        assert.match(wrong.errors?.map((error) => "message" in error ? error.message : "").join() ?? "", /max_results/)
        const unknown = await app.tweets([needles[0]!, "1"])
        assert.deepStrictEqual(unknown.data.map(({ id }) => id), [needles[0]])
        assert.deepInclude(unknown.errors?.[0], { resource_type: "tweet", resource_id: "1", parameter: "ids" })
      })
    }))

  it.live("shows the rate limit, and that it is spent", () =>
    Effect.gen(function*() {
      const { forms: { signed } } = yield* bench
      yield* Effect.promise(async () => {
        const before = Math.floor(Date.now() / 1000)
        const { rateLimit = { limit: 0, remaining: 0, reset: 0 } } = await signed.get("users/me", {}, {
          fullResponse: true
        })
        const { reset } = rateLimit
        assert.deepStrictEqual(rateLimit, { limit: 75, remaining: 74, reset })
        assert.isAtLeast(reset, before + 900)
        assert.isAtMost(reset, Math.ceil(Date.now() / 1000) + 900)
        for (let n = 0; n < 74; n++) await signed.me()
        const error = await refusal(signed.me())
        assert.strictEqual(error.code, 429)
        assert.isTrue(error.rateLimitError)
        assert.deepStrictEqual(error.rateLimit, { limit: 75, remaining: 0, reset })
      })
    }))

  it.live("adds rules, and reads a stream of what they match, again when it was cut", () =>
    Effect.gen(function*() {
      const { ada, app, baseUrl, faults } = yield* bench
      yield* Effect.promise(async () => {
        const { data } = await app.updateStreamRules({ add: [{ value: "needle", tag: "needles" }] })
        assert.deepStrictEqual(data.map(({ tag }) => tag), ["needles"])
        faults.add({ operation: "streamPosts", stream: { kind: "cut", after: 1 } })
        const read = async () => {
          const stream = await app.getStream<TweetV2SingleStreamResult>(
            "tweets/search/stream",
            { "tweet.fields": "created_at", expansions: "author_id" },
            // No plugin sees the requests of streams.
            { prefix: `${baseUrl}/2/` }
          )
          try {
            ada.post("A needle for the stream ☕")
            for await (const { data, includes, matching_rules } of stream) {
              return [data.text, includes?.users?.[0]?.username, matching_rules?.map(({ tag }) => tag)]
            }
          } finally {
            stream.close()
          }
        }
        for (let i = 0; i < 2; i++) {
          assert.deepStrictEqual(await read(), ["A needle for the stream ☕", "ada", ["needles"]])
        }
        assert.strictEqual(
          (await app.updateStreamRules({ delete: { ids: data.map(({ id }) => id) } })).meta.summary.deleted,
          1
        )
      })
    }))
})

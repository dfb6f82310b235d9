import { assert, describe, it } from "@effect/vitest"
import { ApiError, Client, type ClientConfig, OAuth1, PostPaginator, UserPaginator } from "@xdevplatform/xdk"
import { Effect } from "effect"
import * as MediaBytes from "../../../core/test/support/MediaBytes.ts"
import { serve } from "./Server.ts"

const bench = Effect.map(serve("x"), (server) => {
  const { reader, secrets } = server
  const connect = (config: ClientConfig) => new Client({ baseUrl: server.baseUrl, ...config })
  const oauth1 = (keys: typeof reader) =>
    new OAuth1({
      apiKey: keys.consumerKey,
      apiSecret: keys.consumerSecret,
      accessToken: keys.accessToken,
      accessTokenSecret: keys.accessTokenSecret,
      callback: "oob"
    })
  return {
    ...server,
    connect,
    oauth1,
    forms: {
      signed: connect({ oauth1: oauth1(secrets) }),
      user: connect({ accessToken: secrets.bearerToken })
    },
    app: connect({ bearerToken: secrets.appToken }),
    readOnly: connect({ oauth1: oauth1(reader) })
  }
})

const refusal = (promise: Promise<unknown>): Promise<ApiError> =>
  promise.then(() => assert.fail("It was not refused"), (error) => {
    assert.instanceOf(error, ApiError)
    return error
  })

describe("@xdevplatform/xdk", () => {
  it.live("reads, as a user and as an app", () =>
    Effect.gen(function*() {
      const { app, forms, liked, needles, seeded: { ada } } = yield* bench
      yield* Effect.promise(async () => {
        for (const client of Object.values(forms)) {
          const me = await client.users.getMe({ userFields: ["created_at", "public_metrics"] })
          assert.strictEqual(me.data?.id, ada.id)
          assert.instanceOf(new Date(me.data?.createdAt ?? ""), Date)
        }
        for (const client of [app, ...Object.values(forms)]) {
          assert.strictEqual((await client.users.getByUsername("ada")).data?.id, ada.id)
          const post = await client.posts.getById(needles[0]!, {
            expansions: ["author_id", "referenced_posts", "edit_history_post_ids"],
            postFields: ["public_metrics", "created_at"],
            userFields: ["verified"]
          })
          // It asks for `post.fields` at the path of X, and reads the words that belong to that.
          assert.strictEqual(post.data?.text, "needle 0 (50% & more)")
          assert.deepStrictEqual(post.data?.editHistoryPostIds, [needles[0]])
          assert.deepStrictEqual(post.data?.referencedPosts, [{ type: "quoted", id: liked }])
          assert.strictEqual(post.data?.publicMetrics?.repostCount, 0)
          assert.strictEqual(post.includes?.users?.[0]?.username, "ada")
          assert.isBoolean(post.includes?.users?.[0]?.verified)
          assert.includeMembers(post.includes?.posts?.map(({ id }) => id) ?? [], [liked])
        }
      })
    }))

  it.live("pages forwards and backwards, and searches to the end", () =>
    Effect.gen(function*() {
      const { app, forms, liked, likers, needles } = yield* bench
      yield* Effect.promise(async () => {
        for (const client of Object.values(forms)) {
          const page = async (token?: string) => {
            const { data = [], meta } = await client.posts.getLikingUsers(liked, {
              maxResults: 2,
              ...(token === undefined ? {} : { paginationToken: token })
            })
            return { data, meta: meta as { readonly nextToken?: string; readonly previousToken?: string } }
          }
          const users = new UserPaginator(page)
          const ids: Array<string> = []
          for await (const user of users) ids.push(user.id)
          assert.sameMembers(ids, likers)
          const first = await page()
          const second = await page(first.meta.nextToken)
          assert.notDeepEqual(second.data, first.data)
          assert.deepStrictEqual((await page(second.meta.previousToken)).data, first.data)
        }
        for (const client of [app, ...Object.values(forms)]) {
          for (const name of ["nextToken", "paginationToken"] as const) {
            const posts = new PostPaginator(async (token) => {
              const { data = [], meta } = await client.posts.searchRecent("needle", {
                maxResults: 10,
                postFields: ["created_at"],
                ...(token === undefined ? {} : { [name]: token })
              })
              return { data, meta: meta as { readonly nextToken?: string } }
            })
            const found: Array<string> = []
            for await (const post of posts) found.push(post.id)
            assert.deepStrictEqual(found, needles, name)
          }
        }
      })
    }))

  it.live("writes, and what it writes is there", () =>
    Effect.gen(function*() {
      const { app, forms, needles: [quoted], seeded: { ada, mediaIds } } = yield* bench
      yield* Effect.promise(async () => {
        for (const client of Object.values(forms)) {
          const text = "It's (really) new! 100% é 😀 *&+="
          const created = await client.posts.create({ text, media: { mediaIds: [mediaIds[0]!] } })
          assert.strictEqual(created.data?.text, text)
          const id = created.data!.id!
          assert.strictEqual((await client.users.likePost(ada.id, { tweetId: id })).data?.liked, true)
          const reposted = await client.users.repostPost(ada.id, { tweetId: id })
          assert.deepInclude(reposted.data, { retweeted: true, restId: id })
          const read = await app.posts.getById(id, { postFields: ["public_metrics"] })
          assert.deepInclude(read.data?.publicMetrics, { likeCount: 1, repostCount: 1 })
          for (let n = 0; n < 2; n++) {
            assert.strictEqual((await client.users.unrepostPost(ada.id, id)).data?.retweeted, false)
          }
          assert.strictEqual((await client.users.unlikePost(ada.id, id)).data?.liked, false)
          assert.strictEqual((await client.posts.delete(id)).data?.deleted, true)
          assert.deepInclude((await app.posts.getById(id)).errors?.[0], { title: "Not Found Error" })
        }
        await forms.user.users.createBookmark(ada.id, { tweetId: quoted! })
        assert.strictEqual((await forms.user.users.getBookmarks(ada.id, { maxResults: 5 })).data?.[0]?.id, quoted)
      })
    }))

  it.live("uploads in segments and in one request, describes, asks for the state and posts", () =>
    Effect.gen(function*() {
      const { app, baseUrl, forms } = yield* bench
      yield* Effect.promise(async () => {
        for (const { media, posts } of Object.values(forms)) {
          const photo = Buffer.from(MediaBytes.concat(MediaBytes.png(), new Uint8Array(5_000)))
          const begun = await media.initializeUpload({
            mediaType: "image/png",
            mediaCategory: "tweet_image",
            totalBytes: photo.length
          })
          const id = begun.data?.id ?? ""
          for (const segmentIndex of [0, 1, 2]) {
            const bytes = photo.subarray(segmentIndex * 2_000, (segmentIndex + 1) * 2_000)
            await media.appendUpload(id, { segmentIndex, media: bytes.toString("base64") })
          }
          assert.strictEqual((await media.finalizeUpload(id)).data?.id, id)
          await media.createMetadata({ id, metadata: { altText: { text: "one colour" } } })

          const whole = await media.upload({ media: photo.toString("base64"), mediaCategory: "tweet_image" })
          assert.strictEqual(whole.data?.size, photo.length)

          const film = Buffer.from(MediaBytes.mp4())
          const session = await media.initializeUpload({
            mediaType: "video/mp4",
            mediaCategory: "tweet_video",
            totalBytes: film.length
          })
          const video = session.data?.id ?? ""
          await media.appendUpload(video, { segmentIndex: 0, media: film.toString("base64") })
          await media.finalizeUpload(video)
          const { data } = await media.getUploadStatus(video, { command: "STATUS" })
          assert.oneOf(data?.processingInfo?.state, ["pending", "in_progress"])
          assert.strictEqual(data?.processingInfo?.checkAfterSecs, 1)

          const posted = await posts.create({ text: "two", media: { mediaIds: [id, whole.data?.id ?? ""] } })
          const { includes } = await app.posts.getById(posted.data?.id ?? "", {
            expansions: ["attachments.media_keys"],
            mediaFields: ["alt_text", "url", "type"]
          })
          assert.lengthOf(includes?.media ?? [], 2)
          const [first] = includes?.media ?? []
          assert.deepInclude(first, { type: "photo", altText: "one colour" })
          const url = first !== undefined && "url" in first ? String(first.url) : ""
          assert.isTrue(url.startsWith(baseUrl))
          assert.deepStrictEqual(Buffer.from(await (await fetch(url)).arrayBuffer()), photo)
        }
        // Bytes that are not base64, which become an object in its JSON.
        const bytes: unknown = Buffer.from("hi!")
        const { data } = await forms.user.media.initializeUpload({
          mediaType: "image/png",
          mediaCategory: "tweet_image",
          totalBytes: 3
        })
        const wrong = await refusal(
          forms.user.media.appendUpload(data?.id ?? "", { segmentIndex: 0, media: bytes as string })
        )
        assert.strictEqual(wrong.status, 400)
      })
    }))

  it.live("tells refusals apart", () =>
    Effect.gen(function*() {
      const { app, connect, forms, needles, oauth1, readOnly, secrets } = yield* bench
      yield* Effect.promise(async () => {
        for (
          const client of [
            connect({ accessToken: "unknown" }),
            connect({ oauth1: oauth1({ ...secrets, accessTokenSecret: "wrong" }) })
          ]
        ) {
          const error = await refusal(client.users.getMe())
          assert.strictEqual(error.status, 401)
          assert.strictEqual(error.data.title, "Unauthorized")
        }
        assert.strictEqual((await refusal(readOnly.posts.create({ text: "no" }))).status, 403)
        assert.strictEqual((await readOnly.posts.getById(needles[0]!)).data?.id, needles[0])
        assert.strictEqual((await refusal(forms.user.posts.searchRecent("needle", { maxResults: 1 }))).status, 400)
        const unknown = await app.posts.getByIds([needles[0]!, "1"])
        assert.deepStrictEqual(unknown.data?.map(({ id }) => id), [needles[0]])
        assert.deepInclude(unknown.errors?.[0], { resourceType: "post", resourceId: "1", parameter: "ids" })
      })
    }))

  it.live("shows the rate limit, and that it is spent", () =>
    Effect.gen(function*() {
      const { forms: { signed } } = yield* bench
      yield* Effect.promise(async () => {
        const limits = (headers: Headers) =>
          ["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-rate-limit-${name}`)))
        const before = Math.floor(Date.now() / 1000)
        const response = await signed.users.getMe({ requestOptions: { raw: true } })
        const [limit, remaining, reset = 0] = limits(response.headers)
        assert.deepStrictEqual([limit, remaining], [75, 74])
        assert.isAtLeast(reset, before + 900)
        assert.isAtMost(reset, Math.ceil(Date.now() / 1000) + 900)
        for (let n = 0; n < 74; n++) await signed.users.getMe()
        const error = await refusal(signed.users.getMe())
        assert.strictEqual(error.status, 429)
        assert.deepStrictEqual(limits(error.headers), [75, 0, reset])
      })
    }))

  it.live("adds rules, and reads a stream of what they match", () =>
    Effect.gen(function*() {
      const { ada, app } = yield* bench
      yield* Effect.promise(async () => {
        const rules = await app.stream.updateRules({ add: [{ value: "needle", tag: "needles" }] })
        assert.isDefined(rules)
        const stream = await app.stream.posts({ expansions: ["author_id"] })
        ada.post("A needle for the stream ☕")
        for await (const item of stream) {
          // The first of its items is one of its own: that it is connected.
          if (item?.data === undefined) continue
          assert.strictEqual(item.data.text, "A needle for the stream ☕")
          break
        }
        stream.close()
      })
    }))
})

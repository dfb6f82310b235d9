import { assert, describe, it } from "@effect/vitest"
import { catalogue, type Name } from "@postwire/core/Catalogue"
import type { AnyModel } from "@postwire/core/schema/Model"
import { DirectMessageEvent } from "@postwire/core/schema/models/DirectMessageEvent"
import { List } from "@postwire/core/schema/models/List"
import { Media } from "@postwire/core/schema/models/Media"
import { Place } from "@postwire/core/schema/models/Place"
import { Poll } from "@postwire/core/schema/models/Poll"
import { Post } from "@postwire/core/schema/models/Post"
import { Space } from "@postwire/core/schema/models/Space"
import { Topic } from "@postwire/core/schema/models/Topic"
import { User } from "@postwire/core/schema/models/User"
import { isSelector, type Parameters, queryKey } from "@postwire/core/schema/Parameters"
import { Effect, Result, type SchemaAST } from "effect"
import * as Projection from "../src/projection/Projection.ts"
import * as Query from "../src/search/Query.ts"
import { type Bench, make, now } from "./support/Requests.ts"

const models: ReadonlyArray<AnyModel> = [Post, User, Media, Place, Poll, Space, List, DirectMessageEvent, Topic]

/** What the sandbox never returns, and why. */
const never: Readonly<Record<string, string>> = {
  "dm_event.attachments.card_ids": "it has no cards",
  "dm_event.entities.urls.media_key": "texts hold no links to their media",
  "dm_event.referenced_posts": "no message shares a post",
  "media.promoted_metrics": "nothing is promoted",
  "place.contained_within": "its places are cities, and in none",
  "place.geo.geometry": "its places are boxes",
  "post.article": "it has no articles",
  "post.article_title": "it has no articles",
  "post.attachments.media_source_post_id": "no post shows the media of another one",
  "post.card_uri": "it has no cards",
  "post.entities.urls.media_key": "texts hold no links to their media",
  "post.note_post.entities.urls.media_key": "texts hold no links to their media",
  "post.promoted_metrics": "nothing is promoted",
  "post.suggested_source_links": "nobody suggests where notes come from",
  "post.suggested_source_links_with_counts": "nobody suggests where notes come from",
  "post.username": "no selector takes it",
  "space.topics": "no selector takes it",
  "user.confirmed_email": "nobody has an address",
  "user.entities.description.annotations": "only posts are annotated",
  "user.entities.description.urls.media_key": "texts hold no links to media",
  "user.entities.url.urls.media_key": "texts hold no links to media",
  "user.is_identity_verified": "nobody shows a passport",
  "user.parody": "everybody is in earnest",
  "user.profile_banner_url": "nobody has a banner",
  "user.subscription": "nobody sells subscriptions",
  "user.verified_followers_count": "nobody counts them",
  "user.withheld": "accounts are shown everywhere"
}

/** What it returns of some things and not of others. */
const sometimes = Object.entries({
  media: "alt_text non_public_metrics public_metrics variants",
  post: "attachments community_id context_annotations display_text_range edit_controls entities " +
    "entities.annotations entities.urls.description entities.urls.images entities.urls.status " +
    "entities.urls.title geo geo.coordinates matched_media_notes media_metadata non_public_metrics note_post " +
    "note_request_suggestions organic_metrics paid_partnership scopes source withheld",
  space: "ended_at invited_user_ids",
  user: "connection_status entities location public_metrics.media_count subscribes_to_you subscription_type"
}).flatMap(([kind, paths]) => paths.split(" ").map((path) => `${kind}.${path}`))

/** The paths that a schema declares: an object, what it holds, and what that holds. */
const declared = (ast: SchemaAST.AST, path: string): ReadonlyArray<string> =>
  ast._tag === "Arrays"
    ? [...ast.elements, ...ast.rest].flatMap((item) => declared(item, path))
    : ast._tag === "Objects" && ast.propertySignatures.length > 0
    ? [path, ...ast.propertySignatures.flatMap(({ name, type }) => declared(type, `${path}.${String(name)}`))]
    : [path]

/** How often each path was there, and how often it could have been. */
const tally = () => {
  const there = new Map<string, number>()
  const add = (value: unknown, path: string): void => {
    if (Array.isArray(value) && typeof value[0] === "object") return value.forEach((item) => add(item, path))
    there.set(path, (there.get(path) ?? 0) + 1)
    if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) add(member, `${path}.${key}`)
    }
  }
  const count = (path: string) => there.get(path) ?? 0
  return {
    add,
    count,
    isSometimes: (path: string) => count(path) > 0 && count(path) < count(path.replace(/\.\w+$/, ""))
  }
}

/** A query that asks for all that an operation can select. */
const everything = (name: Name): string => {
  const query: Parameters = catalogue[name].definition.query ?? {}
  return Object.entries(query)
    .filter(([parameter]) => isSelector(parameter))
    .map(([parameter, { values = [] }]) => `${queryKey(parameter)}=${values.join(",")}`)
    .join("&")
}

const postsOf = ({ store }: Bench) => {
  const query = Result.getOrThrow(Query.parse("a OR -a"))
  const { items } = store.posts.search({ query, limit: 5_000 })
  return items
}

const chunks = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / 100) }, (_, i) => items.slice(100 * i, 100 * i + 100))

describe("the fields of every model", () => {
  it.effect("are returned, but for a few, and those that the service may leave out are left out at times", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 3_000, seed: 1 })
      const { request, sandbox, store } = bench
      const { ada } = sandbox
      const grace = sandbox.user({ description: "$ACME https://example.com/grace", verified: "blue" })
      const links = Array.from({ length: 9 }, (_, i) => `https://example.com/notes/${i}`).join(" ")
      ada.pins(ada.post({ text: "Effect", media: ["video"] })).message([grace, sandbox.user()], `$ACME ${links}`)
      grace.post(`#effect @ada $ACME ${links} ${"and so on ".repeat(30)}`)
      const posts = postsOf(bench)
      const authors = [...new Set(posts.map((post) => post.author_id))]
      const friends = store.follows.following({ userId: ada.id, limit: 1_000 }).items
      const found = tally()
      const read = Effect.fnUntraced(function*(name: Name, path: string, kind: AnyModel["kind"]) {
        const { body, status } = yield* request("GET", `${path}${path.includes("?") ? "&" : "?"}${everything(name)}`)
        assert.strictEqual(status, 200, JSON.stringify(body))
        found.add(body.data ?? [], kind)
        for (const model of models) {
          if (model.includes !== undefined) found.add(body.includes?.[model.includes] ?? [], model.kind)
        }
        return body.meta?.next_token
      })
      for (const ids of chunks(posts.map(({ id }) => id))) yield* read("getPosts", `/2/posts?ids=${ids}`, "post")
      for (const ids of chunks(authors)) {
        yield* read("getUsers", `/2/users?ids=${ids}`, "user")
        yield* read("getSpaces", `/2/spaces/by/creator_ids?user_ids=${ids}`, "space")
      }
      for (const { id } of friends.filter((friend) => friend.protected)) {
        yield* read("getUsersPosts", `/2/users/${id}/posts?max_results=100`, "post")
      }
      yield* read("getFollowedLists", `/2/users/${ada.id}/followed_lists`, "list")
      for (
        let page = "/2/dm_events?max_results=100", token;
        page !== "";
        page = token ? `/2/dm_events?max_results=100&pagination_token=${token}` : ""
      ) {
        token = yield* read("getDirectMessageEvents", page, "dm_event")
      }

      const paths = models.flatMap(({ fields, kind }) =>
        Object.entries(fields).flatMap(([name, { ast }]) => declared(ast, `${kind}.${name}`))
      )
      const missing = paths.filter((path) => found.count(path) === 0)
      // What holds nothing else than what is missing is missing as a whole.
      const topmost = missing.filter((path) => !missing.some((other) => path.startsWith(`${other}.`)))
      assert.deepStrictEqual(topmost.toSorted(), Object.keys(never).toSorted())
      assert.deepStrictEqual(sometimes.filter((path) => !found.isSometimes(path)), [])
    }))

  it.effect("are those of a whole record, although no more is read of it than is requested", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 3_000, seed: 1 })
      const { request, sandbox, store } = bench
      const viewer = { userId: sandbox.ada.id }
      const scene = { store, now, viewer, origin: sandbox.baseUrl, wire: "neutral" as const }
      // A few posts with each field that any of them has.
      const posts = postsOf(bench)
      const having = (name: string) => posts.filter((post) => Object.hasOwn(post, name)).slice(0, 5)
      const ids = new Set([...new Set(posts.flatMap(Object.keys))].flatMap(having).map(({ id }) => id))
      const authors = new Set(posts.map((post) => post.author_id))
      for (
        const [name, path, model, records] of [
          ["getPosts", "/2/posts", Post, store.posts.byIds([...ids], viewer)],
          ["getUsers", "/2/users", User, store.users.byIds([...authors].slice(0, 100))]
        ] as const
      ) {
        const { query, result } = catalogue[name].definition
        const { values = [] } = (query as Parameters)[model.selector] ?? {}
        assert.isAbove(values.length, 10)
        for (const field of values) {
          const { data } = Projection.project(scene, result, { [model.selector]: [field] }, records)
          const { body } = yield* request(
            "GET",
            `${path}?ids=${records.map(({ id }) => id)}&${queryKey(model.selector)}=${field}`
          )
          assert.deepStrictEqual(body.data, JSON.parse(JSON.stringify(data)), field)
        }
      }
    }))

  it.effect("are left out of those posts of which the seed says so, and of no others", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 600, seed: 1 })
      const fields = ["display_text_range", "edit_controls", "source"]
      const posts = new Map(postsOf(bench).map((post) => [post.id, post]))
      const seen = new Set<string>()
      for (const ids of chunks([...posts.keys()])) {
        const { body } = yield* bench.request("GET", `/2/posts?ids=${ids}&post.fields=${fields}`)
        for (const data of body.data) {
          const omitted = fields.filter((field) => !Object.hasOwn(data, field))
          assert.deepStrictEqual(omitted, fields.filter((field) => posts.get(data.id)?.left_out?.includes(field)))
          for (const field of omitted) seen.add(field)
        }
      }
      assert.sameMembers([...seen], fields)
    }))

  it.effect("are all there of what a test makes itself", () =>
    Effect.gen(function*() {
      const { request, sandbox } = yield* make({ posts: 0 })
      const post = sandbox.ada.post("Effect https://example.com/notes/1")
      const { body } = yield* request("GET", `/2/posts/${post.id}?${everything("getPost")}`)
      for (
        const field of ["context_annotations", "display_text_range", "edit_controls", "organic_metrics", "source"]
      ) assert.property(body.data, field)
      assert.deepStrictEqual(body.data.display_text_range, [0, 34])
      assert.strictEqual(body.data.edit_controls.edits_remaining, 5)
    }))
})

describe("a long post", () => {
  it.effect("is shown by its beginning, and in full as a note; it is found by its end", () =>
    Effect.gen(function*() {
      const { request, sandbox } = yield* make({ posts: 0 })
      const grace = sandbox.user({ username: "grace", verified: "blue" })
      const header = `Bearer ${grace.settings().bearerToken}`
      const text = `${"many words ".repeat(40)}and the @ada needle`
      const { body: { data }, status } = yield* request("POST", "/2/posts", { as: { header }, body: { text } })
      assert.strictEqual(status, 201)
      const { body } = yield* request("GET", `/2/posts/${data.id}?post.fields=note_post,entities`)
      assert.strictEqual(body.data.note_post.text, text)
      assert.strictEqual(body.data.note_post.entities.mentions[0].username, "ada")
      assert.notProperty(body.data, "entities")
      assert.isTrue(text.startsWith(body.data.text))
      assert.isAtMost(body.data.text.length, 280)
      const mentions = yield* request("GET", `/2/users/${sandbox.ada.id}/mentions`)
      assert.strictEqual(mentions.body.data[0].id, data.id)
    }))

  it.effect("is refused of those who are not verified, in letters, links and emoji", () =>
    Effect.gen(function*() {
      const { request, store } = yield* make({ posts: 0 })
      for (const [unit, most] of [["x", 280], ["の", 140], ["👩‍💻", 140], ["https://a.example.com ", 11]] as const) {
        const long = yield* request("POST", "/2/posts", { body: { text: unit.repeat(most + 1) } })
        assert.strictEqual(long.status, 400)
        assert.strictEqual(long.body.errors[0].message, "The text of the post is too long.")
        const onX = yield* request("POST", "/2/tweets", { body: { text: unit.repeat(most + 1) } })
        assert.match(onX.body.errors[0].message, /^Your Tweet text is too long\. For more/)
        assert.strictEqual((yield* request("POST", "/2/posts", { body: { text: unit.repeat(most) } })).status, 201)
      }
      assert.strictEqual(store.counts().posts, 4)
    }))
})

describe("a post that says what its author has just said", () => {
  it.effect("is refused, unless it is elsewhere, of somebody else, or the other one is gone or a day old", () =>
    Effect.gen(function*() {
      const { request, sandbox, store } = yield* make({ posts: 0 })
      const post = (body: object, as?: { readonly header: string }) =>
        request("POST", "/2/posts", as === undefined ? { body } : { as, body })
      const first = yield* post({ text: "hello" })
      assert.strictEqual(first.status, 201)
      const again = yield* post({ text: "hello" })
      assert.deepStrictEqual([again.status, again.body], [403, {
        title: "Forbidden",
        detail: "You are not allowed to create a post with duplicate content.",
        type: "about:blank",
        status: 403
      }])
      const onX = yield* request("POST", "/2/tweets", { body: { text: "hello" } })
      assert.strictEqual(onX.body.detail, "You are not allowed to create a Tweet with duplicate content.")
      const { id } = first.body.data
      const reply = { text: "hello", reply: { in_reply_to_post_id: id } }
      assert.strictEqual((yield* post(reply)).status, 201)
      assert.strictEqual((yield* post(reply)).status, 403)
      assert.strictEqual((yield* post({ text: "hello", quote_post_id: id })).status, 201)
      assert.strictEqual((yield* post({ text: "Hello" })).status, 201)
      const grace = { header: `Bearer ${sandbox.user().settings().bearerToken}` }
      assert.strictEqual((yield* post({ text: "hello" }, grace)).status, 201)
      store.posts.delete(id)
      assert.strictEqual((yield* post({ text: "hello" })).status, 201)
      assert.strictEqual((yield* post({ text: "hello" })).status, 403)
      sandbox.clock.advance("1 day")
      sandbox.clock.advance("1 second")
      assert.strictEqual((yield* post({ text: "hello" })).status, 201)
    }))
})

describe("subscribers", () => {
  it.effect("are the verified ones of those who follow, and an account has as much media as it uploaded", () =>
    Effect.gen(function*() {
      const { request, sandbox } = yield* make({ posts: 0 })
      const { ada } = sandbox
      const verified = sandbox.user({ verified: "blue" }).follows(ada)
      const follower = sandbox.user().follows(ada)
      const stranger = sandbox.user({ verified: "blue" })
      verified.post({ media: ["photo", "photo"] })
      const ids = [verified, follower, stranger, ada].map(({ id }) => id)
      const path = `/2/users?ids=${ids}&user.fields=subscribes_to_you,public_metrics`
      const { body } = yield* request("GET", path)
      type Row = { readonly subscribes_to_you?: boolean; readonly public_metrics: { readonly media_count?: number } }
      assert.deepStrictEqual(body.data.map((user: Row) => user.subscribes_to_you), [true, false, false, undefined])
      assert.deepStrictEqual(body.data.slice(0, 2).map((user: Row) => user.public_metrics.media_count), [2, undefined])
      const alone = yield* request("GET", path, { as: "app" })
      assert.isTrue(alone.body.data.every((user: Row) => user.subscribes_to_you === undefined))
    }))
})

describe("private metrics", () => {
  it.effect("are for the author as a user; others get the rest and are told", () =>
    Effect.gen(function*() {
      const { request, sandbox } = yield* make({ posts: 0 })
      const own = sandbox.ada.post({ text: "mine", impressions: 7 })
      const old = sandbox.ada.post({ text: "old", at: sandbox.clock.now() - 31 * 86_400_000 })
      const other = sandbox.user({ username: "grace" }).post("hers")
      const ids = [own, old, other].map(({ id }) => id)
      const fields = "non_public_metrics,organic_metrics"
      const { body } = yield* request("GET", `/2/posts?ids=${ids}&post.fields=${fields}`)
      assert.deepInclude(body.data[0], {
        non_public_metrics: { impression_count: 7 },
        organic_metrics: { impression_count: 7, like_count: 0, reply_count: 0, repost_count: 0 }
      })
      for (const post of body.data.slice(1)) assert.notProperty(post, "non_public_metrics")
      assert.deepStrictEqual(
        body.errors.map(({ resource_id }: { resource_id: string }) => resource_id),
        Array(5).fill(other.id)
      )
      const alone = yield* request("GET", `/2/tweets/${own.id}?tweet.fields=non_public_metrics`, { as: "app" })
      assert.strictEqual(alone.status, 200)
      assert.deepStrictEqual(Object.keys(alone.body.data), ["id", "text", "edit_history_tweet_ids"])
      assert.deepInclude(alone.body.errors[0], {
        title: "Field Authorization Error",
        type: "https://api.twitter.com/2/problems/not-authorized-for-field",
        field: "non_public_metrics.impression_count",
        resource_type: "tweet",
        resource_id: own.id,
        parameter: "id",
        value: own.id,
        section: "data"
      })
    }))
})

describe("names that an operation does not know", () => {
  it.effect("are refused with those that it takes, in the words of the request", () =>
    Effect.gen(function*() {
      const { request } = yield* make({ posts: 0 })
      for (
        const [path, key, value, allowed] of [
          ["/2/posts/1?post.fields=lang,brand_new", "post.fields", "brand_new", "edit_history_post_ids"],
          ["/2/tweets/1?tweet.fields=lang,brand_new", "tweet.fields", "brand_new", "edit_history_tweet_ids"],
          ["/2/posts/1?expansions=author", "expansions", "author", "referenced_posts.id"],
          ["/2/tweets/1?expansions=author", "expansions", "author", "referenced_posts"],
          ["/2/tweets/1?tweet.fields=lang&expansions=author", "expansions", "author", "referenced_tweets.id"],
          ["/2/tweets/1?post.fields=lang,brand_new", "post.fields", "brand_new", "note_post"],
          ["/2/posts/1?user.fields=username,constructor", "user.fields", "constructor", "public_metrics"],
          ["/2/users/1/mentions?colour=red", "colour", "red", "max_results"],
          ["/2/tweets/1?post_id=1", "post_id", "1", "post.fields"],
          ["/2/tweets/1?tweet.fields=lang&post_id=1", "post_id", "1", "tweet.fields"],
          // Fields that February does not know yet.
          ["/2/tweets/1?tweet.fields=lang,paid_partnership", "tweet.fields", "paid_partnership", "note_tweet"],
          // Fields that August has only as expansions.
          ["/2/tweets/1?post.fields=lang,author_id", "post.fields", "author_id", "note_post"],
          [
            "/2/tweets/1?post.fields=referenced_posts,in_reply_to_user_id",
            "post.fields",
            "referenced_posts,in_reply_to_user_id",
            "edit_controls"
          ],
          ["/2/tweets/1?post.fields=lang&user.fields=username,affiliation", "user.fields", "affiliation", "verified"],
          ["/2/tweets/1?post.fields=note_tweet", "post.fields", "note_tweet", "note_post"],
          // What users never refer to.
          ["/2/tweets/1/liking_users?media.fields=url", "media.fields", "url", "user.fields"]
        ] as const
      ) {
        const { body, status } = yield* request("GET", path)
        assert.strictEqual(status, 400, path)
        assert.match(body.type, /invalid-request$/)
        assert.deepStrictEqual(body.errors[0].parameters, { [key]: [value] }, path)
        assert.include(body.errors[0].message, allowed, path)
      }
      for (
        const [path, sent, unknown, allowed] of [
          ["/2/posts", { text: "a", colour: "red" }, "$.colour", "$.quote_post_id"],
          ["/2/tweets", { text: "a", colour: "red" }, "$.colour", "$.quote_tweet_id"],
          ["/2/tweets", { text: "a", quote_post_id: "1" }, "$.quote_post_id", "$.quote_tweet_id"],
          ["/2/tweets", { text: "a", post_id: "1" }, "$.post_id", "$.quote_tweet_id"],
          ["/2/posts", { text: "a", reply: { to: "1" } }, "$.reply.to", "$.reply.in_reply_to_post_id"],
          ["/2/users/1/following", { target_user_id: "1", since: { year: 1 } }, "$.since", "$.target_user_id"]
        ] as const
      ) {
        const { ada } = (yield* make({ posts: 0 })).seeded
        const { body, status } = yield* request("POST", path.replace("/1/", `/${ada.id}/`), { body: sent })
        assert.strictEqual(status, 400, JSON.stringify(sent))
        assert.deepStrictEqual(Object.keys(body.errors[0].parameters), [unknown])
        assert.include(body.errors[0].message, `${unknown}: is not defined in the schema`)
        assert.include(body.errors[0].message, allowed)
      }
    }))
})

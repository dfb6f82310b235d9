import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { inspect } from "node:util"
import { catalogue } from "../src/Catalogue.ts"
import * as Joins from "../src/schema/Joins.ts"
import type { Includes } from "../src/schema/models/Includes.ts"
import { envelope } from "../src/wire/ResponseDecoder.ts"
import * as Wire from "../src/wire/Wire.ts"
import { make } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const { getDirectMessageEvents, getFollowedLists, getMe, getPost, getUsersPosts, like, searchSpaces } = catalogue

const includes = {
  users: [{ id: "1", name: "Ada", username: "ada" }, { id: "2", name: "Grace", username: "grace" }],
  posts: [{ id: "10", text: "quoted", edit_history_post_ids: ["10"] }, { id: "11", text: "answered" }],
  media: [{ media_key: "3_1", type: "photo" }, { media_key: "3_2", type: "video" }],
  polls: [{ id: "20", options: [] }],
  places: [{ id: "a1", full_name: "Zürich" }]
}

const post = {
  id: "30",
  text: "all of it",
  edit_history_post_ids: ["30"],
  author_id: "1",
  referenced_posts: [{ type: "quoted", id: "10" }, { type: "reposted", id: "404" }, { type: "replied_to", id: "11" }],
  attachments: { media_keys: ["3_2", "3_404", "3_1"], poll_ids: ["20"] },
  geo: { place_id: "a1" }
}

const bare = { id: "31", text: "nothing", edit_history_post_ids: ["31"] }

const dangling = {
  ...bare,
  author_id: "404",
  referenced_posts: [{ type: "quoted", id: "404" }],
  attachments: { media_keys: ["404"], poll_ids: ["404"] },
  geo: { place_id: "404" }
}

describe.each(Wire.names)("on the %s wire", (wire) => {
  const page = { data: [post, bare, dangling], includes, meta: { result_count: 3 } }
  const onWire = Wire.named[wire].fromNeutral(envelope(getUsersPosts.definition.result))
  const service = make(({ query }) => ({
    body: onWire(
      query["pagination_token"] === undefined ?
        { ...page, meta: { next_token: "b" } } :
        {
          data: [{ ...bare, author_id: "1" }],
          includes: { users: [{ id: "1", name: "Ada II", username: "ada" }] },
          meta: {}
        }
    )
  }))
  const expansions = [
    "author_id",
    "referenced_posts.id",
    "attachments.media_keys",
    "attachments.poll_ids",
    "geo.place_id"
  ] as const
  const parameters = { id: "1", expansions, post_fields: ["author_id"] } as const
  const layer = service.layer({ bearerToken: "canary", wire })

  test("finds what belongs to an item")(function*() {
    const response = yield* Effect.provide(getUsersPosts(parameters), layer)
    const [whole, nothing, lost] = response.data!
    assert.strictEqual(response.author(whole!), response.includes.users![0])
    assert.strictEqual(response.author(whole!)?.username, "ada")
    assert.deepStrictEqual(response.referenced(whole!).map(({ id, post, type }) => [type, id, post?.text]), [
      ["quoted", "10", "quoted"],
      ["reposted", "404", undefined],
      ["replied_to", "11", "answered"]
    ])
    assert.deepStrictEqual(response.media(whole!).map(({ media_key }) => media_key), ["3_2", "3_1"])
    assert.deepStrictEqual<unknown>(response.poll(whole!), includes.polls[0])
    assert.strictEqual(response.place(whole!)?.full_name, "Zürich")
    assert.isUndefined(response.pinned(whole!))

    for (const item of [nothing!, lost!]) {
      assert.isUndefined(response.author(item))
      assert.deepStrictEqual(response.media(item), [])
      assert.isUndefined(response.poll(item))
      assert.isUndefined(response.place(item))
      assert.isUndefined(response.pinned(item))
    }
    assert.deepStrictEqual(response.referenced(nothing!), [])
    assert.deepStrictEqual(response.referenced(lost!), [{ type: "quoted", id: "404", post: undefined }])
  })

  test("joins the items of a page, and of pages each with its own")(function*() {
    const response = yield* Effect.provide(getUsersPosts(parameters), layer)
    const joined = response.joined()
    assert.deepStrictEqual(joined.map(({ item }) => item), [...response.data!])
    assert.strictEqual(joined[0]!.author, response.author(response.data![0]!))
    const { author, media, pinned, place, poll, referenced } = joined[0]!
    assert.deepStrictEqual([author?.username, media.length, pinned, place?.full_name, poll?.id, referenced.length], [
      "ada",
      2,
      undefined,
      "Zürich",
      "20",
      3
    ])
    const all = yield* Stream.runCollect(getUsersPosts.joined(parameters)).pipe(Effect.provide(layer))
    assert.deepStrictEqual(all.map(({ author }) => author?.name), ["Ada", undefined, undefined, "Ada II"])
    assert.deepStrictEqual(all[0]!.item, post as never)
  })
})

describe("kinds", () => {
  const layerOf = (body: object) => make(() => ({ body })).layer()

  test("all have their author: who sent, created or owns")(function*() {
    const { users } = includes
    const events = yield* Effect.provide(
      getDirectMessageEvents({ expansions: ["sender_id", "referenced_posts.id"], dm_event_fields: ["sender_id"] }),
      layerOf({
        data: [{ id: "1", event_type: "MessageCreate", sender_id: "2", referenced_posts: [{ id: "10" }] }],
        includes
      })
    )
    assert.strictEqual(events.author(events.data![0]!)?.username, "grace")
    assert.deepStrictEqual<unknown>(events.referenced(events.data![0]!), [{
      type: "referenced",
      id: "10",
      post: includes.posts[0]
    }])
    const spaces = yield* Effect.provide(
      searchSpaces({ query: "a", expansions: ["creator_id"] }),
      layerOf({ data: [{ id: "1", state: "live", creator_id: "1" }], includes: { users } })
    )
    assert.strictEqual(spaces.joined()[0]!.author?.username, "ada")
    const lists = yield* Effect.provide(
      getFollowedLists({ id: "1", expansions: ["owner_id"] }),
      layerOf({ data: [{ id: "1", name: "a", owner_id: "1" }], includes: { users } })
    )
    assert.strictEqual(lists.joined()[0]!.author?.username, "ada")
  })

  test("of one resource join as well: a user with the pinned post")(function*() {
    const me = yield* Effect.provide(
      getMe({ expansions: ["pinned_post_id"], user_fields: ["pinned_post_id"] }),
      layerOf({ data: { ...includes.users[0], pinned_post_id: "10" }, includes: { posts: includes.posts } })
    )
    assert.strictEqual(me.pinned(me.data!)?.text, "quoted")
    assert.strictEqual(me.joined()[0]?.pinned, me.includes.posts![0])
    assert.lengthOf(me.joined(), 1)
  })

  test("have nothing where there is nothing")(function*() {
    const nowhere = yield* Effect.provide(getPost({ id: "1" }), layerOf({ errors: [{ title: "Not Found" }] }))
    assert.deepStrictEqual(nowhere.joined(), [])
    const liked = yield* Effect.provide(like({ post_id: "1" }), layerOf({ data: { liked: true } }))
    assert.deepStrictEqual(liked.joined().map(({ author, item, media }) => [item, author, media]), [[
      { liked: true },
      undefined,
      []
    ]])
  })
})

describe("the index", () => {
  it("is made once for each bucket, when it is first asked for", () => {
    const count = 5000
    const reads = { buckets: 0, ids: 0, others: 0 }
    const users = Array.from({ length: count }, (_, i) => ({
      get id() {
        reads.ids++
        return String(i)
      }
    }))
    const page: Includes = {
      get users() {
        reads.buckets++
        return users as never
      },
      get posts(): never {
        reads.others++
        return [] as never
      }
    }
    const joins = Joins.make(page)
    assert.deepStrictEqual(reads, { buckets: 0, ids: 0, others: 0 })
    joins.author({})
    assert.deepStrictEqual(reads, { buckets: 0, ids: 0, others: 0 })
    for (let i = 0; i < 3 * count; i++) {
      const author = joins.author({ author_id: String(i) })
      if (i < count) assert.strictEqual(author, users[i])
      else assert.isUndefined(author)
    }
    assert.deepStrictEqual(reads, { buckets: 1, ids: count, others: 0 })
    joins.pinned({ pinned_post_id: "1" })
    joins.pinned({ pinned_post_id: "1" })
    assert.strictEqual(reads.others, 1)
  })

  test("is one for all lookups of a response")(function*() {
    const { layer } = make(() => ({ body: { data: [post, post], includes } }))
    const response = yield* Effect.provide(getUsersPosts({ id: "1", expansions: ["author_id"] }), layer())
    let reads = 0
    for (const user of response.includes.users!) {
      const { id } = user
      Object.defineProperty(user, "id", { get: () => (reads++, id) })
    }
    for (let i = 0; i < 10; i++) {
      for (const { author } of response.joined()) assert.strictEqual(author?.username, "ada")
      for (const item of response.data!) assert.strictEqual(response.author(item)?.username, "ada")
    }
    assert.strictEqual(reads, includes.users.length)
  })

  it("takes no name of an object for an id", () => {
    const joins = Joins.make({ users: [{ id: "1" }] })
    for (const author_id of ["__proto__", "constructor", "toString"]) assert.isUndefined(joins.author({ author_id }))
  })
})

describe("a joined item", () => {
  it("prints and serializes as its item, without what it only refers to", () => {
    const joined = Joins.join(post, Joins.make(includes as never))
    assert.strictEqual(JSON.stringify(joined), JSON.stringify({ item: post }))
    assert.notInclude(inspect(joined), "Grace")
  })
})

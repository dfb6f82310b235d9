import { assert, describe, it } from "@effect/vitest"
import { searchUsers } from "@postwire/core/operations/Users"
import { Effect, Stream } from "effect"
import { day, make, minute, now } from "./support/Requests.ts"

const idsOf = (body: { readonly data?: ReadonlyArray<{ readonly id: string }> }) =>
  (body.data ?? []).map(({ id }) => id)

describe("searchUsers", () => {
  it.effect("finds names and handles by the beginnings of their words, who is called so first", () =>
    Effect.gen(function*() {
      const { request, seeded, store } = yield* make({ posts: 0 })
      let at = now - 900 * day
      const user = (username: string, name: string) => store.users.insert({ username, name, createdAt: at += day })
      const called = user("zoe", "Zoe")
      const named = user("somebody", "Zoe O'Neill")
      const spelt = user("neill_zoe", "Nobody")
      const suspended = user("zoe_gone", "Zoe")
      store.users.setSuspended(suspended, true)
      const search = Effect.fnUntraced(function*(query: string) {
        const { body, status } = yield* request("GET", `/2/users/search?query=${encodeURIComponent(query)}`)
        assert.strictEqual(status, 200)
        return idsOf(body)
      })
      assert.deepStrictEqual(yield* search("ZOE"), [called, spelt, named])
      assert.deepStrictEqual(yield* search("zoe o'n"), [named])
      assert.deepStrictEqual(yield* search("neill_zoe"), [spelt])
      assert.deepStrictEqual(yield* search("oe"), [])
      // No pattern of SQL.
      assert.deepStrictEqual(yield* search("_"), [])
      assert.deepStrictEqual(yield* search("ada lovelace"), [seeded.ada.id])
      for (const query of ["", " ", "a".repeat(51), "a-b", "ä"]) {
        const { status } = yield* request("GET", `/2/users/search?query=${encodeURIComponent(query)}`)
        assert.strictEqual(status, 400, query)
      }
    }))

  it.effect("goes on page by page, without a count", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const ids = Array.from({ length: 7 }, (_, i) =>
        bench.store.users.insert({ username: `zoe${i}`, name: "Zoe", createdAt: now - day + i * minute }))
      const items = yield* Stream.runCollect(searchUsers.items({ query: "zoe", max_results: 3 })).pipe(
        Effect.provide(bench.client())
      )
      assert.deepStrictEqual(
        items.map(({ id }) =>
          id
        ),
        ids.toReversed()
      )
      const { body } = yield* bench.request("GET", "/2/users/search?query=zoe&max_results=3")
      assert.deepStrictEqual(Object.keys(body.meta), ["next_token"])
    }))
})

describe("reposts", () => {
  it.effect("are listed to whom they are shown, and so are one's own posts that others reposted", () =>
    Effect.gen(function*() {
      const { ada, request, sandbox, seeded, store } = yield* make({ posts: 0 })
      const [grace, mary] = [sandbox.user({ username: "grace" }), sandbox.user({ username: "mary", protected: true })]
      const [one, two, three] = [ada.post("one"), ada.post("two"), ada.post("three")]
      const repost = (author: { readonly id: string }, post: { readonly id: string }) =>
        store.posts.insert({ authorId: author.id, text: "RT", createdAt: now, repostedPostId: post.id })
      const first = repost(grace, one)
      const own = repost(ada, one)
      const guarded = repost(mary, one)
      repost(grace, two)
      repost(ada, three)
      const reposts = Effect.fnUntraced(function*() {
        const { body } = yield* request("GET", `/2/posts/${one.id}/reposts?post.fields=referenced_posts`)
        assert.deepStrictEqual(body.meta, { result_count: body.data.length })
        for (const { referenced_posts } of body.data) {
          assert.deepStrictEqual(referenced_posts, [{ type: "reposted", id: one.id }])
        }
        return idsOf(body)
      })
      assert.deepStrictEqual(yield* reposts(), [own, first])
      store.follows.set(ada.id, mary.id, "following")
      assert.deepStrictEqual(yield* reposts(), [guarded, own, first])
      store.blocks.set(grace.id, ada.id, true)
      assert.deepStrictEqual(yield* reposts(), [guarded, own])
      store.blocks.set(grace.id, ada.id, false)
      assert.deepStrictEqual((yield* request("GET", "/2/posts/1/reposts")).body.errors[0].resource_id, "1")
      const ofMe = Effect.map(request("GET", "/2/users/reposts_of_me"), ({ body }) => idsOf(body))
      assert.deepStrictEqual(yield* ofMe, [two.id, one.id])
      yield* request("DELETE", `/2/users/${seeded.ada.id}/reposts/${one.id}`)
      store.posts.delete(first)
      store.posts.delete(guarded)
      assert.deepStrictEqual(yield* ofMe, [two.id])
      // The words of X: retweets are listed where they are called so.
      assert.deepStrictEqual(idsOf((yield* request("GET", `/2/tweets/${two.id}/retweets`)).body).length, 1)
    }))
})

describe("affiliates", () => {
  it.effect("belong to one organization, which their affiliation names", () =>
    Effect.gen(function*() {
      const { ada, request, sandbox, store } = yield* make({ posts: 0 })
      const [lab, press] = [
        sandbox.user({ username: "lab", name: "The Lab", verified: "business" }),
        sandbox.user({ username: "press", verified: "business" })
      ]
      const grace = sandbox.user({ username: "grace" })
      const of = (organization: { readonly id: string }) =>
        Effect.map(request("GET", `/2/users/${organization.id}/affiliates`), ({ body }) => body)
      store.affiliates.set(lab.id, ada.id, true)
      store.affiliates.set(lab.id, grace.id, true)
      assert.deepStrictEqual(idsOf(yield* of(lab)), [grace.id, ada.id])
      assert.deepStrictEqual((yield* of(press)).meta, { result_count: 0 })
      const { body } = yield* request(
        "GET",
        `/2/users/${ada.id}?user.fields=affiliation&expansions=affiliation.user_id`
      )
      assert.deepInclude(body.data.affiliation, { description: "The Lab", user_id: [lab.id] })
      assert.deepStrictEqual(idsOf({ data: body.includes.users }), [lab.id])
      store.affiliates.set(press.id, grace.id, true)
      assert.deepStrictEqual([idsOf(yield* of(lab)), idsOf(yield* of(press))], [[ada.id], [grace.id]])
      store.affiliates.set(lab.id, grace.id, false)
      store.affiliates.set(lab.id, ada.id, false)
      assert.deepStrictEqual([idsOf(yield* of(lab)), idsOf(yield* of(press))], [[], [grace.id]])
      store.users.setSuspended(press.id, true)
      assert.strictEqual((yield* of(press)).errors[0].resource_id, press.id)
      const after = yield* request("GET", `/2/users/${grace.id}?user.fields=affiliation`)
      assert.notProperty(after.body.data, "affiliation")
    }))

  it.effect("are there from the beginning", () =>
    Effect.gen(function*() {
      const { request, store } = yield* make()
      const organizations = store.users.foremost(99).filter(({ id }) =>
        store.affiliates.of({ organizationId: id, limit: 1 }).items.length > 0
      )
      assert.lengthOf(organizations, 2)
      const { body } = yield* request("GET", `/2/users/${organizations[0]?.id}/affiliates?max_results=1000`)
      assert.isAbove(body.data.length, 0)
    }))
})

describe("folders of bookmarks", () => {
  it.effect("are made, listed and opened by their owner", () =>
    Effect.gen(function*() {
      const { ada, request, sandbox } = yield* make({ posts: 0 })
      const folders = `/2/users/${ada.id}/bookmarks/folders`
      const made = yield* request("POST", folders, { body: { name: "Mine" } })
      assert.strictEqual(made.status, 201)
      assert.strictEqual(made.body.data.name, "Mine")
      const { id } = made.body.data
      const page = yield* request("GET", `${folders}?max_results=1`)
      assert.deepStrictEqual(page.body.data, [{ id, name: "Mine" }])
      assert.deepStrictEqual(Object.keys(page.body.meta), ["next_token"])
      const rest = yield* request("GET", `${folders}?pagination_token=${page.body.meta.next_token}`)
      assert.lengthOf(rest.body.data, 3)
      const [one, two] = [ada.post("one"), ada.post("two")]
      assert.deepStrictEqual((yield* request("GET", `${folders}/${id}`)).body, { meta: {} })
      for (const post of [one, two]) {
        yield* request("POST", `/2/users/${ada.id}/bookmarks`, { body: { post_id: post.id, folder_id: id } })
      }
      assert.deepStrictEqual((yield* request("GET", `${folders}/${id}`)).body, {
        data: [{ id: two.id }, { id: one.id }],
        meta: {}
      })
      const hers = sandbox.user({ username: "grace" }).bookmarkFolder("Hers", one)
      assert.strictEqual((yield* request("GET", `${folders}/${hers.id}`)).body.errors[0].resource_id, hers.id)
      for (const name of ["", "n".repeat(26)]) {
        assert.strictEqual((yield* request("POST", folders, { body: { name } })).status, 400)
      }
      assert.strictEqual((yield* request("GET", folders, { as: "signed" })).status, 200)
      assert.strictEqual((yield* request("POST", folders, { body: { name: "a" }, as: "signed" })).status, 403)
    }))
})

describe("communities", () => {
  it.effect("are looked up and searched by words, and count their members", () =>
    Effect.gen(function*() {
      const { ada, request, store } = yield* make({ posts: 0 })
      const id = store.communities.insert({ name: "Zeppelin hull", description: "Rigid ships", createdAt: now - day })
      const later = store.communities.insert({ name: "Ships of steel", createdAt: now, access: "Closed" })
      const fields = "community.fields=access,created_at,description,join_policy,member_count"
      const community = { id, name: "Zeppelin hull", description: "Rigid ships", access: "Public", join_policy: "Open" }
      const created_at = new Date(now - day).toISOString()
      const look = Effect.map(request("GET", `/2/communities/${id}?${fields}`), ({ body }) => body.data)
      assert.deepStrictEqual(yield* look, { ...community, created_at, member_count: 0 })
      store.communities.setMember(id, ada.id, true)
      store.communities.setMember(id, ada.id, true)
      assert.strictEqual((yield* look).member_count, 1)
      store.communities.setMember(id, ada.id, false)
      assert.strictEqual((yield* look).member_count, 0)
      assert.strictEqual((yield* request("GET", "/2/communities/5")).body.errors[0].resource_type, "community")
      const search = (query: string) =>
        Effect.map(
          request("GET", `/2/communities/search?query=${encodeURIComponent(query)}`),
          ({ body }) => idsOf(body)
        )
      assert.deepStrictEqual(yield* search("SHIPS"), [later, id])
      assert.deepStrictEqual(yield* search("ships zepp"), [id])
      assert.deepStrictEqual(yield* search("hips"), [])
      assert.strictEqual((yield* request("GET", "/2/communities/search?query=%20")).status, 400)
    }))

  it.effect("are those that posts of the seed are of", () =>
    Effect.gen(function*() {
      const { request } = yield* make({ posts: 600 })
      const { body } = yield* request(
        "GET",
        "/2/posts/search/recent?query=effect&max_results=100&post.fields=community_id"
      )
      const named = body.data.flatMap((post: { readonly community_id?: string }) => post.community_id ?? [])
      assert.isNotEmpty(named)
      for (const id of new Set<string>(named)) {
        const found = yield* request("GET", `/2/communities/${id}?community.fields=member_count`)
        assert.isAbove(found.body.data.member_count, 0)
      }
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as Lists from "@postwire/core/operations/Lists"
import * as Wire from "@postwire/core/wire/Wire"
import { Effect, Stream } from "effect"
import { type Answer, day, make, now } from "./support/Requests.ts"

const idsOf = (items: ReadonlyArray<{ readonly id: string }> | undefined) => (items ?? []).map(({ id }) => id)

/** A sandbox with users, and requests of theirs, each by a new app so that no window ends. */
const setting = Effect.gen(function*() {
  const bench = yield* make({ posts: 0 })
  const { newcomer, request, store } = bench
  const user = (username: string, more: { readonly protected?: boolean } = {}) =>
    store.users.insert({ username, name: username, createdAt: now - day, ...more })
  const as = (userId: string) => (method: string, path: string, body?: object) =>
    request(method, path, { as: newcomer({ userId }), body })
  /** The list as its owner sees it. */
  const shown = (id: string) =>
    Effect.map(
      request("GET", `/2/lists/${id}?list.fields=description,follower_count,member_count,private`, {
        as: newcomer({ userId: store.lists.byId(id)!.owner_id })
      }),
      ({ body }) => body.data
    )
  const list = (ownerId: string, more: { readonly private?: boolean } = {}) =>
    store.lists.insert({ ownerId, name: "List", createdAt: now - day, ...more })
  return { ...bench, as, list, owner: user("owner"), shown, user }
})

const statusOf = Effect.map(({ status }: Answer) => status)

describe("the life of a list that tweepy recorded", () => {
  const life = Effect.fnUntraced(function*(wire: "neutral" | "x" | "x-2026-02") {
    const bench = yield* make({ posts: 0, wire })
    const { seeded: { ada: { id: ada } }, store } = bench
    for (const { id } of store.lists.pinnedBy(ada)) store.lists.setPinned(id, ada, false)
    const member = store.users.insert({ username: "member", name: "Member", createdAt: now - day })
    return { ...bench, ada, member }
  })

  it.effect.each(Wire.names)("is the same over HTTP, on the %s wire", (wire) =>
    Effect.gen(function*() {
      const { ada, member, request, store } = yield* life(wire)
      const send = (method: string, path: string, body?: object) => request(method, path, { as: "signed", body })
      const created = yield* send("POST", "/2/lists", { name: "Test List", private: true })
      const { id } = created.body.data
      assert.strictEqual(created.status, 201)
      assert.deepStrictEqual(created.body, { data: { id, name: "Test List" } })
      for (
        const [method, path, body, expected] of [
          ["POST", `/2/lists/${id}/members`, { user_id: member }, { data: { is_member: true } }],
          ["POST", `/2/users/${ada}/pinned_lists`, { list_id: id }, { data: { pinned: true } }],
          ["GET", `/2/users/${ada}/pinned_lists`, undefined, {
            data: [{ id, name: "Test List" }],
            meta: { result_count: 1 }
          }],
          ["DELETE", `/2/lists/${id}/members/${member}`, undefined, { data: { is_member: false } }],
          ["DELETE", `/2/users/${ada}/pinned_lists/${id}`, undefined, { data: { pinned: false } }],
          ["PUT", `/2/lists/${id}`, { description: "Test List Description" }, { data: { updated: true } }],
          ["DELETE", `/2/lists/${id}`, undefined, { data: { deleted: true } }]
        ] as const
      ) {
        const answer = yield* send(method, path, body)
        assert.deepStrictEqual([answer.status, answer.body], [200, expected], `${method} ${path}`)
      }
      assert.isUndefined(store.lists.byId(id))
    }))
})

describe("lists", () => {
  it.effect("are their owners' to change, to fill and to delete", () =>
    Effect.gen(function*() {
      const { as, list, owner, shown, user } = yield* setting
      const stranger = user("stranger")
      const id = list(owner)
      const hidden = list(owner, { private: true })
      for (
        const [method, path, body] of [
          ["PUT", "", { name: "Mine" }],
          ["DELETE", "", undefined],
          ["POST", "/members", { user_id: stranger }],
          ["DELETE", `/members/${stranger}`, undefined]
        ] as const
      ) {
        assert.strictEqual(yield* statusOf(as(stranger)(method, `/2/lists/${id}${path}`, body)), 403)
        // Of a private list not even that it is there is told.
        for (const unseen of [hidden, "5"]) {
          const { body: problem, status } = yield* as(stranger)(method, `/2/lists/${unseen}${path}`, body)
          assert.strictEqual(status, 404)
          assert.match(problem.type, /resource-not-found$/)
          assert.deepInclude(problem.errors[0], { resource_type: "list", resource_id: unseen })
        }
      }
      assert.deepInclude(yield* shown(id), { name: "List", member_count: 0 })
    }))

  it.effect("change in what is given, within the bounds of the service", () =>
    Effect.gen(function*() {
      const { as, owner, shown } = yield* setting
      const { body: { data: { id } } } = yield* as(owner)("POST", "/2/lists", {
        name: "Ä😀".repeat(12),
        description: "d"
      })
      const put = (body: object) => statusOf(as(owner)("PUT", `/2/lists/${id}`, body))
      assert.strictEqual(yield* put({ name: "News" }), 200)
      assert.deepInclude(yield* shown(id), { name: "News", description: "d", private: false })
      assert.strictEqual(yield* put({ description: "", private: true }), 200)
      assert.deepInclude(yield* shown(id), { name: "News", description: "", private: true })
      assert.strictEqual(yield* put({ private: false }), 200)
      assert.strictEqual(yield* put({}), 200)
      assert.deepInclude(yield* shown(id), { name: "News", description: "", private: false })
      for (
        const wrong of [{ name: "" }, { name: "x".repeat(26) }, { description: "x".repeat(101) }, { private: "no" }, {
          a: 1
        }]
      ) {
        assert.strictEqual(yield* put(wrong), 400, JSON.stringify(wrong))
        assert.strictEqual(yield* statusOf(as(owner)("POST", "/2/lists", { name: "News", ...wrong })), 400)
      }
      assert.strictEqual(yield* statusOf(as(owner)("POST", "/2/lists", { description: "no name" })), 400)
    }))

  it.effect("count their members and followers, and members count their lists", () =>
    Effect.gen(function*() {
      const { as, list, owner, shown, store, user } = yield* setting
      const [member, follower] = [user("member"), user("follower")]
      const id = list(owner)
      const counts = Effect.gen(function*() {
        const { follower_count, member_count } = yield* shown(id)
        return [member_count, follower_count, store.users.byId(member)?.public_metrics.listed_count]
      })
      for (const _ of [1, 2]) {
        yield* as(owner)("POST", `/2/lists/${id}/members`, { user_id: member })
        yield* as(follower)("POST", `/2/users/${follower}/followed_lists`, { list_id: id })
        assert.deepStrictEqual(yield* counts, [1, 1, 1])
      }
      for (const _ of [1, 2]) {
        yield* as(owner)("DELETE", `/2/lists/${id}/members/${member}`)
        yield* as(follower)("DELETE", `/2/users/${follower}/followed_lists/${id}`)
        assert.deepStrictEqual(yield* counts, [0, 0, 0])
      }
    }))

  it.effect("show the posts of those who are members now, protected ones to their followers", () =>
    Effect.gen(function*() {
      const { as, list, owner, store, user } = yield* setting
      const [open, shy] = [user("open"), user("shy", { protected: true })]
      const [openly, shyly] = [open, shy].map((authorId) => store.posts.insert({ authorId, text: "p", createdAt: now }))
      const id = list(owner)
      const posts = (userId: string) =>
        Effect.map(as(userId)("GET", `/2/lists/${id}/posts`), ({ body }) => idsOf(body.data).toSorted())
      for (const user_id of [open, shy]) yield* as(owner)("POST", `/2/lists/${id}/members`, { user_id })
      assert.deepStrictEqual(yield* posts(owner), [openly])
      store.follows.set(owner, shy, "following")
      assert.deepStrictEqual(yield* posts(owner), [openly, shyly].toSorted())
      yield* as(owner)("DELETE", `/2/lists/${id}/members/${open}`)
      assert.deepStrictEqual(yield* posts(owner), [shyly])
      const members = yield* as(open)("GET", `/2/lists/${id}/members?user.fields=protected`)
      assert.deepStrictEqual(members.body, {
        data: [{ id: shy, name: "shy", username: "shy", protected: true }],
        meta: { result_count: 1 }
      })
    }))

  it.effect("take no user who is unknown, suspended or blocks the owner", () =>
    Effect.gen(function*() {
      const { as, list, owner, store, user } = yield* setting
      const id = list(owner)
      const [blocking, suspended] = [user("blocking"), user("suspended")]
      const add = (user_id: string) => statusOf(as(owner)("POST", `/2/lists/${id}/members`, { user_id }))
      store.blocks.set(blocking, owner, true)
      store.users.setSuspended(suspended, true)
      assert.deepStrictEqual([yield* add(blocking), yield* add(suspended), yield* add("5")], [403, 403, 404])
      store.blocks.set(blocking, owner, false)
      assert.strictEqual(yield* add(blocking), 200)
      // Whom nobody sees, no list shows.
      store.users.setSuspended(blocking, true)
      assert.deepStrictEqual((yield* as(owner)("GET", `/2/lists/${id}/members`)).body, { meta: { result_count: 0 } })
    }))

  it.effect("that are private are for their owner, also where users' lists are listed", () =>
    Effect.gen(function*() {
      const { as, list, owner, request, store, user } = yield* setting
      const member = user("member")
      const [open, hidden] = [list(owner), list(owner, { private: true })]
      for (const id of [open, hidden]) store.lists.setMember(id, member, true)
      const seen = (userId: string, path: string) =>
        Effect.map(as(userId)("GET", path), ({ body }) => idsOf(body.data).toSorted())
      const both = [open, hidden].toSorted()
      for (const path of [`/2/users/${owner}/owned_lists`, `/2/users/${member}/list_memberships`]) {
        assert.deepStrictEqual(yield* seen(owner, path), both, path)
        assert.deepStrictEqual(yield* seen(member, path), [open], path)
        assert.deepStrictEqual(idsOf((yield* request("GET", path, { as: "app" })).body.data), [open], path)
      }
      for (const path of ["", "/members", "/posts", "/followers"]) {
        const { body, status } = yield* as(member)("GET", `/2/lists/${hidden}${path}`)
        assert.deepStrictEqual([status, body.errors[0].resource_type, body.data], [200, "list", undefined])
        assert.notProperty((yield* as(owner)("GET", `/2/lists/${hidden}${path}`)).body, "errors")
      }
      assert.deepStrictEqual((yield* as(member)("GET", `/2/lists/${open}?expansions=owner_id`)).body, {
        data: { id: open, name: "List", owner_id: owner },
        includes: { users: [{ id: owner, name: "owner", username: "owner" }] }
      })
    }))

  it.effect("that are private are followed by nobody, and one that becomes so loses followers and others' pins", () =>
    Effect.gen(function*() {
      const { as, list, owner, shown, store, user } = yield* setting
      const follower = user("follower")
      const id = list(owner)
      const follow = (userId: string, list_id: string) =>
        statusOf(as(userId)("POST", `/2/users/${userId}/followed_lists`, { list_id }))
      assert.strictEqual(yield* follow(follower, id), 200)
      for (const userId of [owner, follower]) store.lists.setPinned(id, userId, true)
      yield* as(owner)("PUT", `/2/lists/${id}`, { private: true })
      assert.deepStrictEqual([yield* follow(owner, id), yield* follow(follower, id)], [403, 404])
      yield* as(owner)("PUT", `/2/lists/${id}`, { private: false })
      assert.deepInclude(yield* shown(id), { follower_count: 0, private: false })
      assert.deepStrictEqual([owner, follower].map((userId) => store.lists.pinnedBy(userId).length), [1, 0])
    }))

  it.effect("are gone with their members, followers and pins when they are deleted", () =>
    Effect.gen(function*() {
      const { as, list, owner, store, user } = yield* setting
      const other = user("other")
      const [id, kept] = [list(owner), list(owner)]
      for (const each of [id, kept]) {
        store.lists.setMember(each, other, true)
        store.lists.setFollower(each, other, true)
        for (const userId of [owner, other]) store.lists.setPinned(each, userId, true)
      }
      assert.strictEqual(yield* statusOf(as(owner)("DELETE", `/2/lists/${id}`)), 200)
      assert.strictEqual(yield* statusOf(as(owner)("DELETE", `/2/lists/${id}`)), 404)
      for (const path of ["owned_lists", "pinned_lists"]) {
        assert.deepStrictEqual(idsOf((yield* as(owner)("GET", `/2/users/${owner}/${path}`)).body.data), [kept])
      }
      for (const path of ["list_memberships", "followed_lists", "pinned_lists"]) {
        assert.deepStrictEqual(idsOf((yield* as(other)("GET", `/2/users/${other}/${path}`)).body.data), [kept], path)
      }
      assert.strictEqual(store.users.byId(other)?.public_metrics.listed_count, 1)
      for (const path of ["followed_lists", "pinned_lists"]) {
        assert.strictEqual(yield* statusOf(as(other)("POST", `/2/users/${other}/${path}`, { list_id: id })), 404)
      }
    }))

  it.effect("are pinned in order, five at most, by those who own or follow them", () =>
    Effect.gen(function*() {
      const { as, list, owner, store, user } = yield* setting
      const other = user("other")
      const own = Array.from({ length: 4 }, () => list(owner))
      const [followed, strange] = [list(other), list(other)]
      const path = `/2/users/${owner}/pinned_lists`
      const pin = (list_id: string) => statusOf(as(owner)("POST", path, { list_id }))
      const pinned = Effect.map(as(owner)("GET", path), ({ body }) => idsOf(body.data))
      assert.deepStrictEqual((yield* as(owner)("GET", path)).body, { meta: { result_count: 0 } })
      assert.strictEqual(yield* pin(strange), 403)
      store.lists.setFollower(followed, owner, true)
      const order = [own[2]!, followed, own[0]!, own[3]!, own[1]!]
      for (const id of [...order, followed]) assert.strictEqual(yield* pin(id), 200)
      assert.deepStrictEqual(yield* pinned, order)
      const sixth = list(owner)
      assert.strictEqual(yield* pin(sixth), 403)
      // What is followed no more is pinned no more.
      yield* as(owner)("DELETE", `/2/users/${owner}/followed_lists/${followed}`)
      assert.strictEqual(yield* pin(sixth), 200)
      assert.deepStrictEqual(yield* pinned, [...order.filter((id) => id !== followed), sixth])
      // Others see nothing of it.
      assert.strictEqual(yield* statusOf(as(other)("GET", path)), 400)
      const full = yield* as(owner)("GET", `${path}?list.fields=member_count,owner_id&expansions=owner_id`)
      assert.deepStrictEqual(full.body.data[0], { id: order[0], name: "List", member_count: 0, owner_id: owner })
      assert.deepStrictEqual(idsOf(full.body.includes.users), [owner])
    }))

  it.effect("are a thousand of a user, with five thousand members each, at most", () =>
    Effect.gen(function*() {
      const { as, list, owner, store, user } = yield* setting
      const id = list(owner)
      const [last, beyond] = [user("last"), user("beyond")]
      store.transaction(() => {
        for (let i = 1; i < 999; i++) list(owner)
        for (let i = 1; i < 5000; i++) store.lists.setMember(id, String(i), true)
      })
      const create = statusOf(as(owner)("POST", "/2/lists", { name: "One more" }))
      assert.deepStrictEqual([yield* create, yield* create], [201, 403])
      const add = (user_id: string) => statusOf(as(owner)("POST", `/2/lists/${id}/members`, { user_id }))
      assert.deepStrictEqual([yield* add(last), yield* add(beyond), yield* add(last)], [200, 403, 200])
      assert.strictEqual(store.lists.byId(id)?.member_count, 5000)
      yield* as(owner)("DELETE", `/2/lists/${id}/members/${last}`)
      assert.strictEqual(yield* add(beyond), 200)
    }))

  it.effect("are read to the last member through the client, page by page", () =>
    Effect.gen(function*() {
      const bench = yield* setting
      const id = bench.list(bench.owner)
      const members = Array.from({ length: 250 }, (_, i) => bench.user(`member_${i}`))
      for (const member of members) bench.store.lists.setMember(id, member, true)
      const read = yield* Stream.runCollect(Lists.getListMembers.items({ id })).pipe(Effect.provide(bench.client()))
      assert.deepStrictEqual(idsOf(read), members.toReversed())
      assert.deepStrictEqual(
        bench.sandbox.requests.map(({ operation }) => operation),
        ["getListMembers", "getListMembers", "getListMembers"]
      )
    }))
})

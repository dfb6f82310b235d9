import { assert, describe, it } from "@effect/vitest"
import { catalogue, type Name } from "@postwire/core/Catalogue"
import { Effect } from "effect"
import facts from "./fixtures/policies.json" with { type: "json" }
import { names, requestOf } from "./support/Operations.ts"
import { type Bench, day, make, minute, now, second } from "./support/Requests.ts"

const idsOf = (items: ReadonlyArray<{ readonly id: string }> | undefined) => (items ?? []).map((item) => item.id)

interface Listing {
  readonly parameters: object
  /** Adds an item at the newest end, and tells its id. */
  readonly add: () => string
}

/** Every listing of the service, empty, with a way to fill it. */
const listings = (bench: Bench) => {
  const { seeded: { ada }, store } = bench
  let users = 0
  let time = now - 20 * minute
  const user = () => store.users.insert({ username: `user_${++users}`, name: "User", createdAt: now - day })
  const owner = user()
  const post = (more: Partial<Parameters<typeof store.posts.insert>[0]> = {}) =>
    store.posts.insert({ authorId: owner, text: "needle", createdAt: time += second, ...more })
  const subject = post({ text: "the subject" })
  const conversation = store.messages.open(ada.id, owner)
  const list = (ownerId = owner) => store.lists.insert({ ownerId, name: "List", createdAt: time += second })
  const members = list()
  const followed = list()
  const reader = user()
  const member = user()
  const home = user()
  for (const ties of [store.blocks, store.mutes]) {
    for (const { id } of ties.targets({ userId: ada.id, limit: 10 }).items) ties.set(ada.id, id, false)
  }
  store.lists.setMember(members, member, true)
  store.follows.set(ada.id, home, "following")
  const ofUser = (relate: (userId: string) => void) => () => {
    const id = user()
    relate(id)
    return id
  }
  const ofPost = (relate: (postId: string) => void) => () => {
    const id = post()
    relate(id)
    return id
  }
  const space = store.spaces.insert({ creatorId: ada.id, createdAt: time += second, isTicketed: true })
  const byName: { readonly [N in Name]?: Listing } = {
    getBlocked: { parameters: {}, add: ofUser((id) => store.blocks.set(ada.id, id, true)) },
    getMuted: { parameters: {}, add: ofUser((id) => store.mutes.set(ada.id, id, true)) },
    getBookmarks: { parameters: {}, add: ofPost((id) => store.bookmarks.set(ada.id, id, true)) },
    getLikedPosts: { parameters: { id: reader }, add: ofPost((id) => store.likes.set(reader, id, true)) },
    getLikingUsers: { parameters: { id: subject }, add: ofUser((id) => store.likes.set(id, subject, true)) },
    getReposters: {
      parameters: { id: subject },
      add: ofUser((id) => post({ authorId: id, text: "RT", repostedPostId: subject }))
    },
    getQuotePosts: { parameters: { id: subject }, add: () => post({ quotedPostId: subject }) },
    getUsersFollowers: { parameters: { id: owner }, add: ofUser((id) => store.follows.set(id, owner, "following")) },
    getUsersFollowing: { parameters: { id: reader }, add: ofUser((id) => store.follows.set(reader, id, "following")) },
    getUsersPosts: { parameters: { id: reader }, add: () => post({ authorId: reader }) },
    getUsersMentions: { parameters: { id: ada.id }, add: () => post({ text: "to @ada" }) },
    getHomeTimeline: { parameters: {}, add: () => post({ authorId: users++ % 2 === 0 ? home : ada.id }) },
    getListPosts: { parameters: { id: members }, add: () => post({ authorId: member }) },
    getListFollowers: {
      parameters: { id: followed },
      add: ofUser((id) => store.lists.setFollower(followed, id, true))
    },
    getListMembers: { parameters: { id: followed }, add: ofUser((id) => store.lists.setMember(followed, id, true)) },
    getOwnedLists: { parameters: { id: reader }, add: () => list(reader) },
    getListMemberships: {
      parameters: { id: reader },
      add: () => {
        const id = list()
        store.lists.setMember(id, reader, true)
        return id
      }
    },
    getFollowedLists: {
      parameters: { id: reader },
      add: () => {
        const id = list()
        store.lists.setFollower(id, reader, true)
        return id
      }
    },
    getDirectMessageEvents: {
      parameters: { participant_id: owner },
      add: () =>
        store.messages.insert({
          conversationId: conversation,
          senderId: owner,
          createdAt: time += second,
          text: "hi"
        })
    },
    getSpaceBuyers: { parameters: { id: space }, add: ofUser((id) => store.spaces.sell(space, id)) },
    getSpacePosts: { parameters: { id: space }, add: ofPost((id) => store.spaces.share(space, id)) },
    searchRecentPosts: { parameters: { query: "thread" }, add: () => post({ text: "thread" }) },
    searchAllPosts: { parameters: { query: "thread" }, add: () => post({ text: "thread" }) }
  }
  return byName
}

const specified = names.filter((name) =>
  name in facts && "paging" in catalogue[name].definition && !name.endsWith("PostsCount")
)

const paged: ReadonlyArray<Name> = [...specified, "getListMembers", "getListMemberships", "getOwnedLists"]

describe("listings", () => {
  it("of the specification are all here", () => assert.strictEqual(specified.length, 20))

  it.effect.each(paged)(
    "%s goes to its end and back, whatever comes and goes in between",
    (name) =>
      Effect.gen(function*() {
        const bench = yield* make({ posts: 0 })
        const listing = listings(bench)[name]!
        const { paging } = catalogue[name].definition as { paging: { token: string; directions: string } }
        const forwardOnly = name.startsWith("search") || name === "getQuotePosts"
        assert.strictEqual(paging.directions, forwardOnly ? "forward" : "both")
        const userId = bench.seeded.ada.id
        const expected = Array.from({ length: 34 }, listing.add).toReversed()
        const page = Effect.fnUntraced(function*(token?: string) {
          const parameters = { ...listing.parameters, max_results: 10, ...(token && { [paging.token]: token }) }
          const { method, path } = requestOf(name, parameters, userId)
          const { body, status } = yield* bench.request(method, path, { as: bench.newcomer({ userId }) })
          assert.strictEqual(status, 200, JSON.stringify(body))
          assert.strictEqual(body.meta.result_count, body.data?.length ?? 0)
          return { ids: idsOf(body.data), ...body.meta } as {
            readonly ids: ReadonlyArray<string>
            readonly next_token?: string
            readonly previous_token?: string
          }
        })
        const first = yield* page()
        assert.deepStrictEqual(first.ids, expected.slice(0, 10))
        const newer = [listing.add(), listing.add()].toReversed()
        const second = yield* page(first.next_token)
        assert.deepStrictEqual(second.ids, expected.slice(10, 20))
        const third = yield* page(second.next_token)
        const fourth = yield* page(third.next_token)
        assert.deepStrictEqual([...third.ids, ...fourth.ids], expected.slice(20))
        assert.isUndefined(fourth.next_token)
        if (forwardOnly) {
          for (const { previous_token } of [first, second, third, fourth]) assert.isUndefined(previous_token)
          return
        }
        // Waiting for messages begins at the first page; nothing else is newer than that.
        assert.strictEqual(first.previous_token !== undefined, name === "getDirectMessageEvents")
        const back = yield* page(fourth.previous_token)
        assert.deepStrictEqual(back.ids, third.ids)
        const start = yield* page((yield* page(back.previous_token)).previous_token)
        assert.deepStrictEqual(start.ids, first.ids)
        const beyond = yield* page(start.previous_token)
        assert.deepStrictEqual(beyond.ids, newer)
        assert.deepStrictEqual((yield* page(beyond.next_token)).ids, first.ids)
      })
  )

  it.effect("have the sizes that are declared when nothing is asked for", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const all = listings(bench)
      const userId = bench.seeded.ada.id
      const ten: ReadonlyArray<Name> = [
        "getQuotePosts",
        "getUsersMentions",
        "getUsersPosts",
        "searchAllPosts",
        "searchRecentPosts"
      ]
      for (const name of paged) {
        const { add, parameters } = all[name]!
        bench.store.transaction(() => Array.from({ length: 101 }, add))
        const { method, path } = requestOf(name, parameters, userId)
        const { body } = yield* bench.request(method, path, { as: bench.newcomer({ userId }) })
        assert.strictEqual(body.data.length, ten.includes(name) ? 10 : 100, name)
        assert.isString(body.meta.next_token, name)
      }
    }))

  it.effect("of something that does not exist say so", () =>
    Effect.gen(function*() {
      const { request } = yield* make({ posts: 0 })
      for (
        const [path, kind] of [
          ["/2/posts/5/liking_users", "post"],
          ["/2/posts/5/reposted_by", "post"],
          ["/2/posts/5/quote_posts", "post"],
          ["/2/users/5/liked_posts", "user"],
          ["/2/users/5/followers", "user"],
          ["/2/users/5/following", "user"],
          ["/2/users/5/mentions", "user"],
          ["/2/users/5/followed_lists", "user"],
          ["/2/users/5/list_memberships", "user"],
          ["/2/users/5/owned_lists", "user"],
          ["/2/lists/5", "list"],
          ["/2/lists/5/members", "list"],
          ["/2/lists/5/posts", "list"],
          ["/2/lists/5/followers", "list"],
          ["/2/spaces/5", "space"],
          ["/2/spaces/5/posts", "space"],
          ["/2/spaces/5/buyers", "space"],
          ["/2/spaces?ids=5", "space"],
          ["/2/users?ids=5", "user"],
          ["/2/users/by?usernames=nobody", "user"]
        ] as const
      ) {
        const { body, status } = yield* request("GET", path)
        assert.strictEqual(status, 200)
        assert.deepInclude(body.errors[0], { title: "Not Found Error", resource_type: kind }, path)
        assert.notProperty(body, "data")
      }
    }))
})

describe("users", () => {
  it.effect("are looked up by ids or names, in any case, in the order of the request", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada }, store } = yield* make({ posts: 0 })
      const other = store.users.insert({ username: "Under_Score", name: "U", createdAt: now })
      const byIds = yield* request("GET", `/2/users?ids=${other},5,${ada.id}`)
      assert.deepStrictEqual(idsOf(byIds.body.data), [other, ada.id])
      assert.deepInclude(byIds.body.errors[0], { parameter: "ids", value: "5" })
      const byNames = yield* request("GET", "/2/users/by?usernames=under_SCORE,nobody,ada")
      assert.deepStrictEqual(idsOf(byNames.body.data), [other, ada.id])
      assert.deepStrictEqual(byNames.body.errors.map((error: { value: string }) => error.value), ["nobody"])
      for (const query of ["ids=1,%202", "ids=", `ids=${Array(101).fill(1).join(",")}`, "ids=x"]) {
        assert.strictEqual((yield* request("GET", `/2/users?${query}`)).status, 400, query)
      }
      for (const path of ["/2/users", "/2/users/by", "/2/spaces", "/2/spaces/by/creator_ids"]) {
        assert.strictEqual((yield* request("GET", path)).status, 400, path)
      }
      const names = Array.from({ length: 101 }, (_, i) => `user${i}`).join(",")
      assert.strictEqual((yield* request("GET", `/2/users/by?usernames=${names}`)).status, 400)
      assert.strictEqual((yield* request("GET", `/2/spaces?ids=${Array(101).fill(1).join(",")}`)).status, 400)
      assert.strictEqual(
        (yield* request("GET", `/2/spaces/by/creator_ids?user_ids=${Array(101).fill(1).join(",")}`)).status,
        400
      )
    }))
})

describe("spaces", () => {
  it.effect("show what is asked for", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada }, store } = yield* make({ posts: 0 })
      const [host, speaker] = ["host", "speaker"].map((username) =>
        store.users.insert({ username, name: username, createdAt: now - day })
      ) as [string, string]
      store.spaces.insertTopic({ id: "7", name: "Engines", description: "Turning" })
      const space = store.spaces.insert({
        creatorId: ada.id,
        title: "Ångström's talk with @ada #Engines",
        createdAt: now - day,
        scheduledStart: now - minute,
        startedAt: now - second,
        isTicketed: true,
        lang: "en",
        people: { host_ids: [ada.id, host], speaker_ids: [speaker], invited_user_ids: [speaker], topic_ids: ["7"] },
        participants: 3,
        subscribers: 4
      })
      assert.deepStrictEqual((yield* request("GET", `/2/spaces/${space}`)).body, { data: { id: space, state: "live" } })
      const fields = "title,created_at,creator_id,host_ids,is_ticketed,lang,participant_count," +
        "scheduled_start,started_at,subscriber_count,topic_ids,ended_at"
      const expansions = "creator_id,host_ids,speaker_ids,invited_user_ids,topic_ids"
      const { body } = yield* request(
        "GET",
        `/2/spaces?ids=${space}&space.fields=${fields}&expansions=${expansions}&user.fields=verified`
      )
      const iso = (time: number) => new Date(time).toISOString()
      assert.deepStrictEqual(body.data, [{
        id: space,
        state: "live",
        created_at: iso(now - day),
        creator_id: ada.id,
        host_ids: [ada.id, host],
        invited_user_ids: [speaker],
        is_ticketed: true,
        lang: "en",
        participant_count: 3,
        scheduled_start: iso(now - minute),
        speaker_ids: [speaker],
        started_at: iso(now - second),
        subscriber_count: 4,
        title: "Ångström's talk with @ada #Engines",
        topic_ids: ["7"]
      }])
      assert.deepStrictEqual(idsOf(body.includes.users), [ada.id, host, speaker])
      assert.isFalse(body.includes.users[0].verified)
      assert.deepStrictEqual(body.includes.topics, [{ id: "7", name: "Engines" }])
      const creators = yield* request("GET", `/2/spaces/by/creator_ids?user_ids=${host},${ada.id}`)
      assert.include(idsOf(creators.body.data), space)
      for (
        const [query, finds] of [
          ["ångström", true],
          ["TALK ångström", true],
          ["#engines", true],
          ["engines", true],
          ["@ADA", true],
          ["#talk", false],
          ["@host", false],
          ["tal", false],
          ["talk missing", false],
          ["!!", false]
        ] as const
      ) {
        const found = yield* request("GET", `/2/spaces/search?query=${encodeURIComponent(query)}`)
        assert.strictEqual(idsOf(found.body.data).includes(space), finds, query)
      }
      assert.strictEqual((yield* request("GET", "/2/spaces/search?query=")).status, 400)
      assert.strictEqual((yield* request("GET", "/2/spaces/search?query=%20")).status, 400)
      const posts = ["one", "two"].map((text) => store.posts.insert({ authorId: host, text, createdAt: now }))
      for (const post of [...posts, posts[0]!]) store.spaces.share(space, post)
      const shared = yield* request("GET", `/2/spaces/${space}/posts?expansions=author_id`)
      assert.deepStrictEqual(idsOf(shared.body.data), posts.toReversed())
      assert.deepStrictEqual(idsOf(shared.body.includes.users), [host])
      store.posts.delete(posts[1]!)
      assert.deepStrictEqual(idsOf((yield* request("GET", `/2/spaces/${space}/posts`)).body.data), [posts[0]])
    }))
})

describe("group conversations", () => {
  it.effect("are made with their first message, and go on", () =>
    Effect.gen(function*() {
      const { newcomer, request, seeded, store } = yield* make({ posts: 0 })
      const [a, b, outsider] = ["aa", "bb", "cc"].map((username) =>
        store.users.insert({ username, name: username, createdAt: now - day })
      ) as [string, string, string]
      const create = (participant_ids: ReadonlyArray<string>, message: object = { text: "hello" }, more = {}) =>
        request("POST", "/2/dm_conversations", {
          body: { conversation_type: "Group", participant_ids, message, ...more }
        })
      const { body, status } = yield* create([a, b, a], { attachments: [{ media_id: seeded.mediaIds[0] }] })
      assert.strictEqual(status, 201)
      const { dm_conversation_id, dm_event_id } = body.data
      const path = `/2/dm_conversations/${dm_conversation_id}`
      const events = yield* request(
        "GET",
        `${path}/dm_events?expansions=participant_ids,sender_id,attachments.media_keys`
      )
      assert.deepStrictEqual(
        events.body.data.map((event: { event_type: string }) => event.event_type),
        ["MessageCreate", "ParticipantsJoin"]
      )
      assert.strictEqual(events.body.data[0].id, dm_event_id)
      assert.sameMembers(idsOf(events.body.includes.users), [seeded.ada.id, a, b])
      assert.strictEqual(events.body.includes.media.length, 1)
      const say = (userId: string) =>
        request("POST", `${path}/messages`, { body: { text: "me too" }, as: newcomer({ userId }) })
      assert.strictEqual((yield* say(b)).status, 201)
      assert.strictEqual((yield* say(outsider)).status, 403)
      assert.strictEqual(
        (yield* request("GET", `${path}/dm_events`, { as: newcomer({ userId: outsider }) })).status,
        403
      )
      // Another group of the same people is another conversation.
      assert.notStrictEqual((yield* create([a, b])).body.data.dm_conversation_id, dm_conversation_id)
      const many = Array.from(
        { length: 51 },
        (_, i) => store.users.insert({ username: `m${i}`, name: "M", createdAt: now })
      )
      assert.strictEqual((yield* create(many.slice(1))).status, 201)
      const media = { media_id: seeded.mediaIds[0] }
      for (
        const [participants, message, more] of [
          [many, { text: "a" }],
          [[], { text: "a" }],
          [[a, "5"], { text: "a" }],
          [[a, seeded.ada.id], { text: "a" }],
          [[a], {}],
          [[a], { text: "a".repeat(10_001) }],
          [[a], { attachments: [media, media] }],
          [[a], { text: "a" }, { conversation_type: "OneToOne" }],
          [[a], { text: "a" }, { conversation_type: undefined }]
        ] as const
      ) {
        assert.strictEqual(
          (yield* create([...participants], message, more)).status,
          400,
          JSON.stringify([message, more])
        )
      }
      assert.strictEqual((yield* create([a], { text: "a".repeat(10_000) })).status, 201)
      const two = { attachments: [media, media] }
      assert.strictEqual((yield* request("POST", `/2/dm_conversations/with/${a}/messages`, { body: two })).status, 400)
    }))

  it.effect("and messages reach whoever takes none from strangers only from the people that they follow", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada }, store } = yield* make({ posts: 0 })
      const shy = store.users.insert({ username: "shy", name: "Shy", createdAt: now - day, receivesDm: false })
      const send = () => request("POST", `/2/dm_conversations/with/${shy}/messages`, { body: { text: "hi" } })
      assert.strictEqual((yield* send()).status, 403)
      store.follows.set(shy, ada.id, "following")
      const [first, second] = [yield* send(), yield* send()]
      assert.strictEqual(first.status, 201)
      assert.strictEqual(second.body.data.dm_conversation_id, first.body.data.dm_conversation_id)
    }))
})

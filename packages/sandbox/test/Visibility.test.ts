import { assert, describe, it } from "@effect/vitest"
import type { Name } from "@postwire/core/Catalogue"
import { Effect } from "effect"
import { requestOf } from "./support/Operations.ts"
import { type Authorization, day, make, minute, now } from "./support/Requests.ts"

/**
 * An author with a post, a post about ada that quotes hers, and a list that shows both; those who look, and what each
 * of them has marked.
 */
const setting = Effect.fnUntraced(function*(isProtected: boolean) {
  const bench = yield* make({ posts: 0 })
  const { seeded: { ada }, store } = bench
  const user = (username: string, isProtected = false) =>
    store.users.insert({ username, name: username, createdAt: now - 900 * day, protected: isProtected })
  const [author, friend, stranger] = [user("author", isProtected), user("friend"), user("stranger")]
  const insert = (authorId: string, text: string, more = {}) =>
    store.posts.insert({ authorId, text, createdAt: now - 5 * minute, ...more })
  const root = insert(ada.id, "needle root")
  const post = insert(author, "needle @ada", { quotedPostId: root })
  store.follows.set(friend, author, "following")
  const list = store.lists.insert({ ownerId: ada.id, name: "List", createdAt: now - day })
  store.lists.setMember(list, author, true)
  const space = store.spaces.insert({ creatorId: ada.id, title: "Talk", createdAt: now - day, startedAt: now - day })
  store.spaces.share(space, post)
  for (const who of [ada.id, friend, stranger]) {
    store.likes.set(who, post, true)
    store.bookmarks.set(who, post, true)
  }
  store.posts.insert({ authorId: ada.id, text: "needle reply", createdAt: now - minute, inReplyToPostId: post })

  const send = (name: Name, parameters: object, as: Authorization, userId: string) => {
    const { body, method, path } = requestOf(name, parameters, userId)
    return bench.request(method, path, { as, body })
  }
  /** Whether each listing shows the post, and whether the rest answers. */
  const sees = Effect.fnUntraced(function*(userId: string | undefined) {
    const as = bench.newcomer({ userId })
    const me = userId ?? ""
    const shown: Record<string, boolean> = {}
    for (
      const [name, parameters] of [
        ["getPost", { id: post }],
        ["getPosts", { ids: [post] }],
        ["getUsersPosts", { id: author }],
        ["getUsersMentions", { id: ada.id }],
        ["getListPosts", { id: list }],
        ["getQuotePosts", { id: root }],
        ["getSpacePosts", { id: space }],
        ["searchRecentPosts", { query: "needle" }],
        ["searchAllPosts", { query: "needle", sort_order: "relevancy" }],
        ...userId === undefined
          ? []
          : [
            ["getBookmarks", {}],
            ["getLikedPosts", { id: userId }],
            ["getHomeTimeline", {}]
          ] as const
      ] as const
    ) {
      const { body, status } = yield* send(name, parameters, as, me)
      assert.strictEqual(status, 200, JSON.stringify(body))
      const items = Array.isArray(body.data) ? body.data : body.data === undefined ? [] : [body.data]
      shown[name] = items.some((item: { id: string }) => item.id === post)
    }
    for (
      const [name, parameters] of [
        ["getLikingUsers", { id: post }],
        ["getReposters", { id: post }],
        ["getUsersFollowers", { id: author }],
        ["getUsersFollowing", { id: author }],
        ["getFollowedLists", { id: author }]
      ] as const
    ) {
      const { body } = yield* send(name, parameters, as, me)
      shown[name] = body.errors === undefined
      if (body.errors !== undefined) assert.match(body.errors[0].type, /not-authorized-for-resource$/)
    }
    return shown
  })
  /** The statuses of what can be done to the post and its author. */
  const does = Effect.fnUntraced(function*(userId: string) {
    const statuses: Record<string, number> = {}
    for (
      const [label, name, parameters] of [
        ["like", "like", { post_id: post }],
        ["bookmark", "bookmark", { post_id: post }],
        ["repost", "repost", { post_id: post }],
        ["reply", "createPost", { text: "a", in_reply_to_post_id: post }],
        ["quote", "createPost", { text: "a", quote_post_id: post }],
        ["message", "createDirectMessage", { participant_id: author, text: "a" }],
        ["group", "createDirectMessageConversation", {
          participant_ids: [ada.id === userId ? friend : ada.id, author],
          text: "a"
        }],
        ["follow", "followUser", { target_user_id: author }]
      ] as const
    ) statuses[label] = (yield* send(name, parameters, bench.newcomer({ userId }), userId)).status
    return statuses
  })
  return { ...bench, ada, author, friend, stranger, root, post, list, send, sees, does }
})

const every = (shown: Record<string, boolean>, value: boolean) =>
  Object.fromEntries(Object.keys(shown).map((key) => [key, value]))

const allowed = { like: 200, bookmark: 200, repost: 200, reply: 201, quote: 201, message: 201, group: 201, follow: 200 }

describe("a public account", () => {
  it.effect("is seen by everybody", () =>
    Effect.gen(function*() {
      const { ada, author, does, friend, sees, stranger } = yield* setting(false)
      for (const who of [undefined, stranger, ada.id, friend]) {
        const shown = yield* sees(who)
        // Only a home timeline depends on whom one follows.
        assert.deepStrictEqual(shown, {
          ...every(shown, true),
          ...(who === undefined ? {} : { getHomeTimeline: who === friend })
        })
      }
      assert.isTrue((yield* sees(author))["getHomeTimeline"])
      assert.deepStrictEqual(yield* does(stranger), allowed)
    }))
})

describe("a suspended account", () => {
  it.effect("is seen by nobody, its followers included, and its posts are told apart from deleted ones", () =>
    Effect.gen(function*() {
      const { ada, author, friend, newcomer, post, send, store, sees, stranger } = yield* setting(false)
      store.users.setSuspended(author, true)
      for (const who of [undefined, stranger, friend]) {
        const as = newcomer({ userId: who })
        const errorOf = Effect.fnUntraced(function*(name: Name, parameters: object) {
          const { body } = yield* send(name, parameters, as, who ?? "")
          return body.errors.at(-1)
        })
        const suspended = {
          title: "Forbidden",
          detail: `User has been suspended: [${author}].`,
          type: "https://api.twitter.com/2/problems/resource-not-found",
          resource_type: "user",
          resource_id: author,
          value: author
        }
        assert.deepStrictEqual(yield* errorOf("getUser", { id: author }), { ...suspended, parameter: "id" })
        assert.deepStrictEqual(yield* errorOf("getUsers", { ids: [ada.id, author] }), {
          ...suspended,
          parameter: "ids"
        })
        assert.deepStrictEqual(yield* errorOf("getUsersPosts", { id: author }), { ...suspended, parameter: "id" })
        const byName = yield* errorOf("getUsers", { usernames: ["Author"] })
        assert.deepInclude(byName, { title: "Forbidden", parameter: "usernames", value: "Author" })
        const mention = { id: ada.id, expansions: ["referenced_posts.id.author_id"] }
        assert.deepInclude(yield* errorOf("getUsersPosts", mention), { section: "includes", resource_id: post })
        const hidden = yield* errorOf("getPosts", { ids: [post] })
        assert.deepInclude(hidden, { title: "Authorization Error", resource_id: post })
        const { body } = yield* send("searchRecentPosts", { query: "needle @ada" }, as, who ?? "")
        assert.notProperty(body, "data")
      }
      assert.strictEqual(
        (yield* send("followUser", { target_user_id: author }, newcomer({ userId: stranger }), stranger)).status,
        403
      )
      store.users.setSuspended(author, false)
      assert.isTrue((yield* sees(stranger))["searchRecentPosts"])
    }))
})

describe("a protected account", () => {
  it.effect("is seen by its followers and itself, and never in a search", () =>
    Effect.gen(function*() {
      const { ada, author, friend, post, sees, send, newcomer, store, stranger } = yield* setting(true)
      for (const who of [undefined, stranger, ada.id]) {
        const shown = yield* sees(who)
        assert.deepStrictEqual(shown, every(shown, false))
      }
      const shown = yield* sees(friend)
      const searched = { searchAllPosts: false, searchRecentPosts: false }
      assert.deepStrictEqual(shown, { ...every(shown, true), ...searched })
      const own = yield* sees(author)
      assert.deepStrictEqual(own, { ...every(own, true), ...searched, getBookmarks: false, getLikedPosts: false })
      // Having asked is not having been let in.
      store.follows.set(stranger, author, "requested")
      const waiting = yield* sees(stranger)
      assert.deepStrictEqual(waiting, every(waiting, false))
      store.follows.set(stranger, author, "following")
      assert.isTrue((yield* sees(stranger))["getPost"])
      // The profile is there for everybody.
      const profile = yield* send("getUser", { id: author, user_fields: ["protected"] }, newcomer(), "")
      assert.strictEqual(profile.body.data.protected, true)
      const { body } = yield* send("getPost", { id: post }, newcomer(), "")
      assert.deepInclude(body.errors[0], {
        title: "Authorization Error",
        resource_type: "post",
        resource_id: post,
        parameter: "id"
      })
    }))

  it.effect("is not part of what expansions bring", () =>
    Effect.gen(function*() {
      const { ada, friend, newcomer, post, send } = yield* setting(true)
      const parameters = { id: ada.id, expansions: ["referenced_posts.id"] }
      const hidden = yield* send("getUsersPosts", parameters, newcomer(), "")
      assert.notProperty(hidden.body, "includes")
      assert.match(hidden.body.errors[0].type, /not-authorized-for-resource$/)
      assert.deepInclude(hidden.body.errors[0], { section: "includes", resource_id: post })
      const seen = yield* send("getUsersPosts", parameters, newcomer({ userId: friend }), friend)
      assert.strictEqual(seen.body.includes.posts[0].id, post)
      assert.notProperty(seen.body, "errors")
    }))

  it.effect("lets its followers like and answer, but not spread", () =>
    Effect.gen(function*() {
      const { does, friend, store, stranger } = yield* setting(true)
      assert.deepStrictEqual(yield* does(friend), { ...allowed, repost: 403, quote: 403 })
      assert.deepStrictEqual(yield* does(stranger), {
        ...allowed,
        like: 403,
        bookmark: 403,
        repost: 403,
        reply: 403,
        quote: 403
      })
      assert.strictEqual(store.users.byUsername("author")?.public_metrics.followers_count, 1)
    }))
})

describe("a block", () => {
  it.effect("hides the one who blocks from the one who is blocked, and from nobody else", () =>
    Effect.gen(function*() {
      const { author, does, friend, newcomer, post, sees, send, store, stranger } = yield* setting(false)
      const refused = {
        ...allowed,
        like: 403,
        bookmark: 403,
        repost: 403,
        reply: 403,
        quote: 403,
        message: 403,
        group: 403
      }
      const repost = store.posts.insert({
        authorId: stranger,
        text: "RT needle",
        createdAt: now - minute,
        repostedPostId: post
      })
      store.follows.set(author, friend, "following")
      const answer = yield* send("block", { target_user_id: friend }, newcomer({ userId: author }), author)
      assert.deepStrictEqual(answer.body, { data: { blocking: true } })
      const shown = yield* sees(friend)
      assert.deepStrictEqual(shown, every(shown, false))
      assert.deepStrictEqual(yield* does(friend), { ...refused, follow: 403 })
      // It ends the follows of both.
      assert.deepStrictEqual(
        [store.follows.state(friend, author), store.follows.state(author, friend)],
        ["none", "none"]
      )
      for (const who of [undefined, stranger]) assert.isTrue((yield* sees(who))["getPost"])
      // Nor does a repost lead around it.
      const { body } = yield* send("getPost", { id: repost }, newcomer({ userId: friend }), friend)
      assert.notProperty(body, "data")
      // The one who blocks sees the other one, and talks to them no more than they do.
      const theirs = store.posts.insert({ authorId: friend, text: "theirs", createdAt: now })
      const seen = yield* send("getPost", { id: theirs }, newcomer({ userId: author }), author)
      assert.strictEqual(seen.body.data.id, theirs)
      for (
        const [name, parameters] of [
          ["createDirectMessage", { participant_id: friend, text: "a" }],
          ["followUser", { target_user_id: friend }]
        ] as const
      ) assert.strictEqual((yield* send(name, parameters, newcomer({ userId: author }), author)).status, 403)
      yield* send("unblock", { target_user_id: friend }, newcomer({ userId: author }), author)
      assert.isTrue((yield* sees(friend))["getPost"])
      assert.strictEqual(store.follows.state(friend, author), "none")
      assert.deepStrictEqual(yield* does(friend), allowed)
    }))

  it.effect("ends what could be said in a conversation of two", () =>
    Effect.gen(function*() {
      const { author, newcomer, send, store, stranger } = yield* setting(false)
      const dm_conversation_id = store.messages.open(author, stranger)
      store.blocks.set(author, stranger, true)
      for (const userId of [author, stranger]) {
        const answer = yield* send(
          "createDirectMessage",
          { dm_conversation_id, text: "a" },
          newcomer({ userId }),
          userId
        )
        assert.strictEqual(answer.status, 403)
      }
    }))

  it.effect("takes a follow request back", () =>
    Effect.gen(function*() {
      const { author, store, stranger } = yield* setting(true)
      store.follows.set(stranger, author, "requested")
      store.blocks.set(author, stranger, true)
      assert.strictEqual(store.follows.state(stranger, author), "none")
    }))
})

describe("a home timeline", () => {
  it.effect("leaves out whom the user muted or blocked, in reposts of others too", () =>
    Effect.gen(function*() {
      const { author, friend, newcomer, post, send, store, stranger } = yield* setting(false)
      const repost = store.posts.insert({ authorId: stranger, text: "RT", createdAt: now, repostedPostId: post })
      store.follows.set(friend, stranger, "following")
      const home = Effect.fnUntraced(function*() {
        const { body } = yield* send("getHomeTimeline", {}, newcomer({ userId: friend }), friend)
        return (body.data ?? []).map((item: { id: string }) => item.id)
      })
      assert.deepStrictEqual(yield* home(), [repost, post])
      for (const ties of [store.mutes, store.blocks]) {
        ties.set(friend, author, true)
        assert.deepStrictEqual(yield* home(), [])
        ties.set(friend, author, false)
        store.follows.set(friend, author, "following")
        assert.deepStrictEqual(yield* home(), [repost, post])
      }
      store.mutes.set(friend, stranger, true)
      assert.deepStrictEqual(yield* home(), [post])
    }))
})

describe("replies", () => {
  it.effect("are for those whom the author lets reply", () =>
    Effect.gen(function*() {
      const { ada, author, friend, newcomer, send, store, stranger } = yield* setting(false)
      const reply = (in_reply_to_post_id: string, userId: string) =>
        Effect.map(
          send("createPost", { text: "a", in_reply_to_post_id }, newcomer({ userId }), userId),
          ({ status }) => status
        )
      const post = (replySettings: "mentionedUsers" | "following") =>
        store.posts.insert({ authorId: author, text: "only @ada", createdAt: now, replySettings })
      store.follows.set(author, friend, "following")
      const [mentioned, following] = [post("mentionedUsers"), post("following")]
      for (
        const [who, statuses] of [
          [ada.id, [201, 201]],
          [friend, [403, 201]],
          [stranger, [403, 403]],
          [author, [201, 201]]
        ] as const
      ) assert.deepStrictEqual([yield* reply(mentioned, who), yield* reply(following, who)], [...statuses])
    }))
})

describe("what belongs to one user", () => {
  it.effect("private lists, other people's media and ticket buyers", () =>
    Effect.gen(function*() {
      const { ada, friend, newcomer, send, stranger, seeded, store } = yield* setting(false)
      const list = store.lists.insert({ ownerId: friend, name: "Private", createdAt: now, private: true })
      for (const name of ["getListPosts", "getListFollowers"] as const) {
        const hidden = yield* send(name, { id: list }, newcomer({ userId: stranger }), stranger)
        assert.match(hidden.body.errors[0].type, /resource-not-found$/)
        const own = yield* send(name, { id: list }, newcomer({ userId: friend }), friend)
        assert.deepStrictEqual(own.body, { meta: { result_count: 0 } })
      }
      store.lists.setFollower(list, friend, true)
      const lists = (userId: string) =>
        Effect.map(send("getFollowedLists", { id: friend }, newcomer({ userId }), userId), ({ body }) =>
          body.meta.result_count)
      assert.deepStrictEqual([yield* lists(friend), yield* lists(stranger)], [1, 0])

      const foreign = yield* send(
        "createPost",
        { media_ids: [seeded.mediaIds[0]] },
        newcomer({ userId: friend }),
        friend
      )
      assert.strictEqual(foreign.status, 400)
      const message = { participant_id: ada.id, media_id: seeded.mediaIds[0] }
      assert.strictEqual(
        (yield* send("createDirectMessage", message, newcomer({ userId: friend }), friend)).status,
        400
      )

      const space = store.spaces.insert({ creatorId: friend, createdAt: now, isTicketed: true })
      store.spaces.sell(space, stranger)
      store.spaces.sell(space, ada.id)
      store.spaces.sell(space, stranger)
      const buyers = (userId: string | undefined) =>
        send("getSpaceBuyers", { id: space }, newcomer({ userId }), "")
      assert.deepStrictEqual((yield* buyers(friend)).body.data.map((user: { id: string }) => user.id), [
        ada.id,
        stranger
      ])
      for (const other of [stranger, ada.id, undefined]) assert.strictEqual((yield* buyers(other)).status, 403)
    }))
})

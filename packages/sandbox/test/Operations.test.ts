import { assert, describe, it } from "@effect/vitest"
import { catalogue, type Name } from "@postwire/core/Catalogue"
import type { Parameters } from "@postwire/core/Parameters"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { policies } from "../src/Policy.ts"
import * as Credentials from "../src/store/Credentials.ts"
import facts from "./fixtures/policies.json" with { type: "json" }
import { names, requestOf, scene } from "./support/Operations.ts"
import { make } from "./support/Requests.ts"

const created: ReadonlyArray<Name> = ["createDirectMessage", "createDirectMessageConversation", "createPost"]

/** What acts for a user, or shows what only a user may see. */
const needUser: ReadonlyArray<Name> = [
  "block",
  "bookmark",
  ...created,
  "deletePost",
  "followUser",
  "getBlocked",
  "getBookmarks",
  "getDirectMessageEvents",
  "getHomeTimeline",
  "getMe",
  "getMuted",
  "getSpaceBuyers",
  "hideReply",
  "like",
  "mute",
  "removeBookmark",
  "repost",
  "unblock",
  "unfollowList",
  "unfollowUser",
  "unhideReply",
  "unlike",
  "unmute",
  "unrepost"
]

/** What has no user_auth and takes bearer tokens alone. */
const bearerOnly: ReadonlyArray<Name> = [
  "bookmark",
  "getAllPostsCount",
  "getBookmarks",
  "getRecentPostsCount",
  "getSpace",
  "getSpaceBuyers",
  "getSpacePosts",
  "getSpaces",
  "removeBookmark",
  "searchAllPosts",
  "searchSpaces"
]

const writes = names.filter((name) => catalogue[name].definition.effect !== "read")

const directMessages = names.filter((name) => name.includes("DirectMessage"))

describe("every operation", () => {
  it("is one of 49", () => assert.strictEqual(names.length, 49))

  it.effect.each(["neutral", "x"] as const)(
    "answers those whose credential may have it, on the %s wire",
    (wire) =>
      Effect.gen(function*() {
        const bench = yield* make({ posts: 0, wire })
        const { parameters } = scene(bench)
        for (const name of names) {
          for (const as of ["app", "user", "signed"] as const) {
            // Operations that take one request per second take the next one now.
            yield* TestClock.adjust("1 second")
            const { body, method, path } = requestOf(name, parameters[name](), bench.seeded.ada.id, wire)
            const answer = yield* bench.request(method, path, { as, body })
            const shown = `${name} ${as} ${JSON.stringify(answer.body)}`
            if (as === "app" ? needUser.includes(name) : as === "signed" && bearerOnly.includes(name)) {
              assert.strictEqual(answer.status, 403, shown)
              assert.match(answer.body.type, /unsupported-authentication$/)
            } else {
              assert.strictEqual(answer.status, created.includes(name) ? 201 : 200, shown)
              assert.notProperty(answer.body, "errors", shown)
              assert.isTrue("data" in answer.body || answer.body.meta.result_count === 0, shown)
              if (wire === "x") {
                assert.notMatch(JSON.stringify(answer.body), /"[a-z_]*post(s|_[a-z_]*)?":|"reposted"/, shown)
              } else assert.notMatch(JSON.stringify(answer.body), /tweet/, shown)
            }
            assert.strictEqual(answer.headers["x-rate-limit-limit"], String(facts[name].requests), name)
          }
        }
      })
  )

  it.effect("needs the scopes of the service's documentation, each of them, in a user's OAuth 2.0 token", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { parameters } = scene(bench)
      const userId = bench.seeded.ada.id
      for (const name of names) {
        const { requests, scopes } = facts[name]
        assert.strictEqual(policies[name].requests, requests, name)
        const send = (scopes: ReadonlyArray<string>) => {
          const { body, method, path } = requestOf(name, parameters[name](), userId)
          const known = Credentials.scopes.filter((scope) => scopes.includes(scope))
          return bench.request(method, path, { as: bench.newcomer({ userId, scopes: known }), body })
        }
        // Blocks are documented no more.
        const needed = scopes ??
          ["post.read", "users.read", ...policies[name].scope === undefined ? [] : [policies[name].scope]]
        assert.strictEqual((yield* send(needed)).status, created.includes(name) ? 201 : 200, name)
        for (const lacking of needed) {
          const refused = yield* send(Credentials.scopes.filter((scope) => scope !== lacking))
          assert.strictEqual(refused.status, 403, `${name} without ${lacking}`)
          assert.include(refused.body.detail, lacking)
        }
      }
    }))

  it.effect("that writes, and every one on messages, needs the rights that the token was made with", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { parameters } = scene(bench)
      const userId = bench.seeded.ada.id
      for (const name of names) {
        for (const rights of ["read", "read-write", "read-write-directmessages"] as const) {
          const { body, method, path } = requestOf(name, parameters[name](), userId)
          const { status } = yield* bench.request(method, path, { as: bench.newcomer({ userId, rights }), body })
          const isAllowed = directMessages.includes(name)
            ? rights === "read-write-directmessages"
            : rights !== "read" || !writes.includes(name)
          assert.strictEqual(status < 300, isAllowed, `${name} ${rights} ${status}`)
          if (!isAllowed) assert.strictEqual(status, 403)
        }
      }
    }))

  it.effect("that pages takes the sizes that are declared, and no others", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { parameters } = scene(bench)
      const userId = bench.seeded.ada.id
      // The specification's table.
      const sizes: { readonly [N in Name]?: readonly [minimum: number, maximum: number] } = {
        getBlocked: [1, 1000],
        getBookmarks: [1, 100],
        getDirectMessageEvents: [1, 100],
        getFollowedLists: [1, 100],
        getHomeTimeline: [1, 100],
        getLikedPosts: [5, 100],
        getLikingUsers: [1, 100],
        getListFollowers: [1, 100],
        getListPosts: [1, 100],
        getMuted: [1, 1000],
        getQuotePosts: [10, 100],
        getReposters: [1, 100],
        getUsersFollowers: [1, 1000],
        getUsersFollowing: [1, 1000],
        getUsersMentions: [5, 100],
        getUsersPosts: [5, 100],
        searchAllPosts: [10, 500],
        searchRecentPosts: [10, 100],
        searchSpaces: [1, 100]
      }
      for (const name of names) {
        const { definition } = catalogue[name]
        const query: Parameters = "query" in definition ? definition.query : {}
        const size = sizes[name]
        assert.strictEqual(size !== undefined, "max_results" in query, name)
        if (size === undefined) continue
        const [minimum, maximum] = size
        for (const max_results of [minimum - 1, minimum, maximum, maximum + 1]) {
          const { method, path } = requestOf(name, { ...parameters[name](), max_results }, userId)
          const answer = yield* bench.request(method, path, { as: bench.newcomer({ userId }) })
          assert.strictEqual(
            answer.status,
            max_results < minimum || max_results > maximum ? 400 : 200,
            `${name} ${path}`
          )
          if (answer.status === 400) assert.include(JSON.stringify(answer.body.errors), "max_results")
        }
      }
    }))
})

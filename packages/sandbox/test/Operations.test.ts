import { assert, describe, it } from "@effect/vitest"
import { catalogue, type Name } from "@postwire/core/Catalogue"
import { bearerOf, type Definition, successStatus } from "@postwire/core/schema/Definition"
import * as Quota from "@postwire/core/schema/Quota"
import { scopes as allScopes } from "@postwire/core/schema/Scopes"
import * as Wire from "@postwire/core/wire/Wire"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import facts from "./fixtures/policies.json" with { type: "json" }
import { names, requestOf, scene } from "./support/Operations.ts"
import { make, now } from "./support/Requests.ts"

type Specified = keyof typeof facts

/** What the specification has. Of others, which only their declarations know, the tests hold those to their word. */
const isSpecified = (name: string): name is Specified => name in facts

const definitionOf = (name: Name): Definition => catalogue[name].definition

const created: ReadonlyArray<Name> = ["createDirectMessage", "createDirectMessageConversation", "createPost"]

/** What acts for a user, or shows what only a user may see. */
const needUser: ReadonlyArray<string> = [
  ...created,
  ..."block bookmark deletePost followUser getBlocked getBookmarks getDirectMessageEvents getHomeTimeline getMe".split(
    " "
  ),
  ..."getMuted getSpaceBuyers hideReply like mute removeBookmark repost unblock unfollowList unfollowUser".split(" "),
  ..."unhideReply unlike unmute unrepost".split(" ")
]

/** What has no user_auth and takes bearer tokens alone. */
const bearerOnly: ReadonlyArray<string> = [
  ..."bookmark getAllPostsCount getBookmarks getRecentPostsCount getSpace getSpaceBuyers getSpacePosts".split(" "),
  ..."getSpaces removeBookmark searchAllPosts searchSpaces".split(" ")
]

/** What these answer has names that are the same in the words of all dates, those of posts or those of tweets. */
const calledAlike: ReadonlyArray<Name> = [
  "getNewsStory",
  "getPersonalizedTrends",
  "getTrends",
  "publishArticle",
  "searchCommunityNotesWritten",
  "searchNews"
]

const status = (name: Name) =>
  isSpecified(name) ? created.includes(name) ? 201 : 200 : successStatus(definitionOf(name))

const takes = (name: Name, as: "app" | "user" | "signed"): boolean => {
  if (isSpecified(name)) return as === "app" ? !needUser.includes(name) : as === "user" || !bearerOnly.includes(name)
  const definition = definitionOf(name)
  return as === "signed" ? definition.userAuth !== undefined : ["any", as].includes(bearerOf(definition))
}

/** Those that a user's bearer token opens. */
const ofUsers = names.filter((name) => takes(name, "user"))

const scopesOf = (name: Name): ReadonlyArray<string> => {
  // Blocks and counts are documented no more.
  const known = isSpecified(name) ? facts[name].scopes : null
  return known ?? definitionOf(name).scopes
}

const writes = names.filter((name) => definitionOf(name).effect !== "read")

const directMessages = names.filter((name) =>
  isSpecified(name)
    ? name.includes("DirectMessage")
    : definitionOf(name).scopes.some((scope) => scope.startsWith("dm."))
)

describe("every operation", () => {
  it("of the specification is one of 49", () => assert.lengthOf(names.filter(isSpecified), 49))

  it("has the limits of the specification", () => {
    for (const name of names.filter(isSpecified)) {
      for (const holder of ["app", "user"] as const) {
        assert.deepStrictEqual(Quota.of(definitionOf(name).limits, holder), { perWindow: facts[name].requests }, name)
      }
    }
  })

  it.effect.each(Wire.names)(
    "answers those whose credential may have it, on the %s wire",
    (wire) =>
      Effect.gen(function*() {
        const bench = yield* make({ posts: 0, wire })
        const { parametersOf } = scene(bench)
        for (const name of names) {
          for (const as of ["app", "user", "signed"] as const) {
            // Operations that take one request per second take the next one now.
            yield* TestClock.adjust("1 second")
            const { body, method, path } = requestOf(name, parametersOf(name), bench.seeded.ada.id, wire)
            const answer = yield* bench.request(method, path, { as, body })
            const shown = `${name} ${as} ${JSON.stringify(answer.body)}`
            if (!takes(name, as)) {
              assert.strictEqual(answer.status, 403, shown)
              assert.match(answer.body.type, /unsupported-authentication$/)
            } else {
              assert.strictEqual(answer.status, status(name), shown)
              assert.notProperty(answer.body, "errors", shown)
              assert.isTrue("data" in answer.body || answer.body.meta.result_count === 0, shown)
              const text = calledAlike.includes(name) ? "" : JSON.stringify(answer.body)
              if (wire === "x-2026-02") {
                assert.notMatch(text, /"[a-z_]*post(s|_[a-z_]*)?":|"reposted"/, shown)
              } else if (wire === "x") {
                assert.notMatch(text, /"(?!retweeted")[a-z_]*tweet[a-z_]*":|"reposted"/, shown)
              } else assert.notMatch(text, /tweet/, shown)
            }
            const { perDay, perWindow = perDay } = Quota.of(definitionOf(name).limits, as === "app" ? "app" : "user")
            const { headers } = answer
            assert.strictEqual(headers["x-rate-limit-limit"], perWindow?.toString(), name)
            if (perWindow !== undefined) {
              assert.isBelow(Number(headers["x-rate-limit-remaining"]), perWindow, name)
              assert.isAbove(Number(headers["x-rate-limit-reset"]), now / 1000, name)
            }
            assert.strictEqual(headers["x-access-level"], "read-write-directmessages")
            assert.match(headers["content-type"] ?? "", takes(name, as) ? /^application\/json/ : /problem\+json$/)
            assert.match(headers["x-transaction-id"] ?? "", /./)
            assert.closeTo(Date.parse(headers["date"] ?? ""), now, 1_000 * 3 * names.length)
          }
        }
      })
  )

  it.effect("needs the scopes of the service's documentation, each of them, in a user's OAuth 2.0 token", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { parametersOf } = scene(bench)
      const userId = bench.seeded.ada.id
      for (const name of ofUsers) {
        const send = (scopes: ReadonlyArray<string>) => {
          const known = allScopes.filter((scope) => scopes.includes(scope))
          const as = bench.newcomer({ userId, scopes: known })
          const { body, method, path } = requestOf(
            name,
            parametersOf(name, bench.store.credentials.apps()[0]?.id),
            userId
          )
          return bench.request(method, path, { as, body })
        }
        const needed = scopesOf(name)
        assert.strictEqual((yield* send(needed)).status, status(name), name)
        for (const lacking of needed) {
          const refused = yield* send(allScopes.filter((scope) => scope !== lacking))
          assert.strictEqual(refused.status, 403, `${name} without ${lacking}`)
          assert.include(refused.body.detail, lacking)
        }
      }
    }))

  it.effect("that writes, and every one on messages, needs the rights that the token was made with", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { parametersOf } = scene(bench)
      const userId = bench.seeded.ada.id
      for (const name of ofUsers) {
        for (const rights of ["read", "read-write", "read-write-directmessages"] as const) {
          const as = bench.newcomer({ userId, rights })
          const { body, method, path } = requestOf(
            name,
            parametersOf(name, bench.store.credentials.apps()[0]?.id),
            userId
          )
          const { status } = yield* bench.request(method, path, { as, body })
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
      const { parametersOf } = scene(bench)
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
      for (const name of ofUsers) {
        const declared = definitionOf(name).query?.["max_results"]
        // The service takes a size where the specification has none.
        const isSince = name === "getSpaceBuyers" || name === "getSpacePosts"
        if (isSpecified(name) && !isSince) assert.strictEqual(sizes[name] !== undefined, declared !== undefined, name)
        const bounds = declared?.bounds
        const size = sizes[name] ?? (bounds?.of === "value" ? [bounds.minimum, bounds.maximum] as const : undefined)
        if (size === undefined) continue
        const [minimum, maximum] = size
        for (const max_results of [minimum - 1, minimum, maximum, maximum + 1]) {
          const { method, path } = requestOf(name, { ...parametersOf(name), max_results }, userId)
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

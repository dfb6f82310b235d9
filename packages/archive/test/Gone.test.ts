import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Copy from "../src/copy/Copy.ts"
import * as Status from "../src/copy/Status.ts"
import * as Gone from "../src/sync/Gone.ts"
import { onEach } from "./support/Scene.ts"

const post = (id: string, author_id: string, more: object = {}) => ({
  id,
  author_id,
  text: `text of ${id}`,
  public_metrics: { like_count: 1 },
  geo: { place_id: `place of ${id}` },
  attachments: { media_keys: ["3_1"] },
  ...more
})

/** Grace's post 11 is a repost of ada's 10; both of ada's posts have one photo. */
const objects = {
  users: [{ id: "1", username: "ada", location: "here", protected: false }, { id: "2", username: "grace" }],
  posts: [
    post("10", "1"),
    post("11", "2", { attachments: undefined, referenced_posts: [{ type: "reposted", id: "10" }] }),
    post("12", "1"),
    post("13", "2", { attachments: undefined, referenced_posts: [{ type: "quoted", id: "12" }] })
  ],
  media: [{ media_key: "3_1", type: "photo", url: "https://images.invalid/1" }]
}

const edges = [{ kind: "likes", from: "9", to: "10" }, { kind: "follows", from: "1", to: "9" }]

onEach("what is gone from a copy", (place) => {
  const inCopy = <A, E>(effect: Effect.Effect<A, E, Copy.Current>) =>
    Effect.scoped(Effect.flatMap(place, (own) => Effect.provide(effect, own)))
  const state = Effect.gen(function*() {
    const { sql } = yield* Copy.Current
    const all = (query: string) => sql.unsafe<Record<string, unknown> & { readonly id: string }>(query)
    const gone = yield* all("SELECT id, gone, text FROM posts WHERE gone IS NOT NULL ORDER BY id")
    return {
      posts: gone.map(({ gone, id, text }) => [id, gone, text]),
      media: (yield* all("SELECT media_key AS id FROM media WHERE gone IS NULL")).length,
      places: (yield* all("SELECT id FROM posts WHERE geo_place_id IS NOT NULL ORDER BY id")).map(({ id }) => id),
      metrics: (yield* all("SELECT id FROM post_metrics ORDER BY id")).map(({ id }) => id),
      edges: (yield* all("SELECT kind AS id FROM edges WHERE gone_at IS NOT NULL ORDER BY kind, from_id")).map((
        { id }
      ) => id)
    }
  })
  const begun = Effect.flatMap(Copy.Current, (copy) => Copy.write(copy, { objects, edges }))

  it.effect("empties a post, its reposts, and media that no other post has", () =>
    inCopy(Effect.gen(function*() {
      const copy = yield* Copy.Current
      yield* begun
      const twice = [{ id: "10", why: "unknown" }, { id: "10", why: "deleted" }, { id: "77", why: "deleted" }]
      yield* Gone.mark(copy, "posts", twice, Number.MAX_SAFE_INTEGER)
      assert.deepStrictEqual(yield* state, {
        posts: [["10", "deleted", null], ["11", "deleted", null]],
        media: 1,
        places: ["12", "13"],
        metrics: ["12", "13"],
        edges: ["likes", "media", "reposted"]
      })
      yield* Gone.mark(copy, "posts", [{ id: "12", why: "withheld" }])
      const { edges, media } = yield* state
      // The quote of a post that is gone remains a quote.
      assert.deepStrictEqual([media, edges], [0, ["likes", "media", "media", "reposted"]])
      yield* Copy.write(copy, { objects, edges: [] })
      assert.deepStrictEqual((yield* state).posts, [])
      assert.strictEqual((yield* state).media, 1)
    })))

  it.effect("hides a repost that was shown after its post was gone", () =>
    inCopy(Effect.gen(function*() {
      const copy = yield* Copy.Current
      yield* begun
      yield* Gone.mark(copy, "posts", [{ id: "10", why: "protected" }])
      yield* Copy.write(copy, { objects: { posts: objects.posts.filter(({ id }) => id === "11") } })
      assert.deepStrictEqual((yield* state).posts, [["10", "protected", null]])
      yield* Gone.follow(copy)
      assert.deepStrictEqual((yield* state).posts, [["10", "protected", null], ["11", "protected", null]])
    })))

  it.effect("hides the posts of protected accounts, and those of accounts that are gone", () =>
    inCopy(Effect.gen(function*() {
      const copy = yield* Copy.Current
      yield* begun
      yield* Gone.hide(copy, ["2", "77"])
      assert.deepStrictEqual((yield* state).posts, [["11", "protected", null], ["13", "protected", null]])
      yield* Gone.mark(copy, "users", [{ id: "1", why: "suspended" }])
      const found = yield* copy.sql.unsafe("SELECT id, username, location, gone FROM users WHERE gone IS NOT NULL")
      assert.deepStrictEqual(found.map((row) => ({ ...row })), [
        { id: "1", username: null, location: null, gone: "suspended" }
      ])
      assert.deepStrictEqual((yield* Status.read).gone, {
        posts: { protected: 2, suspended: 2 },
        users: { suspended: 1 }
      })
      assert.include((yield* state).edges, "follows")
    })))

  it.effect("removes places, and the history that has them", () =>
    inCopy(Effect.gen(function*() {
      const copy = yield* Copy.Current
      yield* begun
      yield* Copy.write(copy, { objects: { posts: [post("10", "1", { geo: { place_id: "another" } })] } })
      yield* Gone.scrub(copy, ["10", "13"])
      assert.deepStrictEqual((yield* state).places, ["11", "12"])
      assert.lengthOf(yield* copy.sql.unsafe("SELECT 1 FROM history"), 0)
      assert.deepStrictEqual((yield* state).posts, [])
    })))
})

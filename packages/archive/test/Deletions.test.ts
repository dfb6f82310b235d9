import { assert, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, type Scope } from "effect"
import * as Copy from "../src/copy/Copy.ts"
import * as Status from "../src/copy/Status.ts"
import * as Search from "../src/look/Search.ts"
import type { Deletions, Source } from "../src/sources/SyncFile.ts"
import * as Gone from "../src/sync/Gone.ts"
import * as Sync from "../src/sync/Sync.ts"
import { client, onEach, type Place, rowsIn, sandbox } from "./support/Scene.ts"

const sync = (
  own: Place,
  sources: ReadonlyArray<Source>,
  by?: Deletions["by"],
  options: Partial<Sync.Options> = {}
) =>
  Effect.flatMap(
    Sandbox.Sandbox,
    ({ clock }) =>
      clock.provide(Sync.run({ ...options, sources, deletions: by && { every: "0 days", by } })).pipe(
        Effect.provide(client()),
        Effect.provide(own)
      )
  )

const likes: ReadonlyArray<Source> = [{ kind: "likes" }]

/** Ada likes a post of each of some users, with a photo and an earlier text, in a copy. */
const scene = Effect.fnUntraced(function*(place: Effect.Effect<Place, never, Scope.Scope>) {
  const own = yield* place
  const { ada, store, user } = yield* Sandbox.Sandbox
  const users = ["deleting", "suspending", "protecting", "placing"].map((username) => user({ username }))
  const posts = users.map((user) => user.post({ text: `secret of ${user.username}`, media: ["photo"] }))
  const placed = rowsOfPlaces(store)[0]
  const other = users[0]!.post({ text: "another", media: [] })
  ada.likes(...posts, other)
  if (placed !== undefined) ada.likes({ id: placed })
  const repost = users[3]!.repost(posts[1]!)
  ada.likes(repost)
  yield* sync(own, likes)
  return { own, posts: posts.map(({ id }) => id), users, placed, store, repost, other: other.id }
})

/** Posts with a place. */
const rowsOfPlaces = ({ posts }: Sandbox.Sandbox["Service"]["store"]): ReadonlyArray<string> =>
  posts.between({ after: 0n, before: 2n ** 62n, limit: 1_000 }).filter(({ geo }) => geo?.place_id !== undefined)
    .map(({ id }) => id)

const texts = Effect.fnUntraced(function*(own: Place) {
  const found = yield* rowsIn(own, "SELECT id, text, gone FROM posts")
  return (id: string) => found.filter((row) => row["id"] === id).map(({ gone, text }) => [gone, text])[0]
})

onEach("deletions", (place) => {
  for (const by of ["compliance", "lookup"] as const) {
    it.live(`remove what is gone, by ${by}`, () =>
      Effect.gen(function*() {
        const { other, own, placed = "", posts: [deleted = "", suspended = "", hidden = ""], repost, store, users } =
          yield* scene(place)
        store.posts.delete(deleted)
        store.users.setSuspended(users[1]!.id, true)
        store.users.setProtected(users[2]!.id, true)
        store.posts.scrubGeo(placed)
        const places = "SELECT geo_place_id AS place FROM posts WHERE geo_place_id IS NOT NULL AND id = '" + placed +
          "'"
        assert.lengthOf(yield* rowsIn(own, places), 1)
        const { gone, problems, status } = yield* sync(own, [{ kind: "lists" }], by)
        assert.deepStrictEqual([status, problems], ["done", []])
        const found = yield* texts(own)
        assert.deepStrictEqual(found(deleted), ["deleted", null])
        assert.deepStrictEqual(found(suspended), ["suspended", null])
        assert.deepStrictEqual(found(repost.id), ["suspended", null])
        assert.deepStrictEqual(found(hidden), ["protected", null])
        assert.deepStrictEqual(found(other), [null, "another"])
        assert.lengthOf(yield* rowsIn(own, places), 0)
        assert.deepStrictEqual(gone, { posts: { deleted: 1, protected: 1, suspended: 2 }, users: { suspended: 1 } })
        const status2 = yield* Effect.provide(Status.read, own)
        assert.include(status2.gone.posts, gone.posts)
        // Nothing of the contents is left but the edge, which is marked.
        for (const table of ["history", "post_metrics"]) {
          assert.lengthOf(
            yield* rowsIn(own, `SELECT 1 AS n FROM ${table} WHERE id IN ('${deleted}', '${suspended}', '${hidden}')`),
            0
          )
        }
        assert.lengthOf(
          yield* Effect.provide(Search.find({ words: "secret" }), own),
          1
        )
        assert.lengthOf(yield* rowsIn(own, "SELECT 1 AS n FROM media WHERE gone IS NOT NULL AND url IS NULL"), 3)
        assert.lengthOf(
          yield* rowsIn(own, `SELECT 1 AS n FROM edges WHERE to_id = '${deleted}' AND gone_at IS NOT NULL`),
          1
        )
        // What comes back is shown again.
        store.users.setSuspended(users[1]!.id, false)
        yield* sync(own, [{ kind: "likes", full: "0 days" }], by)
        assert.deepStrictEqual((yield* texts(own))(suspended), [null, "secret of suspending"])
        assert.lengthOf(yield* rowsIn(own, "SELECT 1 AS n FROM media WHERE gone IS NOT NULL"), 2)
        assert.deepStrictEqual((yield* sync(own, [{ kind: "lists" }], by)).gone, { posts: {}, users: {} })
      }).pipe(Effect.provide(sandbox()), Effect.scoped))
  }

  it.live("do not remove what was shown after the check began", () =>
    Effect.gen(function*() {
      const { other, own } = yield* scene(place)
      yield* Effect.gen(function*() {
        const copy = yield* Copy.Current
        const began = yield* Copy.lastCommit(copy)
        yield* Copy.write(copy, { objects: { posts: [{ id: other, text: "shown since" }] } })
        yield* Gone.mark(copy, "posts", [{ id: other, why: "deleted" }, { id: "1", why: "deleted" }], began)
      }).pipe(Effect.provide(own))
      assert.deepStrictEqual((yield* texts(own))(other), [null, "shown since"])
      assert.isUndefined((yield* texts(own))("1"))
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("mark what a page reports about known ids", () =>
    Effect.gen(function*() {
      const { other, own, posts: [first = "", second = ""] } = yield* scene(place)
      const problem = (id: string, type: string, resource_type = "post") => ({ type, resource_type, value: id })
      yield* Effect.gen(function*() {
        const copy = yield* Copy.Current
        yield* Gone.meet(copy, [
          problem(first, "/problems/resource-not-found"),
          problem(second, "/problems/resource-not-found"),
          problem(other, "/problems/not-authorized-for-field"),
          problem("1", "/problems/resource-not-found"),
          problem(other, "/problems/resource-not-found", "user")
        ], [second])
      }).pipe(Effect.provide(own))
      const found = yield* texts(own)
      assert.deepStrictEqual(found(first), ["deleted", null])
      assert.deepStrictEqual([found(second)?.[0], found(other)?.[0], found("1")], [null, null, undefined])
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("end where a repost is shown again: its post, too, is there", () =>
    Effect.gen(function*() {
      const own = yield* place
      const { ada, store, user } = yield* Sandbox.Sandbox
      const [author, reposter] = [user({ username: "hiding" }), user({ username: "reposting" })]
      const post = author.post({ text: "back again" })
      const repost = reposter.repost(post)
      ada.likes(repost)
      yield* sync(own, likes)
      for (const isHidden of [true, false]) {
        store.users.setProtected(author.id, isHidden)
        yield* sync(own, [{ kind: "likes", full: "0 days" }], "compliance")
        const found = yield* texts(own)
        assert.deepStrictEqual(found(post.id), isHidden ? ["protected", null] : [null, "back again"])
        assert.strictEqual(found(repost.id)?.[0], isHidden ? "protected" : null)
      }
    }).pipe(Effect.provide(sandbox()), Effect.scoped))

  it.live("are continued where they were stopped", () =>
    Effect.gen(function*() {
      const { own, posts: [deleted = ""], store } = yield* scene(place)
      const sandbox = yield* Sandbox.Sandbox
      const { faults } = sandbox
      store.posts.delete(deleted)
      // The state of the first job is not known: the ids were sent, and the run ends.
      const rule = faults.add({ operation: "getComplianceJob", status: 403, times: "always" })
      const first = yield* sync(own, [{ kind: "lists" }], "compliance")
      assert.deepStrictEqual([first.status, first.problems.map(({ source }) => source)], ["partial", ["deletions"]])
      faults.remove(rule)
      const second = yield* sync(own, [{ kind: "lists" }], "compliance")
      assert.deepStrictEqual([second.status, second.gone.posts], ["done", { deleted: 1 }])
      // One job of users and one of posts.
      assert.lengthOf(sandbox.requests.filter(({ operation }) => operation === "createComplianceJob"), 2)
    }).pipe(Effect.provide(sandbox()), Effect.scoped))
})

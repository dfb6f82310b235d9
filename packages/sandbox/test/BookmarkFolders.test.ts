import { assert, describe, it } from "@effect/vitest"
import type { NotFound } from "@postwire/core/errors/Errors"
import { bookmark, getBookmarks, removeBookmark } from "@postwire/core/operations/Bookmarks"
import { Effect, Redacted } from "effect"
import { make } from "./support/Requests.ts"

const toRead = "1520262394675200000"
const later = "1520443588608000000"

describe("folders of bookmarks", () => {
  it.effect("are the same in every service, with what the seed puts there", () =>
    Effect.gen(function*() {
      const [one, same, other] = yield* Effect.forEach(
        [{ seed: 1 }, { seed: 1 }, { seed: 2 }],
        (options) => make({ posts: 300, ...options })
      )
      const view = ({ seeded, store }: typeof one & {}) =>
        store.bookmarkFolders.of({ userId: seeded.ada.id, limit: 9 }).items.map((folder) => ({
          ...folder,
          posts: store.bookmarkFolders.posts({ folderId: folder.id, limit: 100 }).items.map(({ id }) => id)
        }))
      const folders = view(one!)
      assert.deepStrictEqual(folders.map(({ id, name }) => [id, name]), [
        [later, "Later"],
        ["1520352991641600000", "Engines"],
        [toRead, "To read"]
      ])
      assert.isEmpty(folders[0]?.posts)
      assert.isNotEmpty(folders[2]?.posts)
      assert.deepStrictEqual(view(same!), folders)
      assert.notDeepEqual(view(other!), folders)
    }))

  it.effect("take a bookmark besides the list of all, until it is removed or the post is gone", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, store } = bench
      const [one, two] = [ada.post("one"), ada.post("two")]
      const held = (folderId: string) => store.bookmarkFolders.posts({ folderId, limit: 9 }).items.map(({ id }) => id)
      yield* Effect.gen(function*() {
        yield* bookmark({ post_id: one.id })
        assert.isEmpty(held(later))
        yield* bookmark({ post_id: two.id, folder_id: later })
        for (const folder_id of [later, later, toRead]) {
          const { data } = yield* bookmark({ post_id: one.id, folder_id })
          assert.deepStrictEqual(data, { bookmarked: true })
        }
        assert.deepStrictEqual([held(later), held(toRead)], [[one.id, two.id], [one.id]])
        const { data } = yield* getBookmarks()
        assert.deepStrictEqual(data?.map(({ id }) => id), [two.id, one.id])
        yield* removeBookmark({ post_id: one.id })
        assert.deepStrictEqual([held(later), held(toRead)], [[two.id], []])
        store.posts.delete(two.id)
        assert.isEmpty(held(later))
      }).pipe(Effect.provide(bench.client()))
    }))

  it.effect("are their owner's: any other is refused, and nothing is bookmarked", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, sandbox, seeded, store } = bench
      const post = ada.post("one")
      const hers = sandbox.user({ username: "grace" }).bookmarkFolder("Hers", post)
      assert.deepStrictEqual(store.bookmarkFolders.posts({ folderId: hers.id, limit: 9 }).items[0]?.id, post.id)
      for (const folder_id of [hers.id, "1"]) {
        const error = yield* Effect.flip(bookmark({ post_id: post.id, folder_id })).pipe(
          Effect.provide(bench.client())
        ) as Effect.Effect<NotFound>
        assert.deepInclude(error, {
          _tag: "NotFound",
          detail: `Could not find bookmark_folder with folder_id: [${folder_id}].`
        })
        assert.isFalse(store.bookmarks.has(seeded.ada.id, post.id))
      }
    }))

  it.effect("are shown by the admin interface", () =>
    Effect.gen(function*() {
      const { ada, request, sandbox, store } = yield* make({ posts: 0 })
      const gone = ada.post("two")
      const made = ada.bookmarkFolder("Mine", ada.post("one"), gone)
      store.posts.delete(gone.id)
      const { body, status } = yield* request("GET", "/_sandbox/state/bookmark_folders?user=ada", {
        as: { header: `Bearer ${Redacted.value(sandbox.adminToken)}` }
      })
      assert.strictEqual(status, 200)
      assert.deepInclude(body.items[0], { id: made.id, name: "Mine", user: "ada", posts: 1 })
      assert.lengthOf(body.items, 4)
    }))
})

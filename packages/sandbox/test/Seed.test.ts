import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { inspect } from "node:util"
import * as Query from "../src/search/Query.ts"
import * as Seed from "../src/seed/Seed.ts"
import type { Cursor } from "../src/store/Pages.ts"
import { Store } from "../src/store/Store.ts"

const start = Date.UTC(2026, 10, 20, 12)

const day = 86_400_000

const seeded = (options: Seed.Options) =>
  Effect.map(Store.open({ file: ":memory:" }), (store) => ({ store, seed: Seed.run(store, options) }))

const query = (source: string) => Result.getOrThrow(Query.parse(source))

const recent = { from: start - 7 * day, until: start - 30_000 }

const count = (
  store: Store["Service"],
  source: string,
  window: { readonly from?: number; readonly until?: number }
) => {
  let items = 0
  let cursor: Cursor | undefined
  do {
    const page = store.posts.search({ query: query(source), ...window, limit: 500, cursor })
    items += page.items.length
    cursor = page.next
  } while (cursor !== undefined)
  return items
}

/** A digest of every row of every table, after `prepare` has filled the store. */
const digest = (prepare: (store: Store["Service"]) => void) =>
  Effect.gen(function*() {
    const path = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-seed-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    const file = join(path, "store.db")
    yield* Effect.scoped(Effect.map(Store.open({ file }), prepare))
    const database = new DatabaseSync(file, { readOnly: true, readBigInts: true })
    const hash = createHash("sha256")
    for (
      const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
    ) {
      if (String(name).startsWith("post_index")) continue
      hash.update(`${name}\n`)
      for (const row of database.prepare(`SELECT * FROM "${name}"`).iterate()) hash.update(inspect(row))
    }
    database.close()
    return hash.digest("hex")
  })

describe("Seed", () => {
  it.effect("makes the same rows from the same options, and others from others", () =>
    Effect.gen(function*() {
      const make = (options: Seed.Options) => digest((store) => void Seed.run(store, options))
      const options = { seed: 7, posts: 600, start }
      const first = yield* make(options)
      assert.strictEqual(yield* make(options), first)
      assert.strictEqual(
        yield* digest((store) => {
          Seed.run(store, { ...options, seed: 8 })
          store.clear()
          Seed.run(store, options)
        }),
        first
      )
      assert.notStrictEqual(yield* make({ ...options, seed: 8 }), first)
      assert.notStrictEqual(yield* make({ ...options, start: start + 1000 }), first)
    }))

  it.effect("spreads posts over time, up to the present, at whatever hour it begins", () =>
    Effect.gen(function*() {
      for (let hour = 0; hour < 24; hour += 3) {
        const { store } = yield* seeded({ seed: 1, posts: 600, start: start + hour * 3_600_000 })
        const { items } = store.posts.search({ query: query("effect"), limit: 600 })
        const times = items.map(({ created_at }) => Date.parse(created_at))
        assert.strictEqual(new Set(times).size, times.length, `${hour}`)
        const newest = start + hour * 3_600_000 - times[0]!
        assert.isAtLeast(newest, 40_000)
        assert.isBelow(newest, day / 6)
      }
    }))

  it.effect("has about 20,000 recent posts on the topic among 25,500, and a believable rest", () =>
    Effect.gen(function*() {
      const { seed, store } = yield* seeded({ seed: 1, posts: 25_500, start })
      assert.strictEqual(seed.posts, 25_500)
      assert.approximately(count(store, "effect", recent), 20_000, 400)
      for (
        const [source, least] of [
          ["-effect lang:en", 500],
          ["lang:ja", 100],
          ["lang:de", 500],
          ["is:reply", 4000],
          ["is:repost", 1500],
          ["is:quote", 800],
          ["is:verified", 500],
          ["has:media", 800],
          ["has:links", 1500],
          ["has:geo", 500],
          ["#effect", 4000],
          ["$ACME", 50],
          ["@ada", 300],
          ["from:ada", 1000]
        ] as const
      ) assert.isAbove(count(store, source, {}), least, source)
      assert.isAbove(count(store, "effect", { until: start - 7 * day }), 500)
      const ada = store.users.byUsername("ada")!
      assert.strictEqual(ada.id, seed.ada.id)
      assert.isFalse(ada.protected)
      assert.strictEqual(ada.created_at, "2015-12-10T12:00:00.000Z")
      assert.isAbove(ada.public_metrics.followers_count, 20)
      const bookmarks = store.bookmarks.posts({ userId: ada.id, limit: 1000 }).items
      assert.isAbove(bookmarks.length, 800)
      assert.isAbove(store.messages.events({ userId: ada.id, from: start - 30 * day, limit: 100 }).items.length, 50)
      assert.strictEqual(store.attachments.mediaKeys(seed.mediaIds).length, 3)
    }))

  it.effect("counts what is there", () =>
    Effect.gen(function*() {
      const { store } = yield* seeded({ seed: 3, posts: 400, start })
      const posts = store.posts.search({ query: query("effect OR -effect OR the"), limit: 500 }).items
      const references = posts.flatMap((post) => post.referenced_posts ?? [])
      const referencing = (type: string, id: string) =>
        references.filter((one) => one.type === type && one.id === id).length
      for (const { id, public_metrics } of posts) {
        assert.strictEqual(public_metrics.like_count, store.likes.users({ postId: id, limit: 100 }).items.length)
        assert.strictEqual(public_metrics.repost_count, referencing("reposted", id))
        assert.isAtLeast(public_metrics.reply_count, referencing("replied_to", id))
        assert.isAtLeast(public_metrics.quote_count, referencing("quoted", id))
      }
      assert.isTrue(posts.some((post) => post.public_metrics.like_count > 0))
      for (const post of posts) assert.isAtMost(Date.parse(post.created_at), start - 40_000)
    }))

  it.effect("ties users, fills lists and holds spaces, in the smallest service too", () =>
    Effect.gen(function*() {
      for (const posts of [0, 60, 2_000]) {
        const { seed: { ada }, store } = yield* seeded({ seed: 4, posts, start })
        const { blocks, follows, lists, mutes, spaces, users } = store
        assert.strictEqual(blocks.targets({ userId: ada.id, limit: 9 }).items.length, 1)
        assert.strictEqual(mutes.targets({ userId: ada.id, limit: 9 }).items.length, 1)
        const everybody = follows.followers({ userId: ada.id, limit: 1_000 }).items
          .concat(follows.following({ userId: ada.id, limit: 1_000 }).items)
        assert.isTrue(everybody.every((user) => !blocks.has(ada.id, user.id) && !blocks.has(user.id, ada.id)))
        const followed = follows.following({ userId: ada.id, limit: 1_000 }).items
        assert.isTrue(followed.some((user) => user.protected && users.isOpenTo(user.id, { userId: ada.id })))
        // Of lists, one follows those of others; two are ada's own, one of them private.
        const listed = lists.followedBy({ userId: ada.id, limit: 10 }).items
        assert.isAtLeast(listed.length, 3)
        assert.isTrue(listed.every((list) => list.member_count > 0 && list.follower_count > 0 && !list.private))
        const held = spaces.byCreators([ada.id], start)
        assert.sameMembers(held.slice(-3).map((space) => space.state), ["scheduled", "live", "ended"])
        for (const space of held) {
          assert.isTrue(space.is_ticketed)
          assert.isAbove(spaces.buyers({ spaceId: space.id, limit: 1 }).items.length, 0)
          assert.strictEqual(spaces.topicsByIds(space.topic_ids ?? []).length, 1)
          assert.isAtMost(Date.parse(space.created_at), start)
        }
        const shared = held.flatMap((space) => spaces.posts({ spaceId: space.id, limit: 10 }).items)
        assert.strictEqual(shared.length > 0, posts > 0)
      }
    }))

  it.effect("gives credentials that work and depend on the seed alone", () =>
    Effect.gen(function*() {
      const one = yield* seeded({ seed: 5, posts: 50, start })
      const two = yield* seeded({ seed: 5, posts: 80, start: start - 30 * day })
      const three = yield* seeded({ seed: 6, posts: 50, start })
      const secrets = ({ seed }: typeof one) =>
        [
          seed.accessToken,
          seed.accessTokenSecret,
          seed.appBearerToken,
          seed.userBearerToken,
          seed.consumerSecret,
          Redacted.make(seed.consumerKey)
        ].map(Redacted.value)
      assert.deepStrictEqual(secrets(one), secrets(two))
      for (const [i, secret] of secrets(one).entries()) assert.notStrictEqual(secret, secrets(three)[i])
      for (const secret of secrets(one).slice(0, -1)) assert.notInclude(inspect(one.seed, { depth: 9 }), secret)
      const { seed, store: { credentials } } = one
      const app = credentials.appByConsumerKey(seed.consumerKey)!
      assert.strictEqual(Redacted.value(app.consumerSecret), Redacted.value(seed.consumerSecret))
      const token = credentials.accessToken(Redacted.value(seed.accessToken))!
      assert.strictEqual(token.userId, seed.ada.id)
      assert.strictEqual(token.token.split("-")[0], seed.ada.id)
      assert.strictEqual(credentials.bearerToken(seed.userBearerToken)?.userId, seed.ada.id)
      assert.include(credentials.bearerToken(seed.userBearerToken)!.scopes, "bookmark.write")
      assert.isUndefined(credentials.bearerToken(seed.appBearerToken)!.userId)
    }))

  it.effect("fits any size, and a clock of long ago", () =>
    Effect.gen(function*() {
      for (const posts of [0, 1, 9]) {
        const { store } = yield* seeded({ seed: 1, posts, start: Date.UTC(1990, 0) })
        assert.isAtMost(store.posts.search({ query: query("effect OR -effect OR x"), limit: 50 }).items.length, posts)
      }
    }))
})

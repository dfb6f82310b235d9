import { assert, describe, it } from "@effect/vitest"
import type { Name } from "@postwire/core/Catalogue"
import * as Wire from "@postwire/core/wire/Wire"
import { Effect } from "effect"
import { requestOf, scene } from "./support/Operations.ts"
import { type Bench, day, make, now } from "./support/Requests.ts"

type Setting = ReturnType<typeof scene> & { readonly bench: Bench; readonly hermit: string }

const setting = Effect.gen(function*() {
  const bench = yield* make({ posts: 0 })
  const hermit = bench.store.users.insert({ username: "hermit", name: "H", createdAt: now - day, protected: true })
  const result: Setting = { ...scene(bench), bench, hermit }
  return result
})

/** A row of the table of states. */
interface Row {
  readonly before: string
  readonly operation: Name
  readonly parameters: (setting: Setting) => object
  /** Brings the state before about; nothing to do where it is the one that everything begins with. */
  readonly prepare?: (setting: Setting) => void
  /** The state, as the store tells it. */
  readonly state: (setting: Setting) => unknown
  readonly after: unknown
  readonly data: object
}

const ada = ({ bench }: Setting) => bench.seeded.ada.id
const aPost = ({ post }: Setting) => ({ post_id: post })
const somebody = ({ other }: Setting) => ({ target_user_id: other })
const aHermit = ({ hermit }: Setting) => ({ target_user_id: hermit })
const aReply = ({ reply }: Setting) => ({ id: reply })

const liked = (it: Setting) => it.bench.store.likes.has(ada(it), it.post)
const bookmarked = (it: Setting) => it.bench.store.bookmarks.has(ada(it), it.post)
const reposted = (it: Setting) => it.bench.store.posts.repostBy(ada(it), it.post) !== undefined
const followed = (it: Setting) => it.bench.store.follows.state(ada(it), it.other)
const asked = (it: Setting) => it.bench.store.follows.state(ada(it), it.hermit)
const blocked = (it: Setting) => it.bench.store.blocks.has(ada(it), it.other)
const muted = (it: Setting) => it.bench.store.mutes.has(ada(it), it.other)
const hidden = (it: Setting) => it.bench.store.posts.isHidden(it.reply)
const listed = (it: Setting) => it.bench.store.lists.isFollowing(it.list, ada(it))

const doLike = (it: Setting) => void it.bench.store.likes.set(ada(it), it.post, true)
const doBookmark = (it: Setting) => void it.bench.store.bookmarks.set(ada(it), it.post, true)
const doRepost = (it: Setting) =>
  void it.bench.store.posts.insert({ authorId: ada(it), text: "RT", createdAt: now, repostedPostId: it.post })
const doFollow = (it: Setting) => void it.bench.store.follows.set(ada(it), it.other, "following")
const doFollowHermit = (it: Setting) => void it.bench.store.follows.set(ada(it), it.hermit, "following")
const doAsk = (it: Setting) => void it.bench.store.follows.set(ada(it), it.hermit, "requested")
const doBlock = (it: Setting) => void it.bench.store.blocks.set(ada(it), it.other, true)
const doMute = (it: Setting) => void it.bench.store.mutes.set(ada(it), it.other, true)
const doHide = (it: Setting) => void it.bench.store.posts.setHidden(it.reply, true)
const pinned = (it: Setting) => it.bench.store.lists.pinnedBy(ada(it)).some(({ id }) => id === it.list)
const doPinList = (it: Setting) => void it.bench.store.lists.setPinned(it.list, ada(it), true)
const doFollowList = (it: Setting) => void it.bench.store.lists.setFollower(it.list, ada(it), true)

const sourcePost = ({ post }: Setting) => ({ source_post_id: post })
const aList = ({ list }: Setting) => ({ list_id: list })

const following = { following: true, pending_follow: false }
const pending = { following: false, pending_follow: true }
const notFollowing = { following: false }

const row = (
  before: string,
  operation: Name,
  parameters: Row["parameters"],
  [state, after]: readonly [Row["state"], unknown],
  data: object,
  prepare?: Row["prepare"]
): Row => ({ before, operation, parameters, state, after, data, ...(prepare && { prepare }) })

const rows: ReadonlyArray<Row> = [
  row("not liked", "like", aPost, [liked, true], { liked: true }),
  row("liked", "unlike", aPost, [liked, false], { liked: false }, doLike),
  row("not liked", "unlike", aPost, [liked, false], { liked: false }),
  row("not bookmarked", "bookmark", aPost, [bookmarked, true], { bookmarked: true }),
  row("bookmarked", "removeBookmark", aPost, [bookmarked, false], { bookmarked: false }, doBookmark),
  row("not reposted", "repost", aPost, [reposted, true], { reposted: true }),
  row("reposted", "unrepost", sourcePost, [reposted, false], { reposted: false }, doRepost),
  row("not reposted", "unrepost", sourcePost, [reposted, false], { reposted: false }),
  row("not following a public account", "followUser", somebody, [followed, "following"], following),
  row("not following a protected account", "followUser", aHermit, [asked, "requested"], pending),
  row("following", "followUser", somebody, [followed, "following"], following, doFollow),
  row("following a protected account", "followUser", aHermit, [asked, "following"], following, doFollowHermit),
  row("follow requested", "followUser", aHermit, [asked, "requested"], pending, doAsk),
  row("following", "unfollowUser", somebody, [followed, "none"], notFollowing, doFollow),
  row("not following", "unfollowUser", somebody, [followed, "none"], notFollowing),
  // The specification does not say what becomes of a request: it is taken back.
  row("follow requested", "unfollowUser", aHermit, [asked, "none"], notFollowing, doAsk),
  row("not blocking", "block", somebody, [blocked, true], { blocking: true }),
  row("blocking", "unblock", somebody, [blocked, false], { blocking: false }, doBlock),
  row("not blocking", "unblock", somebody, [blocked, false], { blocking: false }),
  row("not muting", "mute", somebody, [muted, true], { muting: true }),
  row("muting", "unmute", somebody, [muted, false], { muting: false }, doMute),
  row("not muting", "unmute", somebody, [muted, false], { muting: false }),
  row("reply visible", "hideReply", aReply, [hidden, true], { hidden: true }),
  row("reply hidden", "unhideReply", aReply, [hidden, false], { hidden: false }, doHide),
  row("list not followed", "followList", aList, [listed, true], { following: true }),
  row("list followed", "pinList", aList, [pinned, true], { pinned: true }, doFollowList),
  row("list pinned", "unpinList", aList, [pinned, false], { pinned: false }, doPinList),
  row("list not pinned", "unpinList", aList, [pinned, false], { pinned: false }),
  row("list followed", "unfollowList", aList, [listed, false], { following: false }, doFollowList)
]

describe("states", () => {
  it.effect.each(rows.map((row) => [`${row.before}: ${row.operation}`, row] as const))(
    "%s, twice",
    ([, row]) =>
      Effect.gen(function*() {
        for (const wire of Wire.names) {
          const it = yield* setting
          row.prepare?.(it)
          const { body, method, path } = requestOf(row.operation, row.parameters(it), ada(it), wire)
          for (const time of ["first", "second"]) {
            const answer = yield* it.bench.request(method, path, { body })
            const shown = `${time} ${wire} ${JSON.stringify(answer.body)}`
            assert.strictEqual(answer.status, 200, shown)
            const data = wire !== "neutral" && "reposted" in row.data ? { retweeted: row.data.reposted } : row.data
            // A repost tells of what it is one.
            const told = row.operation === "repost" ? { ...data, rest_id: it.post } : data
            assert.deepStrictEqual(answer.body, { data: told }, shown)
            assert.deepStrictEqual(row.state(it), row.after, shown)
          }
        }
      })
  )

  it.effect("are counted once, whatever is repeated", () =>
    Effect.gen(function*() {
      const it = yield* setting
      const { bench, other, post } = it
      const send = (name: Name, parameters: object) => {
        const { body, method, path } = requestOf(name, parameters, ada(it))
        return Effect.repeat(bench.request(method, path, { body }), { times: 1 })
      }
      const metrics = () => bench.store.posts.byId(post)!.public_metrics
      yield* send("like", { post_id: post })
      yield* send("bookmark", { post_id: post })
      yield* send("repost", { post_id: post })
      assert.deepInclude(metrics(), { like_count: 1, bookmark_count: 1, repost_count: 1 })
      yield* send("followUser", { target_user_id: other })
      assert.strictEqual(bench.store.users.byId(other)?.public_metrics.followers_count, 1)
      yield* send("unlike", { post_id: post })
      yield* send("removeBookmark", { post_id: post })
      yield* send("unrepost", { source_post_id: post })
      assert.deepInclude(metrics(), { like_count: 0, bookmark_count: 0, repost_count: 0 })
      yield* send("unfollowUser", { target_user_id: other })
      assert.strictEqual(bench.store.users.byId(other)?.public_metrics.followers_count, 0)
    }))

  it.effect("of things that do not exist: setting is refused, unsetting succeeds", () =>
    Effect.gen(function*() {
      const it = yield* setting
      for (
        const [name, parameters, status] of [
          ["like", { post_id: "5" }, 404],
          ["bookmark", { post_id: "5" }, 404],
          ["repost", { post_id: "5" }, 404],
          ["followUser", { target_user_id: "5" }, 404],
          ["block", { target_user_id: "5" }, 404],
          ["mute", { target_user_id: "5" }, 404],
          ["hideReply", { id: "5" }, 404],
          ["unhideReply", { id: "5" }, 404],
          ["unlike", { post_id: "5" }, 200],
          ["removeBookmark", { post_id: "5" }, 200],
          ["unrepost", { source_post_id: "5" }, 200],
          ["unfollowUser", { target_user_id: "5" }, 200],
          ["unblock", { target_user_id: "5" }, 200],
          ["unmute", { target_user_id: "5" }, 200],
          ["unfollowList", { list_id: "5" }, 200],
          ["unpinList", { list_id: "5" }, 200],
          ["followList", { list_id: "5" }, 404],
          ["pinList", { list_id: "5" }, 404],
          // Nobody does these to themselves.
          ["followUser", { target_user_id: ada(it) }, 400],
          ["block", { target_user_id: ada(it) }, 400],
          ["mute", { target_user_id: ada(it) }, 400]
        ] as const
      ) {
        const { body, method, path } = requestOf(name, parameters, ada(it))
        assert.strictEqual((yield* it.bench.request(method, path, { body })).status, status, name)
      }
    }))

  it.effect("of replies are for the one who began the conversation, and for replies", () =>
    Effect.gen(function*() {
      const it = yield* setting
      const { bench: { request, store }, other, post, root } = it
      const foreign = store.posts.insert({ authorId: ada(it), text: "mine", createdAt: now, inReplyToPostId: post })
      for (const id of [foreign, root]) {
        assert.strictEqual((yield* request("PUT", `/2/posts/${id}/hidden`, { body: { hidden: true } })).status, 403)
        assert.isFalse(store.posts.isHidden(id))
      }
      const deep = store.posts.insert({ authorId: other, text: "deep", createdAt: now, inReplyToPostId: it.reply })
      assert.strictEqual((yield* request("PUT", `/2/posts/${deep}/hidden`, { body: { hidden: true } })).status, 200)
      for (const body of [{}, { hidden: "true" }, { hidden: null }, [], "{"]) {
        assert.strictEqual((yield* request("PUT", `/2/posts/${deep}/hidden`, { body })).status, 400)
      }
      assert.isTrue(store.posts.isHidden(deep))
    }))

  it.effect("of spaces follow the clock", () =>
    Effect.gen(function*() {
      const { bench: { request, store }, other } = yield* setting
      const space = { creatorId: other, title: "needle", createdAt: now - 3 * day }
      const ended = store.spaces.insert({ ...space, startedAt: now - 2 * day, endedAt: now - day })
      const live = store.spaces.insert({ ...space, startedAt: now - 1, endedAt: now + 1 })
      const scheduled = store.spaces.insert({ ...space, scheduledStart: now + day })
      const ids = Effect.fnUntraced(function*(query: string) {
        const { body } = yield* request("GET", `/2/spaces/search?query=needle${query}`)
        return (body.data ?? []).map((space: { id: string; state: string }) => `${space.id} ${space.state}`)
      })
      const [a, b, c] = [`${scheduled} scheduled`, `${live} live`, `${ended} ended`]
      const others = (yield* ids("")).filter((id: string) => ![a, b, c].includes(id))
      assert.strictEqual(others.length, 1)
      assert.includeMembers(yield* ids(""), [a, b, c])
      assert.deepStrictEqual(yield* ids("&state=all"), yield* ids(""))
      assert.deepStrictEqual((yield* ids("&state=live")).filter((id: string) => !others.includes(id)), [b])
      assert.deepStrictEqual(yield* ids("&state=scheduled"), [a])
      assert.strictEqual((yield* request("GET", "/2/spaces/search?query=needle&state=ended")).status, 400)
    }))
})

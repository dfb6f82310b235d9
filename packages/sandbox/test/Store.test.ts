import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Result, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { inspect } from "node:util"
import * as Query from "../src/search/Query.ts"
import type { Cursor, Page } from "../src/store/Pages.ts"
import * as Snowflake from "../src/store/Snowflake.ts"
import { type State, Store, StoreUnavailable } from "../src/store/Store.ts"

const now = Date.UTC(2026, 10, 20, 12)

const query = (source: string) => Result.getOrThrow(Query.parse(source))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-store-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const populated = Effect.gen(function*() {
  const store = yield* Store.open({ file: ":memory:" })
  const ada = store.users.insert({ username: "ada", name: "Ada", createdAt: now - 9e9, description: "With @Grace_H" })
  const grace = store.users.insert({ username: "Grace_H", name: "Grace", createdAt: now - 8e9, verifiedType: "blue" })
  const alan = store.users.insert({ username: "alan", name: "Alan", createdAt: now - 7e9, protected: true })
  const post = (text: string, more: Partial<Parameters<typeof store.posts.insert>[0]> = {}) =>
    store.posts.insert({ authorId: ada, createdAt: now, text, ...more })
  return { store, ada, grace, alan, post }
})

/** Tables that layouts up to 8 have not. */
const later = [
  ..."dm_blocks pinned_lists affiliates communities community_members compliance_jobs compliance_results".split(" "),
  ..."app_owners charges charged_resources".split(" ")
]

/** Follows a listing to its end; `between` runs before every further page. */
const walk = <A>(read: (cursor: Cursor | undefined) => Page<A>, between: () => void = () => {}): Array<A> => {
  const items: Array<A> = []
  for (let page = read(undefined);; page = read(page.next)) {
    items.push(...page.items)
    assert.isBelow(items.length, 2000, "the pages do not end")
    if (page.next === undefined) return items
    between()
  }
}

const idsOf = (items: ReadonlyArray<{ readonly id: string }>) => items.map((item) => item.id)

describe("Snowflake", () => {
  it("tells its time and never repeats or goes back", () => {
    const first = Snowflake.after(0n, now)
    assert.strictEqual(Snowflake.toMillis(first), now)
    assert.isTrue(first > BigInt(Number.MAX_SAFE_INTEGER))
    const second = Snowflake.after(first, now)
    const third = Snowflake.after(second, now - 60_000)
    assert.deepStrictEqual([second, third], [first + 1n, first + 2n])
    assert.isTrue(Snowflake.fromMillis(now + 1) > third)
  })

  it("reads ids, and makes of everything else an id that nothing has", () => {
    assert.strictEqual(Snowflake.parse("1882378406461440001"), 1882378406461440001n)
    assert.strictEqual(Snowflake.parse("9999999999999999999"), Snowflake.maximum)
    for (const text of ["", "-1", "1.5", "0x10", " 1", "1 OR 1", "12345678901234567890"]) {
      assert.strictEqual(Snowflake.parse(text), -1n, text)
    }
    assert.strictEqual(Snowflake.fromMillis(Date.UTC(9999, 0)), Snowflake.maximum)
    assert.strictEqual(Snowflake.fromMillis(-5), 0n)
  })
})

describe("Store", () => {
  it.effect("keeps posts with all that belongs to them", () =>
    Effect.gen(function*() {
      const { ada, grace, post, store } = yield* populated
      const mediaId = store.attachments.insertMedia({
        ownerId: ada,
        type: "video",
        createdAt: now,
        facts: { width: 2, height: 1 }
      })
      const pollId = store.attachments.insertPoll({ options: ["A", "B"], durationMinutes: 60, createdAt: now })
      const root = post("👩‍💻 Hello @grace_h, #TypeScript and $ACME: https://www.example.com/a?b=1.", {
        mediaKeys: store.attachments.mediaKeys([mediaId]),
        pollId,
        placeId: "f00",
        lang: "en"
      })
      const reply = post("No entities", {
        authorId: grace,
        inReplyToPostId: root,
        createdAt: now + 1,
        quotedPostId: root
      })
      assert.deepStrictEqual(store.posts.byId(root), {
        id: root,
        text: "👩‍💻 Hello @grace_h, #TypeScript and $ACME: https://www.example.com/a?b=1.",
        edit_history_post_ids: [root],
        author_id: ada,
        created_at: "2026-11-20T12:00:00.000Z",
        conversation_id: root,
        lang: "en",
        source: "Postwire Sandbox",
        reply_settings: "everyone",
        possibly_sensitive: false,
        entities: {
          mentions: [{ start: 10, end: 18, username: "Grace_H", id: grace }],
          hashtags: [{ start: 20, end: 31, tag: "TypeScript" }],
          cashtags: [{ start: 36, end: 41, tag: "ACME" }],
          urls: [{
            start: 43,
            end: 72,
            url: "https://www.example.com/a?b=1",
            expanded_url: "https://www.example.com/a?b=1",
            display_url: "example.com/a?b=1"
          }]
        },
        attachments: { media_keys: [`7_${mediaId}`], poll_ids: [pollId] },
        geo: { place_id: "f00" },
        public_metrics: {
          repost_count: 0,
          reply_count: 1,
          like_count: 0,
          quote_count: 1,
          bookmark_count: 0,
          impression_count: 0
        }
      })
      const answer = store.posts.byId(reply)!
      assert.strictEqual(answer.conversation_id, root)
      assert.strictEqual(answer.in_reply_to_user_id, ada)
      assert.deepStrictEqual(answer.referenced_posts, [{ type: "quoted", id: root }, { type: "replied_to", id: root }])
      assert.notProperty(answer, "entities")
      assert.deepStrictEqual(idsOf(store.posts.byIds([reply, "404", root, reply])), [reply, root])
      assert.deepStrictEqual(store.attachments.mediaByKeys([`7_${mediaId}`, "3_1"]), [
        { media_key: `7_${mediaId}`, type: "video", owner_id: ada, width: 2, height: 1 }
      ])
      const poll = (at: number) => store.attachments.pollsByIds([pollId], at)[0]
      assert.deepStrictEqual(poll(now), {
        id: pollId,
        options: [{ position: 1, label: "A", votes: 0 }, { position: 2, label: "B", votes: 0 }],
        duration_minutes: 60,
        end_datetime: "2026-11-20T13:00:00.000Z",
        voting_status: "open"
      })
      assert.strictEqual(poll(now + 3_600_000)?.voting_status, "closed")
      assert.strictEqual(store.users.byId(ada)?.public_metrics.post_count, 1)
      assert.strictEqual(store.users.byId(ada)?.most_recent_post_id, root)
    }))

  it.effect("deletes a post with its reposts, marks and counts, once, and never gives its id again", () =>
    Effect.gen(function*() {
      const { ada, grace, post, store } = yield* populated
      const root = post("Original words")
      const reply = post("Answer", { inReplyToPostId: root })
      const repost = post("RT Original words", { authorId: grace, repostedPostId: root })
      assert.strictEqual(store.posts.repostBy(grace, root), repost)
      assert.throws(() => post("RT again", { authorId: grace, repostedPostId: root }))
      store.likes.set(grace, root, true)
      store.bookmarks.set(grace, root, true)
      store.users.pin(ada, root)
      assert.strictEqual(store.users.byId(ada)?.pinned_post_id, root)
      assert.strictEqual(store.posts.delete(reply), true)
      assert.strictEqual(store.posts.byId(root)?.public_metrics.reply_count, 0)
      assert.strictEqual(store.posts.delete(root), true)
      assert.strictEqual(store.posts.delete(root), false)
      assert.isUndefined(store.posts.byId(root))
      assert.isUndefined(store.posts.byId(repost))
      assert.strictEqual(store.users.byId(ada)?.public_metrics.post_count, 0)
      assert.strictEqual(store.users.byId(grace)?.public_metrics.post_count, 0)
      assert.strictEqual(store.users.byId(grace)?.public_metrics.like_count, 0)
      assert.notProperty(store.users.byId(ada), "pinned_post_id")
      assert.deepStrictEqual(store.bookmarks.posts({ userId: grace, limit: 10 }).items, [])
      assert.deepStrictEqual(store.posts.search({ query: query("words"), limit: 10 }).items, [])
      assert.isTrue(BigInt(post("Next")) > BigInt(repost))
    }))

  it.effect("pages forward without loss or repetition while posts come and go", () =>
    Effect.gen(function*() {
      const { ada, post, store } = yield* populated
      const ids = Array.from({ length: 57 }, (_, i) => post(`page ${i}`, { createdAt: now + i }))
      let n = 0
      const disturb = () => {
        post(`page new ${n}`, { createdAt: now + 1000 + n })
        // The very post that the next page starts from.
        store.posts.delete(ids[47 - n]!)
        n += 10
      }
      const expected = ids.toReversed()
      for (
        const read of [
          (cursor: Cursor | undefined) =>
            store.timelines.byAuthor({ authorId: ada, until: now + 1000, limit: 10, cursor }),
          (cursor: Cursor | undefined) => store.posts.search({ query: query("page -new"), limit: 7, cursor })
        ]
      ) assert.deepStrictEqual(idsOf(walk(read)), expected)
      assert.deepStrictEqual(
        idsOf(walk((cursor) => store.posts.search({ query: query("page"), limit: 10, cursor }), disturb)),
        // The posts that vanished in between were all on pages already read.
        expected
      )
    }))

  it.effect("lists the public quotes of a post", () =>
    Effect.gen(function*() {
      const { alan, grace, post, store } = yield* populated
      const root = post("root")
      const other = post("other")
      const [a, b, c] = [grace, grace, alan].map((authorId, i) =>
        post(`quote ${i}`, { authorId, quotedPostId: root, createdAt: now + i })
      ) as [string, string, string]
      const reply = post("a quote in a reply", { quotedPostId: root, inReplyToPostId: other, createdAt: now + 9 })
      post("of another post", { quotedPostId: other })
      assert.isDefined(c)
      const quotes = (excludeReplies: boolean) =>
        idsOf(walk((cursor) =>
          store.posts.quotesOf({ postId: root, excludeReplies, viewer: { userId: undefined }, limit: 1, cursor })
        ))
      assert.deepStrictEqual(quotes(false), [reply, b, a])
      assert.deepStrictEqual(quotes(true), [b, a])
    }))

  it.effect("orders by relevancy: the most seen first in steps, and of each the latest, all of them", () =>
    Effect.gen(function*() {
      const { post, store } = yield* populated
      const seen = [5, 255, 256, 0, 4_096, 4_095, 65_536, 70_000, 3e9, 2 ** 20, 3]
      const ids = seen.map((impressions, i) => post("seen", { impressions, createdAt: now + i }))
      const expected = [9, 8, 7, 6, 4, 5, 2, 10, 3, 1, 0].map((i) => ids[i]!)
      // The index reads the steps of the one, and all posts of the other, because its terms may seldom meet.
      for (
        const [source, limit] of ["seen", "seen -is:reply lang:und from:ada"].flatMap((source) =>
          [1, 2, 5, 10, 11, 20].map((limit) => [source, limit] as const)
        )
      ) {
        const read = (cursor: Cursor | undefined) =>
          store.posts.search({ query: query(source), order: "relevancy", limit, cursor })
        assert.deepStrictEqual(idsOf(walk(read)), expected)
        const { next } = read(undefined)
        assert.strictEqual(next === undefined, limit >= ids.length)
      }
    }))

  it.effect("carries messages between two and between many", () =>
    Effect.gen(function*() {
      const { ada, alan, grace, store } = yield* populated
      const { messages } = store
      const pair = messages.open(grace, ada)
      assert.strictEqual(pair, `${ada}-${grace}`)
      assert.strictEqual(messages.open(ada, grace), pair)
      assert.deepStrictEqual(messages.conversation(pair), { id: pair, type: "OneToOne", participantIds: [ada, grace] })
      assert.isUndefined(messages.conversation("1-2"))
      const old = messages.insert({
        conversationId: pair,
        senderId: ada,
        createdAt: now - 31 * 86_400_000,
        text: "old"
      })
      const group = messages.openGroup({ creatorId: alan, participantIds: [ada, grace], createdAt: now - 5 })
      assert.match(group, /^[0-9]{15,19}$/)
      const hello = messages.insert({
        conversationId: pair,
        senderId: ada,
        createdAt: now,
        text: "Hi @alan #dm",
        mediaKey: "3_9"
      })
      const other = messages.open(alan, grace)
      const foreign = messages.insert({ conversationId: other, senderId: alan, createdAt: now, text: "not for ada" })
      assert.deepStrictEqual(messages.byId(hello), {
        id: hello,
        event_type: "MessageCreate",
        text: "Hi @alan #dm",
        sender_id: ada,
        dm_conversation_id: pair,
        created_at: new Date(now).toISOString(),
        attachments: { media_keys: ["3_9"] },
        mentions: [{ start: 3, end: 8, username: "alan", id: alan }],
        hashtags: [{ start: 9, end: 12, tag: "dm" }]
      })
      const join = messages.events({ conversationId: group, limit: 5 }).items[0]!
      assert.strictEqual(join.event_type, "ParticipantsJoin")
      assert.deepStrictEqual(join.participant_ids, [ada, grace])
      const own = (more = {}) => idsOf(messages.events({ userId: ada, limit: 10, ...more }).items)
      assert.deepStrictEqual(own(), [hello, join.id, old])
      assert.deepStrictEqual(own({ from: now - 30 * 86_400_000 }), [hello, join.id])
      assert.deepStrictEqual(own({ types: ["ParticipantsJoin"] }), [join.id])
      assert.deepStrictEqual(own({ types: ["ParticipantsLeave"] }), [])
      assert.deepStrictEqual(
        idsOf(walk((cursor) => messages.events({ userId: grace, limit: 1, cursor }))),
        [foreign, hello, join.id, old]
      )
    }))

  it.effect("finds credentials and shows none of them", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const file = join(path, "credentials.db")
      const scope = yield* Scope.make()
      const store = yield* Scope.provide(Store.open({ file }), scope)
      const { credentials } = store
      const appId = credentials.insertApp({
        name: "App",
        access: "standard",
        rights: "read",
        consumerKey: "ck",
        consumerSecret: Redacted.make("consumer-secret"),
        createdAt: now
      })
      const rights = "read-write"
      credentials.insertAccessToken({ token: "5-t", secret: Redacted.make("token-secret"), appId, userId: "5", rights })
      const token = Redacted.make("bearer-secret")
      const scopes = ["post.read", "dm.write"] as const
      credentials.insertBearerToken({ token, appId, userId: "5", rights, scopes })
      credentials.insertBearerToken({ token: Redacted.make("app-only"), appId, userId: undefined, rights, scopes: [] })
      const known = { appId, rights, isFresh: false } as const
      assert.deepStrictEqual(credentials.bearerToken(token), { ...known, userId: "5", scopes: [...scopes] })
      assert.deepStrictEqual(credentials.bearerToken(Redacted.make("app-only")), { ...known, scopes: [] })
      assert.isUndefined(credentials.bearerToken(Redacted.make("Bearer-secret")))
      assert.isUndefined(credentials.accessToken("5-T"))
      assert.isUndefined(credentials.appByConsumerKey("CK"))
      credentials.setRights(appId, "read-write-directmessages")
      assert.strictEqual(credentials.appById(appId)?.rights, "read-write-directmessages")
      const access = credentials.accessToken("5-t")!
      assert.strictEqual(access.rights, rights)
      assert.strictEqual(Redacted.value(access.secret), "token-secret")
      const app = credentials.appByConsumerKey("ck")!
      assert.strictEqual(Redacted.value(app.consumerSecret), "consumer-secret")
      assert.notMatch(inspect([app, access], { depth: 9, showHidden: true }) + JSON.stringify([app, access]), /-secret/)
      yield* Scope.close(scope, Exit.void)
      const database = new DatabaseSync(file, { readOnly: true, readBigInts: true })
      const stored = inspect(database.prepare("SELECT * FROM bearer_tokens").all())
      database.close()
      assert.match(stored, /[0-9a-f]{64}/)
      assert.notMatch(stored, /bearer-secret|app-only/)
    }))

  it.effect("keeps all of a transaction or nothing", () =>
    Effect.gen(function*() {
      const { ada, post, store } = yield* populated
      const kept = store.transaction(() => {
        const id = post("kept")
        store.likes.set(ada, id, true)
        return id
      })
      assert.throws(() =>
        store.transaction(() => {
          post("lost")
          store.likes.set(ada, kept, false)
          throw new Error("stop")
        }), "stop")
      assert.isTrue(store.likes.has(ada, kept))
      assert.deepStrictEqual(idsOf(store.timelines.byAuthor({ authorId: ada, limit: 9 }).items), [kept])
      assert.deepStrictEqual(store.posts.search({ query: query("lost"), limit: 9 }).items, [])
      post("after")
    }))

  it.effect("reads again what it wrote, and refuses what it cannot read", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const file = join(path, "store.db")
      const insert = Effect.scoped(Effect.map(Store.open({ file }), (store) => {
        const authorId = store.users.byUsername("ada")?.id ??
          store.users.insert({ username: "ada", name: "Ada", createdAt: now })
        return store.posts.insert({ authorId, text: "again", createdAt: now })
      }))
      const ids = [yield* insert, yield* insert]
      const found = yield* Effect.scoped(Effect.map(
        Store.open({ file }),
        (store) => store.posts.search({ query: query("again"), limit: 9 }).items
      ))
      assert.deepStrictEqual(idsOf(found), ids.toReversed())
      const database = new DatabaseSync(file)
      database.exec("PRAGMA user_version = 999")
      database.close()
      for (const bad of [file, join(path, "no", "such", "folder.db"), path]) {
        const error = yield* Effect.flip(Effect.scoped(Store.open({ file: bad })))
        assert.instanceOf(error, StoreUnavailable)
        assert.strictEqual(error.file, bad)
      }
    }))

  it.effect.each([7, 8])(
    "reads files and snapshots of layout %i, with all that is in them",
    (layout) =>
      Effect.gen(function*() {
        const path = yield* folder
        const file = join(path, "store.db")
        const { gone, last, list, member } = yield* Effect.scoped(Effect.map(Store.open({ file }), (store) => {
          const user = (username: string) => store.users.insert({ username, name: username, createdAt: now })
          const [owner, member, gone, last] = ["ada", "grace", "mary", "alan"].map(user) as [
            string,
            string,
            string,
            string
          ]
          const list = store.lists.insert({ ownerId: owner, name: "List", createdAt: now })
          store.lists.setMember(list, member, true)
          store.lists.setMember(list, owner, true)
          return { gone, last, list, member }
        }))
        const database = new DatabaseSync(file)
        database.exec(`
        DELETE FROM users WHERE username = 'alan';
        ALTER TABLE list_members RENAME TO ordered;
        CREATE TABLE list_members (list_id INTEGER NOT NULL, user_id INTEGER NOT NULL, PRIMARY KEY (list_id, user_id))
          STRICT, WITHOUT ROWID;
        INSERT INTO list_members SELECT list_id, user_id FROM ordered;
        DROP TABLE ordered;
        DROP INDEX lists_by_owner;
        ${later.map((table) => `DROP TABLE ${table};`).join("")}
        UPDATE users SET suspended = 1 WHERE id = ${gone};
        PRAGMA user_version = ${layout}`)
        if (layout === 7) database.exec("DROP INDEX users_suspended; ALTER TABLE users DROP COLUMN suspended")
        database.close()
        const snapshot = readFileSync(file)
        const holds = (store: State) => {
          assert.doesNotThrow(store.verify)
          assert.lengthOf(store.lists.members({ listId: list, limit: 9 }).items, 2)
          assert.strictEqual(store.users.byId(gone)?.suspended, layout === 8)
          assert.isEmpty(store.complianceJobs.of("1", "posts"))
          assert.strictEqual(store.users.byId(member)?.public_metrics.listed_count, 1)
          store.lists.delete(list)
          assert.strictEqual(store.users.byId(member)?.public_metrics.listed_count, 0)
          // The id of a user who was deleted is given to nobody else.
          assert.isTrue(BigInt(store.users.insert({ username: "new", name: "New", createdAt: now })) > BigInt(last))
        }
        for (const opened of [file, join(path, "other.db"), ":memory:"]) {
          yield* Effect.scoped(Effect.map(Store.open({ file: opened }), (store) => {
            if (opened !== file) store.restore(snapshot, () => undefined)
            holds(store)
          }))
        }
      })
  )

  it.live("loses nothing that was acknowledged when its process is killed", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const file = join(path, "store.db")
      const acknowledged = yield* Effect.promise(async () => {
        const child = spawn(process.execPath, [
          "--disable-warning=ExperimentalWarning",
          fileURLToPath(new URL("fixtures/writer.ts", import.meta.url)),
          file
        ])
        let output = ""
        let errors = ""
        child.stderr.on("data", (chunk) => errors += chunk)
        child.stdout.on("data", (chunk) => {
          output += chunk
          if (output.length > 4000) child.kill("SIGKILL")
        })
        const [, signal] = await once(child, "close")
        assert.strictEqual(signal, "SIGKILL", errors)
        return output.split("\n").slice(0, -1)
      })
      assert.isAbove(acknowledged.length, 100)
      const store = yield* Store.open({ file })
      const posts = acknowledged.map((id) => store.posts.byId(id))
      assert.isFalse(posts.includes(undefined))
      for (const [i, post] of posts.entries()) {
        assert.strictEqual(post?.public_metrics.like_count, i % 3 === 0 ? 1 : 0)
        assert.deepStrictEqual(idsOf(store.posts.search({ query: query(`word${i}`), limit: 2 }).items), [post!.id])
      }
    }))
})

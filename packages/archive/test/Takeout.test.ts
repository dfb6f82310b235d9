import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Deferred, Effect, Fiber } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import * as Copy from "../src/copy/Copy.ts"
import * as Media from "../src/media/Media.ts"
import type { Source } from "../src/sources/SyncFile.ts"
import * as Gone from "../src/sync/Gone.ts"
import * as Plan from "../src/sync/Plan.ts"
import * as Sync from "../src/sync/Sync.ts"
import * as Parts from "../src/takeout/Parts.ts"
import * as Takeout from "../src/takeout/Takeout.ts"
import { client, copy, folder, onEach, rows, rowsIn, sandbox } from "./support/Scene.ts"
import { part, writeZip } from "./support/Zip.ts"

const account = part("account", [{
  account: {
    email: "ada@example.com",
    createdVia: "web",
    username: "ada",
    accountId: "42",
    createdAt: "2011-06-23T13:04:14.000Z",
    accountDisplayName: "Ada"
  }
}])

const post = (id: string, full_text: string, more: object = {}) => ({
  tweet: {
    edit_info: { initial: { editTweetIds: [id], editsRemaining: "5", isEditEligible: false } },
    retweeted: false,
    source: "<a href=\"https://mobile.twitter.com\" rel=\"nofollow\">Twitter Web App</a>",
    entities: { hashtags: [], symbols: [], user_mentions: [], urls: [] },
    display_text_range: ["0", "71"],
    favorite_count: "3",
    id_str: id,
    truncated: false,
    retweet_count: "1",
    id,
    created_at: "Sat Feb 18 12:33:11 +0000 2023",
    favorited: false,
    full_text,
    lang: "en",
    ...more
  }
})

const long = `A long post &amp; more: ${"word ".repeat(80)}end`

const photo = {
  id_str: "900",
  type: "photo",
  media_url_https: "https://pbs.twimg.com/media/EXAMPLE.jpg",
  url: "https://t.co/p",
  indices: ["5", "20"],
  sizes: { large: { w: "1200", h: "800", resize: "fit" } }
}

const files = {
  "data/account.js": account,
  "data/profile.js": part("profile", [{
    profile: {
      description: { bio: "Numbers", website: "", location: "London" },
      avatarMediaUrl: "https://pbs.twimg.com/a.jpg"
    }
  }]),
  "data/tweets.js": part("tweets", [
    post("100", "with [brackets], \"quotes\" and \\ in it #tag", {
      entities: {
        hashtags: [{ text: "tag", indices: ["38", "42"] }],
        symbols: [],
        user_mentions: [],
        urls: []
      }
    }),
    post("101", "@grace no", {
      in_reply_to_status_id_str: "90",
      in_reply_to_user_id_str: "43",
      in_reply_to_screen_name: "grace"
    }),
    post("102", `${long.slice(0, 270)}… https://t.co/self`),
    post("103", "RT @grace: something that is cut…"),
    post("104", "look https://t.co/q", {
      entities: {
        hashtags: [],
        symbols: [],
        user_mentions: [],
        urls: [{
          url: "https://t.co/q",
          expanded_url: "https://twitter.com/grace/status/91",
          display_url: "twitter.com/grace/status/91",
          indices: ["5", "19"]
        }]
      }
    })
  ]),
  "data/tweets-part1.js": part("tweets", [
    post("105", "look https://t.co/p", { entities: { media: [photo] }, extended_entities: { media: [photo] } })
  ], 1),
  "data/note-tweet.js": part("note_tweet", [
    {
      noteTweet: {
        noteTweetId: "7",
        createdAt: "2023-02-18T12:33:10.000Z",
        lifecycle: {},
        core: { text: long, urls: [] }
      }
    }
  ]),
  "data/like.js": part("like", [
    { like: { tweetId: "80", fullText: "liked", expandedUrl: "https://twitter.com/i/web/status/80" } },
    { like: { tweetId: "81", expandedUrl: "https://twitter.com/i/web/status/81" } }
  ]),
  "data/bookmark.js": part("bookmark", [{ bookmark: { tweetId: "82" } }]),
  "data/follower.js": part("follower", [{
    follower: { accountId: "43", userLink: "https://twitter.com/intent/user?user_id=43" }
  }]),
  "data/following.js": part("following", [{ following: { accountId: "44", userLink: "" } }]),
  "data/direct-messages.js": part("direct_messages", [{
    dmConversation: {
      conversationId: "42-43",
      messages: [
        {
          messageCreate: {
            id: "70",
            text: "hello",
            senderId: "43",
            recipientId: "42",
            createdAt: "2024-04-06T15:30:00.000Z",
            mediaUrls: [],
            urls: [],
            reactions: []
          }
        },
        {
          joinConversation: {
            initiatingUserId: "43",
            participantsSnapshot: ["42"],
            createdAt: "2024-04-06T15:30:00.000Z"
          }
        }
      ]
    }
  }]),
  "assets/other.js": "nothing"
}

const sources: ReadonlyArray<Source> = [
  { kind: "posts" },
  { kind: "likes", of: "@Ada", name: "my likes" },
  { kind: "followers" },
  { kind: "mentions" }
]

const takeIn = (path: string, zip: string, options: Partial<Takeout.Options> = {}) =>
  Takeout.run(zip, { sources, ...options }).pipe(Effect.provide(copy(path)))

describe("an import", () => {
  it.live("has posts, long ones whole, likes, follows, messages, and where later syncs begin", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const [path, zip] = [join(root, "own.sqlite"), join(root, "twitter.zip")]
      writeZip(zip, files)
      assert.deepStrictEqual(yield* takeIn(path, zip), {
        username: "ada",
        items: 12,
        added: 11,
        files: 0,
        problems: []
      })
      const posts = rows(path, "SELECT id, text, is_preview, author_id, created_at FROM posts ORDER BY length(id), id")
      assert.deepStrictEqual(posts.map(({ id, is_preview, text }) => [id, text, is_preview]), [
        ["80", "liked", 1],
        ["81", null, 1],
        ["82", null, 1],
        ["100", "with [brackets], \"quotes\" and \\ in it #tag", 0],
        ["101", "@grace no", 0],
        ["102", long, 0],
        ["103", "RT @grace: something that is cut…", 1],
        ["104", "look https://t.co/q", 0],
        ["105", "look https://t.co/p", 0]
      ])
      assert.deepInclude(posts[3], { author_id: "42", created_at: "2023-02-18T12:33:11.000Z" })
      const edges = rows(path, "SELECT kind, from_id, to_id FROM edges ORDER BY kind, from_id")
      assert.deepStrictEqual(edges.map(({ from_id, kind, to_id }) => [kind, from_id, to_id].join(" ")), [
        "bookmarks 42 82",
        "follows 42 44",
        "follows 43 42",
        "likes 42 80",
        "likes 42 81",
        "media 105 3_900",
        "messages 42 70",
        "quoted 104 91",
        "replied_to 101 90"
      ])
      assert.deepStrictEqual(rows(path, "SELECT media_key, url, width FROM media"), [
        { media_key: "3_900", url: photo.media_url_https, width: 1200 }
      ])
      assert.deepInclude(rows(path, "SELECT username, description, location FROM users"), {
        username: "ada",
        description: "Numbers",
        location: "London"
      })
      assert.deepInclude(rows(path, "SELECT sender_id, dm_conversation_id, text FROM messages"), {
        sender_id: "43",
        dm_conversation_id: "42-43",
        text: "hello"
      })
      const states = rows(
        path,
        "SELECT source, subject, state FROM progress WHERE source NOT LIKE ' %' ORDER BY source"
      )
      assert.deepStrictEqual(states.map(({ source, subject }) => [source, subject]), [
        ["followers me", "me"],
        ["my likes", "@Ada"],
        ["posts me", "me"]
      ])
      assert.deepStrictEqual(JSON.parse(String(states[2]?.["state"])), {
        id: "42",
        doneAt: Date.UTC(2023, 1, 18, 12, 33, 11),
        newest: "105",
        newestAt: "2023-02-18T12:33:11.000Z"
      })
      const again = yield* takeIn(path, zip)
      assert.deepStrictEqual(again, { username: "ada", items: 0, added: 0, files: 0, problems: [] })
    }).pipe(Effect.scoped))

  it.live("keeps photos until their original is fetched, and no file of another type", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const [path, zip] = [join(root, "own.sqlite"), join(root, "twitter.zip")]
      const small = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(500, 1)])
      writeZip(zip, {
        ...files,
        "data/tweets_media/105-EXAMPLE.jpg": small,
        "data/tweets_media/105-EXAMPLE.html": "<script>",
        "data/tweets_media/106-OTHER.jpg": small
      })
      assert.strictEqual((yield* takeIn(path, zip, { media: true })).files, 1)
      const [row] = rows(path, "SELECT file, content_type, fetched_at FROM media_files")
      assert.deepInclude(row, { content_type: "image/jpeg", fetched_at: null })
      const kept = join(`${path}.media`, String(row?.["file"]))
      assert.isTrue(readFileSync(kept).equals(small))
      assert.strictEqual((yield* takeIn(path, zip, { media: true })).files, 0)
      // The service no longer has it.
      yield* Media.run({ hosts: [] }).pipe(Effect.provide(copy(path)))
      assert.isTrue(existsSync(kept))
      const large = Buffer.concat([small, small])
      const server = yield* Effect.acquireRelease(
        Effect.callback<Server>((resume) => {
          const server = createServer((_, response) =>
            response.writeHead(200, { "content-type": "image/jpeg" }).end(large)
          )
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
      yield* Effect.gen(function*() {
        const { sql } = yield* Copy.Current
        yield* sql.unsafe("UPDATE media_files SET attempts = 0")
        yield* sql.unsafe("UPDATE media SET url = ?", [`http://${host}/EXAMPLE.jpg`])
        assert.strictEqual((yield* Media.run({ hosts: [host] })).files, 1)
      }).pipe(Effect.provide(copy(path)))
      assert.isFalse(existsSync(kept))
      const [fetched] = rows(path, "SELECT file FROM media_files")
      assert.isTrue(readFileSync(join(`${path}.media`, String(fetched?.["file"]))).equals(large))
    }).pipe(Effect.scoped))

  it.live("continues after it was killed, and keeps what the copy knows", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const [path, zip] = [join(root, "own.sqlite"), join(root, "twitter.zip")]
      const many = Array.from({ length: 1_200 }, (_, index) =>
        post(
          String(1_000 + index),
          `number ${index} ]}\\ "{[`,
          index === 1 ? { extended_entities: { media: [{ ...photo, id_str: "901" }] } } : {}
        ))
      writeZip(zip, { ...files, "data/tweets.js": part("tweets", many) })
      yield* Effect.gen(function*() {
        const copy = yield* Copy.Current
        yield* Copy.write(copy, {
          objects: {
            posts: [{ id: "1000", text: "known", public_metrics: { like_count: 9 } }, { id: "1001", text: "deleted" }]
          },
          edges: [{ kind: "likes", from: "42", to: "80" }]
        })
        yield* Gone.mark(copy, "posts", [{ id: "1001", why: "deleted" }])
        yield* Copy.sweep(copy, { kind: "likes", end: "from_id", id: "42", since: 1_000 })
      }).pipe(Effect.provide(copy(path)))
      const begun = yield* Deferred.make<void>()
      const killed = yield* Effect.forkChild(takeIn(path, zip, {
        onBatch: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      }))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(killed)
      const { items } = yield* takeIn(path, zip)
      assert.strictEqual(items, 1_200 + 7 - 500)
      const [counted] = rows(path, "SELECT count(*) AS n FROM posts WHERE text LIKE 'number %'")
      assert.strictEqual(counted?.["n"], 1_198)
      assert.deepStrictEqual(
        rows(
          path,
          "SELECT text, public_metrics_like_count AS likes, gone FROM posts WHERE id IN ('1000', '1001') ORDER BY id"
        ),
        [{ text: "known", likes: 9, gone: null }, { text: null, likes: null, gone: "deleted" }]
      )
      assert.lengthOf(rows(path, "SELECT 1 FROM media WHERE media_key = '3_901'"), 0)
      assert.deepStrictEqual(rows(path, "SELECT gone_at IS NULL AS kept FROM edges WHERE to_id = '80'"), [{ kept: 0 }])
    }).pipe(Effect.scoped))

  it.live("omits elements whose ids no copy can hold, and imports the others", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const [path, zip] = [join(root, "own.sqlite"), join(root, "twitter.zip")]
      const link = {
        url: "https://t.co/q",
        expanded_url: `https://x.com/a/status/${"9".repeat(30)}`,
        indices: ["0", "5"]
      }
      writeZip(zip, {
        "data/account.js": account,
        "data/tweets.js": part("tweets", [
          post("9223372036854775808", "too large"),
          post("007", "with zeros"),
          post("9223372036854775807", "the largest"),
          post("110", "quotes none https://t.co/q", { entities: { urls: [link] } })
        ]),
        "data/like.js": part("like", [{ like: { tweetId: "9999999999999999999" } }, { like: { tweetId: "80" } }])
      })
      const { problems } = yield* takeIn(path, zip)
      assert.sameDeepMembers([...problems], [
        { file: "tweets.js", reason: "2 elements have another form" },
        { file: "like.js", reason: "1 elements have another form" }
      ])
      assert.deepStrictEqual(
        rows(path, "SELECT id FROM posts ORDER BY length(id)").map(({ id }) => id),
        ["80", "110", "9223372036854775807"]
      )
    }).pipe(Effect.scoped))

  it.live("reports malformed files, imports the others, and does not count their lists as read", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const [path, zip] = [join(root, "own.sqlite"), join(root, "twitter.zip")]
      const tweets = files["data/tweets.js"]
      writeZip(zip, {
        ...files,
        "data/tweets.js": tweets.slice(0, tweets.length - 300),
        "data/like.js": part("like", [{ like: { tweetId: "80" } }, { like: { tweetId: "../80" } }]),
        "data/follower.js": "<html>"
      })
      const { problems } = yield* takeIn(path, zip)
      assert.sameDeepMembers([...problems], [
        { file: "tweets.js", reason: "it ends early" },
        { file: "like.js", reason: "1 elements have another form" },
        { file: "follower.js", reason: "it does not begin with window.YTD" }
      ])
      assert.lengthOf(rows(path, "SELECT 1 FROM progress WHERE source NOT LIKE ' %'"), 0)
      assert.lengthOf(rows(path, "SELECT 1 FROM posts WHERE id = '105'"), 1)
    }).pipe(Effect.scoped))

  it.live.each(
    [
      ["a name that leaves it", { ...files, "data/../../etc/x.js": "" }, "invalid relative path"],
      [
        "a file that expands without measure",
        { ...files, "data/tweets_media/a.mp4": Buffer.alloc(20_000_000) },
        "larger than"
      ],
      ["no account", { "data/tweets.js": files["data/tweets.js"] }, "data/account.js"]
    ] as const
  )("refuses an archive with %s, before anything is written", ([, content, reason]) =>
    Effect.gen(function*() {
      const root = yield* folder
      const [path, zip] = [join(root, "own.sqlite"), join(root, "twitter.zip")]
      writeZip(zip, content)
      const error = yield* Effect.flip(takeIn(path, zip))
      assert.strictEqual(error._tag, "TakeoutUnusable")
      assert.include(error.message, reason)
      assert.lengthOf(rows(path, "SELECT 1 FROM users"), 0)
      writeFileSync(zip, "no archive")
      assert.include((yield* Effect.flip(takeIn(path, zip))).message, "cannot be imported")
    }).pipe(Effect.scoped))

  it.live("and then a sync have what a sync alone has, for less", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const [alone, both, zip] = [join(root, "alone.sqlite"), join(root, "both.sqlite"), join(root, "twitter.zip")]
      const { ada, clock, store } = yield* Sandbox.Sandbox
      const own = [{ kind: "posts" }, { kind: "followers" }] as const
      const sync = (path: string) =>
        Sync.run({ sources: own }).pipe(
          Effect.provide(client()),
          Effect.provide(copy(path))
        )
      const expensive = yield* sync(alone)
      const posts = rows(alone, `SELECT id, text, created_at FROM posts WHERE author_id = '${ada.id}'`)
      const followers = rows(alone, "SELECT from_id FROM edges WHERE kind = 'follows'")
      writeZip(zip, {
        "data/account.js": part("account", [{ account: { accountId: ada.id, username: ada.username } }]),
        "data/tweets.js": part(
          "tweets",
          posts.map(({ created_at, id, text }) => {
            const [day, date, month, year, time] = new Date(String(created_at)).toUTCString().split(/,? /)
            return post(String(id), String(text), { created_at: `${day} ${month} ${date} ${time} +0000 ${year}` })
          })
        ),
        "data/follower.js": part("follower", followers.map(({ from_id }) => ({ follower: { accountId: from_id } })))
      })
      yield* takeIn(both, zip, { sources: own })
      const planned = yield* Plan.estimate(own, false).pipe(Effect.provide(client()), Effect.provide(copy(both)))
      assert.deepStrictEqual(planned.map(({ micros }) => micros), [0, 0])
      const id = store.posts.insert({ authorId: ada.id, text: "later", createdAt: clock.now() })
      yield* sync(alone)
      const cheap = yield* sync(both)
      assert.isBelow(cheap.items, expensive.items)
      const texts = `SELECT id, text FROM posts WHERE author_id = '${ada.id}' AND is_preview = 0 ORDER BY id`
      assert.deepStrictEqual(rows(both, texts), rows(alone, texts))
      assert.deepInclude(rows(both, texts), { id, text: "later" })
      const follows = "SELECT from_id, to_id FROM edges WHERE kind = 'follows' AND gone_at IS NULL ORDER BY 1"
      assert.deepStrictEqual(rows(both, follows), rows(alone, follows))
    }).pipe(Effect.provide(sandbox()), Effect.scoped))
})

onEach("an import with media", (made) => {
  it.live("has rows and files, which go with their post", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const place = yield* made
      const [media, zip] = [join(root, "media"), join(root, "twitter.zip")]
      const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(500, 1)])
      writeZip(zip, { ...files, "data/tweets_media/105-EXAMPLE.jpg": jpeg })
      const first = Takeout.run(zip, { sources, media }).pipe(Effect.provide(place))
      assert.deepInclude(yield* first, { items: 12, added: 11, files: 1, problems: [] })
      assert.deepInclude(yield* first, { items: 0, added: 0, files: 0, problems: [] })
      const kept = "SELECT file, problem, attempts FROM media_files"
      const [row] = yield* rowsIn(place, kept)
      const path = join(media, String(row?.["file"]))
      assert.isTrue(existsSync(path))
      yield* Effect.gen(function*() {
        const copy = yield* Copy.Current
        assert.deepStrictEqual((yield* Media.run({ hosts: [] })).problems, {
          "pbs.twimg.com is not among the hosts of media": 1
        })
        yield* Gone.mark(copy, "posts", [{ id: "105", why: "deleted" }])
        yield* Media.removeUnreferred(copy)
      }).pipe(Effect.provide(place))
      assert.isFalse(existsSync(path))
      assert.deepStrictEqual(yield* rowsIn(place, kept), [])
    }).pipe(Effect.scoped))
})

describe("the elements of a file", () => {
  const elementsOf = (elements: ReadonlyArray<object>) =>
    Effect.gen(function*() {
      const path = join(yield* folder, "archive.zip")
      writeZip(path, { "data/a.js": part("a", elements) })
      const parts = yield* Parts.open(path)
      return yield* Effect.promise(async () => {
        const found: Array<unknown> = []
        for await (const element of parts.elements("a.js")) found.push(element)
        return found
      })
    })

  it.effect("are whole, wherever the parts of the file end", () =>
    Effect.gen(function*() {
      const texts = Array.from({ length: 2_000 }, (_, i) => `${"x".repeat(i % 97)}é😀\\"]}{[\\\\`)
      const elements = texts.map((text, i) => ({ [text]: [i, { text, nested: [[text]] }] }))
      assert.deepStrictEqual(yield* elementsOf(elements), elements)
    }))

  it.effect("are read in linear time: a conversation of 64 MB", () =>
    Effect.gen(function*() {
      const conversation = { messages: Array.from({ length: 800_000 }, (_, id) => ({ id, text: `a message ${id}` })) }
      const [found] = yield* elementsOf([conversation])
      assert.lengthOf((found as typeof conversation).messages, 800_000)
    }))
})

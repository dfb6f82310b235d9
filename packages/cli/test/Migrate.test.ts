import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { postwire } from "../../core/test/support/ProgramFile.ts"
import { migrate } from "../src/migrate/Migration.ts"
import * as Commands from "./Commands.ts"

const head = `import { TwitterApi } from "twitter-api-v2"
const client = new TwitterApi({ appKey: "a", appSecret: "b", accessToken: "c", accessSecret: "d" })
`

const newHead = `import { createClient } from "@postwire/node"
const client = createClient({ wire: "x", consumerKey: "a", consumerSecret: "b", accessToken: "c", accessTokenSecret: "d" })
`

/** Moves lines after a client, twice: the second time changes nothing. */
const move = (lines: string, path = "a.mjs") => {
  const first = migrate(head + lines, path)
  assert.strictEqual(migrate(first.text, path).text, first.text)
  assert.isTrue(first.text.startsWith(newHead), first.text)
  return first.text.slice(newHead.length)
}

describe("the codemod", () => {
  it.each([
    ["await client.v2.tweet('Hi')", "await client.createPost({ text: 'Hi' })"],
    ["await client.readWrite.v2.reply(a, b.id)", "await client.createPost({ text: a, in_reply_to_post_id: b.id })"],
    [
      "client.v2.quote(text, id, { media: { media_ids: [m] } })",
      "client.createPost({ text, quote_post_id: id, media_ids: [m] })"
    ],
    ["client.v2.like(me.id, id)", "client.like({ post_id: id })"],
    ["client.v2.hideReply(id, false)", "client.unhideReply({ id })"],
    [
      "client.v2.userBlockingUsers(me)",
      "// TODO(postwire): userBlockingUsers: a paginator that is not awaited here: see docs/pages.md\nclient.v2.userBlockingUsers(me)"
    ],
    ["client.currentUserV2()", "client.getMe()"],
    [
      "client.v2.me({ 'user.fields': 'name, pinned_tweet_id' })",
      `client.getMe({ user_fields: ["name", "pinned_post_id"] })`
    ],
    [
      "client.v2.user(id, { expansions: ['pinned_tweet_id'] })",
      "client.getUser({ id, expansions: ['pinned_post_id'], user_auth: true })"
    ],
    ["client.v2.user(id, {})", "client.getUser({ id, user_auth: true })"],
    [
      "for await (const a of await client.v2.followers(id, { max_results: 3, asPaginator: true })) log(a)",
      "for await (const a of client.getUsersFollowers.items({ id, max_results: 3, user_auth: true })) log(a)"
    ],
    [
      "for await (const a of await client.v2.followers(id, { asPaginator: true })) log(a)",
      "for await (const a of client.getUsersFollowers.items({ id, user_auth: true })) log(a)"
    ],
    ["client.v2.uploadMedia(bytes, { media_type })", "client.upload(bytes).then(({ id }) => id)"],
    ["const id = await client.v1.uploadMedia('a.png')", "const id = (await client.upload('a.png')).id"]
  ])("moves %s", (before, after) => {
    assert.strictEqual(move(before), after)
  })

  it("keeps formatting and comments", () => {
    assert.strictEqual(
      move(`  await client.v2.tweet("Hi", { // why
    reply: { in_reply_to_tweet_id: id }, // an answer
    poll: { options, duration_minutes: 5, },
  })`),
      `  await client.createPost({ text: "Hi", // why
    in_reply_to_post_id: id, // an answer
    poll_options: options, poll_duration_minutes: 5,
  })`
    )
  })

  it("iterates where all pages are read, and reads a response where one is", () => {
    assert.strictEqual(
      move(`const posts = await client.v2.userTimeline(id, { "tweet.fields": ["note_tweet"] })
for await (const post of posts) console.log(post.note_tweet)`),
      `const posts = client.getUsersPosts.items({ id, post_fields: ["note_post"], user_auth: true })
for await (const post of posts) console.log(post.note_post)`
    )
    assert.strictEqual(
      move(`const page = await client.v2.search("a")
console.log(page.tweets.map((t) => t.note_tweet), page.data.data, page.meta, page.includes.author(one))`),
      `const page = await client.searchRecentPosts({ query: "a", user_auth: true })
console.log((page.data ?? []).map((t) => t.note_post), page.data, page.meta, page.author(one))`
    )
    assert.include(
      move("const { data } = await client.v2.search('a')\nlog(data.data, data.meta)"),
      "const data = await client.searchRecentPosts"
    )
    assert.include(
      move("const p = await client.v2.search('a')\nawait p.fetchNext()"),
      "// TODO(postwire): search: this use of its pages: see docs/pages.md\nconst p = await client.v2.search"
    )
  })

  it("asserts in TypeScript that data is there", () => {
    const text = migrate(
      `${head}const { data: one } = await client.v2.tweet("a")\nlog(one.id)\nconst me = await client.v2.me()\nlog(me.data.id)`,
      "a.ts"
    ).text
    assert.include(text, "log(one!.id)")
    assert.include(text, "log(me.data!.id)")
  })

  it("joins authors where a loop looks them up", () => {
    assert.strictEqual(
      move(`const found = await client.v2.search("a", { expansions: ["author_id"] })
for await (const post of found) log(found.includes.author(post)?.name, post.note_tweet)`),
      `const found = client.searchRecentPosts.joined({ query: "a", expansions: ["author_id"], user_auth: true })
for await (const { author, item: post } of found) log(author?.name, post.note_post)`
    )
  })

  it("finds where the errors of moved calls are examined", () => {
    assert.strictEqual(
      move("try {\n  await client.v2.me()\n} catch (e) {\n  if (e.code === 429) wait()\n  log(e.message)\n}"),
      "try {\n  await client.getMe()\n} catch (e) {\n  // TODO(postwire): error.code: see docs/from-twitter-api-v2.md#errors\n" +
        "  if (e.code === 429) wait()\n  log(e.message)\n}"
    )
  })

  it("renames fields in callbacks", () => {
    assert.strictEqual(
      move("client.v2.singleTweet(id).then((r) => r.data.note_tweet)"),
      "client.getPost({ id, user_auth: true }).then((r) => r.data.note_post)"
    )
  })

  it("names the page about what it leaves", () => {
    for (
      const [before, todo] of [
        ["await client.v1.tweet('a')", "createPost replaces v1.tweet: see docs/reference/createPost.md"],
        [
          "await client.v1.favoriteTimeline()",
          "nothing replaces v1.favoriteTimeline: see docs/from-twitter-api-v2.md#make-a-client"
        ],
        ["await client.v2.tweetThread(['a'])", "tweetThread: see docs/publish.md#threads"],
        ["await client.v2.searchStream()", "searchStream: see docs/streams.md"],
        [
          "await client.v2.tweet(payload)",
          "tweet: if payload is an object, its names are in docs/reference/createPost.md"
        ],
        [
          "await client.v2.me({ 'user.fields': fields })",
          "me with user.fields that is not a list of texts: see docs/reference/getMe.md"
        ],
        ["client.generateOAuth2AuthLink(url)", "generateOAuth2AuthLink: see docs/sign-in.md#sign-users-in-to-a-web-app"]
      ] as const
    ) assert.strictEqual(move(`{\n  ${before}\n}`), `{\n  // TODO(postwire): ${todo}\n  ${before}\n}`)
  })

  it.each([
    ["a client that it cannot make", "const c = new TwitterApi({ ...keys })"],
    ["a client with plugins", "const c = new TwitterApi(token, { plugins })"],
    ["an exported client of v2", "const c = new TwitterApi(token)\nexport const api = c.v2"],
    [
      "a client of v2 that is exported by its name",
      "const c = new TwitterApi(token)\nconst api = c.v2\nexport { api }"
    ],
    ["a client of v2 in CommonJS", "const c = new TwitterApi(token)\nmodule.exports = { api: c.v2 }"]
  ])("moves nothing in a file with %s, since half of it would not run", (_, lines) => {
    const before = `import { TwitterApi } from "twitter-api-v2"\n${lines}\nawait c.v2.tweet("a")\n`
    const { calls, moved, text, todos } = migrate(before, "a.mjs")
    assert.deepStrictEqual([calls, moved, todos.length], [1, 0, 1])
    assert.strictEqual(text.replace(/^\/\/ TODO.*\n/gm, ""), before)
    assert.strictEqual(migrate(text, "a.mjs").text, text)
  })

  it("knows clients by all syntaxes", () => {
    const moves = (text: string, path = "a.ts") => migrate(text, path).text
    assert.strictEqual(
      moves(
        "const { TwitterApi } = require('twitter-api-v2');\nlet c;\nc = new TwitterApi(process.env.TOKEN);\nc.v2.tweet('a');",
        "a.cjs"
      ),
      "const { createClient } = require('@postwire/node');\nlet c;\nc = createClient({ wire: \"x\", bearerToken: process.env.TOKEN });\nc.createPost({ text: 'a', user_auth: false });"
    )
    assert.strictEqual(
      moves(
        "import { TwitterApi } from 'twitter-api-v2'\nclass Bot {\n  constructor(private readonly api: TwitterApi) {}\n  say = () => this.api.v2.tweet(`a`)\n}"
      ),
      "import { type PostwireClient } from '@postwire/node'\nclass Bot {\n  constructor(private readonly api: PostwireClient) {}\n  say = () => this.api.createPost({ text: `a` })\n}"
    )
    assert.include(
      moves("import { api } from './api.js'\napi.v2.tweet('a')\napi.v2.uploader()"),
      "api.createPost({ text: 'a' })\napi.v2.uploader()"
    )
    assert.include(
      moves(
        "import { createClient } from 'x'\nimport { TwitterApi, UserV2 } from 'twitter-api-v2'\nconst c = new TwitterApi(token)\nlet u: UserV2"
      ),
      "import { createClient as createPostwireClient } from '@postwire/node'\nimport { UserV2 } from 'twitter-api-v2'\nconst c = createPostwireClient({"
    )
  })
})

describe("postwire migrate", () => {
  const repository = Effect.gen(function*() {
    const folder = yield* Commands.folder
    execFileSync("git", ["init", "--quiet"], { cwd: folder })
    const run = (...args: ReadonlyArray<string>) =>
      spawnSync(process.execPath, [postwire, "migrate", ...args], { cwd: folder, encoding: "utf8" })
    return { folder, run }
  })

  it.live("changes files of a clean repository, and reports what it could not parse", () =>
    Effect.gen(function*() {
      const { folder, run } = yield* repository
      assert.include(run().stderr, "no file here uses twitter-api-v2")
      writeFileSync(join(folder, "a.mjs"), `${head}await client.v2.tweet("a")\n`)
      writeFileSync(join(folder, "b.js"), `require("twitter-api-v2"`)
      assert.include(run().stderr, "git has changes that are not committed")
      const dry = run("--dry-run")
      assert.include(dry.stdout, `\n+await client.createPost({ text: "a" })\n`)
      assert.strictEqual(dry.status, 3)
      const { status, stdout } = run("--force", "--json")
      assert.strictEqual(status, 3)
      const { files } = JSON.parse(stdout)
      assert.deepInclude(files[0], { path: "a.mjs", changed: true, calls: 1, moved: 1, todos: [] })
      assert.include(files[1].error, "Unexpected token")
      assert.include(readFileSync(join(folder, "a.mjs"), "utf8"), "createPost")
      assert.strictEqual(readFileSync(join(folder, "b.js"), "utf8"), `require("twitter-api-v2"`)
      assert.include(run("c.js").stderr, "c.js: there is no such file")
    }))

  it.live("writes nothing through a link, which may lead out of the repository", () =>
    Effect.gen(function*() {
      const { folder, run } = yield* repository
      const outside = join(yield* Commands.folder, "victim.mjs")
      const program = `${head}await client.v2.tweet("a")\n`
      writeFileSync(outside, program)
      symlinkSync(outside, join(folder, "link.mjs"))
      assert.include(run("--force").stderr, "no file here uses twitter-api-v2")
      assert.strictEqual(readFileSync(outside, "utf8"), program)
    }))
})

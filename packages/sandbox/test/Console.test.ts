import { assert, describe, it } from "@effect/vitest"
import { aliases, catalogue } from "@postwire/core/Catalogue"
import { parametersOf as declaredBy } from "@postwire/core/schema/Definition"
import * as Wire from "@postwire/core/wire/Wire"
import { Context, Effect, Layer, Redacted } from "effect"
import { readdirSync } from "node:fs"
import { get } from "node:http"
import * as Sandbox from "../src/Sandbox.ts"
import { collections } from "../src/store/Overview.ts"
import { names, requestOf, scene } from "./support/Operations.ts"
import { type Answer, day, make, minute, now } from "./support/Requests.ts"

/** A bench whose requests may be admin calls. */
const admin = Effect.fnUntraced(function*(options: Sandbox.Options = {}) {
  const bench = yield* make(options)
  const as = { header: `Bearer ${Redacted.value(bench.adminToken)}` }
  const call = (method: string, path: string, body?: unknown) =>
    bench.request(method, `/_sandbox${path}`, { as, ...(body === undefined ? {} : { body }) })
  return { ...bench, call }
})

const serve = (options: Sandbox.ServerOptions = {}) =>
  Effect.map(
    Layer.build(Sandbox.layerServer({ posts: 60, start: now, ...options })),
    (context) => Context.get(context, Sandbox.Sandbox)
  )

describe("state", () => {
  it.effect("is listed in full, page by page", () =>
    Effect.gen(function*() {
      const bench = yield* admin({ posts: 120 })
      const { call, store } = bench
      for (const user of ["ada", bench.user().username]) bench.grants.make({ user })
      for (let i = 0; i < 9; i++) {
        bench.store.uploads.begin({
          ownerId: bench.ada.id,
          additionalOwners: [],
          category: "tweet_image",
          mediaType: undefined,
          totalBytes: undefined,
          createdAt: now,
          expiresAt: now + day
        })
      }
      const counts: Record<string, number> = (yield* call("GET", "/health")).body.counts
      const keys: Record<string, (item: Record<string, unknown>) => unknown> = {
        follows: (item) => `${item["source"]} ${item["target"]}`,
        blocks: (item) => `${item["source"]} ${item["target"]}`,
        mutes: (item) => `${item["source"]} ${item["target"]}`
      }
      for (const collection of collections) {
        const found: Array<unknown> = []
        for (let after: string | undefined = ""; after !== undefined;) {
          const { body, status }: Answer = yield* call(
            "GET",
            `/state/${collection}?limit=7${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`
          )
          assert.strictEqual(status, 200)
          assert.isAtMost(body.items.length, 7)
          found.push(...body.items.map(keys[collection] ?? (({ id }: { readonly id: string }) => id)))
          // What comes in between is newer, and neither repeats nor hides anything.
          if (collection === "posts") {
            store.posts.insert({ authorId: bench.seeded.ada.id, text: "later", createdAt: now })
          }
          after = body.next
        }
        assert.isAbove(found.length, 1, collection)
        assert.strictEqual(new Set(found).size, found.length, collection)
        assert.strictEqual(found.length, counts[collection], collection)
      }
    }))

  it.effect("tells what rows hold, newest first, and whose they are", () =>
    Effect.gen(function*() {
      const bench = yield* admin()
      const { call, seeded: { ada }, store } = bench
      const closed = store.users.insert({ username: "closed", name: "C", createdAt: now - minute, protected: true })
      store.follows.set(ada.id, closed, "requested")
      // A link weighs 23 characters, however long it is.
      const text = `<img src=x onerror=alert(1)> https://example.com/${"x".repeat(2_000)}`
      const post = store.posts.insert({ authorId: closed, text, createdAt: now - 1 })
      const [user] = (yield* call("GET", "/state/users?limit=1")).body.items
      assert.deepInclude(user, {
        id: closed,
        username: "closed",
        protected: true,
        posts: 1,
        created_at: "2026-11-20T11:59:00.000Z"
      })
      const [follow] = (yield* call("GET", "/state/follows?limit=1")).body.items
      assert.deepStrictEqual(follow, {
        source: "ada",
        target: "closed",
        source_id: ada.id,
        target_id: closed,
        pending: true
      })
      const find = (id: string) =>
        Effect.map(call("GET", `/items/${id}`), ({ body: { collection, items } }) => [collection, items])
      assert.deepStrictEqual(yield* find(closed), ["users", [user]])
      assert.deepStrictEqual((yield* find(post))[0], "posts")
      for (const id of ["1", "x", "%27"]) assert.deepStrictEqual(yield* find(id), [undefined, []])
      for (const name of ["closed", "CLOSED", closed]) {
        const { body } = yield* call("GET", `/state/posts?user=${name}`)
        assert.deepStrictEqual(body.items, [{
          id: post,
          author: "closed",
          text: text.slice(0, 1_000),
          created_at: "2026-11-20T11:59:59.999Z",
          lang: body.items[0].lang,
          reply_to: null,
          quote_of: null,
          repost_of: null,
          hidden: false
        }])
      }
      const conversation = store.messages.open(ada.id, closed)
      store.messages.insert({ conversationId: conversation, senderId: ada.id, createdAt: now, text: "hi" })
      const conversations = (yield* call("GET", "/state/conversations?user=closed")).body.items
      assert.deepStrictEqual(conversations.length, 1)
      assert.deepInclude(conversations[0], {
        id: conversation,
        type: "OneToOne",
        latest_event: "2026-11-20T12:00:00.000Z"
      })
      assert.sameMembers(conversations[0].participants.split(", "), ["ada", "closed"])
      assert.deepStrictEqual((yield* call("GET", "/state/posts?user=nobody")).body, { items: [] })
    }))

  it.effect("is for the owner, and odd questions do no harm", () =>
    Effect.gen(function*() {
      const { call, request } = yield* admin()
      for (const path of ["/state/users", "/operations", "/journal/lines", "/journal/1"]) {
        assert.strictEqual((yield* request("GET", `/_sandbox${path}`)).status, 401)
      }
      for (const path of ["/state/apps", "/state/bearer_tokens", "/state/", "/journal/1", "/journal/x"]) {
        assert.strictEqual((yield* call("GET", path)).status, 404, path)
      }
      for (const query of ["limit=0", "limit=-1", "limit=x", "limit=1e9", "after=x", "after=99999999999999999999"]) {
        assert.strictEqual((yield* call("GET", `/state/posts?${query}`)).status, 200, query)
      }
    }))
})

describe("the journal in short", () => {
  it.effect("gives the latest, those after one, and one in full", () =>
    Effect.gen(function*() {
      const { call, request } = yield* admin()
      for (let i = 1; i <= 5; i++) yield* request("GET", `/2/users/me?user.fields=${i}`)
      const lines = (yield* call("GET", "/journal/lines?after=1&limit=3")).body
      assert.deepStrictEqual(lines.lines.map(({ id }: { readonly id: number }) => id), [3, 4, 5])
      assert.strictEqual(lines.oldest, 1)
      assert.notProperty(lines.lines[0], "headers")
      const { body } = yield* call("GET", "/journal/4")
      assert.strictEqual(body.id, 4)
      assert.deepStrictEqual(body.query, { "user.fields": "4" })
      assert.strictEqual(body.headers.authorization, "Bearer <redacted>")
      yield* call("DELETE", "/journal")
      assert.deepStrictEqual((yield* call("GET", "/journal/lines")).body, { oldest: 6, lines: [] })
      assert.strictEqual((yield* call("GET", "/journal/4")).status, 404)
    }))
})

describe("forms", () => {
  it.effect("of every operation stand for the requests of the client", () =>
    Effect.gen(function*() {
      const bench = yield* admin()
      const { call, seeded: { ada } } = bench
      const { parametersOf } = scene(bench)
      const described = (yield* call("GET", "/operations")).body.operations
      assert.sameMembers(
        described.map(({ name }: { readonly name: string }) => name),
        Object.keys(catalogue).filter((name) => !(name in aliases))
      )
      for (const name of names) {
        const given = parametersOf(name)
        const texts = Object.fromEntries(
          Object.entries(given).map(([key, value]) => [
            key,
            declaredBy(catalogue[name].definition)[key]?.kind === "json" ? JSON.stringify(value) : String(value)
          ])
        )
        for (const wire of Wire.names) {
          const { body, status } = yield* call("POST", "/request", { operation: name, parameters: texts, wire })
          assert.strictEqual(status, 200, name)
          const declared = Object.entries(declaredBy(catalogue[name].definition))
          const files = declared.flatMap(([parameter, { kind }]) => kind === "bytes" ? [parameter] : [])
          if (files.length > 0) {
            // The page has the files; it is told where they go.
            const parts: ReadonlyArray<{ readonly name: string; readonly file?: string }> = body.parts
            assert.deepStrictEqual(parts.flatMap(({ file }) => file ?? []), files, name)
            assert.isAbove(parts.length, files.length)
            continue
          }
          const { body: sent, ...rest } = requestOf(name, given, ada.id, wire)
          assert.deepStrictEqual(body, sent === undefined ? rest : { ...rest, body: sent }, name)
        }
        const operation = described.find((operation: { readonly name: string }) => operation.name === name)
        assert.deepStrictEqual(
          operation.parameters.map(({ name }: { readonly name: string }) => name),
          Object.keys(declaredBy(catalogue[name].definition))
        )
      }
    }))

  it.effect("take lists by line or comma, leave bounds to the service, and name the parameter at fault", () =>
    Effect.gen(function*() {
      const { call } = yield* admin()
      const ask = (operation: string, parameters: object) => call("POST", "/request", { operation, parameters })
      const poll = { text: "?", poll_options: "yes, please\nno", poll_duration_minutes: "5", media_ids: "1, 2" }
      assert.deepStrictEqual(JSON.parse((yield* ask("createPost", poll)).body.body), {
        text: "?",
        poll: { options: ["yes, please", "no"], duration_minutes: 5 },
        media: { media_ids: ["1", "2"] }
      })
      assert.strictEqual(
        (yield* ask("searchRecentPosts", { query: "a b&c", max_results: "5000" })).body.path,
        "/2/posts/search/recent?query=a%20b%26c&max_results=5000"
      )
      // Names that are not known are passed on, as the service may know them.
      assert.strictEqual(
        (yield* ask("searchRecentPosts", { query: "a", sort_order: "newest", post_fields: "lang, brand_new" })).body
          .path,
        "/2/posts/search/recent?query=a&sort_order=newest&post.fields=lang%2Cbrand_new"
      )
      const cases: ReadonlyArray<readonly [string, object, ReadonlyArray<string>]> = [
        ["searchRecentPosts", {}, ["query"]],
        ["searchRecentPosts", { query: "a", max_results: "many" }, ["max_results"]],
        ["getUser", {}, ["id", "username"]],
        ["getPost", { id: "x/../y" }, ["id"]],
        ["getMe", { bogus: "1" }, ["bogus"]],
        ["getMe", { constructor: "1" }, ["constructor"]],
        ["getMe", { toString: "1" }, ["toString"]]
      ]
      for (const [operation, parameters, at] of cases) {
        const { body, status } = yield* ask(operation, parameters)
        assert.strictEqual(status, 400)
        assert.deepStrictEqual(Object.keys(body.errors[0].parameters), at)
      }
      assert.strictEqual((yield* ask("nothing", {})).status, 400)
    }))
})

describe("the page", () => {
  const sources = new URL("../src/console/", import.meta.url)

  it.live("comes with a strict policy, types and tags, and holds no secret", () =>
    Effect.gen(function*() {
      const { adminToken, baseUrl } = yield* serve()
      yield* Effect.promise(async () => {
        // The modules are those that the one in the page leads to.
        const modules = new Set(["page.mjs"])
        for (const module of modules) {
          const text = await (await fetch(`${baseUrl}/console/${module}`)).text()
          for (const [, other] of text.matchAll(/from "\.\/(\w+\.mjs)"/g)) modules.add(other!)
        }
        assert.sameMembers([...modules], readdirSync(sources).filter((file) => file.endsWith(".mjs")))
        for (
          const [path, type] of [
            ["/console", "text/html"],
            ["/console?x=1", "text/html"],
            ["/console/page.css", "text/css"],
            ...[...modules].map((module) => [`/console/${module}`, "text/javascript"] as const)
          ] as const
        ) {
          const response = await fetch(baseUrl + path)
          assert.strictEqual(response.status, 200, path)
          assert.strictEqual(response.headers.get("content-type"), `${type}; charset=utf-8`)
          const policy = response.headers.get("content-security-policy") ?? ""
          assert.include(policy, "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
          assert.include(policy, "frame-ancestors 'none'")
          assert.notMatch(policy, /unsafe|\*|https?:/)
          assert.strictEqual(response.headers.get("x-content-type-options"), "nosniff")
          assert.strictEqual(response.headers.get("referrer-policy"), "no-referrer")
          assert.isNull(response.headers.get("set-cookie"))
          const text = await response.text()
          assert.notInclude(text, Redacted.value(adminToken))
          const etag = response.headers.get("etag") ?? ""
          assert.match(etag, /^"[\w-]{43}"$/)
          for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
            const again = await fetch(baseUrl + path, { headers: { "if-none-match": known } })
            assert.deepStrictEqual([again.status, await again.text()], [304, ""])
            assert.strictEqual(again.headers.get("etag"), etag)
          }
          const other = await fetch(baseUrl + path, { headers: { "if-none-match": "\"other\"" } })
          assert.strictEqual(other.status, 200)
          const head = await fetch(baseUrl + path, { method: "HEAD" })
          assert.deepStrictEqual([head.status, await head.text()], [200, ""])
        }
        const html = await (await fetch(`${baseUrl}/console`)).text()
        assert.notMatch(html, /<script(?![^>]* src=)|<style|style=| on[a-z]+=|https?:/)
        for (
          const path of ["/console/", "/console/page.html", "/console/../package.json", "/console/%2e%2e/Admin.ts"]
        ) {
          assert.strictEqual((await fetch(baseUrl + path)).status, 404, path)
        }
        assert.strictEqual((await fetch(`${baseUrl}/console`, { method: "POST" })).status, 404)
        const first = await fetch(baseUrl, { redirect: "manual" })
        assert.deepStrictEqual([first.status, first.headers.get("location")], [302, "/console"])
        const elsewhere = await fetch(`${baseUrl}/console`, { headers: { origin: "https://evil.example" } })
        assert.strictEqual(elsewhere.status, 403)
        const status = await new Promise((resolve) =>
          get(`${baseUrl}/console`, { headers: { host: "evil.example" } }, (response) => {
            response.resume()
            resolve(response.statusCode)
          })
        )
        assert.strictEqual(status, 403)
      })
    }))
})

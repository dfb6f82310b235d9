import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@postwire/node"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { networkInterfaces, tmpdir } from "node:os"
import { join } from "node:path"
import * as Sandbox from "../src/Sandbox.ts"
import * as Seed from "../src/seed/Seed.ts"
import { Store } from "../src/store/Store.ts"
import { make, now, secretsOf } from "./support/Requests.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-sandbox-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("layer", () => {
  /** What a user of the sandbox sees of it, writes included. */
  const tour = Effect.fnUntraced(function*(options: Sandbox.Options, time = now) {
    const { request, secrets, seeded } = yield* make({ posts: 300, ...options })
    yield* TestClock.setTime(time)
    const own = `/2/users/${seeded.ada.id}`
    const answers: Array<unknown> = []
    for (
      const [method, path, body] of [
        ["GET", "/2/posts/search/recent?query=effect&expansions=author_id&post.fields=public_metrics,created_at"],
        ["GET", "/2/posts/search/all?query=effect&max_results=500"],
        ["GET", `${own}/posts?post.fields=entities`],
        ["GET", `${own}/bookmarks?max_results=3`],
        ["GET", "/2/dm_events?max_results=20&dm_event_fields=created_at".replace("dm_event_fields", "dm_event.fields")],
        ["POST", "/2/posts", { text: "new" }],
        ["GET", `${own}/posts?max_results=5`],
        ["GET", "/2/users/me?user.fields=public_metrics"]
      ] as const
    ) {
      const { body: answered, status } = yield* request(method, path, { body })
      assert.isBelow(status, 300, JSON.stringify(answered))
      answers.push(answered)
    }
    return { answers, secrets, seeded }
  })

  it.effect("is decided by its seed and the clock: pages, tokens, ids and secrets", () =>
    Effect.gen(function*() {
      const [one, two, other] = [yield* tour({ seed: 7 }), yield* tour({ seed: 7 }), yield* tour({ seed: 8 })]
      assert.deepStrictEqual(two.answers, one.answers)
      assert.deepStrictEqual(two.secrets, one.secrets)
      assert.notDeepEqual(other.answers[0], one.answers[0])
      for (const [name, secret] of Object.entries(one.secrets)) {
        assert.notStrictEqual(other.secrets[name as keyof typeof other.secrets], secret)
      }
      assert.deepStrictEqual((yield* tour({})).secrets, (yield* tour({ seed: 1 })).secrets)
    }))

  it.effect("keeps its state to itself", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* make(), yield* make()]
      const { body } = yield* one.request("POST", "/2/posts", { body: { text: "mine" } })
      assert.strictEqual((yield* one.request("GET", `/2/posts/${body.data.id}`)).body.data.text, "mine")
      assert.isUndefined((yield* two.request("GET", `/2/posts/${body.data.id}`)).body.data)
    }))

  it.effect("keeps texts as they are", () =>
    Effect.gen(function*() {
      const { request, seeded: { ada } } = yield* make()
      for (
        const text of [
          "é e\u0301 😀👩‍👩‍👧 \u202e",
          "a\r\n\tb",
          "'; DROP TABLE posts; --",
          "x".repeat(280),
          // The SQLite of Node 22 ends a text at its first NUL.
          process.versions.node.startsWith("22.") ? "<b>&amp;a" : "<b>&amp;a\u0000b"
        ]
      ) {
        const { body } = yield* request("POST", "/2/posts", { body: { text } })
        assert.strictEqual(body.data.text, text)
        assert.strictEqual((yield* request("GET", `/2/posts/${body.data.id}`)).body.data.text, text)
        const listed = yield* request("GET", `/2/users/${ada.id}/posts`)
        assert.strictEqual(listed.body.data[0].text, text)
      }
    }))
})

describe("a file", () => {
  it.effect("is seeded once, and holds what was written when it is opened again", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "state.sqlite")
      const open = <A, E, R>(
        options: Sandbox.Options,
        use: (bench: Effect.Success<ReturnType<typeof make>>) => Effect.Effect<A, E, R>
      ) => Effect.scoped(Effect.flatMap(make({ file, posts: 100, ...options }), use))

      const first = yield* open({}, ({ request, seeded, secrets, store }) =>
        Effect.gen(function*() {
          const { body } = yield* request("POST", "/2/posts", { body: { text: "durable needle" } })
          const { id } = body.data
          yield* request("POST", `/2/users/${seeded.ada.id}/likes`, { body: { post_id: id } })
          yield* request("POST", `/2/users/${seeded.ada.id}/bookmarks`, { body: { post_id: id } })
          const page = yield* request("GET", `/2/users/${seeded.ada.id}/posts?max_results=5`)
          return { id, secrets, page: page.body, user: store.users.byId(seeded.ada.id), seeded }
        }))

      // Other options do not touch what is there.
      for (const options of [{}, { posts: 5 }, { posts: 5_000 }]) {
        yield* open(options, ({ request, secrets, seeded, store }) =>
          Effect.gen(function*() {
            assert.deepStrictEqual(secrets, first.secrets)
            assert.deepStrictEqual(seeded.ada, first.seeded.ada)
            assert.deepStrictEqual(store.users.byId(seeded.ada.id), first.user)
            const own = `/2/users/${seeded.ada.id}`
            assert.deepStrictEqual((yield* request("GET", `${own}/posts?max_results=5`)).body, first.page)
            const marked = yield* request("GET", `${own}/bookmarks?post.fields=public_metrics`)
            assert.strictEqual(marked.body.data[0].id, first.id)
            assert.strictEqual(marked.body.data[0].public_metrics.like_count, 1)
            // A token of the time before still leads on.
            const { next_token } = first.page.meta
            const second = yield* request("GET", `${own}/posts?max_results=5&pagination_token=${next_token}`)
            assert.strictEqual(second.status, 200)
            for (const as of ["app", "user", "signed"] as const) {
              assert.strictEqual((yield* request("GET", own, { as })).status, 200)
            }
            const media = yield* request("POST", "/2/posts", {
              body: { media: { media_ids: seeded.mediaIds.slice(0, 2) } }
            })
            assert.strictEqual(media.status, 201)
            assert.isTrue((yield* request("DELETE", `/2/posts/${media.body.data.id}`)).body.data.deleted)
          }))
      }

      // A later seed number finds the same data, under credentials of its own.
      yield* open({ seed: 2 }, ({ request, secrets, seeded }) =>
        Effect.gen(function*() {
          assert.strictEqual(seeded.ada.id, first.seeded.ada.id)
          assert.notStrictEqual(secrets.bearerToken, first.secrets.bearerToken)
          for (const as of ["app", "user", "signed"] as const) {
            assert.strictEqual((yield* request("GET", `/2/posts/${first.id}`, { as })).body.data.text, "durable needle")
          }
          const as = { header: `Bearer ${first.secrets.bearerToken}` }
          assert.strictEqual((yield* request("GET", "/2/users/me", { as })).status, 200)
        }))
    }))

  it.effect("leaves a start after a crash no log of its seed to read", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "state.sqlite")
      yield* make({ file, posts: 1_000 })
      assert.isBelow(statSync(`${file}-wal`).size, 100_000)
      assert.isAbove(statSync(file).size, 1_000_000)
    }))

  it.effect("is seeded as a whole or not at all", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "state.sqlite")
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* Store.open({ file })
        assert.isUndefined(Seed.existing(store, { seed: 1, posts: 10, start: now }))
        const broken: typeof store = {
          ...store,
          messages: {
            ...store.messages,
            insert: () => {
              throw new Error("the disk is full")
            }
          }
        }
        yield* TestClock.setTime(now)
        const died = yield* Effect.exit(
          Effect.try(() => broken.transaction(() => Seed.run(broken, { seed: 1, posts: 10, start: now })))
        )
        assert.isTrue(Exit.isFailure(died))
        assert.isUndefined(store.users.byUsername("ada"))
      }))
      const { request } = yield* make({ file, posts: 10 })
      assert.strictEqual((yield* request("GET", "/2/users/me")).body.data.username, "ada")
    }))

  it.effect("is not made for a number of posts that no service can begin with", () =>
    Effect.gen(function*() {
      const path = yield* folder
      for (const posts of [-1, 10_000_001, 0.5, Number.NaN, Infinity]) {
        const file = join(path, "state.sqlite")
        const server = Layer.build(Sandbox.layerServer({ file, posts }))
        for (const made of [Effect.asVoid(make({ file, posts })), Effect.asVoid(server)]) {
          const error = yield* Effect.flip(made)
          assert.instanceOf(error, Sandbox.InvalidOption)
          assert.strictEqual(error.message, "posts must be a whole number from 0 to 10000000")
        }
        assert.isFalse(existsSync(file))
      }
      const { request } = yield* make({ file: join(path, "empty.sqlite"), posts: 0 })
      const { body } = yield* request("GET", "/2/posts/search/recent?query=effect")
      assert.deepStrictEqual(body, { meta: { result_count: 0 } })
    }))

  it.effect.each<Sandbox.ServerOptions>([
    { start: 0 },
    { start: Number.NaN },
    { faults: 1.5 },
    { postCap: Number.NaN },
    { port: 99_999 },
    { requestTimeout: 0 },
    { requestTimeout: -1 },
    { host: "localhost" }
  ])("is not made with an option that breaks its rule: %o", (options) =>
    Effect.gen(function*() {
      const name = Object.keys(options)[0]
      const error = yield* Effect.flip(Layer.build(Sandbox.layerServer({ posts: 0, ...options })))
      assert.instanceOf(error, Sandbox.InvalidOption)
      assert.strictEqual(error.option, name)
      const rejected = yield* Effect.promise(() => Sandbox.start(options).catch((error: unknown) => error))
      assert.instanceOf(rejected, Sandbox.InvalidOption)
    }))
})

describe("layerServer", () => {
  const serve = Effect.fnUntraced(function*(options: Sandbox.ServerOptions = {}) {
    const context = yield* Layer.build(Sandbox.layerServer({ posts: 300, ...options }))
    const sandbox = Context.get(context, Sandbox.Sandbox)
    const url = new URL(sandbox.baseUrl)
    const send = (
      path: string,
      headers: Record<string, string> = {},
      { method = "GET", body = "" }: { readonly method?: string; readonly body?: string } = {}
    ) =>
      Effect.promise(() =>
        new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
          const sent = httpRequest({
            host: url.hostname,
            port: url.port,
            path,
            method,
            agent: false,
            headers: { authorization: `Bearer ${Redacted.value(sandbox.seeded.userBearerToken)}`, ...headers }
          }, (response) => {
            let text = ""
            response.setEncoding("utf8").on("data", (chunk) => text += chunk)
            response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
          })
          sent.on("error", reject).end(body)
        })
      )
    const { appToken: _, ...secrets } = secretsOf(sandbox)
    return { ...sandbox, port: Number(url.port), secrets, send }
  })

  it.live("serves many at once, and bodies of megabytes", () =>
    Effect.gen(function*() {
      const { baseUrl, secrets } = yield* serve()
      yield* Effect.promise(async () => {
        await using client = createClient({ baseUrl, ...secrets })
        const created = await Promise.all(
          Array.from({ length: 100 }, (_, i) => client.createPost({ text: `number ${i}` }))
        )
        assert.strictEqual(new Set(created.map(({ data }) => data?.id)).size, 100)
        assert.deepStrictEqual(created.map(({ data }) => data?.text), created.map((_, i) => `number ${i}`))
        const text = "€".repeat(3_000_000)
        // Read to its end, and only then found too long for a post.
        assert.strictEqual(await client.createPost({ text }).then(() => "created", ({ _tag }) => _tag), "BadRequest")
      })
    }))

  it.live("listens on 127.0.0.1 alone, and its port is free when the scope closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { baseUrl, port } = yield* Scope.provide(serve(), scope)
      assert.match(baseUrl, /^http:\/\/127\.0\.0\.1:\d+$/)
      const reaches = (host: string) =>
        Effect.promise(() =>
          new Promise<boolean>((resolve) => {
            const socket = connect({ host, port })
            const end = (reached: boolean) => () => {
              socket.destroy()
              resolve(reached)
            }
            socket.on("connect", end(true)).on("error", end(false))
          })
        )
      const others = Object.values(networkInterfaces()).flat().flatMap((address) =>
        address === undefined || address.address === "127.0.0.1" || address.scopeid ? [] : [address.address]
      )
      assert.isTrue(yield* reaches("127.0.0.1"))
      for (const host of ["::1", "127.0.0.2", ...others]) assert.isFalse(yield* reaches(host), host)
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(yield* reaches("127.0.0.1"))
      const again = yield* serve({ port })
      assert.strictEqual(again.port, port)
      const taken = yield* Effect.exit(serve({ port }))
      assert.isTrue(Exit.isFailure(taken))
    }))

  it.live("serves private names and addresses of the network on another address, and no web page", () =>
    Effect.gen(function*() {
      const { baseUrl, port, send } = yield* serve({ host: "0.0.0.0" })
      assert.strictEqual(baseUrl, `http://localhost:${port}`)
      const path = "/2/users/me"
      const names = [
        "localhost",
        "sandbox",
        `sandbox_1:${port}`,
        "192.168.1.1",
        `[fd00::1]:${port}`,
        "host.docker.internal"
      ]
      for (const host of names) {
        assert.strictEqual((yield* send(path, { host })).status, 200, host)
        assert.strictEqual((yield* send(path, { origin: `http://${host}` })).status, 200, host)
      }
      for (const host of ["evil.example", "internal.example", "127.0.0.1.evil.example", "a@sandbox", "evil."]) {
        assert.strictEqual((yield* send(path, { host })).status, 403, host)
        assert.strictEqual((yield* send(path, { origin: `https://${host}` })).status, 403, host)
      }
      assert.strictEqual((yield* send(path, { origin: "null" })).status, 403)
    }))

  it.live("refuses what a web page could send it", () =>
    Effect.gen(function*() {
      const { port, send } = yield* serve()
      const path = "/2/users/me"
      for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, "LocalHost", `[::1]:${port}`, "127.8.9.1"]) {
        assert.strictEqual((yield* send(path, { host })).status, 200, host)
      }
      for (const origin of [`http://localhost:${port}`, "http://127.0.0.1:3000", "https://[::1]"]) {
        assert.strictEqual((yield* send(path, { origin })).status, 200, origin)
      }
      for (
        const headers of [
          { host: "evil.example" },
          { host: `evil.example:${port}` },
          { host: "localhost.evil.example" },
          { host: "127.0.0.1.evil.example" },
          { host: "evil.example@127.0.0.1" },
          { host: "127.0.0.1/evil" },
          { host: "192.168.1.1" },
          { host: "0.0.0.0" },
          { origin: "https://evil.example" },
          { origin: "http://localhost.evil.example" },
          { origin: "null" },
          { origin: "file://" },
          { origin: "" }
        ]
      ) {
        for (const [target, method] of [[path, "GET"], ["/2/posts", "POST"], ["/", "OPTIONS"]] as const) {
          const answer = yield* send(target, headers, { method })
          assert.strictEqual(answer.status, 403, JSON.stringify(headers))
          assert.strictEqual(answer.headers["content-type"], "application/problem+json")
          assert.strictEqual(JSON.parse(answer.text).title, "Forbidden")
          for (const name of Object.keys(answer.headers)) assert.notMatch(name, /^access-control/)
        }
      }
      // What the request line says instead of the header is no way around.
      const answer = yield* send("http://evil.example/2/users/me", { host: "evil.example" })
      assert.strictEqual(answer.status, 403)
    }))
})

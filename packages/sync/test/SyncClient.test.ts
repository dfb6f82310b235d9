import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { catalogue } from "@postwire/core/Catalogue"
import { createClient, fromEnvironment } from "@postwire/node"
import { saveAccount, scopesFor } from "@postwire/node/OAuth2"
import { Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { Worker } from "node:worker_threads"
import * as Sync from "../src/index.ts"
import { type Ready, startFaults, startSandbox, stop } from "./support/Children.ts"
import { thrown } from "./support/Thrown.ts"

// Every worker of this process is seen here, because the bridge unrefs its own.
const workers: Array<Worker> = []
const { unref } = Worker.prototype
Worker.prototype.unref = function() {
  workers.push(this)
  return unref.call(this)
}

let sandbox: Awaited<ReturnType<typeof startSandbox>>
let faults: Awaited<ReturnType<typeof startFaults>>

beforeAll(async () => {
  ;[sandbox, faults] = await Promise.all([startSandbox(), startFaults()])
})

afterAll(async () => {
  await Promise.all([stop(sandbox?.child), stop(faults?.child)])
})

const secret = "canary-token-of-some-length"

const settings = (): Sync.Settings => fromEnvironment((sandbox.ready satisfies Ready).environment)
const faulty = (more: Sync.Settings = {}): Sync.Settings => ({
  baseUrl: faults.ready.baseUrl,
  bearerToken: secret,
  ...more
})

describe("spending", () => {
  it("is counted in the worker, reported with each response, and limited", () => {
    using client = Sync.createClientSync({ ...settings(), spendLimit: { total: 0.02 } })
    const first = client.getUser({ username: "ada" })
    assert.deepStrictEqual(first.cost, { dollars: 0.01, charged: 1, repeats: 0 })
    assert.deepStrictEqual(client.getUser({ username: "ada" }).cost, { dollars: 0, charged: 0, repeats: 1 })
    const error = thrown(() => client.getUsers({ usernames: ["ada", "grace"] }))
    assert.instanceOf(error, Sync.SpendLimitReached)
    assert.deepInclude(error, { period: "total", spent: 0.01, limit: 0.02, needed: 0.02 })
    using plain = Sync.createClientSync(settings())
    assert.isUndefined(plain.getUser({ username: "ada" }).cost)
  })
})

describe("methods", () => {
  it("are the operations of the catalogue", () => {
    using client = Sync.createClientSync(settings())
    for (const [name, { definition }] of Object.entries(catalogue)) {
      const method = client[name as keyof typeof catalogue]
      if (method === undefined) assert.fail(name)
      assert.strictEqual("items" in method && "pages" in method, definition.paging !== undefined, name)
    }
  })

  it("give the values that the Promise client gives", async () => {
    const id = settings().accessToken?.toString().split("-")[0] ?? ""
    // One instant for both clients: page tokens contain the time.
    const end_time = new Date(Date.now() - 60_000)
    const reads = {
      getMe: (client: Sync.PostwireClientSync) => client.getMe({ user_fields: ["created_at", "public_metrics"] }),
      getUser: (client: Sync.PostwireClientSync) => client.getUser({ username: "ada", expansions: ["pinned_post_id"] }),
      getUsersPosts: (client: Sync.PostwireClientSync) =>
        client.getUsersPosts({ id, post_fields: ["created_at", "referenced_posts"], expansions: ["author_id"] }),
      getBookmarks: (client: Sync.PostwireClientSync) => client.getBookmarks({ max_results: 3 }),
      getPosts: (client: Sync.PostwireClientSync) => client.getPosts({ ids: ["1", 2n, 3] }),
      getPost: (client: Sync.PostwireClientSync) => client.getPost({ id: "1", user_auth: true }),
      search: (client: Sync.PostwireClientSync) =>
        client.searchRecentPosts({ query: "effect", max_results: 20, end_time }),
      counts: (client: Sync.PostwireClientSync) =>
        client.getRecentPostsCount({ query: "effect", start_time: new Date(+end_time - 3_600_000), end_time }),
      events: (client: Sync.PostwireClientSync) => client.getDirectMessageEvents({ max_results: 5 })
    }
    using blocking = Sync.createClientSync(settings())
    await using promising = createClient(settings())
    for (const [name, read] of Object.entries(reads)) {
      const mine = read(blocking)
      // The same call on the other client; its types differ by the promise alone.
      const theirs = await (read(promising as never) as unknown as Promise<typeof mine>)
      assert.deepStrictEqual(mine.toJSON(), theirs.toJSON(), name)
      assert.strictEqual(inspect(mine), inspect(theirs))
      assert.strictEqual(mine.rateLimit?.limit, theirs.rateLimit?.limit)
      assert.isDefined(mine.requestId)
      assert.strictEqual(Object.getPrototypeOf(mine), Object.getPrototypeOf(theirs))
    }
    const items = [...blocking.searchRecentPosts.items({ query: "effect", max_results: 50, sort_order: "recency" })]
    const others: Array<unknown> = []
    for await (const item of promising.searchRecentPosts.items({ query: "effect", max_results: 50 })) others.push(item)
    assert.isAbove(items.length, 200)
    assert.deepStrictEqual(items, others)
  })

  it.each(["neutral", "x"] as const)("write as well, on the %s wire", (wire) => {
    using client = Sync.createClientSync({ ...settings(), wire })
    const text = `€ 😀 from the ${wire} wire`
    const { data: created } = client.createPost({ text })
    assert.strictEqual(created?.text, text)
    const post_id = created!.id
    assert.deepStrictEqual(client.like({ post_id }).data, { liked: true })
    assert.deepStrictEqual(client.bookmark({ post_id }).data, { bookmarked: true })
    const { data: post } = client.getPost({ id: post_id, post_fields: ["public_metrics"] })
    assert.strictEqual(post?.text, text)
    assert.strictEqual(post?.public_metrics.like_count, 1)
    assert.deepStrictEqual(client.unlike({ post_id, user_auth: false }).data, { liked: false })
    const [event] = client.getDirectMessageEvents.items({ dm_event_fields: ["dm_conversation_id"] })
    const sent = client.createDirectMessage({ dm_conversation_id: event!.dm_conversation_id, text })
    assert.strictEqual(client.getDirectMessageEvents({ max_results: 1 }).data?.[0]?.id, sent.data?.dm_event_id)
    assert.deepStrictEqual(client.deletePost({ id: post_id }).data, { deleted: true })
    assert.isUndefined(client.getPost({ id: post_id }).data)
  })

  it("page lazily: what the loop does not reach is not fetched", () => {
    using client = Sync.createClientSync(settings())
    const remaining = () => client.searchRecentPosts({ query: "effect" }).rateLimit!.remaining
    const before = remaining()
    const iterable = client.searchRecentPosts.items({ query: "effect", max_results: 10 })
    assert.strictEqual(remaining(), before - 1)
    let count = 0
    for (const _ of iterable) if (++count === 3) break
    assert.strictEqual(remaining(), before - 3)
    for (const _ of client.searchRecentPosts.items({ query: "effect", max_results: 10 })) if (++count === 14) break
    assert.strictEqual(remaining(), before - 6)
    const [first, second] = client.searchRecentPosts.pages({ query: "effect", max_results: 10 })
    assert.strictEqual(first?.meta.result_count, 10)
    assert.notDeepEqual(first?.data, second?.data)
  })

  it("carry bodies of megabytes, both ways", () => {
    using client = Sync.createClientSync({
      ...faulty(),
      consumerKey: "a",
      consumerSecret: "b",
      accessToken: "c",
      accessTokenSecret: "d"
    })
    const [post] = client.searchRecentPosts.items({ query: "large:3500000" })
    assert.strictEqual(post?.text, "€".repeat(3_500_000))
    const text = `size:${"x".repeat(10_000_000)}`
    assert.strictEqual(client.createPost({ text }).data?.text, String(JSON.stringify({ text }).length))
  })
})

describe("options", () => {
  it("limit the items, and report the position of every page", () => {
    using client = Sync.createClientSync(faulty())
    const items = [...client.searchRecentPosts.items({ query: "pages:limit" }, { limit: 25 })]
    assert.deepStrictEqual(items.map(({ id }) => id), Array.from({ length: 25 }, (_, i) => String(i)))
    // The smallest page of this operation is ten.
    assert.deepStrictEqual(new Set(items.map(({ text }) => text)), new Set(["10"]))
    assert.lengthOf([...client.searchRecentPosts.joined({ query: "pages:joined" }, { limit: 3 })], 3)
    // Each loop starts over.
    const again = client.searchRecentPosts.items({ query: "pages:again" }, { limit: 3 })
    assert.deepStrictEqual([...again], [...again])
    assert.lengthOf([...again], 3)
    assert.lengthOf([...client.searchRecentPosts.pages({ query: "pages:none" }, { limit: 0 })], 0)
    const [, second] = [...client.searchRecentPosts.pages({ query: "pages:places" }, { limit: 20 })]
    assert.deepStrictEqual(second?.page, { token: "10", next: "20" })
    const mistakes: ReadonlyArray<object> = [{ limit: -1 }, { prefetch: 2 }, { direction: "backward" }, { limmit: 1 }, {
      retries: 11
    }]
    for (const options of mistakes) {
      const error = thrown(() => [...client.searchRecentPosts.items({ query: "pages:bad" }, options)])
      assert.instanceOf(error, Sync.InvalidParameters)
    }
    assert.instanceOf(thrown(() => client.getPost({ id: "1" }, { limit: 1 } as object)), Sync.InvalidParameters)
  })

  it("fetch a page ahead while the caller works, and leave it when the loop ends", () => {
    using client = Sync.createClientSync(faulty())
    const requestsOf = (query: string) => Number(client.searchRecentPosts({ query: `count:${query}` }).data?.[0]?.id)
    const seen = (prefetch: 0 | 1) => {
      const query = `pages:ahead ${prefetch}`
      let pages = 0
      for (const _ of client.searchRecentPosts.pages({ query }, { prefetch })) {
        // Blocks this thread while the worker continues.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
        if (++pages === 3) break
      }
      return requestsOf(query)
    }
    assert.strictEqual(seen(0), 3)
    assert.strictEqual(seen(1), 4)
    // The answer of an abandoned call does not disturb the next call.
    assert.lengthOf(client.searchRecentPosts({ query: "pages:after" }).data ?? [], 10)
    // Another call may come between a page and the one ahead.
    const ids: Array<string> = []
    for (const { id } of client.searchRecentPosts.items({ query: "pages:between" }, { prefetch: 1, limit: 30 })) {
      ids.push(id)
      if (Number(id) % 10 === 0) requestsOf("anything")
    }
    assert.lengthOf(ids, 30)
  })

  it.each(["response", "dictionary", "raw"] as const)("settle what an earlier attempt had done, as %s", (form) => {
    using client = Sync.createClientSync({
      ...faulty({ timeout: 5_000 }),
      consumerKey: "a",
      consumerSecret: "b",
      accessToken: "1-c",
      accessTokenSecret: "d"
    })
    const result = client.as(form).deletePost({ id: "503404" })
    const body = "json" in result ? result.json() : "toJSON" in result ? result.toJSON() : result
    assert.deepStrictEqual(body, { data: { deleted: true } })
  })

  it("are read once: what becomes of the settings later changes no client", () => {
    const given = { ...faulty(), checks: "spec" as "spec" | "identifiers", timeout: 5_000 }
    using client = Sync.createClientSync(given)
    Object.assign(given, { baseUrl: "http://127.0.0.1:1", checks: "identifiers", timeout: 1, wire: "x" })
    assert.lengthOf(client.searchRecentPosts({ query: "large:1" }).data ?? [], 1)
    const tooFew = () => client.searchRecentPosts({ query: "large:1", max_results: 1 })
    assert.instanceOf(thrown(tooFew), Sync.InvalidParameters)
  })

  it("may be reactive objects, which no thread can be handed", () => {
    const reactive = <A extends object>(target: A): A =>
      new Proxy(target, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name)
          return typeof value === "object" && value !== null ? reactive(value) : value
        }
      })
    using client = Sync.createClientSync(reactive({ ...faulty(), timeout: { total: 5_000 } }))
    const options = reactive({ timeout: { total: 4_000 }, retries: 0 })
    assert.lengthOf(client.searchRecentPosts(reactive({ query: "large:1" }), options).data ?? [], 1)
    const pages = client.searchRecentPosts.pages({ query: "pages:reactive" }, reactive({ ...options, limit: 10 }))
    assert.lengthOf([...pages], 1)
  })

  it("retry as often as configured", () => {
    using client = Sync.createClientSync(faulty())
    assert.strictEqual(client.searchRecentPosts({ query: "flaky:1" }).data?.[0]?.text, "at last")
    const error = thrown(() => client.searchRecentPosts({ query: "flaky:2" }, { retries: 0 }))
    assert.instanceOf(error, Sync.ServerFailure)
  })
})

describe("errors", () => {
  it("of the program come before any traffic, as TypeErrors", () => {
    using client = Sync.createClientSync({ baseUrl: "http://127.0.0.1:9" })
    for (
      const [errorClass, call] of [
        [Sync.MissingAccessToken, () => client.getMe()],
        [Sync.MissingAccessToken, () => client.getBookmarks()],
        [Sync.InvalidParameters, () => client.searchRecentPosts({ query: "a", max_results: 5 })],
        [Sync.InvalidParameters, () => client.getPost({} as never)],
        [Sync.InvalidParameters, () => client.getPost({ id: "1" }, { timeout: 0 })],
        [Sync.InvalidParameters, () => client.getPost({ id: "1" }, { timeout: NaN })],
        [Sync.InvalidParameters, () => client.getPost({ id: "1" }, { timeout: "5" as never })],
        [Sync.ConflictingIdentifiers, () => client.getUser({ id: "1", username: "ada" } as never)]
      ] as const
    ) {
      const error = thrown(call)
      assert.isTrue(error instanceof errorClass, inspect(error))
      assert.strictEqual((error as Sync.InvalidParameters)._tag, errorClass.name)
      assert.instanceOf(error, TypeError)
    }
  })

  it("of settings are thrown when the client is made", () => {
    const started = workers.length
    for (
      const [setting, given] of [
        ["baseUrl", {}],
        ["baseUrl", { baseUrl: "nonsense" }],
        ["baseUrl", { baseUrl: "http://example.com" }],
        ["wire", { baseUrl: "http://localhost", wire: "y" }],
        ["bearerToken", { baseUrl: "http://localhost", bearerToken: "a\nb" }],
        ["accessToken", { baseUrl: "http://localhost", accessToken: 5 }],
        ["userAgent", { baseUrl: "http://localhost", userAgent: "" }],
        ["timeout", { baseUrl: "http://localhost", timeout: -1 }],
        ["timeout", { baseUrl: "http://localhost", timeout: NaN }],
        ["maxWait", { baseUrl: "http://localhost", waitOnRateLimit: true, maxWait: NaN }],
        ["rateLimitStore", { baseUrl: "http://localhost", rateLimitStore: "ftp://localhost" }],
        ["onRateLimit", { baseUrl: "http://localhost", onRateLimit: () => {} }],
        ["dispatcher", { baseUrl: "http://localhost", dispatcher: { dispatch: () => true } }]
      ] as const
    ) {
      const error = thrown(() => Sync.createClientSync(given as never))
      assert.instanceOf(error, Sync.InvalidSettings)
      assert.instanceOf(error, TypeError)
      assert.strictEqual(error.setting, setting)
      assert.match(error.stack?.split("\n").find((line) => line.startsWith("    at ")) ?? "", /SyncClient\.test\.ts/)
    }
    assert.strictEqual(workers.length, started)
  })

  it("hold no credential that a service quotes, nor does what it could not answer or what is printed", () => {
    const canaries = {
      ...faulty(),
      bearerToken: "canary:01",
      consumerKey: Redacted.make("canary-key-02"),
      consumerSecret: "canary secret 03",
      accessToken: "1-canary-04",
      accessTokenSecret: "canary-secret-05",
      proxy: "http://me:canary-06@127.0.0.1:1"
    }
    const { proxy: _, ...direct } = canaries
    const check = (told: unknown) => {
      const { message, stack } = told instanceof Error ? told : { message: "", stack: "" }
      const shown = [inspect(told, { depth: Infinity, showHidden: true }), JSON.stringify(told), message, stack]
      for (const text of shown) {
        assert.notInclude(text, "canary")
        assert.notMatch(text ?? "", /oauth_signature=[\\"]+[^<\\"]/)
      }
    }
    const client = Sync.createClientSync({ ...direct, retries: 0 })
    for (const kind of ["page", "field", "id", "401", "503"]) {
      for (
        const call of [
          () => client.searchRecentPosts({ query: `echo:${kind}` }),
          () => client.searchRecentPosts({ query: `echo:${kind}`, user_auth: true }),
          () => client.createPost({ text: `echo:${kind}` })
        ]
      ) {
        const error = thrown(call)
        check(error)
        assert.include(JSON.stringify(error), "<redacted>")
      }
    }
    const { errors } = client.searchRecentPosts({ query: "echo:errors" })
    assert.include(errors[0]?.detail, "<redacted>")
    check(errors)
    const proxied = Sync.createClientSync({ ...canaries, retries: 0 })
    check(thrown(() => proxied.getPost({ id: "1" })))
    for (const made of [client, proxied, proxied.as("raw"), proxied.session]) check(made)
  })

  it("hold no token of an account, which only the worker knows", async () => {
    const { baseUrl } = faults.ready
    const folder = mkdtempSync(join(tmpdir(), "postwire-sync-"))
    const tokens = {
      accessToken: "canary-access-01",
      refreshToken: "canary-refresh-02",
      expiresAt: Date.now() + 7_200_000,
      scopes: scopesFor(["createPost"])
    }
    const app = { clientId: "app", clientSecret: "canary-secret-03" }
    try {
      await saveAccount({ ...app, baseUrl, tokenStore: folder, account: "ada", tokens })
      const oauth2 = { ...app, ...tokens, accessToken: Redacted.make(tokens.accessToken) }
      for (const settings of [{ account: "ada", tokenStore: folder }, { oauth2 }]) {
        using client = Sync.createClientSync({ baseUrl, ...settings, retries: 0 })
        for (const kind of ["page", "field", "id", "503"]) {
          for (
            const call of [
              () => client.searchRecentPosts({ query: `echo:${kind}` }),
              () => client.createPost({ text: `echo:${kind}` })
            ]
          ) {
            const error = thrown(call)
            const shown = [inspect(error, { depth: Infinity, showHidden: true }), JSON.stringify(error), String(error)]
            for (const text of shown) assert.notInclude(text, "canary", kind)
            assert.include(shown[1], "<redacted>")
          }
        }
        assert.notInclude(inspect(client, { depth: Infinity, showHidden: true }), "canary")
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("omit malformed parts of a response, with one warning, unless that is requested for", async () => {
    const warnings: Array<string> = []
    const warn = ({ message, name }: Error) => void warnings.push(`${name}: ${message}`)
    process.on("warning", warn)
    using client = Sync.createClientSync(faulty())
    const parameters = { query: "spoiled" }
    for (const page of [client.searchRecentPosts(parameters), ...client.searchRecentPosts.pages(parameters)]) {
      assert.deepStrictEqual(page.anomalies, [
        { path: "data[0].text", expected: "a string", glimpse: `["Bearer <redacted>"]` }
      ])
    }
    assert.deepStrictEqual([...client.searchRecentPosts.items(parameters)] as unknown, [{ id: "1" }, {
      id: "2",
      text: "b"
    }])
    await new Promise(setImmediate)
    process.off("warning", warn)
    assert.deepStrictEqual(warnings, [
      "PostwireWarning: searchRecentPosts: data[].text is not a string and was omitted (reported once)"
    ])
    using strict = Sync.createClientSync(faulty({ verify: "strict" }))
    assert.instanceOf(thrown(() => strict.searchRecentPosts(parameters)), Sync.UndecodableResponse)
  })

  it("of the service are what the Promise client rejects with", async () => {
    const client = Sync.createClientSync(settings())
    const fake = Sync.createClientSync(faulty())
    const stranger = Sync.createClientSync({ ...settings(), bearerToken: secret, accessTokenSecret: secret })
    const mine = client.createPost({ text: "mine" }).data!.id
    client.deletePost({ id: mine })
    for (
      const [errorClass, call] of [
        [Sync.NotFound, () => client.deletePost({ id: mine })],
        [Sync.NotFound, () => client.like({ post_id: mine })],
        [
          Sync.Forbidden,
          () => client.deletePost({ id: client.searchRecentPosts({ query: "effect -from:ada" }).data![0]!.id })
        ],
        [Sync.BadRequest, () => client.createPost({ text: "" })],
        [Sync.BadRequest, () => client.searchRecentPosts({ query: "(" })],
        [Sync.Unauthorized, () => stranger.getPost({ id: "1" })],
        [Sync.Unauthorized, () => stranger.getMe()],
        [Sync.Unauthorized, () => stranger.getBookmarks()],
        [Sync.RateLimited, () => fake.searchRecentPosts({ query: "status:429" })],
        [Sync.ServerFailure, () => fake.searchRecentPosts({ query: "status:503" })],
        [Sync.UnexpectedStatus, () => fake.searchRecentPosts({ query: "status:418" })],
        [Sync.UndecodableResponse, () => fake.searchRecentPosts({ query: "text" })],
        [Sync.UndecodableResponse, () => fake.searchRecentPosts({ query: "form" })],
        [Sync.TransportFailure, () => fake.searchRecentPosts({ query: "break" })],
        [Sync.TransportFailure, () => fake.searchRecentPosts({ query: "drop" })],
        [
          Sync.TransportFailure,
          () => Sync.createClientSync({ baseUrl: "http://127.0.0.1:1", bearerToken: secret }).getPost({ id: "1" })
        ],
        [Sync.OutcomeUnknown, () => faultyUser().createPost({ text: "drop" })],
        [Sync.OutcomeUnknown, () => faultyUser().createPost({ text: "break" })],
        [Sync.PaginationStuck, () => [...fake.searchRecentPosts.items({ query: "repeat" })]]
      ] as const
    ) {
      const error = thrown(call)
      assert.isTrue(error instanceof errorClass, inspect(error))
      assert.strictEqual((error as { _tag: string })._tag, errorClass.name)
      assert.notInstanceOf(error, TypeError)
      const { message, stack = "" } = error as Error
      for (const shown of [message, stack, inspect(error, { depth: 9 }), JSON.stringify(error)]) {
        assert.notInclude(shown, secret)
        assert.notInclude(shown, settings().bearerToken as string)
      }
      // The stack begins with the caller of the method.
      const first = stack.split("\n").find((line) => /^ +at .*:\d+:\d+\)?$/.test(line)) ?? ""
      if (errorClass !== Sync.PaginationStuck) assert.match(first, /SyncClient\.test\.ts/)
    }
    const refused = thrown(() => fake.searchRecentPosts({ query: "spent" })) as Sync.RateLimited
    assert.instanceOf(refused, Sync.RateLimited)
    assert.deepStrictEqual([refused.status, refused.credential, refused.bucket], [429, "bearer", "searchRecentPosts"])
    assert.instanceOf(refused.resetAt, Date)
    assert.deepStrictEqual(refused.problems, [{ title: "T", detail: "D" }])
    const broken = thrown(() => faultyUser().createPost({ text: "break" }))
    assert.propertyVal(broken, "status", 200)
    for (const one of [client, fake, stranger]) one.close()
    await using promising = createClient(settings())
    const theirs = await promising.createPost({ text: "" }).catch((error: Sync.BadRequest) => error)
    const own = thrown(() => Sync.createClientSync(settings()).createPost({ text: "" })) as Sync.BadRequest
    assert.instanceOf(theirs, Sync.BadRequest)
    assert.strictEqual(own.message, theirs.message)
    assert.deepStrictEqual(own.problems, theirs.problems)
  })

  it.each([500, 5_000, 200_000])("with a problem %i levels deep arrive, and are read up to 512", (depth) => {
    using client = Sync.createClientSync(faulty())
    const error = thrown(() => client.searchRecentPosts({ query: `deep:${depth}` }, { timeout: 10_000 }))
    assert.instanceOf(error, Sync.BadRequest)
    assert.match(error.message, /^searchRecentPosts: .* \(400\)/)
    assert.strictEqual(error.problems[0]?.message, depth < 512 ? "M" : undefined)
  })

  const user = { consumerKey: "a", consumerSecret: "b", accessToken: "1-c", accessTokenSecret: "d" }
  const faultyUser = (more: Sync.Settings = {}) => Sync.createClientSync(faulty({ ...user, ...more }))

  it("of deadlines name the limit while the worker still loads", () => {
    using client = Sync.createClientSync({ ...faulty({ timeout: 1 }), ownWorker: true })
    const error = thrown(() => client.searchRecentPosts({ query: "hang" }))
    assert.instanceOf(error, Sync.TransportFailure)
    assert.match(error.message, /did not end within 1 ms/)
    assert.strictEqual(error.timeout, "total")
    // The latest is to be the one that the others share.
    workers.pop()
  })

  /** Repeats a create with a longer timeout until its request leaves within it: not every machine sends in 50 ms. */
  const endsUnknown = (create: (timeout: number) => unknown) => {
    let error: unknown
    for (let timeout = 50; !(error instanceof Sync.OutcomeUnknown) && timeout < 10_000; timeout *= 2) {
      error = thrown(() => create(timeout))
      if (!(error instanceof Sync.OutcomeUnknown)) assert.instanceOf(error, Sync.TransportFailure)
    }
    assert.instanceOf(error, Sync.OutcomeUnknown)
  }

  it("of timeouts are thrown, and the client still works", () => {
    using client = Sync.createClientSync(faulty({ timeout: 300 }))
    using other = Sync.createClientSync(settings())
    other.getMe()
    for (const [options, limit] of [[undefined, 300], [{ timeout: 50 }, 50]] as const) {
      const start = performance.now()
      const error = thrown(() => client.searchRecentPosts({ query: "hang" }, options))
      const took = performance.now() - start
      assert.instanceOf(error, Sync.TransportFailure)
      assert.match(error.message, new RegExp(`did not end within ${limit} ms`))
      assert.isAtLeast(took, limit - 1)
      assert.isDefined(other.getMe().data)
    }
    using creator = faultyUser()
    endsUnknown((timeout) => creator.createPost({ text: "hang" }, { timeout }))
    // A call that waits for its rate limit has had no effect, neither before its first attempt nor after.
    using patient = faultyUser({ waitOnRateLimit: true })
    for (const [text, timeout] of [["spent", 3_000], ["hang", 50]] as const) {
      const error = thrown(() => patient.createPost({ text }, { timeout }))
      assert.instanceOf(error, Sync.TransportFailure)
      assert.strictEqual(error.timeout, "total")
    }
    endsUnknown((timeout) => patient.createDirectMessage({ participant_id: 1, text: "hang" }, { timeout }))
    using hanging = Sync.createClientSync(faulty())
    const pages = hanging.searchRecentPosts.pages({ query: "hang" }, { timeout: 50 })
    assert.instanceOf(thrown(() => [...pages]), Sync.TransportFailure)
  })

  it("of spent budgets are waited for when that is set, but not too long", () => {
    using patient = Sync.createClientSync(faulty({ waitOnRateLimit: true, maxWait: 5_000 }))
    const start = performance.now()
    assert.strictEqual(patient.searchRecentPosts({ query: "busy:1" }).data?.[0]?.text, "at last")
    assert.isAtLeast(performance.now() - start, 999)
    const error = thrown(() => patient.searchRecentPosts({ query: "spent" }))
    assert.instanceOf(error, Sync.RateLimitWaitTooLong)
    assert.strictEqual(error.maxWait, 5_000)
  })
})

describe("the session", () => {
  it("reports its connections, and closes the client", () => {
    const client = Sync.createClientSync(settings())
    assert.deepStrictEqual(client.session.statistics(), {})
    client.getMe()
    const { origin } = new URL(sandbox.ready.baseUrl)
    assert.deepStrictEqual(client.as("raw").session.statistics(), {
      [origin]: { connected: 1, free: 1, queued: 0, running: 0, size: 0 }
    })
    client.session.close()
    assert.deepStrictEqual(client.session.statistics(), {})
    assert.match(String((thrown(() => client.getMe()) as Error).message), /the client is closed/)
  })
})

describe("the worker", () => {
  it("is one for all clients, and starts with the first call", () => {
    const [one, two] = [Sync.createClientSync(settings()), Sync.createClientSync({ ...settings(), wire: "x" })]
    one.getMe()
    const started = workers.length
    assert.strictEqual(two.getMe().data?.username, "ada")
    assert.strictEqual(one.getMe().data?.username, "ada")
    using three = Sync.createClientSync({ ...settings(), bearerToken: Redacted.make(String(settings().bearerToken)) })
    assert.strictEqual(three.getMe({ user_auth: false }).data?.username, "ada")
    assert.strictEqual(workers.length, started)
    one.close()
    assert.strictEqual(two.getMe().data?.username, "ada")
    two.close()
  })

  it("may end between two calls: another one takes over", async () => {
    using client = Sync.createClientSync(settings())
    using other = Sync.createClientSync(settings())
    client.getMe()
    other.getMe()
    const started = workers.length
    await workers.at(-1)!.terminate()
    assert.strictEqual(client.getMe().data?.username, "ada")
    assert.strictEqual(other.getBookmarks({ max_results: 1 }).data?.length, 1)
    assert.strictEqual(workers.length, started + 1)
    await workers.at(-1)!.terminate()
    client.close()
  })

  it("outlives settings that it cannot open: the calls of that client say why, and that nothing left", () => {
    using client = Sync.createClientSync(settings())
    client.getMe()
    const started = workers.length
    for (const create of [false, true]) {
      let reads = 0
      // Valid when it is checked and no more when it gets to the worker.
      using broken = Sync.createClientSync({
        ...settings(),
        get baseUrl() {
          return ++reads === 1 ? sandbox.ready.baseUrl : "ftp://nowhere"
        }
      })
      for (let i = 0; i < 2; i++) {
        const error = thrown(() => create ? broken.createPost({ text: "a" }) : broken.getMe())
        assert.instanceOf(error, Sync.TransportFailure)
        assert.strictEqual(error.phase, "connect")
        assert.match(error.message, /baseUrl must be a URL/)
        assert.deepStrictEqual(broken.session.statistics(), {})
      }
      assert.strictEqual(client.getMe().data?.username, "ada")
    }
    assert.strictEqual(workers.length, started)
  })
})

describe("close", () => {
  it("ends the client and no other, any number of times", () => {
    const client = Sync.createClientSync(settings())
    using other = Sync.createClientSync(settings())
    client.getMe()
    const iterator = client.searchRecentPosts.items({ query: "effect", max_results: 10 })[Symbol.iterator]()
    assert.isFalse(iterator.next().done)
    client.close()
    client.close()
    for (
      const call of [
        () => client.getMe(),
        () => client.getPost({ id: "../me" }),
        () => [...client.searchRecentPosts.items({ query: "effect" })],
        () => iterator.next()
      ]
    ) {
      const error = thrown(call)
      assert.instanceOf(error, Sync.TransportFailure)
      assert.strictEqual(error.phase, "connect")
      assert.strictEqual(error.reason, "the client is closed")
    }
    assert.strictEqual(other.getMe().data?.username, "ada")
  })

  it("needs no call before it, and comes with using", () => {
    Sync.createClientSync(settings()).close()
    let kept: Sync.PostwireClientSync
    {
      using client = Sync.createClientSync(settings())
      kept = client
      client.getMe()
    }
    assert.match(String((thrown(() => kept.getMe()) as Error).message), /the client is closed/)
  })

  it("is not needed for a process to end", async () => {
    const code = `
      import { createClientSync } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)}
      const client = createClientSync()
      const found = client.searchRecentPosts({ query: "effect" }).data.length
      console.log(client.getMe().data.username, found)
    `
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      env: { ...process.env, ...sandbox.ready.environment },
      stdio: ["ignore", "pipe", "inherit"]
    })
    let printed = ""
    child.stdout.setEncoding("utf8").on("data", (text) => printed += text)
    const [exit] = await once(child, "close")
    assert.deepStrictEqual([exit, printed], [0, "ada 10\n"])
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { request as httpRequest } from "node:http"
import { afterAll, beforeAll, beforeEach } from "vitest"
import { catalogue } from "../../core/src/Catalogue.ts"
import * as Admin from "../src/admin/Admin.ts"
import * as Sandbox from "../src/Sandbox.ts"

const start = Date.UTC(2026, 10, 20, 12)

let sandbox: Sandbox.RunningSandbox

beforeAll(async () => {
  sandbox = await Sandbox.start({ posts: 60, start })
})

beforeEach(() => sandbox.reset())

afterAll(() => sandbox.stop())

interface Answer {
  readonly status: number
  readonly type: string | undefined
  readonly bytes: Buffer
  // oxlint-disable-next-line no-explicit-any -- tests look into documents of every form
  readonly body: any
}

/** A request with the admin token, unless `headers` say otherwise. */
const call = (
  method: string,
  path: string,
  payload?: unknown,
  headers: Readonly<Record<string, string | undefined>> = {}
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const body = payload === undefined || payload instanceof Uint8Array ? payload : Buffer.from(JSON.stringify(payload))
    const all = {
      authorization: `Bearer ${Redacted.value(sandbox.adminToken)}`,
      ...(body && { "content-type": "application/json" }),
      ...headers
    }
    const { hostname, port } = new URL(sandbox.baseUrl)
    httpRequest({
      hostname,
      port,
      path: `/_sandbox${path}`,
      method,
      headers: Object.fromEntries(Object.entries(all).filter((entry) => entry[1] !== undefined))
    }).on("error", reject)
      .on("response", (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
          const bytes = Buffer.concat(chunks)
          const type = response.headers["content-type"]
          const isJson = type?.includes("json") === true
          resolve({
            status: response.statusCode!,
            type,
            bytes,
            body: isJson ? JSON.parse(bytes.toString()) : undefined
          })
        })
      })
      .end(body)
  })

const read = async (path: string) => {
  const { body, status } = await call("GET", path)
  assert.strictEqual(status, 200)
  return body
}

describe("admin calls", () => {
  it("suspend a user, by id or username, and end that", async () => {
    const grace = sandbox.user({ username: "grace" })
    for (const user of ["Grace", grace.id]) {
      const { body } = await call("PUT", `/suspensions/${user}`)
      assert.deepStrictEqual(body, { id: grace.id, username: "grace", suspended: true })
      assert.isTrue(sandbox.store.users.byId(grace.id)?.suspended)
      assert.strictEqual((await call("DELETE", `/suspensions/${user}`)).status, 200)
      assert.isFalse(sandbox.store.users.byId(grace.id)?.suspended)
    }
    assert.strictEqual((await call("PUT", "/suspensions/nobody")).status, 404)
  })

  it("are for those with the token", async () => {
    const token = Redacted.value(sandbox.adminToken)
    assert.match(token, /^[\w-]{32}$/)
    for (
      const authorization of [
        undefined,
        "",
        "Bearer",
        "Bearer ",
        token,
        `Basic ${token}`,
        `Bearer ${token.slice(0, -1)}`,
        `Bearer ${token}x`,
        `Bearer ${token.toLowerCase()}`,
        `Bearer ${sandbox.settings.bearerToken}`
      ]
    ) {
      for (const [method, path] of [["GET", "/credentials"], ["POST", "/reset"], ["GET", "/nothing"]] as const) {
        const { body, status, type } = await call(method, path, undefined, { authorization })
        assert.deepStrictEqual([status, type], [401, "application/problem+json"], authorization)
        assert.deepStrictEqual([body.status, body.title], [401, "Unauthorized"])
        assert.notInclude(JSON.stringify(body), token)
      }
    }
    await using other = await Sandbox.start({ posts: 0 })
    assert.notStrictEqual(Redacted.value(other.adminToken), token)
    await using own = await Sandbox.start({ posts: 0, adminToken: Redacted.make("mine") })
    const headers = { authorization: "Bearer mine" }
    assert.strictEqual((await fetch(`${own.baseUrl}/_sandbox/health`, { headers })).status, 200)
  })

  it("are for programs on this machine", async () => {
    for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }, { origin: "null" }]) {
      assert.strictEqual((await call("POST", "/reset", undefined, headers)).status, 403, JSON.stringify(headers))
    }
    assert.strictEqual((await call("GET", "/health", undefined, { origin: "http://localhost:3000" })).status, 200)
  })

  it("that do not exist are not found", async () => {
    for (
      const [method, path] of [
        ["GET", "/"],
        ["GET", "/nothing"],
        ["POST", "/health"],
        ["DELETE", "/faults/1"],
        ["DELETE", "/faults/x"],
        ["GET", "/../_sandbox/nothing"]
      ] as const
    ) {
      const { body, status } = await call(method, path)
      assert.deepStrictEqual([status, body.status], [404, 404], `${method} ${path}`)
    }
  })

  it("are no requests of the service", async () => {
    await read("/health")
    assert.deepStrictEqual(sandbox.requests, [])
    assert.deepStrictEqual(sandbox.budget.windows(), [])
    sandbox.faults.add({ status: 500, times: "always" })
    await read("/health")
  })

  it("tell health and credentials", async () => {
    const health = await read("/health")
    assert.deepStrictEqual([health.status, health.counts], ["ok", { ...sandbox.store.counts() }])
    assert.approximately(Date.parse(health.now), start, 60_000)
    const { confidentialClient, publicClient, redirects, user, ...credentials } = await read(
      "/credentials"
    )
    const { seeded } = sandbox
    assert.deepStrictEqual([publicClient, redirects], [seeded.publicClient, seeded.redirects])
    assert.deepStrictEqual(confidentialClient, {
      id: seeded.confidentialClient.id,
      secret: Redacted.value(seeded.confidentialClient.secret)
    })
    assert.deepStrictEqual({ baseUrl: sandbox.baseUrl, ...credentials }, sandbox.settings)
    assert.deepStrictEqual(user, sandbox.seeded.ada)
  })

  it("move the clock", async () => {
    const at = async () => Date.parse((await read("/clock")).now)
    const near = (time: number, expected: number) => assert.approximately(time, expected, 60_000)
    near(await at(), start)
    const { body } = await call("POST", "/clock", { advance: "2 hours" })
    near(Date.parse(body.now), start + 7_200_000)
    near(sandbox.clock.now(), start + 7_200_000)
    await call("POST", "/clock", { advance: 3_600_000 })
    near(await at(), start + 10_800_000)
    await call("POST", "/clock", { now: "2027-01-01T00:00:00+01:00" })
    near(await at(), Date.UTC(2026, 11, 31, 23))
    await call("POST", "/clock", { now: start })
    near(await at(), start)
    await call("POST", "/clock", { advance: "1 week" })
    await call("DELETE", "/clock")
    near(await at(), start)
  })

  it("add, list and remove faults", async () => {
    const rule = { status: 503, operation: "getMe", times: 2 }
    const { body: { id } } = await call("POST", "/faults", rule)
    const { body: second } = await call("POST", "/faults", { reset: "after", operation: ["like", "unlike"] })
    assert.strictEqual(
      (await fetch(`${sandbox.baseUrl}/2/users/me`, {
        headers: { authorization: `Bearer ${sandbox.settings.bearerToken}` }
      })).status,
      503
    )
    assert.deepStrictEqual((await read("/faults")).faults[0], { id, rule, met: 1 })
    const { body } = await call("DELETE", `/faults/${id}`)
    assert.deepStrictEqual(body.faults.map((fault: { id: number }) => fault.id), [second.id])
    assert.deepStrictEqual((await call("DELETE", "/faults")).body, { faults: [] })
    assert.deepStrictEqual(sandbox.faults.list(), [])
  })

  it("show and empty the journal", async () => {
    for (let i = 0; i < 3; i++) {
      await fetch(`${sandbox.baseUrl}/2/users/me`, {
        headers: { authorization: `Bearer ${sandbox.settings.bearerToken}` }
      })
    }
    const { entries } = await read("/journal")
    assert.deepStrictEqual(entries, JSON.parse(JSON.stringify(sandbox.requests)))
    assert.lengthOf(entries, 3)
    assert.deepStrictEqual((await read(`/journal?after=${entries[1].id}`)).entries, [entries[2]])
    for (const after of ["x", "-1", "1.5", ""]) {
      const { body, status } = await call("GET", `/journal?after=${after}`)
      assert.strictEqual(status, 400, after)
      assert.include(JSON.stringify(body), "after")
    }
    assert.deepStrictEqual((await call("DELETE", "/journal")).body, { entries: [] })
    assert.deepStrictEqual(sandbox.requests, [])
  })

  it("show, set and clear the budget", async () => {
    const headers = { authorization: `Bearer ${sandbox.settings.bearerToken}` }
    const { body } = await call("POST", "/budget", { operation: "getMe", remaining: 1 })
    assert.deepStrictEqual(
      body.windows.map(({ limit, operation, remaining }: Record<string, unknown>) => [operation, limit, remaining]),
      [
        ["getMe", 75, 1],
        ["getMe", 75, 1]
      ]
    )
    const me = async () => (await fetch(`${sandbox.baseUrl}/2/users/me`, { headers })).status
    assert.deepStrictEqual([await me(), await me()], [200, 429])
    assert.deepStrictEqual((await call("DELETE", "/budget")).body, { windows: [], posts: [] })
    assert.strictEqual(await me(), 200)
  })

  it("take and restore snapshots", async () => {
    const { bytes, status, type } = await call("GET", "/snapshot")
    assert.deepStrictEqual([status, type], [200, "application/vnd.sqlite3"])
    const post = sandbox.user({ username: "grace" }).post("gone soon")
    const { body } = await call("PUT", "/snapshot", bytes, { "content-type": "application/octet-stream" })
    assert.deepStrictEqual(body, { counts: { ...sandbox.store.counts() } })
    assert.isUndefined(sandbox.store.posts.byId(post.id))
    assert.lengthOf(sandbox.requests, 0)
    await fetch(`${sandbox.baseUrl}/2/users/me`)
    await call("PUT", "/snapshot?journal=keep", bytes)
    assert.lengthOf(sandbox.requests, 1)
    assert.strictEqual((await call("PUT", "/snapshot?journal=kept", bytes)).status, 400)
    for (const wrong of [Buffer.from("nonsense"), bytes.subarray(0, 5_000), Buffer.alloc(0)]) {
      const { body, status } = await call("PUT", "/snapshot", wrong)
      assert.deepStrictEqual([status, body.title], [400, "Invalid Request"])
    }
    assert.deepStrictEqual((await read("/health")).counts, body.counts)
  })

  it("reset, and seed another population", async () => {
    const counts = { ...sandbox.store.counts() }
    sandbox.user()
    assert.deepStrictEqual((await call("POST", "/reset")).body, { counts })
    const { body } = await call("POST", "/seed", { posts: 10, seed: 9, start: "2026-01-01T00:00:00Z" })
    assert.strictEqual(body.counts.posts, 10)
    assert.strictEqual(new Date(sandbox.clock.now()).getUTCFullYear(), 2026)
    assert.isBelow(sandbox.clock.now(), Date.UTC(2026, 0, 2))
    assert.strictEqual((await call("POST", "/reset")).body.counts.posts, 60)
  })

  it.each(
    [
      ["/clock", {}, /advance|now/],
      ["/clock", { advance: "soon" }, /advance/],
      ["/clock", { advance: -5 }, /advance/],
      ["/clock", { advance: "Infinity" }, /advance/],
      ["/clock", { now: "tomorrow" }, /now/],
      ["/clock", { now: "1" }, /now/],
      ["/clock", { now: "2026-02-30" }, /now/],
      ["/clock", { now: "2026-02-30T12:00:00Z" }, /now/],
      ["/clock", { advance: "100000 weeks" }, /advance/],
      ["/clock", { advance: 1e300 }, /advance/],
      ["/clock", { now: "2026-01-01T00:00:00" }, /now/],
      ["/clock", { now: 0 }, /now/],
      ["/clock", { now: 1e15 }, /now/],
      ["/clock", { now: start, advance: 1 }, /advance|now/],
      ["/faults", {}, /must name a fault/],
      ["/faults", { status: 700 }, /status/],
      ["/faults", { headers: { "a b": "c" } }, /headers/],
      ["/faults", { operation: "searchPosts", status: 500 }, /operation/],
      ["/faults", { status: 500, when: "now" }, /when/],
      ["/faults", { oneOf: [{ status: 500, when: "now" }] }, /when/],
      ["/budget", { operation: "getMe" }, /remaining/],
      ["/budget", { operation: "getMe", remaining: -1 }, /remaining/],
      ["/budget", { operation: "me", remaining: 1 }, /operation/],
      ["/seed", { posts: 10_000_001 }, /posts/],
      ["/seed", { posts: -1 }, /posts/],
      ["/seed", { seed: 1.5 }, /seed/],
      ["/seed", { start: "1989-12-31T00:00:00Z" }, /start/],
      ["/seed", { size: 5 }, /size/]
    ] as const
  )("refuse a wrong payload and name the field: %s %j", async (path, payload, field) => {
    const before = { ...sandbox.store.counts() }
    const { body, status, type } = await call("POST", path, payload)
    assert.deepStrictEqual([status, type], [400, "application/problem+json"])
    assert.match(body.errors[0].message, field)
    assert.deepStrictEqual({ ...sandbox.store.counts() }, before)
    assert.deepStrictEqual(sandbox.faults.list(), [])
    assert.approximately(sandbox.clock.now(), start, 60_000)
  })

  it("refuse bodies that are no JSON objects, and do not overlook them", async () => {
    for (
      const [payload, headers] of [
        [Buffer.from("{"), {}],
        [Buffer.from("[]"), {}],
        [Buffer.from("null"), {}],
        [Buffer.from(`{"status":500}`), { "content-type": "application/x-www-form-urlencoded" }],
        [Buffer.from(`{"status":500}`), { "content-type": undefined }],
        [Buffer.from(`{"status":500}`), { "content-type": undefined, "transfer-encoding": "chunked" }]
      ] as const
    ) {
      for (const path of ["/faults", "/seed"]) {
        const { body, status } = await call("POST", path, payload, headers)
        assert.strictEqual(status, 400, payload.toString())
        assert.match(body.errors[0].message, /body/i)
      }
    }
  })

  it.each([
    [
      "POST",
      "/faults",
      { operation: "searchRecentPost", status: 500 },
      "(did you mean searchRecentPosts?)\n  at [\"operation\"]"
    ],
    ["POST", "/faults", { operaton: "getMe", status: 500 }, "(did you mean operation?)\n  at [\"operaton\"]"],
    ["POST", "/faults", { oneOf: [{ stat: 500 }] }, "(did you mean status?)\n  at [\"oneOf\"][0][\"stat\"]"],
    ["POST", "/faults", { body: "broken_json" }, "(did you mean broken-json?)\n  at [\"body\"]"],
    ["POST", "/request", { operation: "getMee", parameters: {} }, "(did you mean getMe?)\n  at [\"operation\"]"],
    ["POST", "/clock", { advanse: "1m" }, `Expected one of "advance", "now" (did you mean advance?)\n  at ["advanse"]`],
    ["POST", "/clock", { advance: "1 minuet" }, `is not a duration: milliseconds, or "2 seconds"\n  at ["advance"]`],
    ["GET", "/state/post", undefined, "There is no such collection: users, posts, "],
    ["POST", "/fault", {}, "There is no call POST /_sandbox/fault. Did you mean POST /_sandbox/faults?"],
    ["PUT", "/clock", {}, "There is no call PUT /_sandbox/clock. Did you mean GET /_sandbox/clock?"],
    [
      "GET",
      "/something/else",
      undefined,
      "There is no call GET /_sandbox/something/else. GET /_sandbox lists the calls."
    ]
  ])("suggest the name that was meant: %s %s %j", async (method, path, payload, words) => {
    const { body } = await call(method, path, payload)
    const message: string = body.errors?.[0].message ?? body.detail
    assert.include(message, words)
    assert.isBelow(message.length, 600)
  })

  it.each([["15 mins", 900], ["15m", 900], [900_000, 900], ["15 minutes", 900], ["250ms", 0.25], ["2 hrs", 7_200], [
    "1.5h",
    5_400
  ]])(
    "take a duration as %j",
    async (advance, seconds) => {
      const { body: { now: before } } = await call("GET", "/clock")
      const { body: { now } } = await call("POST", "/clock", { advance })
      assert.closeTo((Date.parse(now) - Date.parse(before)) / 1_000, seconds, 5)
      const { status } = await call("POST", "/faults", { delay: advance })
      assert.strictEqual(status, 200)
    }
  )

  it("describe themselves as OpenAPI, without the token", async () => {
    const { body, status } = await call("GET", "", undefined, { authorization: undefined })
    assert.strictEqual(status, 200)
    assert.strictEqual(body.openapi, "3.1.0")
    const described = Object.entries<object>(body.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`)
    )
    assert.sameMembers(described, Admin.calls.map((one) => one.replace(" /", " /_sandbox/")))
    const schemaOf = (path: string) =>
      body.paths[`/_sandbox${path}`].post.requestBody.content["application/json"].schema
    assert.deepStrictEqual(schemaOf("/faults").properties.reset, {
      type: "string",
      enum: ["before", "during", "after"]
    })
    assert.deepStrictEqual(schemaOf("/bill").properties.cap, { anyOf: [{ type: "number" }, { type: "null" }] })
    assert.strictEqual(schemaOf("/budget").additionalProperties, false)
    assert.deepStrictEqual(schemaOf("/budget").required, ["operation", "remaining"])
    assert.deepStrictEqual(body.paths["/_sandbox/state/{collection}"].get.parameters, [
      { name: "collection", in: "path", required: true, schema: { type: "string" } },
      ...["after", "limit", "user"].map((name) => ({ name, in: "query", required: false, schema: { type: "string" } }))
    ])
    assert.notMatch(JSON.stringify(body), /"\$ref"|Infinity/)
  })

  it("know every operation", async () => {
    for (const name of Object.keys(catalogue)) {
      assert.strictEqual((await call("POST", "/faults", { operation: name, status: 500 })).status, 200, name)
    }
  })
})

describe("apps and grants", () => {
  it("are made, looked at and revoked", async () => {
    const redirects = ["http://localhost:3000/callback", "myapp://callback"]
    const { body: app } = await call("POST", "/apps", {
      name: "Mine",
      kind: "confidential",
      redirects,
      rotation: "strict"
    })
    assert.match(Buffer.from(app.clientId, "base64url").toString(), /^\w{20}:1:ci$/)
    assert.match(app.clientSecret, /^\w{50}$/)
    const known = { name: "Mine", kind: "confidential", redirects, rotation: "strict", access: "research" }
    assert.deepInclude(app, known)
    const { apps } = await read("/apps")
    assert.deepStrictEqual(apps.map(({ kind }: { kind: string }) => kind), ["confidential", "public", "confidential"])
    assert.deepInclude(apps[0], known)
    for (const secret of [app.clientSecret, app.consumerSecret]) assert.notInclude(JSON.stringify(apps), secret)

    const scopes = ["tweet.read", "offline.access"]
    const { body: grant } = await call("POST", "/grants", { app: app.clientId, user: "ADA", scopes })
    assert.hasAllKeys(grant, ["id", "app", "user", "scopes", "accessToken", "refreshToken", "expiresAt"])
    assert.approximately(grant.expiresAt, start + 7_200_000, 60_000)
    await call("POST", "/grants")
    const { grants } = await read("/grants")
    assert.strictEqual(grants.length, 2)
    assert.deepInclude(grants[1], {
      kind: "OAuth 2.0",
      app: { id: app.id, name: "Mine", clientId: app.clientId },
      user: sandbox.seeded.ada,
      scopes,
      refreshes: 0,
      replays: 0,
      reuseDetected: 0,
      alive: true
    })
    for (const token of [grant.accessToken, grant.refreshToken]) assert.notInclude(JSON.stringify(grants), token)
    const { body: ended } = await call("DELETE", `/grants/${grant.id}`)
    assert.deepInclude(ended, { id: grant.id, alive: false, endedBy: "revoked" })
    const headers = { authorization: `Bearer ${grant.accessToken}` }
    assert.strictEqual((await fetch(`${sandbox.baseUrl}/2/users/me`, { headers })).status, 401)
  })

  it("that cannot be are refused with the reason", async () => {
    for (
      const [path, payload, reason] of [
        ["/apps", { redirects: ["/callback"] }, /not a valid redirect URL/],
        ["/apps", { redirects: ["http://localhost/#a"] }, /not a valid redirect URL/],
        ["/apps", { redirects: ["javascript:alert(1)"] }, /not a valid redirect URL/],
        ["/apps", { kind: "secret" }, /kind/],
        ["/apps", { rotation: "never" }, /rotation/],
        ["/grants", { app: "nobody" }, /no app nobody/],
        ["/grants", { user: "nobody" }, /no user nobody/],
        ["/grants", { scopes: ["nothing.read"] }, /no scope nothing\.read/]
      ] as const
    ) {
      const { body, status } = await call("POST", path, payload)
      assert.strictEqual(status, 400)
      assert.match(body.errors[0].message, reason)
    }
    assert.strictEqual((await call("DELETE", "/grants/1")).status, 404)
  })
})

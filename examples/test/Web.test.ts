// The examples on `fetch`: a Worker, and a page behind its proxy.
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@postwire/sandbox"
import { createClient, RateLimited } from "@postwire/web"
import { chromium } from "playwright-core"
import { afterAll, beforeAll, beforeEach } from "vitest"
import { executable } from "../../packages/sandbox/test/support/Browser.ts"
import { proxy } from "../web/proxy.ts"
import { serve } from "../web/serve.ts"
import worker from "../web/worker.ts"

let sandbox: Sandbox.RunningSandbox
let pass: (request: Request) => Promise<Response>
let settings: { readonly baseUrl: string; readonly bearerToken: string }

const origin = "https://app.example"
const session = { authorization: "Bearer session-of-ada" }

beforeAll(async () => {
  sandbox = await Sandbox.start({ posts: 300 })
  settings = { baseUrl: sandbox.settings.baseUrl, bearerToken: String(sandbox.settings.bearerToken) }
  pass = proxy({
    ...settings,
    origin,
    prefix: "/2/users/",
    allows: ({ headers }) => headers.get("authorization") === session.authorization
  })
})

afterAll(() => sandbox.stop())

let before = 0
beforeEach(() => {
  sandbox.budget.clear()
  before = sandbox.requests.length
})

const ask = (path: string, headers: Record<string, string> = { origin, ...session }, method = "GET") =>
  pass(new Request(`https://proxy.example${path}`, { headers, method }))

describe("the proxy", () => {
  it("reads for the pages of its origin, with a credential that they never see", async () => {
    const response = await ask("/2/users/by/username/ada?user.fields=description", {
      origin,
      ...session,
      cookie: "a=1"
    })
    assert.strictEqual(response.headers.get("access-control-allow-origin"), origin)
    const text = await response.text()
    assert.strictEqual(JSON.parse(text).data.username, "ada")
    assert.notInclude(text + JSON.stringify([...response.headers]), settings.bearerToken)
    const [request] = sandbox.requests.slice(before)
    assert.deepInclude(request, { operation: "getUser", status: 200 })
    assert.notProperty(request, "cookie")
  })

  it("tells pages of rate limits", async () => {
    sandbox.budget.leave("getUser", 0)
    const client = createClient({
      baseUrl: "https://proxy.example",
      bearerToken: "session-of-ada",
      fetch: (url, init) => pass(new Request(url, { ...init, headers: { ...init.headers, origin } }))
    })
    const error = await client.getUser({ username: "ada" }).catch((error: unknown) => error)
    assert.instanceOf(error, RateLimited)
    assert.instanceOf(error.resetAt, Date)
    const exposed = (await ask("/2/users/by/username/ada")).headers.get("access-control-expose-headers")
    assert.include(exposed, "x-rate-limit-reset")
  })

  it("answers the question that a browser asks before, and sends nothing on", async () => {
    const response = await ask("/2/users/1", { origin, "access-control-request-headers": "authorization" }, "OPTIONS")
    assert.strictEqual(response.status, 204)
    assert.strictEqual(response.headers.get("access-control-allow-origin"), origin)
    assert.strictEqual(response.headers.get("access-control-allow-methods"), "GET")
    assert.lengthOf(sandbox.requests, before)
  })

  const refused: ReadonlyArray<readonly [what: string, status: number, request: Parameters<typeof ask>]> = [
    ["another origin", 403, ["/2/users/1", { origin: "https://other.example", ...session }]],
    ["no origin", 403, ["/2/users/1", session]],
    ["no session", 401, ["/2/users/1", { origin }]],
    ["another session", 401, ["/2/users/1", { origin, authorization: "Bearer a" }]],
    ["a write", 405, ["/2/users/1/likes", undefined, "POST"]],
    ["another path", 404, ["/2/posts/1"]],
    ["a way out", 404, ["/2/users/../posts/1"]],
    ["an escaped way out", 404, ["/2/users/%2e%2e/posts/1"]],
    ["an escaped slash", 404, ["/2/users/..%2fposts/1"]],
    ["an escaped backslash", 404, ["/2/users/..%5cposts/1"]]
  ]

  it.each(refused)("refuses %s with %i, and sends nothing on", async (_, status, request) => {
    assert.strictEqual((await ask(...request)).status, status)
    assert.lengthOf(sandbox.requests, before)
  })

  it.skipIf(executable === undefined)("serves the page in Chromium (skipped where it is not installed)", async () => {
    const { close, origin } = await serve(settings)
    const browser = await chromium.launch({ executablePath: executable! })
    try {
      sandbox.clock.advance("15 minutes")
      const page = await browser.newPage()
      await page.goto(origin)
      await page.locator("li").nth(10).waitFor()
      const html = await page.content()
      assert.include(html, "<li>This is Ada Lovelace.</li>")
      assert.lengthOf(html.match(/<li>/g) ?? [], 11)
      assert.notInclude(html, settings.bearerToken)
    } finally {
      await browser.close()
      close()
    }
  }, 40_000)
})

describe("the Worker", () => {
  it("answers with what it read", async () => {
    sandbox.clock.advance("15 minutes")
    const environment = { SERVICE_URL: settings.baseUrl, TOKEN: settings.bearerToken }
    const ask = (username: string) =>
      worker.fetch(new Request(`https://worker.example/?username=${username}`), environment)
    assert.strictEqual((await (await ask("ada")).json()).username, "ada")
    assert.strictEqual((await ask("nobodyyy")).status, 404)
  })
})

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import axe from "axe-core"
import { Context, Effect, Layer, Redacted } from "effect"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { promisify } from "node:util"
import { type Browser, chromium, type Page } from "playwright-core"
import * as Console from "../src/admin/Console.ts"
import * as MediaFiles from "../src/media/MediaFiles.ts"
import * as Sandbox from "../src/Sandbox.ts"
import { executable } from "./support/Browser.ts"
import * as Receiver from "./support/Receiver.ts"

const now = Date.UTC(2026, 10, 20, 12)

/** A picture of one pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

if (executable === undefined) {
  console.warn("The tests of the console page are skipped: `chromium` is not on PATH, and CHROMIUM names no browser.")
}

describe.skipIf(executable === undefined)("in a browser", () => {
  // Each visit has a context of its own, which shares nothing with the others.
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executable! })
  }, 60_000)
  afterAll(() => browser.close())

  /** A sandbox, and a page that keeps account of what must not happen. */
  const visit = Effect.fnUntraced(function*(options: Sandbox.ServerOptions = {}) {
    const sandbox = Context.get(
      yield* Layer.build(Sandbox.layerServer({ posts: 60, start: now, ...options })),
      Sandbox.Sandbox
    )
    const { baseUrl } = sandbox
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newContext()),
      (context) => Effect.promise(() => context.close())
    )
    const page = yield* Effect.promise(() => context.newPage())
    page.setDefaultTimeout(10_000)
    const errors: Array<string> = []
    const foreign: Array<string> = []
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") errors.push(message.text())
    })
    page.on("pageerror", (error) => errors.push(String(error)))
    page.on("request", (request) => {
      const url = request.url()
      if (!url.startsWith(`${baseUrl}/`) && !url.startsWith("data:") && !url.startsWith("blob:")) foreign.push(url)
      // Nobody is told the token but the admin calls, in their header.
      if (url.includes(Redacted.value(sandbox.adminToken))) foreign.push(url)
    })
    return { sandbox, page, errors, foreign }
  })

  const open = async (page: Page, { adminToken, baseUrl }: Sandbox.Sandbox["Service"]) => {
    await page.goto(Console.urlWith(baseUrl, adminToken))
    await page.locator("#main").waitFor()
  }

  /** Registers a webhook for the posts of ada, who writes one. Its delivery is the second request. */
  const deliver = async ({ ada, baseUrl, deliveries, seeded }: Sandbox.Sandbox["Service"]) => {
    const authorization = `Bearer ${Redacted.value(seeded.appBearerToken)}`
    const post = async (path: string, body: object) => {
      const headers = { authorization, "content-type": "application/json" }
      return (await fetch(baseUrl + path, { method: "POST", headers, body: JSON.stringify(body) })).json()
    }
    const { data: { id } } = await post("/2/webhooks", { url: Receiver.addressOf(seeded.consumerSecret) })
    const filter = { user_id: ada.id }
    await post("/2/activity/subscriptions", { event_type: "post.create", filter, tag: "own", webhook_id: id })
    ada.post("a delivered post")
    await Effect.runPromise(Receiver.until(() => deliveries.list().length === 2))
  }

  /** Goes to a view by its link. */
  const go = (page: Page, view: string) => page.locator(`nav a[href="#${view}"]`).click()

  /** Goes to a collection. */
  const list = async (page: Page, collection: string) => {
    await go(page, collection === "users" || collection === "grants" ? "users" : "data")
    await page.locator(`[data-collection=${collection}]`).click()
    await page.locator(`[data-collection=${collection}][aria-pressed=true]`).waitFor()
  }

  /** The browser reports refusals as errors: which they were, and whatever else it reported as it is. */
  const statusesOf = (errors: ReadonlyArray<string>) =>
    errors.map((error) =>
      /^Failed to load resource: the server responded with a status of (\d+) /.exec(error)?.[1] ?? error
    )

  it.live(
    "shows what is there as text, sends by keyboard, follows journal, limits and faults",
    () =>
      Effect.gen(function*() {
        const { errors, foreign, page, sandbox } = yield* visit()
        const { seeded: { ada }, store } = sandbox
        const text = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`
        const post = store.posts.insert({ authorId: ada.id, text, createdAt: now })
        yield* Effect.promise(async () => {
          await open(page, sandbox)
          assert.strictEqual(page.url(), `${sandbox.baseUrl}/console`)
          await go(page, "users")
          await page.locator("#state-rows", { hasText: "ada" }).waitFor()

          // Untrusted text.
          await go(page, "data")
          await page.getByRole("button", { name: /^posts 61$/ }).waitFor()
          await page.locator("#state-rows td", { hasText: "onerror" }).waitFor()
          assert.include(await page.locator("#state-rows tr").first().textContent(), text)
          assert.strictEqual(await page.locator("main img, main script").count(), 0)

          // From the top of the page to the answer without a pointer.
          await go(page, "send")
          await page.reload()
          await page.locator("#send-view").waitFor()
          const focused = () => page.evaluate(() => document.activeElement?.id ?? "")
          assert.strictEqual(await focused(), "")
          await page.keyboard.press("Tab")
          assert.strictEqual(await page.locator(":focus").innerText(), "Skip to the content")
          await page.keyboard.press("Enter")
          assert.strictEqual(await focused(), "main")
          await page.keyboard.press("Tab")
          assert.strictEqual(await focused(), "operation")
          await page.keyboard.type("getPost")
          assert.strictEqual(await page.locator("#operation").inputValue(), "getPost")
          for (const id of ["wire", "credential", "parameter-id"]) {
            await page.keyboard.press("Tab")
            assert.strictEqual(await focused(), id)
          }
          const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)
          assert.strictEqual(outline, "solid")

          // A mistake is told where it is.
          await page.keyboard.press("Enter")
          await page.locator("#parameter-id[aria-invalid=true]").waitFor()
          assert.match(await page.locator("#send-error").innerText(), /id is required/)
          assert.match(await page.locator("#parameter-id + .mistake").innerText(), /id is required/)
          assert.strictEqual(await focused(), "parameter-id")

          await page.keyboard.type(post)
          await page.keyboard.press("Enter")
          await page.locator("#response-status", { hasText: "200 OK" }).waitFor()
          assert.strictEqual(await page.locator(".mistake").count(), 0)
          assert.deepInclude(JSON.parse(await page.locator("#response-body").innerText()), {
            data: { id: post, text, edit_history_post_ids: [post] }
          })
          const request = await page.locator("#request").innerText()
          assert.strictEqual(
            request,
            `GET ${sandbox.baseUrl}/2/posts/${post}\nauthorization: Bearer <redacted>`
          )
          assert.include(await page.locator("#response-headers").textContent(), "x-rate-limit-remaining: 299")

          // The journal and the window.
          await go(page, "requests")
          const line = page.locator("#lines li", { hasText: `/2/posts/${post}` })
          await line.first().locator("a").focus()
          await page.keyboard.press("Enter")
          await page.getByRole("region", { name: "Response body" }).waitFor()
          assert.include(await page.locator("#entry [aria-label='Request headers']").textContent(), "<redacted>")
          await page.keyboard.press("Tab")
          await page.keyboard.press("Escape")
          await page.locator("#entry").waitFor({ state: "hidden" })
          assert.strictEqual(
            await page.evaluate(() => document.activeElement?.closest("li")?.textContent),
            await line.first().textContent()
          )
          await go(page, "limits")
          const bar = page.getByRole("progressbar", { name: "getPost, @ada" })
          await bar.waitFor()
          assert.deepStrictEqual(
            await bar.evaluate((element: HTMLProgressElement) => [element.value, element.max]),
            [299, 300]
          )

          // A fault.
          await go(page, "faults")
          await page.getByLabel("Operation", { exact: true }).last().selectOption("getPost")
          await page.getByRole("button", { name: "Add fault" }).click()
          const rule = page.locator("#rules li")
          await rule.first().waitFor()
          assert.strictEqual(
            await rule.innerText(),
            "Status 503, retry-after: 1. For getPost, once.\nnot triggered yet\nRemove"
          )
          await page.locator("#faults-view .outcome", { hasText: "Fault 1 is added." }).waitFor()
          await go(page, "send")
          await page.locator("#parameter-id").press("Enter")
          await page.locator("#response-status", { hasText: "503" }).waitFor()
          await go(page, "faults")
          await page.locator("#rules li", { hasText: "triggered once" }).waitFor()
          await go(page, "requests")
          await line.nth(1).waitFor()
          await page.locator("#journal-status").selectOption("fault")
          assert.strictEqual(await page.locator("#lines li").count(), 1)
          assert.include(await page.locator("#lines li").innerText(), "Fault: Status 503, retry-after: 1")
          await page.locator("#journal-operation").fill("users")
          await page.getByText("No request matches.").waitFor()
          await go(page, "faults")
          await page.getByRole("button", { name: /^Remove fault/ }).click()
          await page.locator("#faults-empty").waitFor()

          // A delay alone, and one with something else; what a program adds is in words as well.
          await page.getByLabel("Effect").selectOption("Only the delay")
          await page.getByRole("button", { name: "Add fault" }).click()
          await page.getByText("Enter the delay.").waitFor()
          assert.strictEqual(await focused(), "fault-delay")
          await page.keyboard.type("0.25")
          await page.keyboard.press("Enter")
          await page.locator("#rules li", { hasText: "Delayed by 250 ms. For getPost, once." }).waitFor()
          await page.getByLabel("Effect").selectOption("Broken JSON")
          await page.getByLabel("Delay in seconds").fill("2")
          await page.getByLabel("How often").selectOption("1 of 10, at random")
          await page.getByRole("button", { name: "Add fault" }).click()
          await page.locator("#rules li", {
            hasText: "Broken JSON, delayed by 2 seconds. For getPost, 10% of requests."
          })
            .waitFor()
          sandbox.faults.add({
            probability: 0.5,
            times: 2,
            oneOf: [{ processing: "failed" }, { reset: "after" }],
            nth: 3
          })
          await page.locator("#rules li", {
            hasText: "One of these: processing has failed; the connection breaks after the request was performed. " +
              "For all operations, from request 3 on, 50% of requests, at most twice."
          }).waitFor()
          assert.deepStrictEqual(sandbox.faults.list().slice(0, 2).map(({ rule }) => rule), [
            { operation: "getPost", nth: 1, times: 1, delay: 250 },
            { operation: "getPost", nth: 1, probability: 0.1, body: "broken-json", delay: 2_000 }
          ])
          await page.getByRole("button", { name: "Remove all" }).click()
          await page.locator("#faults-empty").waitFor()
          assert.deepStrictEqual(sandbox.faults.list(), [])
          assert.strictEqual(await focused(), "fault-operation")

          // The clock ends the window.
          await go(page, "clock")
          await page.getByRole("button", { name: "+15 min" }).click()
          await page.locator("#clock-view .outcome", { hasText: "15 minutes" }).waitFor()
          await go(page, "limits")
          await page.locator("#windows-empty").waitFor()
          assert.match(await page.locator("#now").innerText(), /^2026-11-20 12:15:\d\d UTC$/)

          assert.strictEqual(await page.title(), "Sandbox console")
        })
        assert.deepStrictEqual(statusesOf(errors), ["400", "503"])
        assert.deepStrictEqual(foreign, [])
      }),
    60_000
  )

  it.live(
    "keeps a log of requests, opens them beside it, copies them and sends them again",
    () =>
      Effect.gen(function*() {
        const { errors, foreign, page, sandbox } = yield* visit()
        const { baseUrl, seeded: { ada }, settings: { bearerToken } } = sandbox
        yield* Effect.promise(async () => {
          await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
          const ask = (path: string, init: RequestInit = {}, token = bearerToken) =>
            fetch(baseUrl + path, {
              ...init,
              headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }
            })
          await ask("/2/users/me?user.fields=created_at,location")
          await ask(
            "/2/tweets/search/recent?query=it%27s&max_results=10",
            {},
            Redacted.value(sandbox.seeded.appBearerToken)
          )
          await ask("/2/tweets", {
            method: "POST",
            body: JSON.stringify({ text: "it's", reply: { in_reply_to_tweet_id: "1" } })
          })
          await ask("/2/tweets", {
            method: "POST",
            body: JSON.stringify({ text: "it's", reply_settings: "following" })
          })
          await ask("/2/nothing", {}, "unknown")
          await open(page, sandbox)
          const lines = page.locator("#lines li")
          await lines.nth(4).waitFor()
          const shown = async () => (await lines.locator(".what").allInnerTexts()).join(", ")
          assert.match(
            (await lines.first().innerText()).replaceAll("\n", " "),
            /^404 GET \/2\/nothing no operation nobody 12:00:\d\d \d+ ms$/
          )

          // Filters and search.
          const filter = async (id: string, value: string, expected: string) => {
            await page.locator(`#journal-${id}`).selectOption(value)
            assert.strictEqual(await shown(), expected, id)
            await page.locator(`#journal-${id}`).selectOption({ index: 0 })
          }
          await filter("method", "POST", "POST /2/tweets, POST /2/tweets")
          await filter("status", "2", "POST /2/tweets, GET /2/tweets/search/recent, GET /2/users/me")
          await filter("caller", "the app", "GET /2/tweets/search/recent")
          await filter("caller", "nobody", "GET /2/nothing")
          await page.locator("#journal-search").fill("it's")
          assert.strictEqual(await shown(), "GET /2/tweets/search/recent")
          await page.locator("#journal-search").fill("")

          // By keyboard: a line opens, the next one takes its place, and a link or a reload stays.
          await lines.locator("a").first().focus()
          await page.keyboard.press("ArrowDown")
          await page.keyboard.press("Enter")
          const entry = page.locator("#entry")
          const body = page.getByRole("region", { name: "Response body" })
          await body.getByText(/"edit_history_/).waitFor()
          const post = JSON.parse(await body.innerText()).data.id
          assert.match(page.url(), /#requests\/4$/)
          await page.keyboard.press("End")
          await page.locator("#entry-title", { hasText: "/2/users/me" }).waitFor()
          await page.reload()
          await page.locator("#entry-title", { hasText: "GET /2/users/me" }).waitFor()
          assert.match(
            await entry.innerText(),
            /200[^]*@ada, OAuth 2\.0 User Context[^]*user\.fields\s+created_at,location/
          )
          assert.match(
            await page.locator("#entry [aria-label='Response headers']").textContent() ?? "",
            /x-rate-limit-reset: \d+ \(2026-11-20 12:15:\d\d UTC\)/
          )

          // As code, with the names of the client and without the token.
          const copied = async (language: string) => {
            await page.getByRole("button", { name: `Copy as ${language}` }).click()
            await page.locator("#journal .outcome, #entry .outcome", { hasText: `Copied as ${language}.` }).waitFor()
            const code = await page.locator("#entry-code").innerText()
            assert.strictEqual(await page.evaluate(() => navigator.clipboard.readText()), code)
            assert.notInclude(code, bearerToken)
            return code
          }
          const run = (code: string) =>
            promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], {
              cwd: new URL("../../../examples/", import.meta.url),
              env: { PATH: process.env["PATH"], POSTWIRE_BASE_URL: baseUrl, POSTWIRE_BEARER_TOKEN: bearerToken }
            })
          const asPromise = await copied("Promise")
          assert.include(
            asPromise,
            `await client.getMe({ user_fields: ["created_at", "location"], user_auth: false })`
          )
          const asEffect = await copied("Effect")
          assert.include(asEffect, `Users.getMe({ user_fields: ["created_at", "location"], user_auth: false })`)
          for (const { stdout } of await Promise.all([run(asPromise), run(asEffect)])) {
            assert.include(stdout, "username: 'ada'")
          }
          await page.goto(`${baseUrl}/console#requests/4`)
          await page.locator("#entry-title", { hasText: "POST /2/tweets" }).waitFor()
          assert.strictEqual(
            await copied("curl"),
            `curl --request POST '${baseUrl}/2/tweets' \\\n  --header "Authorization: Bearer $POSTWIRE_BEARER_TOKEN" \\\n` +
              `  --json '{"text":"it'\\''s","reply_settings":"following"}'`
          )
          assert.include(
            await copied("Promise"),
            `client.createPost({ text: "it's", reply_settings: "following", user_auth: false })`
          )
          const python = await copied("Python")
          assert.include(python, `json={"text": "it's", "reply_settings": "following"}`)
          assert.include(python, "os.environ['POSTWIRE_BEARER_TOKEN']")

          // Again, and as it is edited.
          await page.locator("#send-again").click()
          await page.waitForURL(/#requests\/8$/)
          await page.locator("#entry-title", { hasText: "POST /2/tweets" }).waitFor()
          assert.strictEqual(sandbox.requests.at(-1)?.operation, "createPost")
          await page.getByRole("button", { name: "Edit" }).click()
          await page.locator("#send-view").waitFor()
          assert.deepStrictEqual(
            [
              await page.locator("#operation").inputValue(),
              await page.locator("#parameter-text").inputValue(),
              page.url()
            ],
            ["createPost", "it's", `${baseUrl}/console#send`]
          )

          // An id leads to what has it, and back.
          await page.goBack()
          await page.goto(`${baseUrl}/console#requests/4`)
          await body.getByRole("link", { name: post }).first().click()
          await page.locator("#state-rows tr", { hasText: "it's" }).waitFor()
          assert.strictEqual(await page.locator("#state-rows tr").count(), 1)
          await page.locator("#state-rows").getByRole("link", { name: "ada" }).click()
          await page.locator("#state-rows tr", { hasText: "Ada Lovelace" }).waitFor()
          assert.match(page.url(), /#users\/users\/ada$/)
          await page.goto(`${baseUrl}/console#data/id/${ada.id}`)
          await page.locator("#state-note", { hasText: `The one with the id ${ada.id}` }).waitFor()
          await page.goto(`${baseUrl}/console#data/id/123456`)
          await page.getByText("Nothing has the id 123456.").waitFor()
        })
        // The service refuses the same post twice.
        assert.deepStrictEqual([statusesOf(errors), foreign], [["403"], []])
      }),
    60_000
  )

  it.live("writes requests of the app with its token, and streams as loops", () =>
    Effect.gen(function*() {
      const { errors, page, sandbox } = yield* visit()
      const { baseUrl, seeded: { ada, appBearerToken }, store } = sandbox
      yield* Effect.promise(async () => {
        const headers = {
          authorization: `Bearer ${Redacted.value(appBearerToken)}`,
          "content-type": "application/json"
        }
        const add = { add: [{ value: "compilers" }] }
        await fetch(`${baseUrl}/2/tweets/search/stream/rules`, { method: "POST", headers, body: JSON.stringify(add) })
        await (await fetch(`${baseUrl}/2/tweets/search/stream?tweet.fields=author_id`, { headers })).body?.cancel()
        await fetch(`${baseUrl}/2/users/${ada.id}`, { headers })
        await open(page, sandbox)
        const codeOf = async (id: number, language: string) => {
          await page.evaluate((id) => void (location.hash = `requests/${id}`), id)
          await page.locator("#lines [aria-current][href$='/" + id + "']").waitFor()
          await page.locator("#entry-title", { hasText: sandbox.requests[id - 1]!.path }).waitFor()
          await page.getByRole("button", { name: `Copy as ${language}` }).click()
          await page.locator("#entry .outcome").getByText(/^Copied as|^The browser does not let the page copy/)
            .waitFor()
          return page.locator("#entry-code").innerText()
        }
        for (const id of [1, 2, 3]) {
          assert.include(await codeOf(id, "curl"), `"Authorization: Bearer $POSTWIRE_APP_BEARER_TOKEN"`)
          assert.include(await codeOf(id, "Python"), "os.environ['POSTWIRE_APP_BEARER_TOKEN']")
        }
        assert.include(await codeOf(1, "Promise"), "// Reads POSTWIRE_APP_BEARER_TOKEN from")
        assert.include(await codeOf(3, "Promise"), "// Reads POSTWIRE_BEARER_TOKEN, here the app's, from")
        assert.include(await codeOf(2, "curl"), "--no-buffer")
        assert.include(await codeOf(2, "Python"), "    stream=True,\n)\nfor line in response.iter_lines():")

        /** The first post that a program receives. */
        const received = (code: string) =>
          new Promise<string>((resolve) => {
            const child = execFile(process.execPath, ["--input-type=module", "--eval", code], {
              cwd: new URL("../../../examples/", import.meta.url),
              env: {
                PATH: process.env["PATH"],
                POSTWIRE_BASE_URL: baseUrl,
                POSTWIRE_APP_BEARER_TOKEN: Redacted.value(appBearerToken)
              }
            }, (_error, stdout, stderr) => resolve(stdout + stderr))
            child.stdout?.once("data", () => child.kill())
          })
        for (const language of ["Promise", "Effect"]) {
          const result = received(await codeOf(2, language))
          const posts = setInterval(() => {
            const text = `compilers ${store.counts().posts}`
            store.posts.insert({ authorId: ada.id, text, createdAt: sandbox.clock.now() })
          }, 50)
          assert.match(await result, /text: 'compilers \d+'/)
          clearInterval(posts)
        }
      })
      assert.deepStrictEqual(errors, [])
    }), 60_000)

  it.live("selects the code where the browser does not let it copy", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* visit()
      yield* Effect.promise(async () => {
        await fetch(`${sandbox.baseUrl}/2/nothing`)
        // As at an address that is neither loopback nor HTTPS.
        await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }))
        await open(page, sandbox)
        await page.locator("#lines a").click()
        await page.getByRole("button", { name: "Copy as curl" }).click()
        await page.locator("#entry .outcome", { hasText: "the code is selected instead" }).waitFor()
        assert.match(await page.evaluate(() => String(getSelection())), /^curl --request GET /)
      })
    }), 60_000)

  it.live("shows a stream as it comes, with the token that it takes, and stops it", () =>
    Effect.gen(function*() {
      const { errors, page, sandbox } = yield* visit()
      const { seeded: { ada }, store, streams } = sandbox
      yield* Effect.promise(async () => {
        await open(page, sandbox)
        await go(page, "send")
        await page.locator("#operation").selectOption("updateStreamRules")
        assert.strictEqual(await page.locator("#credential").inputValue(), "app")
        await page.locator("#operation").selectOption("streamPostsSample")
        assert.strictEqual(await page.locator("#credential").inputValue(), "app")
        assert.isTrue(await page.locator("#stop").isHidden())
        await page.locator("#send-button").click()
        await page.locator("#stop").waitFor()
        const posts = setInterval(() => {
          store.posts.insert({ authorId: ada.id, text: "as it comes", createdAt: sandbox.clock.now() })
        }, 20)
        await page.locator("#response-body", { hasText: "as it comes" }).waitFor()
        clearInterval(posts)
        assert.strictEqual(await page.locator("#response-status").innerText(), "200 OK, receiving")
        await page.locator("#stop").focus()
        await page.keyboard.press("Enter")
        await page.locator("#response-status", { hasText: "200 OK, receiving, stopped" }).waitFor()
        assert.isTrue(await page.locator("#stop").isHidden())
        assert.strictEqual(await page.evaluate(() => document.activeElement?.id), "send-button")
        await go(page, "streams")
        await page.locator("#streams-sum", { hasText: "0 open" }).waitFor()
        assert.isTrue(streams.connections().every(({ closedAt }) => closedAt !== undefined))

        // Edited as the app that sent it.
        await page.evaluate(() => void (location.hash = "requests/1"))
        await page.getByRole("button", { name: "Edit" }).click()
        await page.locator("#send-view").waitFor()
        assert.strictEqual(await page.locator("#operation").inputValue(), "streamPostsSample")
        assert.strictEqual(await page.locator("#credential").inputValue(), "app")
      })
      assert.deepStrictEqual(errors, [])
    }), 60_000)

  it.live("shows deliveries, sends one again, and makes events", () =>
    Effect.gen(function*() {
      const { errors, page, sandbox } = yield* visit()
      yield* Effect.promise(async () => {
        await deliver(sandbox)
        await open(page, sandbox)
        await go(page, "events")
        await page.locator("#webhooks li", { hasText: "valid, last passed" }).waitFor()
        await page.locator("#subscriptions li", { hasText: /^post.create @ada, tag own/ }).waitFor()
        const lines = page.locator("#deliveries a")
        assert.match(await lines.first().innerText(), /^200\s+post.create/)
        await lines.first().click()
        await page.getByRole("region", { name: "Request body" }).getByText("a delivered post").waitFor()
        await page.locator("#delivery", { hasText: "Signature" }).getByText("valid", { exact: true }).waitFor()
        await page.getByRole("button", { name: "Resend" }).click()
        await page.locator("#deliveries a", { hasText: "again" }).waitFor()
        assert.strictEqual(await lines.count(), 3)
        await page.keyboard.press("Escape")
        await page.locator("#delivery").waitFor({ state: "hidden" })

        await page.locator("#trigger-type").selectOption("post.create")
        await page.locator("#trigger-user").fill("@ada")
        await page.locator("#trigger-text").fill("made by a form")
        await page.getByRole("button", { name: "Trigger" }).click()
        await page.getByText("It happened: one subscription has it.").waitFor()
        await lines.nth(3).waitFor()
        assert.include(sandbox.deliveries.entry(4)?.body, "made by a form")
        await page.locator("#trigger-user").fill("nobody_here")
        await page.getByRole("button", { name: "Trigger" }).click()
        await page.getByText("There is no user nobody_here.").waitFor()
      })
      assert.deepStrictEqual(errors, [])
    }), 60_000)

  it.live("keeps the place in a list of 500, and clears it when it is not live", () =>
    Effect.gen(function*() {
      const { errors, page, sandbox } = yield* visit()
      yield* Effect.promise(async () => {
        for (let i = 1; i <= 520; i++) await (await fetch(`${sandbox.baseUrl}/2/nothing/${i}`)).arrayBuffer()
        await open(page, sandbox)
        const lines = page.locator("#lines a")
        await lines.nth(499).waitFor()
        assert.strictEqual(await lines.count(), 500)
        const focusOn = (id: number) => page.locator(`#lines a[href="#requests/${id}"]:focus`).waitFor()

        // Back to the line that was opened, by key or pointer.
        await lines.nth(40).click()
        await page.locator("#entry-title", { hasText: "/2/nothing/480" }).waitFor()
        await page.locator("#entry-close").focus()
        await page.keyboard.press("Escape")
        await focusOn(480)
        await lines.nth(300).click()
        await page.locator("#entry-title", { hasText: "/2/nothing/220" }).waitFor()
        await page.locator("#entry-close").click()
        await focusOn(220)

        // Likewise where the entry takes the place of the list.
        await page.setViewportSize({ width: 400, height: 800 })
        await lines.nth(400).click()
        await page.locator("#entry-title", { hasText: "/2/nothing/120" }).waitFor()
        assert.isTrue(
          await page.locator("#entry-title").evaluate((title) => {
            const { bottom, top } = title.getBoundingClientRect()
            return document.activeElement === title && top >= 0 && bottom <= innerHeight
          })
        )
        await page.locator("#entry-close").click()
        await focusOn(120)
        assert.isTrue(
          await lines.nth(400).evaluate((line) => {
            const { bottom, top } = line.getBoundingClientRect()
            return top >= 0 && bottom <= innerHeight
          })
        )

        await page.locator("#follow").uncheck()
        await page.locator("#journal-clear").click()
        await page.getByText("No requests yet.").waitFor()
        assert.strictEqual(await lines.count(), 0)
      })
      assert.deepStrictEqual(errors, [])
    }), 60_000)

  it.live("has no violation that axe knows, in any view, light and dark", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* visit()
      yield* Effect.promise(async () => {
        const { baseUrl, seeded: { ada } } = sandbox
        const headers = { authorization: `Bearer ${sandbox.settings.bearerToken}` }
        await deliver(sandbox)
        for (const path of [`/2/users/${ada.id}`, "/2/users/me", "/2/nothing"]) await fetch(baseUrl + path, { headers })
        sandbox.faults.add({ status: 503 })
        sandbox.faults.add({ reset: "after", times: "always" })
        await fetch(`${baseUrl}/2/users/me`, { headers })
        sandbox.grants.make()
        await open(page, sandbox)
        await page.evaluate(axe.source)
        const violations = async (rules: string) => {
          const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${rules})`)
          return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`)
        }
        const views =
          "requests requests/1 send data/posts users/users users/grants streams events events/2 media limits faults clock"
            .split(" ")
        for (
          const [colorScheme, width, rules, shown] of [
            ["light", 1280, "", views],
            ["dark", 1920, `{ runOnly: ["color-contrast"] }`, views],
            ["light", 400, "", views.slice(0, 2)]
          ] as const
        ) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 800 })
          for (const view of shown) {
            await page.evaluate((view) => void (location.hash = view), view)
            await page.locator(`nav a[href="#${view.split("/")[0]}"][aria-current]`).waitFor()
            if (view === "events/2") await page.getByRole("region", { name: "Request body" }).waitFor()
            if (view === "requests/1") await page.getByRole("region", { name: "Response body" }).waitFor()
            if (view.includes("users/")) await page.locator("#state-rows tr").first().waitFor()
            assert.deepStrictEqual(await violations(rules), [], `${view} ${colorScheme} ${width}`)
          }
        }
      })
    }), 120_000)

  it.live("turns pages, resets, saves and restores", () =>
    Effect.gen(function*() {
      const { errors, foreign, page, sandbox } = yield* visit({ posts: 1_000 })
      const { seeded: { ada }, store } = sandbox
      yield* Effect.promise(async () => {
        let answer: "accept" | "dismiss" = "accept"
        const questions: Array<string> = []
        page.on("dialog", (dialog) => {
          questions.push(dialog.message())
          void dialog[answer]()
        })
        const outcomeOf = (part: string, hasText: string | RegExp) =>
          page.locator(`#${part} .outcome`, { hasText }).waitFor()
        await open(page, sandbox)
        await go(page, "send")
        await page.locator("#wire").selectOption("x")
        await page.locator("#operation").selectOption("getUsersPosts")
        await page.locator("#parameter-id").fill(ada.id)
        await page.locator("#parameter-max_results").fill("5")
        await page.locator("#parameter-max_results").press("Enter")
        const ids = async () => {
          const { data } = JSON.parse(await page.locator("#response-body").innerText())
          return data.map(({ id }: { readonly id: string }) => id)
        }
        await page.locator("#next-page").waitFor()
        const first = await ids()
        assert.include(await page.locator("#request").innerText(), `/2/users/${ada.id}/tweets?`)
        await page.locator("#next-page").focus()
        await page.keyboard.press("Enter")
        await page.locator("#previous-page").waitFor()
        // Where one goes on from.
        assert.strictEqual(await page.evaluate(() => document.activeElement?.id), "next-page")
        assert.notDeepEqual(await ids(), first)
        await page.locator("#previous-page").focus()
        await page.keyboard.press("Enter")
        await page.waitForFunction(
          (id) => document.querySelector("#response-body")?.textContent?.includes(id),
          first[0]
        )
        assert.deepStrictEqual(await ids(), first)
        // The first page has none before it, and the focus does not go with the button.
        await page.locator("#previous-page").waitFor({ state: "hidden" })
        assert.strictEqual(await page.evaluate(() => document.activeElement?.id), "send-button")

        // The app alone is refused where a user is needed.
        await page.locator("#operation").selectOption("getMe")
        await page.locator("#credential").selectOption("app")
        await page.locator("#send-button").click()
        await page.locator("#response-status", { hasText: "403" }).waitFor()

        // What is there, by page and by user.
        await list(page, "posts")
        const rows = page.locator("#state-rows tr")
        await rows.nth(49).waitFor()
        const top = await rows.first().textContent()
        await page.locator("#older").click()
        await page.locator("#state-note", { hasText: "Page 2" }).waitFor()
        assert.notStrictEqual(await rows.first().textContent(), top)
        assert.strictEqual(await rows.count(), 50)
        await page.locator("#newer").focus()
        await page.keyboard.press("Enter")
        await page.locator("#state-note", { hasText: "Page 1" }).waitFor()
        assert.strictEqual(await rows.first().textContent(), top)
        // The button is disabled now, and the focus is not lost.
        assert.notStrictEqual(await page.evaluate(() => document.activeElement?.tagName), "BODY")
        assert.strictEqual(await rows.count(), 50)
        await page.locator("#state-user").fill("@ada")
        await page.locator("#state-user").press("Enter")
        await page.waitForFunction(() =>
          [...document.querySelectorAll("#state-rows tr td:nth-child(2)")].every((cell) => cell.textContent === "ada")
        )

        await go(page, "clock")
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name: "Download snapshot" }).click()
        ])
        assert.strictEqual(download.suggestedFilename(), "sandbox.sqlite")
        const buffer = readFileSync(await download.path())
        assert.strictEqual(buffer.toString("latin1", 0, 15), "SQLite format 3")
        store.posts.insert({ authorId: ada.id, text: "later", createdAt: now })
        await page.getByRole("button", { name: "Reset everything" }).click()
        await outcomeOf("service", "Everything is reset.")
        // The journal begins anew as well.
        await go(page, "requests")
        await page.getByText("No requests yet.").waitFor()
        assert.strictEqual(store.counts().posts, 1_000)
        store.posts.insert({ authorId: ada.id, text: "later", createdAt: now })
        await go(page, "send")
        await page.locator("#send-button").click()
        await go(page, "requests")
        await page.locator("#lines li").first().waitFor()
        await go(page, "clock")
        await page.getByLabel("Snapshot file").setInputFiles({ name: "sandbox.sqlite", mimeType: "", buffer })

        // It asks before anything is lost, and the journal stays.
        answer = "dismiss"
        await page.getByRole("button", { name: "Restore" }).click()
        await outcomeOf("service", "Nothing was changed.")
        assert.match(questions.at(-1)!, /The current state is lost, .*The journal is kept\.$/)
        assert.strictEqual(store.counts().posts, 1_001)
        answer = "accept"
        await page.getByRole("button", { name: "Restore" }).click()
        await outcomeOf("service", "sandbox.sqlite is restored.")
        assert.strictEqual(store.counts().posts, 1_000)
        await list(page, "posts")
        await page.locator("[data-collection=posts]", { hasText: "1,000" }).waitFor()
        await go(page, "requests")
        assert.strictEqual(await page.locator("#lines li").count(), 1)
        await go(page, "clock")

        // What is wrong is told at the button as well.
        await page.getByLabel("Snapshot file").setInputFiles({
          name: "other.sqlite",
          mimeType: "",
          buffer: Buffer.from("no snapshot")
        })
        await page.getByRole("button", { name: "Restore" }).click()
        await outcomeOf("service", /snapshot/)
        assert.strictEqual(await page.locator(".outcome.bad").count(), 1)
        assert.strictEqual(store.counts().posts, 1_000)
      })
      assert.deepStrictEqual(statusesOf(errors), ["403", "403", "400"])
      assert.deepStrictEqual(foreign, [])
    }), 60_000)

  it.live("offers what is known as choices, and takes what is not", () =>
    Effect.gen(function*() {
      const { errors, page, sandbox } = yield* visit()
      const { seeded: { ada } } = sandbox
      yield* Effect.promise(async () => {
        await open(page, sandbox)
        await go(page, "send")
        const request = async () => {
          const [sent] = await Promise.all([
            page.waitForRequest((request) => new URL(request.url()).pathname.startsWith("/2/")),
            page.locator("#send-button").click()
          ])
          return new URL(sent.url()).searchParams
        }
        await page.locator("#operation").selectOption("searchRecentPosts")
        await page.locator("#parameter-query").fill("a")
        // One of few, and another one.
        await page.locator("#parameter-sort_order").selectOption("relevancy")
        assert.strictEqual((await request()).get("sort_order"), "relevancy")
        const another = page.getByLabel("Another value of sort_order")
        assert.isTrue(await another.isHidden())
        await page.locator("#parameter-sort_order").selectOption("another value")
        await another.fill("newest")
        assert.strictEqual((await request()).get("sort_order"), "newest")
        await page.locator("#parameter-sort_order").selectOption("recency")
        assert.isTrue(await another.isHidden())

        // Some of many by keyboard, and one that is not known; they stay when the wire is another.
        const fields = page.locator("#selectors details", { hasText: /^post_fields/ })
        await fields.locator("summary").focus()
        await page.keyboard.press("Enter")
        await fields.getByLabel("author_id", { exact: true }).focus()
        await page.keyboard.press("Space")
        await fields.getByLabel("lang", { exact: true }).check()
        await fields.getByLabel("others").fill("brand_new")
        const sent = await request()
        assert.deepStrictEqual([sent.get("post.fields"), sent.get("sort_order")], [
          "author_id,lang,brand_new",
          "recency"
        ])
        assert.strictEqual(
          await fields.locator("summary").innerText(),
          "post_fieldsauthor_id, lang, brand_new"
        )
        await page.locator("#wire").selectOption("x-2026-02")
        assert.strictEqual((await request()).get("tweet.fields"), "author_id,lang,brand_new")

        // From a field far above, the answer comes into view; the field keeps the focus.
        await page.locator("#operation").selectOption("createPost")
        await page.locator("#about summary", { hasText: /^\d+ rules$/ }).waitFor()
        await page.locator("#parameter-text").fill("from afar")
        await page.keyboard.press("Control+Enter")
        const status = page.locator("#response-status", { hasText: "201 Created" })
        await status.waitFor()
        assert.isTrue(
          await status.evaluate((element) => element.getBoundingClientRect().bottom < innerHeight)
        )
        assert.strictEqual(await page.evaluate(() => document.activeElement?.id), "parameter-text")
        // What was written is there.
        await go(page, "data")
        await page.getByRole("button", { name: /^posts 61$/ }).waitFor()
        await go(page, "send")

        // Ids that the service has, the user's own first.
        await page.locator("#operation").selectOption("getUsersFollowers")
        await page.locator("#parameter-id").focus()
        const option = page.locator("#known-users option").first()
        await option.waitFor({ state: "attached" })
        assert.strictEqual(await option.getAttribute("value"), ada.id)
        assert.match((await option.textContent())!, /^@ada, /)
        assert.strictEqual(await page.locator("#parameter-id").getAttribute("list"), "known-users")
        await page.locator("#operation").selectOption("getPost")
        assert.strictEqual(await page.locator("#parameter-id").getAttribute("list"), "known-posts")
      })
      assert.deepStrictEqual([...new Set(statusesOf(errors))], ["400"])
    }), 60_000)

  it.live("loses nothing at 400 pixels", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* visit()
      yield* Effect.promise(async () => {
        await deliver(sandbox)
        await page.setViewportSize({ width: 400, height: 800 })
        await open(page, sandbox)
        await go(page, "send")
        await page.locator("#operation").selectOption("getUsersFollowers")
        await page.locator("#parameter-id").fill(sandbox.seeded.ada.id)
        await page.locator("#send-button").click()
        await page.locator("#response-status", { hasText: "200 OK" }).waitFor()
        sandbox.grants.make()
        sandbox.faults.add({ status: 503, headers: { "retry-after": "1" }, operation: "getMe" })
        sandbox.store.uploads.begin({
          ownerId: sandbox.seeded.ada.id,
          additionalOwners: [],
          category: "tweet_image",
          mediaType: undefined,
          totalBytes: 10,
          createdAt: sandbox.clock.now(),
          expiresAt: sandbox.clock.now() + 3_600_000
        })
        /** All that has a text lies within the page, is shown, and is not cut. */
        const assertWhole = async (view: string, part = "body") => {
          const lost = await page.evaluate((part) =>
            [...document.querySelectorAll(
              "button, label, a, td, dd, .lines span, h2, h3, p, time, summary, input, select"
            )]
              .filter((element) =>
                !element.closest("[hidden], .skip") && element.matches(":not(:empty), input, select")
              )
              .filter((element) => {
                const { left, right, width } = element.getBoundingClientRect()
                return width === 0 || left < 0 || right > 400 || element.scrollWidth > element.clientWidth + 1
                    && getComputedStyle(element).display !== "inline"
              })
              .filter((element) => element.closest("details:not([open])") === null && element.closest(part) !== null)
              .map(({ outerHTML }) => outerHTML.slice(0, 120)), part)
          assert.deepStrictEqual(lost, [], view)
          assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth), 400, view)
        }
        await assertWhole("send")
        await go(page, "media")
        await page.locator("#uploads > li").waitFor()
        await assertWhole("media")
        for (const collection of "users posts follows bookmark_folders messages media uploads grants".split(" ")) {
          await list(page, collection)
          if (collection === "grants") await page.getByRole("button", { name: /^Revoke / }).waitFor()
          await assertWhole(collection)
        }
        for (const view of ["streams", "limits", "faults", "clock"]) {
          await go(page, view)
          await assertWhole(view)
        }
        await go(page, "events")
        await page.locator("#deliveries a").first().waitFor()
        await assertWhole("events")
        await page.locator("#deliveries a").first().click()
        await page.locator("#delivery-title").waitFor()
        assert.isTrue(await page.locator("#deliveries").isHidden())
        await assertWhole("delivery", "#delivery")
        await go(page, "requests")
        await page.locator("#lines li").first().waitFor()
        assert.match(
          await page.locator("#lines li").first().innerText(),
          /200[^]*GET \/2\/users\/\d+\/followers\s+getUsersFollowers/
        )
        await assertWhole("requests")
        await page.locator("#lines a").first().click()
        await page.getByRole("region", { name: "Response body" }).waitFor()
        assert.isTrue(await page.locator("#lines").isHidden())
        await assertWhole("entry", "#entry")
        await list(page, "messages")
        assert.match(await page.locator("#state-rows td").first().innerText(), /^\d+$/)
        assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth), 400)
      })
    }), 60_000)

  it.live("shows uploads as they come, as the clock has them, and what they look like", () =>
    Effect.gen(function*() {
      const { errors, foreign, page, sandbox } = yield* visit()
      const { clock, seeded: { ada }, store: { uploads } } = sandbox
      const begin = (category: string, totalBytes: number, alive: number) =>
        uploads.begin({
          ownerId: ada.id,
          additionalOwners: [],
          category,
          mediaType: undefined,
          totalBytes,
          createdAt: clock.now(),
          expiresAt: clock.now() + alive
        })
      const finish = (
        id: string,
        { failure, facts, millis = 0, type }: {
          readonly type: string
          readonly millis?: number
          readonly facts?: object
          readonly failure?: string
        }
      ) => {
        const key = `3_${id}`
        uploads.finish(id, {
          category: type.startsWith("video") ? "tweet_video" : "tweet_image",
          mediaType: type,
          expiresAt: clock.now() + 86_400_000,
          finalizedAt: clock.now(),
          readyAt: clock.now() + millis,
          failure: failure === undefined ? undefined : { code: 1, name: "InvalidMedia", message: failure },
          media: {
            key,
            type: "photo",
            facts: { width: 1, height: 1, url: MediaFiles.pathOf(key, type), ...facts }
          }
        })
      }
      const markup = `"><img src=x onerror="document.title='taken'">`
      yield* Effect.promise(async () => {
        await open(page, sandbox)
        await go(page, "media")
        await page.getByText("No uploads yet.").waitFor()
        await go(page, "send")

        const card = (id: string) => page.locator("#uploads > li", { hasText: id })
        // A file from the form.
        await page.locator("#operation").selectOption("uploadMedia")
        await page.getByLabel("media_category").first().selectOption("tweet_image")
        await page.locator("#send-button").click()
        await page.locator("#parameter-media[aria-invalid=true]").waitFor()
        await page.locator("#parameter-media").setInputFiles({ name: "a.png", mimeType: "image/png", buffer: png })
        await page.locator("#send-button").click()
        await page.locator("#response-status", { hasText: "200 OK" }).waitFor()
        assert.match(
          await page.locator("#request").innerText(),
          /\/2\/media\/upload\n[^]*multipart\/form-data\n\nmedia_category: tweet_image\nmedia: <a\.png, 70 bytes>$/
        )
        const sent = JSON.parse(await page.locator("#response-body").innerText()).data.id
        await go(page, "media")
        await card(sent).locator("img").waitFor()
        const picture = begin("tweet_image", png.length, 3_600_000)
        uploads.put(picture, 0, png.subarray(0, 20))
        const broken = begin("tweet_video", 4, 3_600_000)
        uploads.put(broken, 0, png.subarray(0, 4))
        finish(broken, { type: "video/mp4", failure: markup })
        const elsewhere = begin("tweet_image", 4, 3_600_000)
        uploads.put(elsewhere, 0, png)
        finish(elsewhere, { type: "image/png", facts: { url: "https://evil.example/media/1.png" } })
        await card(picture).getByText(`20 B of ${png.length} B in 1 segment; expires in 59 min`).waitFor()
        assert.match(
          await card(picture).innerText(),
          /no preview\s+of unknown type, 20 B\s[^]*owner\s+@ada\s+category\s+tweet_image/
        )
        const bar = page.getByRole("progressbar", { name: `Upload ${picture}` })
        assert.closeTo(await bar.evaluate((element: HTMLProgressElement) => element.value), 20 / png.length, 0.001)
        await card(broken).getByText(`failed: ${markup}`).waitFor()
        await card(elsewhere).getByText("no preview").waitFor()

        uploads.put(picture, 1, png.subarray(20))
        uploads.addSubtitles(picture, { id: picture, language_code: "EN", display_name: "English" })
        finish(picture, { type: "image/png", millis: 120_000, facts: { alt_text: markup } })
        await card(picture).getByText(/processed, ready in 1 min/).waitFor()
        assert.strictEqual(await card(picture).locator("img").count(), 0)
        clock.advance("2 minutes")
        await card(picture).getByText(/ready; expires in 23 h 5\d min unless used/).waitFor()
        assert.isTrue(await bar.isHidden())
        const image = card(picture).locator("img")
        await image.evaluate((element: HTMLImageElement) => element.decode())
        assert.strictEqual(await image.getAttribute("alt"), markup)
        assert.include(await card(picture).innerText(), markup)
        assert.match(await card(picture).innerText(), /subtitles\s+EN/)

        // What is shown stays the same element, whatever else there is to show.
        await image.evaluate((element) => element.setAttribute("data-seen", ""))
        uploads.use([picture])
        clock.advance("2 days")
        await card(elsewhere).getByText("expired").waitFor()
        assert.match(await card(picture).innerText(), /in use/)
        assert.strictEqual(await card(picture).locator("img[data-seen]").count(), 1)

        for (let i = 0; i < 12; i++) begin("tweet_image", 1, 3_600_000)
        await page.getByRole("button", { name: "Show more" }).click()
        await page.locator("#uploads > li").nth(15).waitFor()
        assert.isTrue(await page.locator("#media-more").isHidden())
        await list(page, "uploads")
        await page.locator("#state-rows tr").nth(15).waitFor()
        assert.strictEqual(await page.locator("#state-rows tr").count(), 16)
        assert.strictEqual(await page.title(), "Sandbox console")
      })
      assert.deepStrictEqual([statusesOf(errors), foreign], [["400"], []])
    }), 60_000)

  it.live("shows logins and their age, and revokes them", () =>
    Effect.gen(function*() {
      const { errors, foreign, page, sandbox } = yield* visit()
      yield* Effect.promise(async () => {
        const made = sandbox.grants.make({ scopes: ["tweet.read", "offline.access"] })
        sandbox.clock.advance("3 hours")
        sandbox.grants.make({ user: sandbox.user({ username: "grace" }).id })
        await open(page, sandbox)
        await list(page, "grants")
        const old = page.locator("#state-rows tr", { hasText: "tweet.read offline.access" })
        await old.waitFor()
        // The pointer is on the button, whose text is still to be read.
        const { background, color } = await page.locator("[data-collection=grants]").evaluate((element) => {
          const { backgroundColor: background, color } = getComputedStyle(element)
          return { background, color }
        })
        assert.notStrictEqual(color, background)
        assert.match(await old.locator("[data-column=age]").innerText(), /^3 h [01] min$/)
        assert.strictEqual(await page.locator("#state-rows tr").count(), 2)
        sandbox.clock.advance("2 days")
        await page.locator("[data-column=age]", { hasText: /^2 d 3 h$/ }).waitFor()
        await old.getByRole("button", { name: "Revoke access of Sandbox app without a secret to @ada" }).press(
          "Enter"
        )
        await page.locator("#state .outcome", { hasText: "to @ada is revoked." }).waitFor()
        assert.strictEqual(await old.getByRole("button").count(), 0)
        assert.include(await old.innerText(), "revoked")
        assert.notStrictEqual(await page.evaluate(() => document.activeElement?.tagName), "BODY")
        assert.deepInclude(sandbox.grants.list()[1], { id: made.id, alive: false, endedBy: "revoked" })
        for (const token of [made.accessToken, made.refreshToken!]) {
          assert.notInclude(await page.content(), Redacted.value(token))
        }
        assert.strictEqual(await page.locator("#fault-operation option[value=refreshToken]").count(), 1)
      })
      assert.deepStrictEqual([errors, foreign], [[], []])
    }), 60_000)

  it.live("offers the wire alone that the sandbox speaks", () =>
    Effect.gen(function*() {
      const { errors, page, sandbox } = yield* visit({ wire: "x-2026-02" })
      yield* Effect.promise(async () => {
        await open(page, sandbox)
        await go(page, "send")
        assert.deepStrictEqual(await page.locator("#wire option:enabled").allInnerTexts(), [
          "x-2026-02 (tweets, tweet.fields)"
        ])
        await page.locator("#operation").selectOption("getUsersPosts")
        await page.locator("#parameter-id").fill(sandbox.seeded.ada.id)
        await page.locator("#send-button").click()
        await page.locator("#response-status", { hasText: "200 OK" }).waitFor()
        assert.include(await page.locator("#request").innerText(), `/2/users/${sandbox.seeded.ada.id}/tweets`)
      })
      assert.deepStrictEqual(errors, [])
    }), 60_000)

  it.live("goes on when the sandbox answers again", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* visit()
      yield* Effect.promise(async () => {
        await open(page, sandbox)
        await go(page, "limits")
        const lookNow = () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
        await page.route("**/_sandbox/budget", (route) =>
          route.fulfill({ status: 507, json: { detail: "Disk is full." } }))
        await lookNow()
        await page.locator("#connection.lost", { hasText: "Disk is full. Retrying." }).waitFor()
        await page.getByRole("button", { name: "Reset limits" }).click()
        await page.locator("#limits-view .outcome.bad", { hasText: "Disk is full." }).waitFor()
        await page.route("**/_sandbox/budget", (route) =>
          route.abort())
        await page.getByRole("button", { name: "Reset limits" }).click()
        await page.locator("#limits-view .outcome.bad", { hasText: "The sandbox does not respond." }).waitFor()
        await page.unroute("**/_sandbox/budget")
        await page.getByRole("button", { name: "Reset limits" }).click()
        await page.locator("#limits-view .outcome:not(.bad)", { hasText: "All rate limits are reset." }).waitFor()
        await page.locator("#connection:not(.lost)", { hasText: "Connected to " }).waitFor()
      })
    }), 60_000)

  it.live("asks for the token, says when it is wrong, and forgets it", () =>
    Effect.gen(function*() {
      const { errors, foreign, page, sandbox } = yield* visit()
      yield* Effect.promise(async () => {
        const gate = page.locator("#gate")
        await page.goto(`${sandbox.baseUrl}/console`)
        await gate.waitFor()
        assert.strictEqual(await page.locator("#gate-error").innerText(), "")
        assert.isTrue(await page.locator("main").isHidden())
        await page.goto(`${sandbox.baseUrl}/console#token=wrong`)
        await page.getByText("The sandbox rejected this admin token.").waitFor()
        assert.strictEqual(page.url(), `${sandbox.baseUrl}/console`)
        assert.isNull(await page.evaluate(() => sessionStorage.getItem("postwire-admin-token")))
        assert.strictEqual(await page.evaluate(() => document.activeElement?.id), "token")
        await page.keyboard.type(Redacted.value(sandbox.adminToken))
        await page.keyboard.press("Enter")
        await page.locator("#main").waitFor()
        assert.isTrue(await gate.isHidden())
        assert.strictEqual(await page.evaluate(() => document.activeElement?.id), "title")
        assert.notInclude(await page.content(), Redacted.value(sandbox.adminToken))
        // Kept for this tab only.
        const other = await page.context().newPage()
        await other.goto(`${sandbox.baseUrl}/console`)
        await other.locator("#gate").waitFor()
      })
      assert.deepStrictEqual([...new Set(statusesOf(errors))], ["401"])
      assert.deepStrictEqual(foreign, [])
    }), 60_000)

  it.live(
    "labels every control, fits narrow screens and dark ones, and its policy stops what is not its own",
    () =>
      Effect.gen(function*() {
        const { errors, foreign, page, sandbox } = yield* visit()
        yield* Effect.promise(async () => {
          await open(page, sandbox)
          await go(page, "send")
          for (const operation of ["createPost", "searchAllPosts", "getDirectMessageEvents"]) {
            await page.locator("#operation").selectOption(operation)
            await page.locator("#selectors").evaluate((fields) =>
              fields.querySelectorAll("details").forEach((details) => void (details.open = true))
            )
            const found = await page.evaluate(() => ({
              unnamed: [...document.querySelectorAll<HTMLInputElement>("input, select, textarea")]
                .filter(({ ariaLabel, labels }) => ariaLabel === null && (labels?.length ?? 0) === 0)
                .map(({ id, name }) => id || name),
              mute: [...document.querySelectorAll("button")].filter(({ textContent }) => !textContent).length,
              twice: [...document.querySelectorAll("[id]")].map(({ id }) => id).filter((id, i, ids) =>
                ids.indexOf(id) !== i
              )
            }))
            assert.deepStrictEqual(found, { unnamed: [], mute: 0, twice: [] })
            await page.setViewportSize({ width: 360, height: 700 })
            assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth), 360, operation)
            await page.setViewportSize({ width: 1280, height: 800 })
          }
          const details = page.locator("#selectors details").first()
          await details.locator("summary").focus()
          await page.keyboard.press("Escape")
          assert.isNull(await details.getAttribute("open"))
          const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
          await page.emulateMedia({ colorScheme: "light" })
          const light = await paper()
          await page.emulateMedia({ colorScheme: "dark" })
          assert.notStrictEqual(await paper(), light)
          assert.deepStrictEqual([...errors], [])

          // The page itself did none of this so far.
          const violated = await page.evaluate(() => {
            const violated = new Promise<Array<string>>((resolve) => {
              const directives: Array<string> = []
              document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
                if (directives.push(effectiveDirective) === 4) resolve(directives)
              })
            })
            const style = document.createElement("style")
            style.textContent = "body { display: none }"
            const script = document.createElement("img")
            script.src = "http://127.0.0.2/x.png"
            document.body.append(style, script)
            try {
              document.body.innerHTML = "<p>x</p>"
            } catch {}
            return fetch("http://127.0.0.2/").catch(() => {}).then(() => violated)
          })
          assert.sameMembers(violated, ["style-src-elem", "img-src", "require-trusted-types-for", "connect-src"])
        })
        assert.deepStrictEqual(foreign.filter((url) => !url.startsWith("http://127.0.0.2/")), [])
      }),
    60_000
  )
})

import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import axe from "axe-core"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { HttpServer } from "effect/http"
import { writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { join } from "node:path"
import { type Browser, chromium } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { executable } from "../../sandbox/test/support/Browser.ts"
import * as Copy from "../src/copy/Copy.ts"
import * as Page from "../src/page/Page.ts"
import { folder, onEach, type Place } from "./support/Scene.ts"

/** A picture of one pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)
const markup = `"><img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`
const sha256 = "ab".repeat(32)

/** 120 posts of a day each, the newest three a thread with a picture, and markup wherever a text can be. */
const batch: Copy.Batch = {
  objects: {
    users: [
      { id: "7", username: "ada", name: `Ada ${markup}`, description: markup, public_metrics: { followers_count: 1 } },
      { id: "8", username: "grace", name: "Grace" }
    ],
    media: [
      {
        media_key: "3_1",
        type: "photo",
        width: 1,
        height: 1,
        alt_text: `a picture ${markup}`,
        url: "http://127.0.0.2/"
      },
      { media_key: "3_2", type: "photo", width: 640, height: 480, preview_image_url: "http://127.0.0.2/" }
    ],
    posts: Array.from({ length: 120 }, (_, index) => ({
      id: String(1460323737035677000n + BigInt(index)),
      text: `post ${index} ${index === 119 ? `${markup} https://example.org/?a=1&b=2 @grace` : ""}`,
      author_id: index % 2 === 0 ? "8" : "7",
      conversation_id: String(1460323737035677000n + BigInt(Math.min(index, 117))),
      created_at: new Date(Date.UTC(2026, 6, 1) + index * 86_400_000).toISOString(),
      public_metrics: { like_count: index, reply_count: 1 },
      ...index > 117 &&
        { referenced_posts: [{ type: "replied_to", id: String(1460323737035677000n + BigInt(index - 1)) }] },
      ...index === 119 && { attachments: { media_keys: ["3_1", "3_2"] } }
    })),
    messages: [{
      id: "5",
      event_type: "MessageCreate",
      text: "meet at noon",
      sender_id: "8",
      dm_conversation_id: "7-8"
    }]
  }
}

/** A page over a copy, on a port. */
const serve = Effect.fnUntraced(function*(place: Effect.Effect<Place, never, Scope.Scope>) {
  const reader = yield* Layer.build(yield* place)
  const media = yield* folder
  writeFileSync(join(media, "a.png"), png)
  yield* Effect.gen(function*() {
    const copy = yield* Copy.Current
    yield* Copy.write(copy, batch)
    yield* copy.sql`INSERT INTO meta VALUES ('media', ${media})`
    yield* copy.sql`INSERT INTO media_files (media_key, file, sha256, content_type)
      VALUES ('3_1', 'a.png', ${sha256}, 'image/png')`
    yield* copy.sql`INSERT INTO user_metrics (id, at, public_metrics_followers_count)
      VALUES ('7', '2026-07-01T00:00:00.000Z', 5)`
    yield* copy.sql`INSERT INTO progress VALUES ('posts', 'me', '{"doneAt":0}')`
    yield* copy.sql`INSERT INTO runs (id, started_at, status, added) VALUES (1, '2026-07-01T00:00:00.000Z', 'done', 3)`
  }).pipe(Effect.provide(reader))
  const token = Page.makeToken()
  const server = yield* NodeHttpServer.make(createServer, { port: 0, host: "127.0.0.1" })
  yield* Effect.provide(server.serve(Page.answer("own.sqlite", token)), reader)
  const baseUrl = HttpServer.formatAddress(server.address)
  const get = (path: string, given: Readonly<Record<string, string>> = {}, method = "GET") =>
    Effect.promise(() =>
      new Promise<{ readonly status: number | undefined; readonly text: string; readonly type: string | undefined }>(
        (resolve, reject) => {
          request(baseUrl, { path, method, headers: given }, (response) => {
            let text = ""
            response.setEncoding("latin1").on("data", (part) => text += part).on(
              "end",
              () => resolve({ status: response.statusCode, text, type: response.headers["content-type"] })
            )
          }).on("error", reject).end()
        }
      )
    )
  const authorization = `Bearer ${Redacted.value(token)}`
  return { baseUrl, token, get, view: (path: string) => get(path, { authorization }) }
})

onEach("the page of a copy", (place) => {
  it.live("shows what the copy has, and no markup of it", () =>
    Effect.gen(function*() {
      const { view } = yield* serve(place)
      const shows = Effect.fnUntraced(function*(path: string, ...texts: ReadonlyArray<string>) {
        const { status, text } = yield* view(path)
        assert.strictEqual(status, 200)
        assert.notMatch(text, /<script|<img src=x|onerror="/, path)
        for (const part of texts) assert.include(text, part, path)
        return text
      })
      const newest = yield* shows(
        "/",
        "post 119",
        "post 70 ",
        "href=\"/@grace\"",
        "?before=1460323737035677070\">Older"
      )
      assert.notInclude(newest, "post 69 ")
      assert.include(newest, "<a href=\"https://example.org/?a=1&#38;b=2\" rel=\"noreferrer noopener\"")
      assert.notInclude(newest, "127.0.0.2")
      assert.include(yield* shows("/?before=1460323737035677070", "post 69 ", "post 20 "), "before=1460323737035677020")
      assert.notInclude(yield* shows("/?q=post+20", "post 20 "), "post 21 ")
      assert.notInclude(yield* shows("/?q=post&from=ada&since=2026-10-01", "post 119"), "post 90 ")
      yield* shows("/?q=%22+AND+*", "Nothing found.")
      yield* shows("/post/1460323737035677119", "class=\"d2\"", "aria-current=\"true\"", "photo, 640")
      yield* shows("/post/1", "does not have this post")
      yield* shows("/user/7", "@ada", "Followers 1<", "polyline", "post 119")
      yield* shows("/@GRACE", "@grace", "post 118")
      yield* shows("/@nobody", "does not have this user")
      assert.notInclude(yield* shows("/users?q=gra", "@grace"), "@ada")
      yield* shows("/messages?q=noon", "meet at noon")
      yield* shows("/charts", "Posts per day", "120 in all", "Followers of @ada")
      yield* shows("/sources", "<td>me</td>", "done", "$0.000 in all")
      yield* shows("/nothing", "no such view")
    }))

  it.live("answers only this machine, with the token", () =>
    Effect.gen(function*() {
      const { baseUrl, get, view } = yield* serve(place)
      const shell = yield* get("/post/1460323737035677119")
      assert.deepInclude(shell, { status: 200, type: "text/html; charset=utf-8" })
      assert.notInclude(shell.text, "post 119")
      for (const authorization of ["", "Bearer ", "Bearer x", "Bearer null"]) {
        const { status, text } = yield* get("/", { authorization })
        assert.strictEqual(status, 401)
        assert.notInclude(text, "post 119")
      }
      for (const host of ["evil.example", "127.0.0.1.evil.example"]) {
        assert.strictEqual((yield* get("/", { host })).status, 403)
      }
      assert.strictEqual((yield* get("/", { host: "localhost:1" })).status, 200)
      assert.strictEqual((yield* get("/", {}, "POST")).status, 405)
      for (const path of ["//", "/@%", "http://"]) assert.strictEqual((yield* view(path)).status, 200, path)
      const { text } = yield* view("/")
      const [, picture = ""] = /<img loading="lazy" src="([^"]+)"/.exec(text) ?? []
      assert.strictEqual((yield* get(picture)).text, png.toString("latin1"))
      const part = yield* get(picture, { range: "bytes=1-3" })
      assert.deepStrictEqual([part.status, part.text], [206, "PNG"])
      assert.strictEqual((yield* get(picture, { range: "bytes=999-" })).status, 416)
      assert.strictEqual((yield* get(picture.replace("3_1", "3_2"))).status, 401)
      assert.strictEqual((yield* get("/media/3_1")).status, 401)
      assert.match(baseUrl, /^http:\/\/127\.0\.0\.1:/)
    }))
})

if (executable === undefined) {
  console.warn("The tests of the page are skipped: `chromium` is not on PATH, and CHROMIUM names no browser.")
}

describe.skipIf(executable === undefined)("in a browser", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executable! })
  }, 60_000)
  afterAll(() => browser.close())

  /** A page that keeps account of what must not happen. */
  const visit = Effect.gen(function*() {
    const server = yield* serve(Effect.map(folder, (path) => Copy.layerSqlite(join(path, "own.sqlite"))))
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newContext()),
      (context) => Effect.promise(() => context.close())
    )
    const page = yield* Effect.promise(() => context.newPage())
    const wrong: Array<string> = []
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") wrong.push(message.text())
    })
    page.on("pageerror", (error) => wrong.push(String(error)))
    page.on("request", (request) => {
      const url = request.url()
      if (!url.startsWith(`${server.baseUrl}/`) && !url.startsWith("data:")) wrong.push(url)
      if (url.includes(Redacted.value(server.token))) wrong.push(url)
    })
    const heading = (text: string) => page.locator("main[aria-busy=false] h1", { hasText: text }).waitFor()
    return { ...server, page, wrong, heading }
  })

  it.live("is read by keyboard: searches, walks, opens and returns", () =>
    Effect.gen(function*() {
      const { baseUrl, heading, page, token, wrong } = yield* visit
      const focused = () => page.evaluate("document.activeElement.id || document.activeElement.name")
      yield* Effect.promise(async () => {
        await page.goto(Page.urlWith(baseUrl, token))
        await heading("Posts")
        assert.strictEqual(page.url(), `${baseUrl}/`)
        assert.isTrue(await page.evaluate("document.querySelector('.medium img').decode().then(() => true)"))
        for (const key of "jjjk") await page.keyboard.press(key)
        assert.strictEqual(await focused(), "p1460323737035677118")
        await page.keyboard.press("Enter")
        await heading("Thread with @grace")
        assert.strictEqual(await focused(), "p1460323737035677118")
        await page.keyboard.press("Escape")
        await heading("Posts")
        assert.deepStrictEqual([page.url(), await focused()], [`${baseUrl}/`, "p1460323737035677118"])
        await page.keyboard.press("/")
        assert.strictEqual(await focused(), "q")
        await page.keyboard.type("post 20")
        await page.keyboard.press("Enter")
        await heading("Posts found")
        assert.strictEqual(page.url(), `${baseUrl}/?q=post+20`)
        assert.strictEqual(await page.locator("main article").count(), 1)
        await page.reload()
        await heading("Posts found")
        assert.strictEqual(await page.locator("[name=q]").inputValue(), "post 20")
        await page.locator("nav a", { hasText: "Charts" }).click()
        await heading("Charts")
        await page.goBack()
        await heading("Posts found")
        // Kept for this tab only.
        const other = await page.context().newPage()
        await other.goto(baseUrl)
        await other.locator("h1", { hasText: "No access" }).waitFor()
      })
      assert.deepStrictEqual(wrong, [])
    }), 60_000)

  it.live("has no violation that axe knows, and fits, light and dark", () =>
    Effect.gen(function*() {
      const { baseUrl, heading, page, token, wrong } = yield* visit
      yield* Effect.promise(async () => {
        await page.goto(Page.urlWith(baseUrl, token))
        await heading("Posts")
        await page.evaluate(axe.source)
        const views = {
          Posts: "/",
          Thread: "/post/1460323737035677119",
          Ada: "/user/7",
          Users: "/users",
          Messages: "/messages",
          Charts: "/charts",
          Sources: "/sources"
        }
        for (const [title, path] of Object.entries(views)) {
          await page.evaluate(`go("${path}")`)
          await heading(title)
          for (
            const [colorScheme, width, rules] of [
              ["light", 400, ""],
              ["dark", 1920, `{ runOnly: ["color-contrast"] }`]
            ] as const
          ) {
            await page.emulateMedia({ colorScheme })
            await page.setViewportSize({ width, height: 900 })
            const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${rules})`)
            assert.deepStrictEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`), [], path)
            assert.isAtMost(Number(await page.evaluate("document.documentElement.scrollWidth")), width, path)
          }
        }
        assert.deepStrictEqual(wrong, [])
        // What the page itself never did.
        const violated = await page.evaluate(`new Promise((resolve) => {
          const directives = []
          document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
            if (directives.push(effectiveDirective) === 4) resolve(directives)
          })
          const image = document.createElement("img"), script = document.createElement("script")
          image.src = "http://127.0.0.2/x.png"
          script.textContent = "document.title = 'taken'"
          const style = document.createElement("style")
          style.textContent = "body { display: none }"
          document.body.append(image, script, style)
          fetch("http://127.0.0.2/").catch(() => {})
        })`)
        assert.sameMembers(violated as Array<string>, ["img-src", "script-src-elem", "style-src-elem", "connect-src"])
      })
    }), 60_000)
})

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Browser, chromium, type Page } from "playwright-core"
import * as Sandbox from "../src/Sandbox.ts"
import { executable } from "./support/Browser.ts"
import { authorizeUrl } from "./support/Login.ts"

describe.skipIf(executable === undefined)("the page of a login, in a browser", () => {
  let browser: Browser
  let sandbox: Sandbox.RunningSandbox
  /** What the app was told. */
  const visits: Array<URL> = []
  const app = createServer((request, response) => {
    if (request.url?.startsWith("/callback")) visits.push(new URL(request.url, "http://localhost"))
    response.setHeader("content-type", "text/html").end("<link rel=icon href=data:,><h1>Thank you</h1>")
  })
  let callback = ""

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executable! })
    sandbox = await Sandbox.start({ posts: 60 })
    await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve))
    callback = `http://localhost:${(app.address() as AddressInfo).port}/callback`
  }, 60_000)
  afterAll(async () => {
    await browser.close()
    await sandbox.stop()
    app.close()
  })

  /** The page of an app with a name, and what the browser complains of. */
  const open = async (
    options: Parameters<Browser["newContext"]>[0],
    visit: (page: Page, errors: ReadonlyArray<string>) => Promise<void>
  ) => {
    const context = await browser.newContext(options)
    try {
      const page = await context.newPage()
      page.setDefaultTimeout(10_000)
      const errors: Array<string> = []
      page.on("console", (message) => errors.push(message.text()))
      page.on("pageerror", (error) => errors.push(String(error)))
      const { client } = sandbox.app({ name: "<b>Notes & more</b>", redirects: [callback] })
      await page.goto(authorizeUrl(sandbox.baseUrl, client.id, {
        redirect_uri: callback,
        scope: "tweet.read tweet.write users.read bookmark.read dm.write offline.access"
      }))
      await visit(page, errors)
    } finally {
      await context.close()
    }
  }

  it(
    "allows by keyboard alone, without a script, and leads back",
    () =>
      open({ javaScriptEnabled: false }, async (page, errors) => {
        await page.getByRole("heading", { name: "Allow <b>Notes & more</b> to act for you?" }).waitFor()
        await page.getByRole("radio", { name: "@ada" }).press("ArrowDown")
        const chosen = await page.getByRole("radio", { checked: true }).getAttribute("value")
        assert.notStrictEqual(chosen, "ada")
        await page.getByRole("button", { name: "Allow" }).press("Enter")
        await page.getByRole("heading", { name: "Thank you" }).waitFor()
        const { searchParams } = visits.at(-1)!
        assert.strictEqual(searchParams.get("state"), "xyz")
        assert.isNotNull(searchParams.get("code"))
        assert.deepStrictEqual(errors, [])
      }),
    60_000
  )

  it("leads back after Deny, and says which username there is not", () =>
    open({}, async (page, errors) => {
      await page.getByLabel("Or another username").fill("nobody")
      await page.getByRole("button", { name: "Allow" }).click()
      await page.getByRole("alert", { name: "" }).filter({ hasText: "There is no user @nobody." }).waitFor()
      await page.getByRole("button", { name: "Deny" }).click()
      await page.getByRole("heading", { name: "Thank you" }).waitFor()
      assert.strictEqual(visits.at(-1)?.searchParams.get("error"), "access_denied")
      assert.deepStrictEqual(errors.filter((error) => !error.includes("422")), [])
    }), 60_000)

  it("fits 400 pixels, light and dark, and labels every control", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await open({ viewport: { width: 400, height: 800 }, colorScheme }, async (page, errors) => {
        assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth), 400)
        const found = await page.evaluate(() => ({
          small: [...document.querySelectorAll(".user, button")]
            .filter((element) => element.getBoundingClientRect().height < 44)
            .map(({ textContent }) => textContent),
          unlabelled: [...document.querySelectorAll("input:not([type=hidden])")]
            .filter((input) => input instanceof HTMLInputElement && (input.labels?.length ?? 0) === 0)
            .length,
          background: getComputedStyle(document.body).backgroundColor
        }))
        assert.deepStrictEqual(found, {
          small: [],
          unlabelled: 0,
          background: colorScheme === "dark" ? "rgb(20, 22, 26)" : "rgb(246, 247, 249)"
        })
        assert.deepStrictEqual(errors, [])
        if (process.env["SCREENSHOTS"] !== undefined) {
          await page.screenshot({ path: `${process.env["SCREENSHOTS"]}/${colorScheme}.png`, fullPage: true })
        }
      })
    }
  }, 60_000)
})

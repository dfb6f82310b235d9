// The whole way of a user: from `postwire login` in a browser to the end of what was granted.
import { assert, describe, it } from "@effect/vitest"
import * as Console from "@postwire/sandbox/Console"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type Browser, chromium, type Page } from "playwright-core"
import { freePort } from "../../node/test/support/RedisServer.ts"
import { executable } from "../../sandbox/test/support/Browser.ts"

const isLong = process.env["POSTWIRE_LONG"] === "1"

/** The command as `pnpm check` leaves it. */
const command = fileURLToPath(new URL("../dist/main.js", import.meta.url))

const program = `
  import { createClient, fromEnvironment } from "@postwire/node"
  await using client = createClient({ ...fromEnvironment(), account: "ada" })
  for await (const { id } of client.getBookmarks.items({})) console.log(id)
`

/** A machine whose user has a home and a browser: Chromium, which the command starts itself. */
const machine = async () => {
  const home = mkdtempSync(join(tmpdir(), "postwire-home-"))
  const [port, debuggingPort] = [await freePort(), await freePort()]
  const sandbox = await Sandbox.start({ posts: 60 })
  const redirect = `http://localhost:${port}/callback`
  const { client } = sandbox.app({ name: "Reading list", redirects: [redirect] })
  const running = new Set<ChildProcess>()
  const browsers: Array<Browser> = []
  let transcript = ""
  let aheadMillis = 0

  /** Runs Node until it ends, under the clock of this machine. */
  const node = async (shown: string, args: ReadonlyArray<string>) => {
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
      // Where the packages are.
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        NODE_OPTIONS: `--import=data:text/javascript,const{now}=Date;Date.now=()=>now()+${aheadMillis}`,
        HOME: home,
        POSTWIRE_BASE_URL: sandbox.baseUrl,
        POSTWIRE_CLIENT_ID: client.id,
        BROWSER: [
          executable,
          "--headless",
          "--no-sandbox",
          "--disable-gpu",
          "--no-first-run",
          `--user-data-dir=${join(home, "browser")}`,
          `--remote-debugging-port=${debuggingPort}`,
          "%s"
        ].join(" ")
      }
    })
    running.add(child)
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")])
    running.delete(child)
    transcript += `$ ${shown}\n${errors}${output}\n`
    return { code: child.exitCode, output, errors }
  }

  const postwire = (...args: ReadonlyArray<string>) => node(`postwire ${args.join(" ")}`, [command, ...args])

  /** The page that the command opened. */
  const opened = async (): Promise<Page> => {
    for (const end = performance.now() + 20_000;;) {
      const browser = await chromium.connectOverCDP(`http://127.0.0.1:${debuggingPort}`).catch(() => undefined)
      const page = browser?.contexts().flatMap((context) => context.pages()).find((page) =>
        page.url().startsWith(sandbox.baseUrl)
      )
      if (browser !== undefined) browsers.push(browser)
      if (page !== undefined) {
        page.setDefaultTimeout(10_000)
        return page
      }
      if (performance.now() > end) throw new Error("The command opens no page")
      await delay(50)
    }
  }

  /** Ends the browser, as its user does. */
  const closeBrowser = async () => {
    const browser = browsers.at(-1)
    if (browser === undefined) return
    const session = await browser.newBrowserCDPSession()
    const closed = new Promise((resolve) => browser.once("disconnected", resolve))
    await session.send("Browser.close")
    await closed
  }

  return {
    sandbox,
    postwire,
    node,
    opened,
    closeBrowser,
    redirect,
    /** So much later it is, for the machine and for the service. */
    wait: (millis: number) => {
      aheadMillis += millis
      sandbox.clock.advance(millis)
    },
    transcript: () => transcript,
    [Symbol.asyncDispose]: async () => {
      for (const child of running) child.kill("SIGKILL")
      await closeBrowser().catch(() => {})
      await sandbox.stop()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

const threeHours = 10_800_000

const obstacle = executable === undefined ? ": skipped, it needs Chromium (apt-get install chromium)" : ""

describe.runIf(isLong)(`signing in with a browser: npm run test:long${obstacle}`, () => {
  it.skipIf(executable === undefined)("lasts until the user revokes it, by whatever program", async () => {
    await using user = await machine()
    const { node, postwire, sandbox } = user
    const refreshes = () => sandbox.grants.list().map(({ refreshes }) => refreshes)
    const refused = () => sandbox.requests.filter(({ status }) => status === 401).length

    const login = postwire("login", "ada", "--for", "bookmark,getBookmarks", "--redirect", user.redirect)
    const page = await user.opened()
    await page.getByRole("heading", { name: "Allow Reading list to act for you?" }).waitFor()
    await page.getByRole("radio", { name: "@ada" }).check()
    await page.getByRole("button", { name: "Allow" }).click()
    await page.getByRole("heading", { name: /signed in/i }).waitFor()
    const shown = await page.locator("main").innerText()
    const signedIn = await login
    assert.strictEqual(signedIn.code, 0, signedIn.errors)
    assert.match(signedIn.output, /@ada is signed in/)

    const accounts = await postwire("accounts")
    assert.match(accounts.output, /ada[^]*bookmark\.read/)

    const post = sandbox.user({ username: "grace" }).post("On compilers")
    const bookmarked = await postwire("call", "bookmark", "--post-id", post.id, "--account", "ada")
    assert.strictEqual(bookmarked.code, 0, bookmarked.errors)

    // The token is known to be over.
    user.wait(threeHours)
    const bookmarks = await postwire("call", "getBookmarks", "--account", "ada")
    assert.include(bookmarks.output, post.id)
    assert.deepStrictEqual([refreshes(), refused()], [[1], 0])

    // It is over, and no clock of the machine tells.
    sandbox.clock.advance(threeHours)
    const script = ["--input-type=module", "--eval", program]
    const read = await node("node reading-list.mjs", script)
    assert.deepStrictEqual([read.code, read.errors], [0, ""])
    assert.include(read.output.split("\n"), post.id)
    assert.deepStrictEqual([refreshes(), refused()], [[2], 1])
    user.wait(threeHours)
    assert.include((await node("node reading-list.mjs", script)).output.split("\n"), post.id)
    assert.deepStrictEqual([refreshes(), refused()], [[3], 1])

    await page.goto(Console.urlWith(sandbox.baseUrl, sandbox.adminToken))
    await page.locator(`nav a[href="#users"]`).click()
    await page.getByRole("button", { name: "grants 1" }).click()
    await page.getByRole("button", { name: "Revoke access of Reading list to @ada" }).click()
    await page.locator("#state .outcome", { hasText: "to @ada is revoked." }).waitFor()

    const lost = await postwire("call", "getBookmarks", "--account", "ada")
    assert.notStrictEqual(lost.code, 0)
    assert.strictEqual(lost.output, "")
    assert.include(lost.errors, "postwire login ada")
    const lostToo = await node("node reading-list.mjs", script)
    assert.include(lostToo.errors, "LoginRequired")
    assert.notInclude(user.transcript(), "undefined")
    console.log(`${user.transcript()}The page in the end:\n${shown}\n`)
    await user.closeBrowser()
  }, 120_000)

  it.skipIf(executable === undefined)("brings nothing when the user denies it", async () => {
    await using user = await machine()
    const login = user.postwire("login", "ada", "--redirect", user.redirect)
    const page = await user.opened()
    await page.getByRole("button", { name: "Deny" }).click()
    await page.waitForURL((url) => url.href.startsWith(user.redirect))
    const shown = await page.locator("main").innerText()
    const { code, errors, output } = await login
    assert.deepStrictEqual([code, output], [1, ""])
    assert.match(errors, /denied/i)
    assert.deepStrictEqual(user.sandbox.grants.list(), [])
    const accounts = await user.postwire("accounts")
    assert.notInclude(accounts.output, "@ada")
    console.log(`${user.transcript()}The page in the end:\n${shown}\n`)
  }, 120_000)
})

import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { groups } from "./docs/Sidebar.ts"
import { others, pageOf } from "./docs/Site.ts"
import { build, install, serve } from "./site.ts"

const root = new URL("..", import.meta.url)
const text = (file: string) => readFileSync(new URL(file, root), "utf8")
const repository: string = JSON.parse(text("packages/core/package.json")).homepage
const exists = (file: string) => existsSync(new URL(file, root))
const files = [...globSync("docs/**/*.md", { cwd: root }), ...others]
const pages = files.map((file) => pageOf(file, text(file), { base: "/v1/", repository, exists }))

describe("a page", () => {
  const files = [
    "README.md",
    "docs/README.md",
    "docs/b.md",
    "docs/adr",
    "docs/adr/README.md",
    "docs/adr/0002-b.md",
    "docs/openapi/x.json",
    "examples",
    "examples/bot.ts",
    "SECURITY.md"
  ]
  const addresses = { base: "/v1/", repository, exists: (file: string) => files.includes(file) }
  const page = (text: string) => pageOf("docs/adr/0001-a.md", text, addresses)

  it("has the first heading for its title, and the first paragraph for its description", () => {
    assert.deepStrictEqual(
      page("<!-- Generated -->\n\n# The `one`\n\n[Up](README.md)\n\nIt is\n**so**, [see](0002-b.md).\n\n## More\n"),
      {
        id: "adr/0001-a",
        title: "The one",
        description: "It is so, see.",
        body: "[Up](/v1/adr/)\n\nIt is\n**so**, [see](/v1/adr/0002-b/).\n\n## More\n"
      }
    )
  })

  it("has no comments, which are for those who edit it, but those in code", () => {
    const code = "```html\n<!-- from d.ts -->\n```\n"
    assert.strictEqual(
      page(`# A\n\nB\n\n<!-- from c.ts -->\n${code}\n<!-- generated: error E -->\n\nF\n\n<!-- end -->\n\nG\n`).body,
      `B\n\n${code}\nF\n\nG\n`
    )
  })

  it("leads to pages, documents and sources, and leaves code alone", () => {
    const body = (text: string) => page(`# A\n\n${text}\n`).body.trimEnd()
    assert.strictEqual(
      body("[a](../b.md#c) [d](#e) [f](https://g.test/h.md)"),
      "[a](/v1/b/#c) [d](#e) [f](https://g.test/h.md)"
    )
    assert.strictEqual(body("[a](../../README.md) [b](../README.md)"), "[a](/v1/) [b](/v1/)")
    assert.strictEqual(
      body("[a](../openapi/x.json) [b](../../SECURITY.md) [c](../adr)"),
      "[a](/v1/openapi/x.json) [b](/v1/SECURITY/) [c](/v1/adr/)"
    )
    assert.strictEqual(
      body("[a](../../examples/bot.ts) [b](../../examples/)"),
      `[a](${repository}/blob/main/examples/bot.ts) [b](${repository}/blob/main/examples)`
    )
    const code = "````md\n```\n[a](../b.md)\n```\n````\n\nand `[a](../b.md)`"
    assert.strictEqual(body(code), code)
  })

  it("is refused where a link leads nowhere", () => {
    assert.throws(() => page("# A\n\n[b](../gone.md)\n"), "docs/adr/0001-a.md links to ../gone.md, which is not there")
    assert.throws(() => page("# A\n\n[b](../../packages/core/README.md)\n"), "which is not there")
  })
})

describe("the pages", () => {
  /** The anchors of a page, as the site and forges make them of its headings. */
  const anchorsOf = (body: string) =>
    body.replace(/^(`{3,})[^]*?^\1$/gm, "").match(/^#+ .+$/gm)?.map((heading) =>
      heading.replace(/^#+ /, "").replaceAll(/\]\([^)]*\)/g, "").toLowerCase().replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
        .replaceAll(" ", "-")
    ) ?? []

  it("are all in the list beside them, once", () => {
    const there = pages.map(({ id }) => id)
    assert.sameMembers(["index", ...groups(there).flatMap(({ ids }) => ids)], there)
    assert.throws(() => groups(["index", "unheard-of"]), "Not in Sidebar.ts: unheard-of")
    assert.throws(() => groups(there.filter((id) => id !== "start")), "In Sidebar.ts, and not there: start")
  })

  it.each(pages.map((page) => [page.id, page] as const))("%s has links whose anchors are there", (_, { body, id }) => {
    for (const [, path = "", anchor = ""] of body.matchAll(/\]\((\/v1\/[^)#]*)?#([^)]+)\)/g)) {
      const target = path === "" ? id : path.replace("/v1/", "").replace(/\/$/, "") || "index"
      const page = pages.find(({ id }) => id === target)
      assert.include(anchorsOf(page?.body ?? ""), anchor, `${target}#${anchor}`)
    }
  })

  it.each(pages.map(({ body, id }) => [id, body] as const))("%s has one heading of the first level", (_, body) => {
    assert.notMatch(body.replace(/^(`{3,})[^]*?^\1$/gm, ""), /^# /m)
  })
})

const browserPath = ((): string | undefined => {
  const names = [process.env["CHROMIUM"], "chromium", "chromium-browser", "google-chrome"].filter((name) =>
    name !== undefined
  )
  try {
    return execFileSync("sh", ["-c", names.map((name) => `command -v '${name}'`).join(" || ")], { encoding: "utf8" })
      .trim()
  } catch {
    return undefined
  }
})()

/** Why the site cannot be looked at here, if so. */
const obstacle = process.env["POSTWIRE_LONG"] === undefined
  ? "it is one of the long tests"
  : browserPath === undefined
  ? "`chromium` is not on PATH, and CHROMIUM names no browser"
  : await install().then(() => undefined, (error: unknown) => `it could not be installed (${String(error)})`)

if (obstacle !== undefined && process.env["POSTWIRE_LONG"] !== undefined) {
  console.warn(`The tests of the built site are skipped: ${obstacle}.`)
}

describe.skipIf(obstacle !== undefined)("the built site", () => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-site-"))
  const output = pathToFileURL(`${folder}/`)
  let served: Awaited<ReturnType<typeof serve>>
  let browser: Browser
  const errors: Array<string> = []

  const at = async (width: number, look: (page: Page) => Promise<void>) => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: "light" })
    const page = await context.newPage()
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(`${page.url()}: ${message.text()}`)
    })
    page.on("pageerror", (error) => errors.push(`${page.url()}: ${String(error)}`))
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(served.url)) errors.push(request.url())
    })
    await look(page)
    await context.close()
    assert.deepStrictEqual(errors, [])
  }

  beforeAll(async () => {
    // An older version, which was built some time ago.
    mkdirSync(join(folder, "1.0"))
    for (const name of ["index.html", "llms.txt"]) {
      writeFileSync(join(folder, "1.0", name), `<title>Version 1.0</title><link rel="icon" href="data:,">`)
    }
    await build({ version: "2.0", prefix: "/postwire/", output })
    served = await serve(0, "/postwire/", output)
    browser = await chromium.launch({ executablePath: browserPath! })
  }, 600_000)

  afterAll(async () => {
    await browser?.close()
    served?.server.close()
    rmSync(folder, { recursive: true })
  })

  it("has no broken link, and nothing is loaded from elsewhere", () => {
    const read = (path: string) => readFileSync(join(folder, path), "utf8")
    const ids = new Map(
      globSync("2.0/**/*.html", { cwd: folder }).map((file) => [
        `/postwire/${file.replace(/index\.html$/, "")}`,
        new Set(Array.from(read(file).matchAll(/ id="([^"]+)"/g), (match) => match[1]))
      ])
    )
    assert.isAbove(ids.size, 80)
    for (const [path] of ids) {
      const html = read(path.replace("/postwire/", "").replace(/\/$/, "/index.html"))
      for (const [, target = ""] of html.matchAll(/ (?:href|src)="([^"]+)"/g)) {
        const url = new URL(target, `http://site${path}`)
        if (url.host !== "site") continue
        const file = decodeURIComponent(url.pathname).replace("/postwire/", "").replace(/\/$/, "/index.html")
        assert.isTrue(existsSync(join(folder, file)), `${path} links to ${target}`)
        if (url.hash !== "") {
          const anchors = ids.get(decodeURIComponent(url.pathname))
          assert.isTrue(anchors?.has(decodeURIComponent(url.hash.slice(1))), `${path} links to ${target}`)
        }
      }
    }
  })

  it("fits a phone and a desk, page by page, without an error", async () => {
    const overflow = (page: Page) =>
      page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    // The pages of operations and decisions are alike.
    const shown = pages.filter(({ id }) => !/^(reference\/(?!resources|settings|layers|getUsersPosts)|adr\/)/.test(id))
    for (const width of [400, 1280]) {
      await at(width, async (page) => {
        for (const { id, title } of shown) {
          await page.goto(`${served.url}2.0/${id === "index" ? "" : `${id}/`}`)
          assert.strictEqual(await page.locator("h1").innerText(), title)
          assert.isAtMost(await overflow(page), 0, `${id} at ${width}`)
        }
      })
    }
  }, 300_000)

  const search = async (page: Page, words: string) => {
    await page.getByRole("textbox", { name: "Search" }).fill(words)
    await page.locator(".pagefind-ui__message", { hasText: `for ${words}` }).waitFor()
    return page.locator(".pagefind-ui__result-title .pagefind-ui__result-link")
  }

  it.each([400, 1280])("finds what people look for, at %i pixels", (width) =>
    at(width, async (page) => {
      await page.goto(`${served.url}2.0/`)
      await page.getByRole("button", { name: "Search" }).click()
      await (await search(page, "retry")).first().click()
      await page.waitForURL(/\/2\.0\/retries\//)
      assert.match(await page.locator("main").innerText(), /\bretr(y|ies|ied)\b/i)
    }))

  it("finds the guide by the words of the field", () =>
    at(1280, async (page) => {
      await page.goto(`${served.url}2.0/`)
      await page.getByRole("button", { name: "Search" }).click()
      for (
        const [words, id] of [
          ["backoff", "retries"],
          ["rate limit window", "rate-limits"],
          ["credentials", "credentials"],
          ["return type", "client"],
          ["pagination", "pages"],
          ["OutcomeUnknown", "errors"],
          ["tweepy", "from-tweepy"]
        ] as const
      ) {
        await search(page, words)
        await page.locator(`.pagefind-ui__result:nth-child(-n+3) a[href="/postwire/2.0/${id}/"]`).first().waitFor()
      }
    }))

  it("is dark when that is chosen, and stays so", () =>
    at(1280, async (page) => {
      await page.goto(`${served.url}2.0/`)
      const background = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor")
      assert.strictEqual(await background(), "rgb(255, 255, 255)")
      await page.getByLabel("Select theme").first().selectOption("dark")
      assert.match(await background(), /^rgb\(2\d, 2\d, 2\d\)$/)
      await page.goto(`${served.url}2.0/client/`)
      assert.match(await background(), /^rgb\(2\d, 2\d, 2\d\)$/)
    }))

  it("offers the versions that there are, and begins with the newest", () =>
    at(1280, async (page) => {
      await page.goto(served.url)
      await page.waitForURL(/\/2\.0\/$/)
      const select = page.getByLabel("Version").first()
      await select.locator("option", { hasText: "1.0" }).waitFor({ state: "attached" })
      assert.deepStrictEqual(await select.locator("option").allInnerTexts(), ["2.0", "1.0"])
      await select.selectOption("1.0")
      await page.waitForURL(/\/1\.0\/$/)
      assert.strictEqual(await page.title(), "Version 1.0")
    }))

  it("has every page as text, for programs that read", () => {
    const read = (path: string) => readFileSync(join(folder, "2.0", path), "utf8")
    const [list, all] = [read("llms.txt"), read("llms-full.txt")]
    for (const { body, id, title } of pages) {
      if (id !== "index") assert.include(list, `- [${title}](/postwire/2.0/${id}.md): `)
      const words = body.replaceAll("/v1/", "/postwire/2.0/")
      assert.strictEqual(read(`${id}.md`), `# ${title}\n\n${words}`)
      assert.include(all, words)
    }
  })
})

// Makes the pictures of the guides, which show the sandbox: `node scripts/pictures.ts`, with a browser in CHROMIUM.
import { mkdirSync, writeFileSync } from "node:fs"
import { crc32, deflateSync } from "node:zlib"
import { chromium, type Page } from "playwright-core"
import { createClient } from "../packages/node/src/index.ts"
import * as OAuth2 from "../packages/node/src/OAuth2.ts"
import * as Console from "../packages/sandbox/src/admin/Console.ts"
import * as Sandbox from "../packages/sandbox/src/Sandbox.ts"

const folder = new URL("../docs/pictures/", import.meta.url)

/** The pixels of a page, as bytes of red, green, blue and alpha. */
const pixelsOf = async (page: Page, fullPage: boolean) => {
  const png = (await page.screenshot({ fullPage })).toString("base64")
  const read = await page.context().newPage()
  const pixels = await read.evaluate(async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob())
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d")!
    canvas.drawImage(image, 0, 0)
    return { width: image.width, data: Array.from(canvas.getImageData(0, 0, image.width, image.height).data) }
  }, png)
  return pixels
}

/** As a PNG of the 256 colours that are there most: a fifth of what a browser writes. */
const encode = ({ data, width }: Awaited<ReturnType<typeof pixelsOf>>): Uint8Array => {
  const colours = Array.from(
    { length: data.length / 4 },
    (_, i) => data[4 * i]! << 16 | data[4 * i + 1]! << 8 | data[4 * i + 2]!
  )
  const counts = Map.groupBy(colours, (colour) => colour)
  const palette = [...counts].sort(([, a], [, b]) => b.length - a.length).slice(0, 256).map(([colour]) => colour)
  const distance = (a: number, b: number) =>
    [16, 8, 0].reduce((sum, shift) => sum + ((a >> shift & 255) - (b >> shift & 255)) ** 2, 0)
  const nearest = (colour: number) =>
    palette.reduce((best, other, i) => distance(other, colour) < distance(palette[best]!, colour) ? i : best, 0)
  const indices = new Map([...counts.keys()].map((colour) => [colour, nearest(colour)]))
  const height = colours.length / width
  const rows = Buffer.alloc(height * (width + 1))
  for (const [i, colour] of colours.entries()) rows[i + Math.floor(i / width) + 1] = indices.get(colour)!
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3], 8)
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap((colour) => [colour >> 16, colour >> 8 & 255, colour & 255]))),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0))
  ])
}

/** Sends requests that make a log. */
const record = async ({ baseUrl, faults, settings }: Sandbox.RunningSandbox): Promise<void> => {
  await using client = createClient({ ...settings, retries: 0 })
  const { data: ada } = await client.getUser({ username: "ada", user_fields: ["public_metrics"] })
  if (ada === undefined) throw new Error("there is no ada")
  await client.searchRecentPosts({ query: "effect", max_results: 10, post_fields: ["created_at"] })
  await client.createPost({ text: "From the log", reply_settings: "following" })
  faults.add({ operation: "getMe", status: 503, headers: { "retry-after": "1" } })
  await client.getMe().catch(() => {})
  await client.getUsersPosts({ id: ada.id, max_results: 5 })
  await fetch(`${baseUrl}/2/users/me`)
  await client.getUsersFollowers({ id: ada.id })
}

await using sandbox = await Sandbox.start({ posts: 60 })
const { url } = await OAuth2.authorize({
  baseUrl: sandbox.baseUrl,
  clientId: sandbox.seeded.publicClient.id,
  redirectUri: "http://localhost:8080/callback",
  scopes: OAuth2.scopesFor(["createPost", "bookmark", "getBookmarks"])
})

await record(sandbox)

const pictures = [
  { name: "authorize", url, width: 600, height: 400, fullPage: true },
  {
    name: "console",
    url: Console.urlWith(sandbox.baseUrl, sandbox.adminToken),
    width: 1280,
    height: 800,
    fullPage: false
  }
]

mkdirSync(folder, { recursive: true })
const browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium" })
try {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const { fullPage, height, name, url, width } of pictures) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme })
      const page = await context.newPage()
      await page.goto(url)
      if (name === "console") {
        await page.locator("#lines a", { hasText: "createPost" }).first().click()
        await page.getByRole("region", { name: "Response body" }).waitFor()
      }
      const file = `${name}${colorScheme === "dark" ? "-dark" : ""}.png`
      writeFileSync(new URL(file, folder), encode(await pixelsOf(page, fullPage)))
    }
  }
} finally {
  await browser.close()
}

// The tutorials, followed step by step, each in a clean folder, with the packages that a user installs.
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import * as Tutorial from "./docs/Tutorial.ts"
import { pack } from "./pack.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const pages = globSync("docs/tutorials/*.md", { cwd: root }).sort()

/** A registry of the tarballs of a folder. */
const registryOf = async (folder: string): Promise<Server> => {
  const tarballs = new Map(
    readdirSync(folder).map((file) => {
      const manifest = execFileSync("tar", ["-xOzf", join(folder, file), "package/package.json"], { encoding: "utf8" })
      return [file, JSON.parse(manifest) as { readonly name: string; readonly version: string }]
    })
  )
  const server = createServer(({ headers, url = "" }, response) => {
    const path = decodeURIComponent(url.slice(1))
    if (tarballs.has(path)) return response.end(readFileSync(join(folder, path)))
    const [file, manifest] = [...tarballs].find(([, { name }]) => name === path) ?? []
    if (manifest === undefined) return response.writeHead(404).end("{}")
    const { name, version } = manifest
    const dist = { tarball: `http://${headers.host}/${file}` }
    response.end(
      JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } })
    )
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return server
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

describe("a tutorial", () => {
  const steps = (source: string) => Tutorial.stepsOf("a.md", source).map(({ about, kind }) => [kind, about])

  it("has steps", () => {
    assert.deepStrictEqual(
      steps(
        "# A\n\n```sh\nls\n```\n\n```text\na\n```\n\n<!-- from examples/a.ts -->\n```ts\n1\n```\n\n" +
          "<!-- running: bot -->\n```sh\nnode bot.ts\n```\n\n<!-- prints: bot -->\n```text\nhi\n```\n\n" +
          "<!-- Ctrl-C: bot -->\n\n<!-- not run: it costs money -->\n```sh\nbuy\n```\n"
      ),
      [
        ["sh", ""],
        ["text", ""],
        ["file", "examples/a.ts"],
        ["running", "bot"],
        ["prints", "bot"],
        ["Ctrl-C", "bot"],
        ["not run", "it costs money"]
      ]
    )
  })

  it("has no block that nothing checks", () => {
    assert.throws(() => steps("# A\n\n```json\n{}\n```\n"), "a.md:3 is a block of json without a comment")
  })

  it("shows output with any numbers, and any text for …", () => {
    const shows = (shown: string, printed: string) => Tutorial.isShown(shown, printed)
    assert.isTrue(shows("12 posts at 9:15\n", "7 posts at 10:45\n"))
    assert.isTrue(shows("a  1\n", "a    10\n"))
    assert.isTrue(shows("id … is (new)\n", "id a7 is (new)\n"))
    assert.isTrue(shows("…\nlast\n", "first\nlast\n"))
    assert.isFalse(shows("12 posts\n", "12 users\n"))
    assert.isFalse(shows("first\n", "first\nlast\n"))
    assert.isFalse(shows("…\nfirst\n", "first\nlast\n"))
  })
})

describe.skipIf(process.env["POSTWIRE_LONG"] === undefined)("tutorials: npm run test:long", () => {
  let folder: string
  let served: Server

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "postwire-tutorials-"))
    const tarballs = join(folder, "tarballs")
    mkdirSync(tarballs)
    pack(tarballs)
    // The one package of others that is installed.
    execFileSync("npm", ["pack", "--ignore-scripts", join(root, "packages/node/node_modules/undici")], {
      cwd: tarballs,
      stdio: "ignore"
    })
    served = await registryOf(tarballs)
  }, 600_000)

  afterAll(() => {
    served.close()
    rmSync(folder, { recursive: true })
  })

  it.each(pages)("%s", async (page) => {
    const home = join(folder, page.replace(/\W/g, "-"))
    mkdirSync(home)
    const { port } = served.address() as AddressInfo
    writeFileSync(
      join(home, ".npmrc"),
      `registry=http://127.0.0.1:${port}/\nlegacy-peer-deps=true\naudit=false\nfund=false\nupdate-notifier=false\n`
    )
    // The settings and accounts of the machine are not those of the reader.
    const others = Object.entries(process.env).filter(([name]) => !/^(POSTWIRE|npm|XDG)_/i.test(name))
    const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter)
    const free = String(await freePort())
    const adapt = (code: string) =>
      code.replaceAll("3000", free).replaceAll("postwire sandbox", "postwire sandbox --port 0")
    const count = await Tutorial.follow(page, root, {
      adapt,
      folder: home,
      env: { ...Object.fromEntries(others), HOME: home, PATH }
    })
    console.log(`${page}: ${count} steps`)
  }, 300_000)
})

// The shell blocks of the README and the guides, run as they are written, with the packages that a user would pack.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type ChildProcess, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { vi } from "vitest"
import { environmentVariable } from "../packages/core/src/errors/Errors.ts"
import { createClient } from "../packages/node/src/EffectClient.ts"
import * as Sandbox from "../packages/sandbox/src/Sandbox.ts"
import * as Shell from "./docs/Shell.ts"
import { pack } from "./pack.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "postwire-shell-"))
const clone = join(folder, "postwire")
const project = join(folder, "my-project")
const home = join(folder, "home")

const blocks = Shell.pages(root).flatMap((page) => Shell.blocksOf(page, root))
const ofPage = (page: string) =>
  blocks.filter(({ notRun, place }) => place.startsWith(`${page}:`) && notRun === undefined)

/** Blocks that ran, by their code: the README repeats one of the page for the start. */
const ran = new Set<string>()

/** The variables of a terminal. It has no settings or accounts of whoever runs the tests. */
const environment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("POSTWIRE_"))),
  PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
  XDG_CONFIG_HOME: join(home, ".config"),
  XDG_STATE_HOME: join(home, ".local/state")
})

/** Runs a block, which must succeed. */
const succeed = async (terminal: Shell.Terminal, { code, place }: Shell.Block, written = code): Promise<string> => {
  const { printed, status } = await terminal.run(written)
  assert.strictEqual(status, 0, `${place}\n${code}${printed}`)
  ran.add(code)
  return printed
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, "127.0.0.1")
  try {
    await once(server, "listening")
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

/** What the guides have files of. */
const filesOf = async (
  settings: Sandbox.RunningSandbox["settings"]
): Promise<Readonly<Record<string, string | Buffer>>> => {
  await using client = createClient(settings)
  const { data = [] } = await client.searchRecentPosts({ query: "effect", post_fields: ["author_id"] })
  const ids = data.map(({ id }) => `${id}\n`).join("")
  const lines = (start: string) =>
    Object.entries(settings).map(([name, value]) => `${start}${environmentVariable(name)}=${String(value)}\n`).join("")
  const users = ["id", ...new Set(data.map((post) => post.author_id))].join("\n")
  return {
    "ids.txt": ids,
    "ids.txt.gz": gzipSync(ids),
    "posts.jsonl": data.map((post) => `${JSON.stringify(post)}\n`).join(""),
    "users.csv": users,
    "authors.csv.gz": gzipSync(users),
    "followers.csv.gz": gzipSync("username\nada\n"),
    "sandbox.txt": lines("  export "),
    "sandbox.env": lines(""),
    "queries.txt": "effect\nfrom:ada\n",
    "program.ts": `import { createClient } from "@postwire/node"\nexport const main = () => createClient().getMe()\n`
  }
}

/** Starts the server of a host's configuration, without the variables of the terminal. */
const startsServer = (folder: string, { HOME, PATH }: NodeJS.ProcessEnv): void => {
  const { mcpServers: { postwire: { args, command } } } = JSON.parse(readFileSync(join(folder, ".mcp.json"), "utf8"))
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "host", version: "1" } }
  const { stdout } = spawnSync(command, args, {
    cwd: folder,
    env: { HOME, PATH },
    encoding: "utf8",
    input: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`
  })
  assert.strictEqual(JSON.parse(stdout).result.serverInfo.name, "postwire")
}

describe.skipIf(process.env["POSTWIRE_LONG"] === undefined)(
  "shell blocks: npm run test:long",
  { shuffle: false },
  () => {
    const shown: Array<ChildProcess> = []

    beforeAll(() => {
      const packages = join(clone, "out/packages")
      for (const path of [packages, home]) mkdirSync(path, { recursive: true })
      pack(packages)
    }, 180_000)

    afterAll(async () => {
      for (const child of shown) if (child.exitCode === null && child.signalCode === null) await Shell.interrupt(child)
      rmSync(folder, { recursive: true })
    })

    it("of the start run in two terminals", async ({ skip }) => {
      const [install, ...rest] = ofPage("docs/start.md")
      const second = new Shell.Terminal(clone, environment(), join(folder, "second"))
      // The tarballs bring packages of others.
      const installed = await second.run(install!.code)
      skip(/ENOTFOUND|EAI_AGAIN|ENETUNREACH|ETIMEDOUT/.test(installed.printed), "Nothing can be installed here")
      assert.strictEqual(installed.status, 0, installed.printed)
      ran.add(install!.code)
      const [first, failing] = Shell.programsOf("docs/start.md", root)
      writeFileSync(join(project, "first.ts"), first!)
      writeFileSync(join(project, "second.ts"), failing!)

      const isOnPort = await isFree(8080)
      const sandbox = async ({ code }: Shell.Block) => {
        for (const child of shown.splice(0)) await Shell.interrupt(child)
        rmSync(join(project, "sandbox.txt"), { force: true })
        const terminal = new Shell.Terminal(project, environment(), join(folder, "first"))
        const child = terminal.start(isOnPort ? code : code.replace(" sandbox", " sandbox --port 0"))
        shown.push(child)
        await vi.waitFor(
          () => assert.match(readFileSync(join(project, "sandbox.txt"), "utf8"), /CLIENT_ID=\S+\n/),
          60_000
        )
        ran.add(code)
      }
      let printed = ""
      for (const block of rest) {
        const { code } = block
        if (code.includes("postwire sandbox")) await sandbox(block)
        else if (code.includes("--out effect.jsonl\n")) {
          const child = second.start(code)
          const saved = join(project, "effect.jsonl.postwire/work/items.jsonl")
          await vi.waitFor(() => assert.isAbove(existsSync(saved) ? readFileSync(saved).length : 0, 0), {
            timeout: 60_000,
            interval: 20
          })
          await Shell.interrupt(child)
          assert.isFalse(existsSync(join(project, "effect.jsonl")))
          ran.add(code)
        } else printed += await succeed(second, block)
        if (code.startsWith("eval")) {
          assert.match((await second.run("node first.ts")).printed, /^Hello, Ada Lovelace\n(\d{4}-\S+ .*\n[^]*){10}$/)
          assert.match((await second.run("node second.ts")).printed, /^posted \d+\n$/)
          assert.match((await second.run("node second.ts")).printed, /^not permitted: .*duplicate/)
        }
        // The port is another one after a restart, unless it is the one that is written.
        if (code.includes("sandbox --posts") && !isOnPort) {
          await second.run(rest.find(({ code }) => code.startsWith("eval"))!.code)
        }
      }
      assert.match(printed, /\ndone: [^]*\n(\d{5}) effect\.jsonl\n0\n/)
    }, 300_000)

    it("of the guides run in folders of their own", async () => {
      // A search of these costs less than the dollar above which a recipe stops.
      await using sandbox = await Sandbox.start({ posts: 100 })
      const { settings } = sandbox
      await using client = createClient(settings)
      const { data: list } = await client.createList({ name: "engines" })
      const { data: post } = await client.createPost({ text: "Which one?" })
      // The archive does not have the posts of the last half minute.
      sandbox.clock.advance("2 minutes")
      // They stand for those of the reader.
      const ids = { "2244994945": sandbox.ada.id, "1441162269824405510": list!.id, "1460323737035677698": post!.id }
      const files = await filesOf(settings)
      const variables = Object.entries(settings).map(([name, value]) => [environmentVariable(name), String(value)])
      const env = {
        ...environment(),
        ...Object.fromEntries(variables),
        HOME: home,
        PATH: [join(project, "node_modules/.bin"), environment()["PATH"]].join(delimiter)
      }
      symlinkSync(join(root, "node_modules/.bin/esbuild"), join(project, "node_modules/.bin/esbuild"))
      const guides = Shell.pages(root).filter((page) => page.startsWith("docs/") && page !== "docs/start.md")
      for (const page of guides) {
        for (const [i, block] of ofPage(page).entries()) {
          const place = join(project, page.replace(/\W/g, "-"), String(i))
          mkdirSync(place, { recursive: true })
          for (const [name, content] of Object.entries(files)) {
            writeFileSync(join(place, name), content, { mode: 0o600 })
          }
          const written = Object.entries(ids).reduce((code, [from, to]) => code.replaceAll(from, to), block.code)
          await succeed(new Shell.Terminal(place, env, join(place, "state")), block, written)
          if (written.includes("> .mcp.json")) startsServer(place, env)
        }
      }
    }, 300_000)

    it("all ran, or say why not", () => {
      assert.deepStrictEqual(
        blocks.filter(({ code, notRun }) => notRun === undefined && !ran.has(code)).map(({ place }) => place),
        []
      )
      assert.deepStrictEqual(
        blocks.filter(({ code, notRun }) => notRun !== undefined && ran.has(code)).map(({ place }) => place),
        []
      )
      console.log(`${ran.size} blocks ran, ${blocks.filter(({ notRun }) => notRun !== undefined).length} say why not`)
    })
  }
)

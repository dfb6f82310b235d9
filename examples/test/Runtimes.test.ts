// The core where Node is not: one bundle on fetch in whatever runtimes this machine has, against the sandbox.
import { assert, describe, it } from "@effect/vitest"
import { build } from "esbuild"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, request, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "postwire-runtimes-"))
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The first of these commands that is installed. */
const installed = (...commands: ReadonlyArray<string>): string | undefined =>
  commands.find((command) => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0)

const expected = { user: "Ada Lovelace", me: "ada", found: 25, tags: ["InvalidParameters", "BadRequest"] }

let service: ChildProcess
let server: Server
let settings: Readonly<Record<string, string>>
let page = ""
let report: (result: string) => void

beforeAll(async () => {
  service = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", file("support/Service.ts")], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const [line] = await once(createInterface(service.stdout!), "line") as [string]
  const { baseUrl, environment } = JSON.parse(line)
  await build({
    entryPoints: [file("support/Program.ts")],
    outfile: join(folder, "program.mjs"),
    bundle: true,
    format: "esm",
    platform: "browser",
    minify: true
  })
  // Browsers only ask where a page comes from, and the sandbox answers no page: this hands requests through.
  server = createServer((incoming, response) => {
    const { origin: _, ...headers } = incoming.headers
    if (incoming.url === "/") return void response.setHeader("content-type", "text/html").end(page)
    if (incoming.url === "/result") {
      response.end()
      return void incoming.setEncoding("utf8").on("data", (text) => report(text))
    }
    const target = `${baseUrl}${incoming.url}`
    const outgoing = request(target, { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(outgoing)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  settings = { ...environment, POSTWIRE_BASE_URL: baseUrl, origin: `http://127.0.0.1:${port}` }
})

afterAll(() => {
  service?.kill("SIGKILL")
  server?.closeAllConnections()
  server?.close()
  rmSync(folder, { recursive: true, maxRetries: 5 })
})

const ended = async (child: ChildProcess): Promise<string> => {
  let printed = ""
  child.stdout!.setEncoding("utf8").on("data", (text) => printed += text)
  await once(child, "close")
  return printed
}

const title = (name: string, found: string | undefined): string =>
  found === undefined ? `would run in ${basename(name)}, which is not installed` : `runs in ${basename(name)}`

/** A module that runs the program and prints what it comes to. */
const main = (): string => {
  const path = join(folder, "main.mjs")
  writeFileSync(
    path,
    `import { run } from "./program.mjs"\nconsole.log(JSON.stringify(await run(${JSON.stringify(settings)})))\n`
  )
  return path
}

describe("the core on fetch", () => {
  for (const [command, ...args] of [[process.execPath], ["bun", "run"], ["deno", "run", "--allow-net"]] as const) {
    const found = installed(command)
    it.skipIf(found === undefined)(title(command, found), async () => {
      const child = spawn(found!, [...args, main()], { stdio: ["ignore", "pipe", "inherit"] })
      assert.deepStrictEqual(JSON.parse(await ended(child)), expected)
    })
  }

  const workerd = installed("workerd")
  it.skipIf(workerd === undefined)(title("workerd", workerd), async () => {
    writeFileSync(
      join(folder, "worker.mjs"),
      `import { run } from "./program.mjs"
      export default { fetch: async () => Response.json(await run(${JSON.stringify(settings)})) }`
    )
    writeFileSync(
      join(folder, "config.capnp"),
      `using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (
        services = [
          (name = "main", worker = (
            modules = [
              (name = "worker.mjs", esModule = embed "worker.mjs"),
              (name = "program.mjs", esModule = embed "program.mjs")
            ],
            compatibilityDate = "2026-01-01"
          )),
          (name = "internet", network = (allow = ["public", "private", "local"]))
        ],
        sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
      );`
    )
    const child = spawn(workerd!, ["serve", join(folder, "config.capnp"), "--control-fd=1"], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    try {
      const [line] = await once(createInterface(child.stdout), "line") as [string]
      const answer = await fetch(`http://127.0.0.1:${JSON.parse(line).port}/`)
      assert.deepStrictEqual(await answer.json(), expected)
    } finally {
      child.kill("SIGKILL")
    }
  })

  const browser = installed("chromium", "chromium-browser", "google-chrome")
  it.skipIf(browser === undefined)(title("Chromium", browser), async () => {
    const bundle = await build({
      entryPoints: [main()],
      bundle: true,
      format: "esm",
      write: false
    })
    const code = bundle.outputFiles[0]!.text
      .replaceAll(settings["POSTWIRE_BASE_URL"]!, settings["origin"]!)
      .replace(/console\.log\((JSON\.stringify\(await )/, "await send($1")
    page = `<!doctype html><script type="module">
      const send = (body) => fetch("/result", { method: "POST", body })
      try { ${code.replaceAll("</script", "<\\/script")} } catch (error) { await send(JSON.stringify(String(error))) }
    </script>`
    const result = new Promise<string>((resolve) => report = resolve)
    const child = spawn(
      browser!,
      [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        `--user-data-dir=${join(folder, "profile")}`,
        settings["origin"]!
      ],
      { stdio: "ignore" }
    )
    try {
      assert.deepStrictEqual(JSON.parse(await result), expected)
    } finally {
      child.kill()
      await once(child, "exit")
    }
  }, 40_000)
})

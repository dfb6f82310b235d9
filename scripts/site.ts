// Builds the site from the Markdown of the repository and from the generated reference, and serves it:
//   node scripts/site.ts             builds it and serves it on this machine (--port NUMBER)
//   node scripts/site.ts --dev       rebuilds pages on change; the search needs a build
//   node scripts/site.ts --build     builds it into out/site; --version NAME into a folder of its own beside the other
//                                    versions, --prefix /PATH/ where they will not be at the root of their host
// The site has an installation of its own, which is made the first time.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as Docs from "./docs.ts"

const root = new URL("..", import.meta.url)
const site = fileURLToPath(new URL("site", root))
const stamp = new URL("site/node_modules/.postwire-install", root)

const astro = [process.execPath, "node_modules/astro/bin/astro.mjs"]

/** The folder of the built site. */
const usual = new URL("out/site/", root)

/** Installs what the site needs, if that has not been done. */
export const install = async (): Promise<void> => {
  const lock = createHash("sha256").update(readFileSync(new URL("site/pnpm-lock.yaml", root))).digest("hex")
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return
  console.error("Installing what the site needs, once. This needs the network and less than a minute.")
  await run(["pnpm", "install", "--frozen-lockfile"])
  writeFileSync(stamp, lock)
}

/** How a build differs from the usual one. */
export interface BuildOptions {
  /** The version that the site describes. It goes into a folder of that name, and into the list of versions. */
  readonly version?: string | undefined
  /** The path of the host below which the site will be, with a slash at both ends. */
  readonly prefix?: string | undefined
  /** The folder to build into. */
  readonly output?: URL | undefined
}

/** Builds the site. */
export const build = async ({ output = usual, prefix = "/", version }: BuildOptions = {}): Promise<void> => {
  if (!/^(\/[\w.-]+)*\/$/.test(prefix)) throw new Error("--prefix must begin and end with a slash, such as /postwire/.")
  if (version !== undefined && !/^\w[\w.-]*$/.test(version)) throw new Error("--version must be a name such as 1.0.")
  await install()
  Docs.build()
  const folder = version === undefined ? output : new URL(`${version}/`, output)
  rmSync(folder, { recursive: true, force: true })
  await run([...astro, "build"], {
    SITE_BASE: version === undefined ? prefix : `${prefix}${version}/`,
    SITE_OUT: fileURLToPath(folder),
    ...(version === undefined ? {} : { SITE_VERSION: version })
  })
  if (version !== undefined) list(output)
}

/** The versions that were built, the newest first, for the pages to offer; the root leads to the newest. */
const list = (output: URL): void => {
  const versions = readdirSync(output, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(new URL(`${entry.name}/llms.txt`, output)))
    .map(({ name }) => name)
    .sort((one, other) => other.localeCompare(one, "en", { numeric: true }))
  writeFileSync(new URL("versions.json", output), `${JSON.stringify(versions)}\n`)
  writeFileSync(
    new URL("index.html", output),
    `<!doctype html><title>Postwire</title><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0; url=./${
      versions[0]
    }/">\n`
  )
}

const run = async (command: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => {
  const [name = "", ...args] = command
  // Of a test runner that is built on Vite too.
  const { BASE_URL: _base, DEV: _dev, MODE: _mode, NODE_ENV: _node, PROD: _prod, SSR: _ssr, ...inherited } = process.env
  const child = spawn(name, args, {
    cwd: site,
    env: { ...inherited, CI: "true", ASTRO_TELEMETRY_DISABLED: "1", ...environment },
    stdio: ["ignore", 2, 2]
  })
  // Or the server of --dev would outlive this process.
  const end = () => child.kill()
  process.once("exit", end).once("SIGTERM", end)
  const [code] = await once(child, "exit").finally(() => process.off("exit", end).off("SIGTERM", end))
  if (code !== 0) {
    throw new Error(`${args.slice(0, 2).join(" ")} did not end well in ${site}; the reason is printed above.`)
  }
}

const types: Readonly<Record<string, string>> = {
  css: "text/css",
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  json: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  wasm: "application/wasm",
  xml: "application/xml"
}

/** Serves a built site on this machine, below its prefix. */
export const serve = async (
  port: number,
  prefix = "/",
  output = usual
): Promise<{ readonly server: Server; readonly url: string }> => {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://site").pathname
    const name = decodeURIComponent(path.slice(prefix.length)).replace(/(^|\/)$/, "$1index.html")
    const file = new URL(name, output)
    const isThere = path.startsWith(prefix) && file.href.startsWith(output.href) && existsSync(file)
    if (!isThere) return void response.writeHead(404, { "content-type": "text/plain" }).end("There is no such page.")
    const type = types[name.split(".").at(-1) ?? ""] ?? "text/plain; charset=utf-8"
    response.writeHead(200, { "content-type": type }).end(request.method === "HEAD" ? undefined : readFileSync(file))
  })
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}` }
}

const main = async () => {
  const { values } = parseArgs({
    options: {
      build: { type: "boolean" },
      dev: { type: "boolean" },
      port: { type: "string", default: "4321" },
      prefix: { type: "string" },
      version: { type: "string" }
    }
  })
  if (values.dev === true) {
    await install()
    Docs.build()
    await run([...astro, "dev", "--port", values.port])
    return
  }
  await build(values)
  if (values.build !== true) console.log(`The site is at ${(await serve(Number(values.port), values.prefix)).url}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  })
}

// What calls, pages, bundles and imports cost, in figures that do not depend on time. `scripts/guards.json` has the bound of
// each, which may only go down:
//
//     pnpm guards   measures, and lowers the bounds that can go down
import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { DatabaseSync, StatementSync } from "node:sqlite"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { createClient } from "../packages/node/src/index.ts"
import * as Sandbox from "../packages/sandbox/src/Sandbox.ts"
import { initialBytes } from "./bundleSize.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

const file = join(root, "scripts/guards.json")

/** Figures by name. */
export type Figures = Readonly<Record<string, number>>

/** The bound of each figure. */
export const bounds = (): Figures => JSON.parse(readFileSync(file, "utf8"))

/** The share of its bound by which a figure may be below it: allocations differ by a hundredth between runs. */
const slack = 0.03

/** The reason why a bound cannot stay, if there is one. */
export const complaint = (measured: number, bound: number | undefined): string | undefined =>
  bound === undefined
    ? `it has no bound: set it to ${measured}`
    : measured > bound
    ? `${measured} is above its bound of ${bound}`
    : measured < bound * (1 - slack)
    ? `lower the bound from ${bound} to ${measured}: \`pnpm guards\` does`
    : undefined

const node = async (...args: ReadonlyArray<string>): Promise<readonly [stdout: string, stderr: string]> => {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], { cwd: root })
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on("close", resolve))
  ])
  if (status !== 0) throw new Error(`node ${args.join(" ")}: failed\n${stdout}${stderr}`)
  return [stdout, stderr]
}

/** The heap that a small call takes, in thousandths of what bare Undici takes. */
const allocations = async (): Promise<Figures> => {
  const body = JSON.stringify({ data: { id: "1", text: "A post of the usual length.", edit_history_post_ids: ["1"] } })
  const headers = { "content-type": "application/json", "content-length": body.length }
  const server = createServer((_, response) => response.writeHead(200, headers).end(body)).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const taken = async (client: string): Promise<ReadonlyArray<number>> =>
    JSON.parse((await node("--expose-gc", "--no-opt", "--no-maglev", "scripts/guards/Allocation.ts", client, url))[0])
  const bare = await taken("undici")
  const ours = await taken(join(root, "packages/node/dist/bundled/index.js"))
  server.close()
  return Object.fromEntries(
    [1, 50].map((
      inFlight,
      i
    ) => [
      `thousandths of bare Undici's heap for a call, ${inFlight} in flight`,
      Math.round(1_000 * ours[i]! / bare[i]!)
    ])
  )
}

/** Modules that Node loads. */
const modules = async (): Promise<Figures> => {
  const figures: Record<string, number> = {}
  const programs = {
    "@postwire/node": ["packages/node/dist/bundled/index.js"],
    "@postwire/sync": ["packages/sync/dist/bundled/index.js"],
    "postwire --version": ["packages/cli/dist/bundled/bin/main.js", "--version"]
  }
  for (const [name, program] of Object.entries(programs)) {
    const [, stderr] = await node("--import", "./scripts/guards/modules.mjs", ...program)
    figures[`modules of ${name}`] = Number(/^modules (\d+)$/m.exec(stderr)?.[1])
  }
  return figures
}

const bundled = {
  "one operation": `
    import * as Client from "@postwire/core/client/Client"
    import * as Credentials from "@postwire/core/auth/Credentials"
    import { getPost } from "@postwire/core/operations/Posts"
    import * as Effect from "effect/Effect"
    import * as FetchHttpClient from "effect/http/FetchHttpClient"
    import * as Layer from "effect/Layer"
    const client = Client.layer({ baseUrl: "https://service.test" }).pipe(
      Layer.provide([Credentials.layerBearer("a"), FetchHttpClient.layer])
    )
    Effect.runPromise(Effect.provide(getPost({ id: "1" }), client)).then(({ data }) => console.log(data?.text))`,
  "one operation and a client": `
    export { getPost } from "@postwire/core/operations/Posts"
    export * as Client from "@postwire/core/client/Client"
    export * as FetchHttpClient from "effect/http/FetchHttpClient"`,
  "the catalogue": `
    export * from "@postwire/core/Catalogue"
    export * as Client from "@postwire/core/client/Client"
    export * as FetchHttpClient from "effect/http/FetchHttpClient"`,
  "all of the core": `export * from "@postwire/core"; export * as FetchHttpClient from "effect/http/FetchHttpClient"`,
  texts: `export { fits, length } from "@postwire/core/text/PostText"`,
  "the client on fetch":
    `import { createClient } from "./src/index.ts"; globalThis.client = createClient({ bearerToken: "a" })`
}

/** Bytes of bundles, gzip: of the files that a program loads as it starts. */
const bundles = async (): Promise<Figures> => {
  const figures: Record<string, number> = {}
  for (const [name, contents] of Object.entries(bundled)) {
    figures[`bytes of a bundle with ${name}, gzip`] = await initialBytes(join(root, "packages/web"), contents)
  }
  return figures
}

/** Counts the statements that SQLite runs, until it is disposed. */
const countStatements = () => {
  let statements = 0
  const prototypes = [[DatabaseSync.prototype, ["exec"]], [StatementSync.prototype, ["all", "get", "run"]]] as const
  const wrapped = prototypes.flatMap(([prototype, names]) =>
    names.map((name) => {
      const original: unknown = Reflect.get(prototype, name)
      if (typeof original !== "function") throw new Error(`node:sqlite has no ${name}`)
      Reflect.set(prototype, name, function(this: unknown, ...args: ReadonlyArray<unknown>) {
        statements++
        return Reflect.apply(original, this, args)
      })
      return () => Reflect.set(prototype, name, original)
    })
  )
  return { count: () => statements, [Symbol.dispose]: () => wrapped.forEach((restore) => restore()) }
}

/** Requests of common programs, and statements of the sandbox that answers them. */
const requests = async (): Promise<Figures> => {
  const figures: Record<string, number> = {}
  using statements = countStatements()
  await using sandbox = await Sandbox.start({ posts: 2_000, seed: 1, start: Date.UTC(2026, 10, 20, 12) })
  const query = "effect"
  const during = async (name: string, f: (client: ReturnType<typeof createClient>) => Promise<unknown>) => {
    const client = createClient(sandbox.ada.settings())
    sandbox.journal.clear()
    const before = statements.count()
    await f(client)
    figures[`requests of ${name}`] = sandbox.requests.length
    figures[`statements of ${name}`] = statements.count() - before
    await client.close()
  }
  const { items: posts } = sandbox.store.posts.search({
    query: { source: query, wanted: [`text : "${query}"`], unwanted: [] },
    limit: 1_000
  })
  const searched = { query, max_results: 100, expansions: ["author_id"] } as const
  await during("a call", (client) => client.getPost({ id: posts[0]!.id }))
  await during("a page of 100 posts with their authors", (client) => client.searchRecentPosts(searched))
  await during("five pages by relevancy", async (client) => {
    let pages = 0
    for await (const _ of client.searchRecentPosts.pages({ ...searched, sort_order: "relevancy" })) {
      if (++pages === 5) return
    }
  })
  await during(
    "an upload of a picture",
    (client) => client.upload(Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64"))
  )
  await during("hydrating 1,000 ids", async (client) => {
    for await (const _ of client.hydrate(posts.map(({ id }) => id)));
  })
  return figures
}

/** The measurements by subject. */
export const measures = { allocations, modules, bundles, requests }

if (import.meta.main) {
  await node("scripts/bundle.ts")
  const lowered = { ...bounds() }
  for (const measure of Object.values(measures)) {
    for (const [name, figure] of Object.entries(await measure())) {
      const bound = lowered[name] ?? Infinity
      console.log(`${name}: ${figure} (${bound})`)
      if (figure < bound * (1 - slack)) lowered[name] = figure
    }
  }
  writeFileSync(file, `${JSON.stringify(lowered, undefined, 2)}\n`)
}

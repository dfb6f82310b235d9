// The packages as they are published: packed, then used from a folder that knows nothing of the workspace.
import { checkPackage, createPackageFromTarballData, type ProblemKind } from "@arethetypeswrong/core"
import { assert, describe, it } from "@effect/vitest"
import { build } from "esbuild"
import { spawn, spawnSync, type SpawnSyncReturns } from "node:child_process"
import { once } from "node:events"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath, pathToFileURL } from "node:url"
import { createContext, runInContext } from "node:vm"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { afterAll, beforeAll } from "vitest"
import { pack } from "./pack.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const names = readdirSync(join(root, "packages"))
const folder = mkdtempSync(join(tmpdir(), "postwire-packages-"))

const run = (command: string, args: ReadonlyArray<string>, cwd: string): SpawnSyncReturns<string> => {
  const result = spawnSync(command, args, { cwd, encoding: "utf8" })
  assert.strictEqual(result.status, 0, result.stdout + result.stderr)
  return result
}

let tarballs: ReadonlyMap<string, string>

const tarballOf = (name: string) => readFileSync(tarballs.get(name)!)

const exact = ({ buffer, byteLength, byteOffset }: Buffer): ArrayBuffer => {
  const bytes = new Uint8Array(byteLength)
  bytes.set(new Uint8Array(buffer, byteOffset, byteLength))
  return bytes.buffer
}

const dependencies = Object.entries({
  "@noble/hashes": "packages/core/node_modules",
  effect: "node_modules",
  leven: "packages/core/node_modules",
  undici: "packages/node/node_modules"
})

const link = () => {
  mkdirSync(join(folder, "node_modules/@noble"), { recursive: true })
  for (const [name, from] of dependencies) symlinkSync(join(root, from, name), join(folder, "node_modules", name))
}

beforeAll(() => {
  tarballs = pack(folder)
  for (const [name, tarball] of tarballs) {
    const target = join(folder, "node_modules/@postwire", name)
    mkdirSync(target, { recursive: true })
    run("tar", ["xzf", tarball, "-C", target, "--strip-components=1"], folder)
  }
  link()
  mkdirSync(join(folder, "node_modules/@types"))
  symlinkSync(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
}, 180_000)

afterAll(() => rmSync(folder, { recursive: true }))

describe("the command", () => {
  it("needs no other package: its service, console, calls and exports", async () => {
    const alone = mkdtempSync(join(tmpdir(), "postwire-command-"))
    run("tar", ["xzf", tarballs.get("cli")!, "-C", alone, "--strip-components=1"], alone)
    const { bin, dependencies } = JSON.parse(readFileSync(join(alone, "package.json"), "utf8"))
    assert.isUndefined(dependencies)
    const env: Record<string, string> = { HOME: alone, PATH: "/nowhere" }
    const postwire = (...args: ReadonlyArray<string>) => {
      const { status, stderr, stdout } = spawnSync(process.execPath, [join(alone, bin.postwire), ...args], {
        cwd: alone,
        env,
        encoding: "utf8"
      })
      assert.strictEqual(status, 0, stderr)
      return stdout
    }
    assert.match(postwire("--version"), /^postwire v\d/)
    const service = spawn(process.execPath, [join(alone, bin.postwire), "sandbox", "--port", "0", "--json"], {
      cwd: alone,
      env,
      stdio: ["ignore", "pipe", "inherit"]
    })
    try {
      const [line] = await once(createInterface(service.stdout), "line")
      const { baseUrl, environment } = JSON.parse(line)
      assert.include(await (await fetch(`${baseUrl}/console`)).text(), "<html")
      Object.assign(env, environment)
      assert.include(postwire("call", "getUser", "--username", "ada"), "ada")
      for (const out of ["posts.jsonl", "posts.parquet", "posts.sqlite"]) {
        postwire("export", "searchRecentPosts", "--query", "effect", "--limit", "100", "--out", out)
        assert.isAbove(readFileSync(join(alone, out)).length, 1_000)
      }
    } finally {
      service.kill()
      await once(service, "exit")
      rmSync(alone, { recursive: true })
    }
  })
})

describe("the tools for agents", () => {
  it("come with a skill and an entry of the registry, of the same version as the command", () => {
    const of = (name: string, file: string) => readFileSync(join(folder, "node_modules/@postwire", name, file), "utf8")
    assert.include(of("mcp", "dist/SKILL.md"), "searchRecentPosts")
    const { mcpName, version } = JSON.parse(of("cli", "package.json"))
    const server = JSON.parse(of("mcp", "dist/server.json"))
    assert.deepStrictEqual([server.name, server.version, server.packages[0].version], [mcpName, version, version])
  })
})

describe.each(names)("@postwire/%s", (name) => {
  it("is what publint expects", async () => {
    const { messages, pkg } = await publint({ pack: { tarball: exact(tarballOf(name)) } })
    assert.deepStrictEqual(messages.map((message) => formatMessage(message, pkg ?? {}, { color: false })), [])
  })

  it("holds no sources, and no dependency that only the workspace knows", () => {
    const { stdout } = run("tar", ["tzf", tarballs.get(name)!], folder)
    const files = stdout.split("\n").filter((file) => /\.tsx?$|\.map$|tsbuildinfo/.test(file))
    assert.deepStrictEqual(files.filter((file) => !file.endsWith(".d.ts")), [])
    const { bin, dependencies, exports, imports, peerDependencies }: Readonly<Record<string, object>> = JSON.parse(
      readFileSync(join(folder, "node_modules/@postwire", name, "package.json"), "utf8")
    )
    const told = JSON.stringify({ bin, dependencies, exports, imports, peerDependencies })
    assert.notMatch(told, /workspace:|\/src\/|\.ts"(?<!\.d\.ts")/)
  })

  it("is neither packed by npm nor published by hand", () => {
    const sentences = [["npm/11", [], "`pnpm pack`"], ["pnpm/12", ["publish"], "`npm run release:dry`"]] as const
    for (const [agent, args, command] of sentences) {
      const { status, stderr } = spawnSync(process.execPath, ["../../scripts/prepack.mjs", ...args], {
        cwd: join(root, "packages", name),
        env: { npm_config_user_agent: agent, npm_package_name: `@postwire/${name}` },
        encoding: "utf8"
      })
      assert.strictEqual(status, 1)
      assert.include(stderr, command)
      assert.include(stderr, `@postwire/${name} is`)
    }
  })

  it("has types for every module, however it is resolved", async () => {
    const exports: Readonly<Record<string, unknown>> | undefined =
      JSON.parse(readFileSync(join(folder, "node_modules/@postwire", name, "package.json"), "utf8")).exports
    // A command has nothing to import.
    if (exports === undefined) return
    const dist = readdirSync(join(folder, "node_modules/@postwire", name, "dist"), { withFileTypes: true })
    const modules = dist.filter((entry) => entry.isFile() && entry.name.endsWith(".js")).map((entry) => entry.name)
    const entrypoints = "./*" in exports
      ? modules.map((file) => file === "index.js" ? "." : `./${file.replace(/\.js$/, "")}`)
      : Object.keys(exports).filter((path) => exports[path] !== null)
    const result = await checkPackage(createPackageFromTarballData(tarballOf(name)), { entrypoints })
    // ESM only: CommonJS gets it through `require(esm)`, and the oldest resolution knows no exports.
    const expected: ReadonlyArray<ProblemKind> = ["CJSResolvesToESM"]
    const problems = result.types === false ? ["no types"] : result.problems
      .filter((problem) => !expected.includes(problem.kind))
      .filter((problem) => !("resolutionKind" in problem && problem.resolutionKind === "node10"))
    assert.deepStrictEqual(problems, [])
  })
})

/** All that npm installs with `@postwire/node` and `@postwire/sync`. */
describe("the Promise and blocking clients alone", () => {
  const alone = mkdtempSync(join(tmpdir(), "postwire-alone-"))

  beforeAll(() => {
    mkdirSync(join(alone, "node_modules/@types"), { recursive: true })
    for (const name of ["node", "sync"]) {
      cpSync(join(folder, "node_modules/@postwire", name), join(alone, "node_modules/@postwire", name), {
        recursive: true
      })
    }
    cpSync(join(folder, "node_modules/undici"), join(alone, "node_modules/undici"), {
      recursive: true,
      dereference: true
    })
    symlinkSync(join(root, "node_modules/@types/node"), join(alone, "node_modules/@types/node"))
    // The compiler names a package in declarations only if the program depends on it.
    const dependencies = { "@postwire/node": "*", "@postwire/sync": "*" }
    writeFileSync(join(alone, "package.json"), JSON.stringify({ type: "module", dependencies }))
  })

  afterAll(() => rmSync(alone, { recursive: true }))

  const bytesOf = (path: string): number =>
    readdirSync(join(alone, path), { recursive: true, withFileTypes: true })
      .reduce((sum, file) => file.isFile() ? sum + statSync(join(file.parentPath, file.name)).size : sum, 0)

  // Just above what is reached.
  it.each([["node", 4_900_000], ["sync", 5_450_000]])("%s depends on Undici only, and is small", (name, limit) => {
    const path = `node_modules/@postwire/${name}`
    const { dependencies } = JSON.parse(readFileSync(join(alone, path, "package.json"), "utf8"))
    assert.deepStrictEqual(Object.keys(dependencies), ["undici"])
    assert.isBelow(bytesOf(path) + bytesOf("node_modules/undici"), limit)
  })

  const program = `
    import { createClient, NotFound, OAuth2, type PostwireClient, RateLimited, type Settings } from "@postwire/node"
    import { authorize, type SignIn, type Tokens } from "@postwire/node/OAuth2"
    import { createClientSync, type PostwireClientSync, RateLimited as Blocked } from "@postwire/sync"
    const settings: Settings = { baseUrl: "http://127.0.0.1:1", bearerToken: "a", wire: "x", waitOnRateLimit: true }
    // @ts-expect-error no such wire
    createClient({ ...settings, wire: "y" })
    // @ts-expect-error not a length
    createClient({ ...settings, timeout: "1" })
    export const client = createClient(settings)
    export const raw = client.as("raw")
    export const post = async () => (await client.getPost({ id: "1", post_fields: ["created_at"] })).data?.created_at
    // @ts-expect-error not asked for
    client.getPost({ id: "1" }).then(({ data }) => data?.created_at)
    // @ts-expect-error no such parameter
    client.getPost({ id: "1", nothing: 1 })
    export const search = (client: PostwireClient) => client.searchRecentPosts({ query: "a", expansions: ["author_id"] })
    export const searchSync = (client: PostwireClientSync) => client.searchRecentPosts({ query: "a" }).data
    export const read = async (client: PostwireClient) => {
      for await (const { author_id } of client.searchRecentPosts.items({ query: "a", post_fields: ["author_id"] })) return author_id
      for await (const { post } of client.streamPostsSample({ post_fields: ["lang"] })) return post.lang
      return createClientSync({ baseUrl: "http://127.0.0.1:1" }).getMe().data?.username
    }
    export const meaning = (error: unknown) => {
      if (error instanceof RateLimited || error instanceof Blocked) {
        const tag: "RateLimited" = error._tag
        return [tag, error.resetAt?.toISOString(), error.message, error.stack]
      }
      return error instanceof NotFound ? error.problems.map(({ title }) => title) : []
    }
    export class Quota extends RateLimited {}
    export const code = (signIn: SignIn) => OAuth2.callback("/", signIn)
    export const tokens = (tokens: Tokens): OAuth2.Tokens => tokens
    export { authorize }
    export const { publish, upload, hydrate, compliance, request, session } = client
  `

  it("are typed without Effect and the core, and so are declarations made with them", () => {
    writeFileSync(join(alone, "program.ts"), program)
    const compilerOptions = {
      module: "NodeNext",
      target: "ES2024",
      types: ["node"],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      declaration: true,
      emitDeclarationOnly: true
    }
    writeFileSync(join(alone, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }))
    run("tsc", ["-p", "."], alone)
    const declared = readFileSync(join(alone, "program.d.ts"), "utf8")
    assert.notMatch(declared, /\bany\b|from "effect|@postwire\/core/)
    writeFileSync(join(alone, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.d.ts"] }))
    run("tsc", ["-p", ".", "--noEmit"], alone)
  })

  it("have one class of each error, also of a webhook", () => {
    const source = `
      import { InvalidSettings } from "@postwire/node"
      import { webhook } from "@postwire/node/Webhook"
      try {
        webhook({ secrets: [], onEvent: () => {} })
      } catch (error) {
        console.log(error instanceof InvalidSettings)
      }
    `
    assert.strictEqual(run(process.execPath, ["--input-type=module", "-e", source], alone).stdout.trim(), "true")
  })

  it("say which package the other entries need", () => {
    for (const path of ["@postwire/node/EffectClient", "@postwire/sync/SyncClient"]) {
      const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", `import "${path}"`], {
        cwd: alone,
        encoding: "utf8"
      })
      assert.strictEqual(status, 1)
      assert.match(
        stderr,
        /Cannot find package '(effect|@postwire\/core)' imported from .*@postwire\/(node|sync)\/dist/
      )
    }
  })
})

describe("a program", () => {
  const program = `
    import { createClient, type PostwireClient, RateLimited } from "@postwire/node"
    import { createClientSync } from "@postwire/sync"
    import { getPost } from "@postwire/core/operations/Posts"
    import * as NodeClient from "@postwire/node/NodeClient"
    import { Effect } from "effect"
    const client: PostwireClient = createClient({ baseUrl: "http://127.0.0.1:1", bearerToken: "a" })
    const text: Promise<string | undefined> = client.getPost({ id: "1" }).then(({ data }) => data?.text)
    const created: string | undefined = createClientSync({ baseUrl: "http://127.0.0.1:1" })
      .getPost({ id: "1", post_fields: ["created_at"] }).data?.created_at
    // @ts-expect-error not asked for
    text.then(() => client.getPost({ id: "1" })).then(({ data }) => data?.created_at)
    const program = Effect.provide(getPost({ id: "1" }), NodeClient.layer({}))
    export { created, program, RateLimited }
  `

  it.each(["NodeNext", "Bundler"])("is type-checked with %s resolution", (moduleResolution) => {
    writeFileSync(join(folder, "program.ts"), program)
    const module = moduleResolution === "NodeNext" ? "NodeNext" : "ESNext"
    const compilerOptions = {
      module,
      moduleResolution,
      target: "ES2024",
      lib: ["ES2024", "ESNext", "DOM"],
      types: ["node"],
      strict: true,
      noEmit: true,
      skipLibCheck: false
    }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }))
    run("tsc", ["-p", "."], folder)
  })

  const onFetch = `
    import { createClient, NotFound, type PostwireClient } from "@postwire/web"
    const client: PostwireClient = createClient({ baseUrl: "http://127.0.0.1:1", bearerToken: "a" })
    const text = async (): Promise<string | undefined> => {
      for await (const { author_id } of client.searchRecentPosts.items({ query: "a", post_fields: ["author_id"] })) author_id
      return client.getPost({ id: "1" }).then(({ data }) => data?.text, (error) => error instanceof NotFound ? error.title : "")
    }
    // @ts-expect-error not asked for
    text().then(() => client.getPost({ id: "1" })).then(({ data }) => data?.created_at)
  `

  // Names of web APIs are all that declarations need of them; the types of a platform are as they were.
  it.each([
    ["no types of any platform", ["ES2023"], []],
    ["the types of pages", ["ES2023", "DOM"], []],
    ["the types of Node", ["ES2023"], ["node"]]
  ])("on fetch is type-checked with %s", (_, lib, types) => {
    const own = join(folder, "web")
    mkdirSync(own, { recursive: true })
    writeFileSync(join(own, "program.ts"), onFetch)
    const compilerOptions = {
      module: "NodeNext",
      target: "ES2023",
      lib,
      types,
      strict: true,
      noEmit: true,
      skipLibCheck: false
    }
    writeFileSync(join(own, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }))
    run("tsc", ["-p", "."], own)
  })

  // Not at the top: programs in CommonJS cannot wait there.
  const running = `
    import * as Core from "@postwire/core/errors/Errors"
    import { getPost } from "@postwire/core/operations/Posts"
    import * as Node from "@postwire/node"
    import * as WithEffect from "@postwire/node/EffectClient"
    import * as Sync from "@postwire/sync"
    import { Effect } from "effect"
    import { Worker } from "node:worker_threads"
    const worker = new Worker(\`
      const { createServer } = require("node:http")
      const server = createServer((request, response) => {
        response.statusCode = request.url.endsWith("/9") ? 429 : 200
        response.setHeader("content-type", "application/json").end('{"data":{"id":"1","text":"a"}}')
      })
      server.listen(0, "127.0.0.1", () => require("node:worker_threads").parentPort.postMessage(server.address().port))
    \`, { eval: true })
    const main = async () => {
      const port = await new Promise((resolve) => worker.once("message", resolve))
      const tokens = { consumerKey: "a", consumerSecret: "a", accessToken: "1-a", accessTokenSecret: "a" }
      const settings = { baseUrl: "http://127.0.0.1:" + port, bearerToken: "a", ...tokens }
      const client = Node.createClient(settings)
      const shared = WithEffect.createClient(settings)
      const blocking = Sync.createClientSync({ ...settings, workerUrl: process.env.WORKER })
      const told = (error) => [Core, Node, WithEffect, Sync].map(({ RateLimited }) => error instanceof RateLimited)
      const text = ({ data }) => data.text
      console.log("promises", await client.getPost({ id: "1" }).then(text), "effect" in client)
      console.log(...await client.getPost({ id: "9" }).catch(told))
      console.log("blocking", text(blocking.getPost({ id: "1" })))
      try { blocking.getPost({ id: "9" }) } catch (error) { console.log(...told(error)) }
      const effect = getPost({ id: "1" })
      console.log("effect", text(await shared.effect.runPromise(effect)),
        text(await Effect.runPromise(Effect.provide(effect, shared.effect.layer))))
      console.log(...await shared.effect.runPromise(getPost({ id: "9" })).catch(told))
      const dot = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")
      console.log("uploads", ...(await Promise.all([client, shared].map(({ upload }) => upload(dot)))).map(({ id }) => id),
        blocking.upload(dot).id)
      const late = Effect.tryPromise({ try: () => client.getPost({ id: "9" }), catch: (error) => error })
      console.log(await Effect.runPromise(Effect.catchTag(late, "RateLimited", ({ status }) => Effect.succeed(status))))
      try { Node.createClient({ baseUrl: "" }) } catch (error) { console.log(error instanceof Core.InvalidSettings) }
      await client.close()
      await shared.close()
      blocking.close()
      worker.terminate()
    }
    main()
  `

  const printed = [
    "promises a false",
    "true true true true",
    "blocking a",
    "true true true true",
    "effect a a",
    "true true true true",
    "uploads 1 1 1",
    "429",
    "true",
    ""
  ].join("\n")

  it("runs: Promises, blocking and Effect, with the same errors", () => {
    writeFileSync(join(folder, "program.mjs"), running)
    const { stdout } = run(process.execPath, ["program.mjs"], folder)
    assert.strictEqual(stdout, printed)
  })

  it.each(
    [
      ["a module", { format: "esm" }],
      ["modules", { format: "esm", splitting: true }],
      ["CommonJS", { format: "cjs" }]
    ] as const
  )("runs as %s that a bundler made, far from any package", async (_, options) => {
    const target = mkdtempSync(join(tmpdir(), "postwire-bundle-"))
    try {
      writeFileSync(join(folder, "program.mjs"), running)
      await build({
        absWorkingDir: folder,
        entryPoints: ["program.mjs", { in: "@postwire/sync/PostwireWorker", out: "PostwireWorker" }],
        outdir: target,
        bundle: true,
        platform: "node",
        logLevel: "error",
        ...options
      })
      writeFileSync(
        join(target, "package.json"),
        JSON.stringify({ type: options.format === "esm" ? "module" : "commonjs" })
      )
      const { NODE_PATH: _, ...env } = process.env
      // CommonJS does not know where it is.
      const WORKER = options.format === "cjs" ? pathToFileURL(join(target, "PostwireWorker.js")).href : undefined
      const result = spawnSync(process.execPath, ["program.js"], {
        cwd: target,
        encoding: "utf8",
        env: WORKER === undefined ? env : { ...env, WORKER }
      })
      assert.strictEqual(result.stdout, printed, result.stderr)
    } finally {
      rmSync(target, { recursive: true })
    }
  })

  it("loads neither Effect nor Undici with the clients", () => {
    for (const [name] of dependencies) rmSync(join(folder, "node_modules", name))
    try {
      const code = `
        import { createClient } from "@postwire/node"
        import { createClientSync } from "@postwire/sync"
        for (const create of [createClient, createClientSync]) create({ baseUrl: "http://127.0.0.1:1", bearerToken: "a" })
      `
      run(process.execPath, ["--input-type=module", "-e", code], folder)
    } finally {
      link()
    }
  })

  const bundled = async (contents: string) => {
    const { metafile, outputFiles } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      metafile: true,
      write: false
    })
    const { imports, inputs: used } = Object.values(metafile.outputs)[0]!
    const inputs = Object.entries(used)
    return {
      text: outputFiles[0]!.text,
      imports,
      has: (part: string) => inputs.some(([file, { bytesInOutput }]) => file.includes(part) && bytesInOutput > 0)
    }
  }

  const oneOperation = `
    import * as Client from "@postwire/core/client/Client"
    import * as Credentials from "@postwire/core/auth/Credentials"
    import { getPost } from "@postwire/core/operations/Posts"
    import * as Effect from "effect/Effect"
    import * as FetchHttpClient from "effect/http/FetchHttpClient"
    import * as Layer from "effect/Layer"
    const client = Client.layer({ baseUrl: "https://service.test" }).pipe(
      Layer.provide([Credentials.layerBearer("a"), FetchHttpClient.layer])
    )
    Effect.runPromise(Effect.provide(getPost({ id: "1" }), client)).then(({ data }) => console.log(data?.text))
  `

  // ADR 18 says what is in it, and `guards.json` how large it may be.
  it("that uses one operation bundles one, and nothing that it does not name", async () => {
    const { has } = await bundled(oneOperation)
    assert.isTrue(has("core/dist/operations/Posts.js"))
    for (
      const part of [
        "operations/Likes.js",
        "Catalogue.js",
        "internal/schema/codegen.js",
        "core/dist/errors/AccountErrors.js",
        "core/dist/errors/StorageErrors.js",
        "core/dist/accounts/internal/admission.js",
        "core/dist/client/ClientConfig.js",
        "core/dist/accounts/AccountCredentials.js",
        "core/dist/accounts/RefreshingCredentials.js",
        "core/dist/accounts/OAuth2.js",
        "core/dist/text/Links.js",
        "core/dist/text/internal/topLevelDomains.js",
        "core/dist/client/Telemetry.js",
        "core/dist/client/Transfer.js",
        "core/dist/wire/WireNames.js",
        "effect/dist/Metric.js",
        "@noble/hashes",
        "markdown-it"
      ]
    ) {
      assert.isFalse(has(part), part)
    }
  })

  it("that measures texts has the top-level domains, and nothing of Effect", async () => {
    const { has } = await bundled(`export { fits, length } from "@postwire/core/text/PostText"`)
    assert.isTrue(has("core/dist/text/internal/topLevelDomains.js"))
    assert.isFalse(has("effect/dist"))
    assert.isFalse(has("core/dist/text/internal/truncate.js"))
  })

  it("has the words, the signatures and the operations that it names", async () => {
    const { has } = await bundled(
      oneOperation
        .replace(`service.test"`, `service.test", wire: Wire.x`)
        .replace(`layerBearer("a")`, `layer({ accessToken: "1-a" })`) +
        `import * as Wire from "@postwire/core/wire/Wire"`
    )
    for (const part of ["core/dist/wire/WireNames.js", "@noble/hashes"]) assert.isTrue(has(part), part)
  })

  it("on fetch imports nothing, and runs where there are web APIs and nothing else", async () => {
    const { has, imports, text } = await bundled(`
      import { createClient, InvalidParameters, NotFound } from "@postwire/web"
      globalThis.client = createClient({
        baseUrl: "https://service.example",
        bearerToken: "a",
        fetch: async (url) => url.endsWith("/9") ? answer(404, {}) : answer(200, { data: { id: "1", text: url } })
      })
      globalThis.isError = (error) => [error instanceof NotFound, error instanceof InvalidParameters, error._tag]
    `)
    assert.isFalse(has("core/dist/accounts/RefreshingCredentials.js"))
    assert.deepStrictEqual(imports, [])
    // Asked of `globalThis` is what may be missing.
    assert.notMatch(text, /(?<![\w$.?"'`])((process|Buffer)(\.|\?\.|\[)|(require|setImmediate)\()/)
    const names =
      "AbortController AbortSignal Headers ReadableStream Request Response TextDecoder TextEncoder URL URLSearchParams atob btoa clearTimeout console crypto performance queueMicrotask setTimeout"
        .split(" ")
    const globals = Object.fromEntries(names.map((name) => [name, Reflect.get(globalThis, name)]))
    const realm = createContext({
      ...globals,
      answer: (status: number, body: object) => Response.json(body, { status })
    })
    runInContext(`(() => { ${text} })()`, realm)
    const program = `(async () => [
      (await client.getPost({ id: "1" })).data.text,
      await client.getPost({ id: "9" }).catch(isError),
      await client.getPost({ id: "../" }).catch(isError)
    ])()`
    assert.deepStrictEqual(JSON.parse(JSON.stringify(await runInContext(program, realm))), [
      "https://service.example/2/posts/1",
      [true, false, "NotFound"],
      [false, true, "InvalidParameters"]
    ])
  })

  it("that imports the worker of blocking calls keeps it in its bundle", async () => {
    const { outputFiles } = await build({
      stdin: { contents: `import "@postwire/sync/PostwireWorker"`, resolveDir: folder },
      bundle: true,
      platform: "node",
      format: "cjs",
      external: ["undici"],
      write: false,
      logLevel: "error"
    })
    assert.isAbove(outputFiles[0]!.contents.length, 100_000)
  })

  it("of Effect shares its one effect with the core", () => {
    const manifest = JSON.parse(readFileSync(join(folder, "node_modules/@postwire/core/package.json"), "utf8"))
    assert.deepStrictEqual(Object.keys(manifest.peerDependencies), ["effect", "markdown-it"])
    assert.deepStrictEqual(Object.keys(manifest.dependencies), ["@noble/hashes", "leven"])
  })
})

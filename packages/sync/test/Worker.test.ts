// The life of the worker, and of the thread that waits for it.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type * as WorkerThreads from "node:worker_threads"
import { Worker } from "node:worker_threads"
import { vi } from "vitest"
import * as Sync from "../src/index.ts"
import { startFaults, stop } from "./support/Children.ts"
import { thrown } from "./support/Thrown.ts"

/** Every worker that is started, each with little memory. */
const workers = vi.hoisted((): Array<object> => [])

vi.mock("node:worker_threads", async (importOriginal) => {
  const original = await importOriginal<typeof WorkerThreads>()
  class Worker extends original.Worker {
    constructor(file: string | URL, options?: WorkerThreads.WorkerOptions) {
      super(file, { ...options, resourceLimits: { maxOldGenerationSizeMb: 64 } })
      workers.push(this)
    }
  }
  return { ...original, Worker }
})

let faults: Awaited<ReturnType<typeof startFaults>>

beforeAll(async () => {
  faults = await startFaults()
})

afterAll(() => stop(faults?.child))

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const entry = new URL("../src/index.ts", import.meta.url).href
const settings = (more: Sync.Settings = {}): Sync.Settings => ({
  baseUrl: faults.ready.baseUrl,
  bearerToken: "a",
  ...more
})

/** Runs a program and gives its output, which ends with the exit code. */
const run = async (...args: ReadonlyArray<string>): Promise<string> => {
  const child = start(...args)
  let printed = ""
  child.stdout!.setEncoding("utf8").on("data", (text) => printed += text)
  const [code] = await once(child, "close")
  return printed + code
}

const start = (...args: ReadonlyArray<string>): ChildProcess =>
  spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, POSTWIRE_BASE_URL: faults.ready.baseUrl, POSTWIRE_BEARER_TOKEN: "a" }
  })

const isLong = process.env["POSTWIRE_LONG"] === "1"

describe("a worker of its own", () => {
  it("belongs to one client and ends with it", async () => {
    const before = workers.length
    const one = Sync.createClientSync(settings({ ownWorker: true }))
    const two = Sync.createClientSync(settings({ ownWorker: true }))
    for (const client of [one, two, one, two]) client.searchRecentPosts({ query: "large:1" })
    assert.strictEqual(workers.length, before + 2)
    one.close()
    assert.strictEqual(two.searchRecentPosts({ query: "large:1" }).data?.length, 1)
    two.close()
    await vi.waitFor(() => {
      for (const worker of workers.slice(before)) assert.include(worker, { threadId: -1 })
    })
  })
})

describe("a worker that goes wrong under a call", () => {
  // Those two take all of a core until they are noticed: `test:long`. Pulse.test.ts tells the dead from the slow.
  const slowly = [["spin", "stopped responding"], ["memory", ""]] as const

  it.each([...isLong ? slowly : [], ["exit", "ended"], ["throw", "ended: Error: boom"]] as const)(
    "%s: is noticed, and another one takes over",
    (way, what) => {
      const url = new URL("fixtures/LateWorker.ts", import.meta.url)
      using client = Sync.createClientSync(settings({ workerUrl: url, ownWorker: true }))
      assert.strictEqual(client.searchRecentPosts({ query: "large:1" }).data?.length, 1)
      const before = workers.length
      const error = thrown(() => client.searchRecentPosts({ query: `hang:${way}` }, { timeout: 60_000 }))
      assert.instanceOf(error, Sync.TransportFailure)
      assert.include(error.message, `the worker ${what}`)
      assert.strictEqual(client.searchRecentPosts({ query: "large:1" }).data?.length, 1)
      assert.strictEqual(workers.length, before + 1)
    },
    // One that spins on a busy machine is noticed after half a minute.
    60_000
  )

  it.each([["total", { total: 0.15 }], ["day", { perDay: 0.15 }], ["month", { perMonth: 0.15 }]] as const)(
    "has spent some of the limit of the %s: that counts for the next one, and so does what was in flight",
    (period, spendLimit) => {
      const url = new URL("fixtures/LateWorker.ts", import.meta.url)
      using client = Sync.createClientSync(settings({ workerUrl: url, ownWorker: true, spendLimit, timeout: 20_000 }))
      const search = (query: string, max_results: number) => client.searchRecentPosts({ query, max_results })
      assert.strictEqual(search("large:1", 10).cost?.dollars, 0.005)
      for (const spent of [0.055, 0.105]) {
        assert.include((thrown(() => search("hang:exit", 10)) as Error).message, "the worker ended")
        const error = thrown(() => search("large:1", 20))
        assert.instanceOf(error, Sync.SpendLimitReached)
        assert.deepInclude(error, { period, spent })
      }
    },
    60_000
  )

  it("throws before it answers: the error is the answer, and the worker continues", () => {
    const before = workers.length
    const client = Sync.createClientSync(
      settings({ ownWorker: true, timeout: 60_000, workerUrl: new URL("fixtures/Throwing.ts", import.meta.url) })
    )
    for (
      const [tag, call] of [
        ["Response", () => client.searchRecentPosts({ query: "large:100000" })],
        ["Failure", () => client.searchRecentPosts({ query: "status:418" })],
        ["Statistics", () => client.session.statistics()]
      ] as const
    ) {
      assert.match((thrown(call) as Error).message, new RegExp(`RangeError: no ${tag} gets out`))
      assert.strictEqual(client.searchRecentPosts({ query: "large:1" }).data?.length, 1)
    }
    client.close()
    assert.strictEqual(workers.length, before + 1)
  })

  it.each([
    ["is not there", "/no/such/Worker.ts", /ERR_MODULE_NOT_FOUND.*Worker\.ts/],
    ["is not of a kind that can be loaded", new URL("http://127.0.0.1/Worker.js"), /ERR_UNSUPPORTED_ESM_URL_SCHEME/],
    ["is no program", "data:text/javascript,)", /SyntaxError/],
    ["throws as it loads", "data:text/javascript,throw new Error('boom')", /boom/],
    ["throws a little later", "data:text/javascript,setTimeout(() => { throw new Error('boom') }, 50)", /boom/],
    ["exits as it loads", "data:text/javascript,process.exit(5)", /it ended with code 5/],
    ["is another program", "data:text/javascript,", /it ended with code 0/],
    [
      "makes a client itself",
      new URL("fixtures/Nested.ts", import.meta.url),
      /InvalidSettings: workerUrl must be the address of @postwire\/sync\/PostwireWorker/
    ]
  ])("%s: a call reports it immediately, and that nothing was sent", (_, workerUrl, reason) => {
    using client = Sync.createClientSync({
      ...settings({ ownWorker: true, workerUrl }),
      consumerKey: "a",
      consumerSecret: "b",
      accessToken: "1-c",
      accessTokenSecret: "d"
    })
    const error = thrown(() => client.createPost({ text: "a" }))
    assert.instanceOf(error, Sync.TransportFailure)
    assert.strictEqual(error.phase, "connect")
    assert.match(error.message, /the worker could not be started: /)
    assert.match(error.message, reason)
  })

  it("is still loading when time is up: nothing leaves, then or later", () => {
    const text = `count me ${Math.random()}`
    using client = Sync.createClientSync({
      ...settings({ ownWorker: true }),
      consumerKey: "a",
      consumerSecret: "b",
      accessToken: "1-c",
      accessTokenSecret: "d"
    })
    const error = thrown(() => client.createPost({ text }, { timeout: 1 }))
    assert.instanceOf(error, Sync.TransportFailure)
    assert.deepInclude(error, { phase: "connect", timeout: "total" })
    assert.strictEqual(client.searchRecentPosts({ query: `count:${text}` }).data?.[0]?.id, "0")
  })
})

describe("a program that is a worker itself", () => {
  it("may have workerData of any names", async () => {
    const worker = new Worker(
      `import(${JSON.stringify(entry)}).then(({ createClientSync }) => {
        const client = createClientSync(${JSON.stringify(settings())})
        require("node:worker_threads").parentPort.postMessage(client.searchRecentPosts({ query: "large:1" }).data.length)
        client.close()
      })`,
      { eval: true, workerData: { postwire: { memory: new SharedArrayBuffer(64) } } }
    )
    assert.deepStrictEqual(await once(worker, "message"), [1])
    await worker.terminate()
  })
})

describe("a service on the thread of the caller", () => {
  it("is refused before anything is sent, since it could never answer", async () => {
    const seen: Array<string | undefined> = []
    const server = createServer((request, response) => {
      seen.push(request.url)
      response.end()
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    for (const host of ["127.0.0.1", "localhost"]) {
      using client = Sync.createClientSync({
        ...settings({ baseUrl: `http://${host}:${port}` }),
        consumerKey: "a",
        consumerSecret: "b",
        accessToken: "1-c",
        accessTokenSecret: "d"
      })
      for (const call of [() => client.getPost({ id: "1" }), () => client.createPost({ text: "a" })]) {
        const error = thrown(call)
        assert.instanceOf(error, Sync.TransportFailure)
        assert.match(error.message, /runs on this thread.*postwire sandbox/)
      }
    }
    server.close()
    await once(server, "close")
    await sleep(50)
    assert.deepStrictEqual(seen, [])
    using client = Sync.createClientSync(settings({ baseUrl: `http://127.0.0.1:${port}` }))
    assert.match((thrown(() => client.getPost({ id: "1" })) as Error).message, /ECONNREFUSED/)
  })

  it("is refused too when it was there before the client was loaded; on another thread it answers", async () => {
    const code = `
      import { createServer } from "node:http"
      import { once } from "node:events"
      import { Worker } from "node:worker_threads"
      const server = createServer().listen(0, "127.0.0.1")
      await once(server, "listening")
      const { createClientSync } = await import(${JSON.stringify(entry)})
      const client = createClientSync({ baseUrl: "http://127.0.0.1:" + server.address().port, bearerToken: "a" })
      try { client.getPost({ id: "1" }) } catch (error) { console.log(/runs on this thread/.test(error.message)) }
      const worker = new Worker(\`
        const server = require("node:http").createServer((_, response) => response.end('{"data":{"id":"1","text":"a"}}'))
        server.listen(0, "127.0.0.1", () => require("node:worker_threads").parentPort.postMessage(server.address().port))
      \`, { eval: true, execArgv: [] })
      const [port] = await once(worker, "message")
      console.log(createClientSync({ baseUrl: "http://127.0.0.1:" + port, bearerToken: "a" }).getPost({ id: "1" }).data.id)
      process.exit()
    `
    assert.strictEqual(await run("--input-type=module", "-e", code), "true\n1\n0")
  })
})

describe("Ctrl-C", () => {
  const waiting = (first: string, query: string) => `
    import { createClientSync, TransportFailure } from ${JSON.stringify(entry)}
    ${first}
    const client = createClientSync({
      ...(await import(${JSON.stringify(entry)})).fromEnvironment(),
      waitOnRateLimit: true,
      timeout: 900_000
    })
    client.searchRecentPosts({ query: "large:1" })
    console.log("waiting")
    try { client.searchRecentPosts({ query: ${JSON.stringify(query)} }) } catch (error) {
      console.log(error instanceof TransportFailure, error.reason)
    }
  `
  const handler = `process.on("SIGINT", () => { console.log("cleaned up"); process.exit(7) })`

  it.each(
    [
      ["a program without a listener", "", "hang", "null SIGINT"],
      ["a listener", handler, "hang", "true interrupted by SIGINT\ncleaned up\n7 null"],
      ["a listener, in a wait for a budget", handler, "spent", "true interrupted by SIGINT\ncleaned up\n7 null"]
    ]
  )("reaches %s immediately, however long the wait", async (_, first, query, expected) => {
    const child = start("--input-type=module", "-e", waiting(first, query))
    let printed = ""
    createInterface(child.stdout!).on("line", (line) => {
      if (!line.includes("INFO")) printed += `${line}\n`
    })
    await vi.waitFor(() => assert.strictEqual(printed, "waiting\n"), { timeout: 10_000 })
    await sleep(700)
    child.kill("SIGINT")
    const [code, signal] = await once(child, "close")
    // The wait would take a quarter of an hour.
    assert.strictEqual(`${printed}${code} ${signal}`, `waiting\n${expected}`)
  })
})

describe("a program", () => {
  it("may be CommonJS", async () => {
    const code = `
      const { createClientSync } = require(${JSON.stringify(file("../src/index.ts"))})
      console.log(createClientSync().searchRecentPosts({ query: "large:1" }).data[0].text.length)
    `
    assert.strictEqual(await run("--input-type=commonjs", "-e", code), "1\n0")
  })

  it.each([...isLong ? ["cjs" as const] : [], "esm" as const])(
    "may be bundled, as %s, with the worker as an entry of its own",
    async (format) => {
      const outdir = mkdtempSync(join(tmpdir(), "postwire-"))
      const extension = format === "esm" ? ".mjs" : ".cjs"
      try {
        const built = (entryPoints: Record<string, string>, format: "esm" | "cjs", extension: string, app?: string) =>
          build({
            ...(app === undefined ? { entryPoints } : { stdin: { contents: app, resolveDir: file(".") } }),
            ...(app === undefined ? { outdir } : { outfile: join(outdir, `app${extension}`) }),
            outExtension: app === undefined ? { ".js": extension } : {},
            bundle: true,
            platform: "node",
            format,
            external: ["undici"],
            logLevel: "error",
            logOverride: { "empty-import-meta": "silent" }
          })
        const workerUrl = format === "esm"
          ? `new URL("./PostwireWorker.mjs", import.meta.url)`
          : `require("node:path").join(__dirname, "PostwireWorker.mjs")`
        const app = (setting: string) => `
        import { createClientSync, fromEnvironment, RateLimited } from "../src/index.ts"
        const client = createClientSync({ ...fromEnvironment()${setting} })
        console.log(client.searchRecentPosts({ query: "large:1" }).data.length)
        try { client.searchRecentPosts({ query: "status:429" }) } catch (error) { console.log(error instanceof RateLimited) }
      `
        symlinkSync(file("../../node/node_modules"), join(outdir, "node_modules"))
        await built({}, format, extension, app(""))
        // Without the worker, the first call says what to do.
        const child = spawn(process.execPath, [join(outdir, `app${extension}`)], {
          stdio: ["ignore", "ignore", "pipe"],
          env: { ...process.env, POSTWIRE_BASE_URL: faults.ready.baseUrl, POSTWIRE_BEARER_TOKEN: "a" }
        })
        let said = ""
        child.stderr.setEncoding("utf8").on("data", (text) => said += text)
        await once(child, "close")
        assert.match(said, /workerUrl is missing.*@postwire\/sync\/PostwireWorker as an entry of its own/)
        await built({ PostwireWorker: file("../src/PostwireWorker.ts") }, "esm", ".mjs")
        await built({}, format, extension, app(`, workerUrl: ${workerUrl}`))
        assert.strictEqual(await run(join(outdir, `app${extension}`)), "1\ntrue\n0")
      } finally {
        rmSync(outdir, { recursive: true })
      }
    }
  )

  it("may call thousands of times and hold nothing", async () => {
    const calls = isLong ? 4_000 : 500
    const code = `
      import { createClientSync } from ${JSON.stringify(entry)}
      const client = createClientSync()
      const calls = (n) => { for (let i = 0; i < n; i++) client.searchRecentPosts({ query: "large:10" }) }
      const size = () => { gc(); gc(); return process.memoryUsage() }
      // The memory of the process grows to its usual size within some thousand calls.
      calls(${isLong ? 5_000 : 500})
      let before = size()
      // Something that is held grows in each part; the heap of a thread grows in some.
      const least = { heapUsed: Infinity, arrayBuffers: Infinity, rss: Infinity }
      for (let part = 0; part < 3; part++) {
        calls(${calls})
        const after = size()
        for (const kind in least) least[kind] = Math.min(least[kind], after[kind] - before[kind])
        before = after
      }
      console.log(least.heapUsed < 1e6, least.arrayBuffers < 1e6, least.rss < ${isLong ? 8e6 : 2e7} || least.rss)
    `
    assert.strictEqual(await run("--expose-gc", "--input-type=module", "-e", code), "true true true\n0")
  })
})

describe("errors", () => {
  it("keep their cause across the threads", () => {
    using client = Sync.createClientSync(settings({ baseUrl: "http://127.0.0.1:1" }))
    const error = thrown(() => client.getPost({ id: "1" }))
    assert.instanceOf(error, Sync.TransportFailure)
    assert.strictEqual(error._tag, "TransportFailure")
    assert.instanceOf(error.cause, Error)
    assert.strictEqual((error.cause as NodeJS.ErrnoException).code, "ECONNREFUSED")
  })
})

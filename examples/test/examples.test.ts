import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@postwire/node"
import * as OAuth2 from "@postwire/node/OAuth2"
import { Sandbox } from "@postwire/sandbox"
import { Redacted } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { afterAll, beforeAll, vi } from "vitest"
import { png } from "../../packages/core/test/support/MediaBytes.ts"
import { postwire } from "../../packages/core/test/support/ProgramFile.ts"
import { answerForm, locationOf } from "../../packages/sandbox/test/support/Login.ts"

const path = (file: string) => new URL(file, import.meta.url).pathname
const run = promisify(execFile)

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

describe("the three programs of the README", () => {
  let sandbox: ChildProcess
  let environment: Record<string, string>

  beforeAll(async () => {
    sandbox = spawn(process.execPath, [postwire, "sandbox", "--port", "0", "--json"], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const [line] = await once(createInterface({ input: sandbox.stdout! }), "line") as [string]
    environment = (JSON.parse(line) as { readonly environment: Record<string, string> }).environment
  })

  afterAll(() => {
    sandbox.kill()
  })

  const output = async (program: string) =>
    (await run(process.execPath, [path(`../${program}`)], { env: { ...process.env, ...environment } })).stdout

  it("print the same", async () => {
    const [promise, blocking, effect] = await Promise.all(["promise.ts", "blocking.ts", "effect.ts"].map(output))
    assert.match(promise!, /^Ada Lovelace has \d+ followers\n/)
    assert.match(promise!.trimEnd().split("\n").at(-1)!, /^\d{4}-\d\d-\d\dT.* .*Effect/)
    assert.strictEqual(blocking, promise)
    assert.strictEqual(effect, promise)
  })
})

describe("the programs of the exports' page", () => {
  it("export a search, as a whole and in parts", async () => {
    await using sandbox = await Sandbox.start({ posts: 300 })
    const folder = mkdtempSync(join(tmpdir(), "postwire-examples-"))
    try {
      const { baseUrl, bearerToken } = sandbox.settings
      const env = {
        ...process.env,
        POSTWIRE_BASE_URL: baseUrl,
        POSTWIRE_BEARER_TOKEN: String(bearerToken)
      }
      const start = async (program: string) =>
        (await run(process.execPath, ["--disable-warning=ExperimentalWarning", path(`../${program}`)], {
          cwd: folder,
          env
        }))
          .stdout
      const first = await start("export.ts")
      assert.match(first, /^100 posts, \d+ requests left\n[^]*\ndone \[/)
      const second = await start("export.ts")
      assert.match(second, /^done \[/)
      const posts = /effect\.jsonl: (\d+) items/.exec(first)?.[1]
      assert.strictEqual(await start("partitions.ts"), `${posts} posts in 4 parts\n`)
      assert.match(await start("each.ts"), /\{ done: 1, deleted: 1 \} \[[^]*posts\.jsonl: \d+ items/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe("programs for a job", () => {
  const environmentOf = ({ settings }: Sandbox.RunningSandbox) => ({
    ...process.env,
    POSTWIRE_BASE_URL: settings.baseUrl,
    POSTWIRE_BEARER_TOKEN: String(settings.bearerToken),
    POSTWIRE_CONSUMER_KEY: String(settings.consumerKey),
    POSTWIRE_CONSUMER_SECRET: String(settings.consumerSecret),
    POSTWIRE_ACCESS_TOKEN: String(settings.accessToken),
    POSTWIRE_ACCESS_TOKEN_SECRET: String(settings.accessTokenSecret)
  })

  it("a bot stays signed in, answers once, and ends with Ctrl-C", async () => {
    await using sandbox = await Sandbox.start({ posts: 0 })
    const { baseUrl, grants, seeded } = sandbox
    const tokenStore = mkdtempSync(join(tmpdir(), "postwire-examples-"))
    const scopes = OAuth2.scopesFor(["getMe", "getUsersMentions", "createPost"])
    const tokens = { ...grants.make({ scopes }), scopes }
    await OAuth2.saveAccount({ baseUrl, clientId: seeded.publicClient.id, tokenStore, account: "bot", tokens })
    const grace = sandbox.user({ username: "grace" })
    grace.post("before the first start, @ada")
    const start = () =>
      spawn(process.execPath, [path("../bot.ts")], {
        env: {
          ...process.env,
          BOT_PAUSE: "50",
          BOT_FILE: join(tokenStore, "last-mention.txt"),
          POSTWIRE_BASE_URL: baseUrl,
          POSTWIRE_ACCOUNT: "bot",
          POSTWIRE_TOKEN_STORE: tokenStore
        },
        stdio: ["ignore", "pipe", "inherit"]
      })
    /** The lines of a run that is ended after so many answers, and what happens after each line. */
    const runFor = async (answers: number, after: (line: string) => void) => {
      const bot = start()
      const lines: Array<string> = []
      const ended = once(bot, "exit")
      for await (const line of createInterface({ input: bot.stdout! })) {
        lines.push(line)
        after(line)
        if (lines.length === answers + 1) bot.kill("SIGINT")
      }
      assert.deepStrictEqual(await ended, [0, null])
      return lines
    }
    const first = await runFor(3, (line) => {
      if (line === "answering mentions") grace.post("hello @ada").post("are you there, @ada?")
      if (line !== "answered are you there, @ada?") return
      sandbox.clock.advance("3 hours")
      grace.post("thanks @ada")
    })
    assert.deepStrictEqual(first, [
      "answering mentions",
      "answered hello @ada",
      "answered are you there, @ada?",
      "answered thanks @ada",
      "bye"
    ])
    for (let i = 1; i <= 25; i++) grace.post(`while it was away, @ada: ${i}`)
    const second = await runFor(25, () => {})
    assert.deepStrictEqual(
      second.slice(1, -1),
      Array.from({ length: 25 }, (_, i) => `answered while it was away, @ada: ${i + 1}`)
    )
    const created = sandbox.requests.filter(({ operation }) => operation === "createPost")
    assert.strictEqual(created.length, 28)
    assert.deepInclude(grants.list()[0], { refreshes: 1, alive: true })
    rmSync(tokenStore, { recursive: true })
  })

  it("a support desk answers every mention and message once, though it is killed and restarted", async () => {
    await using sandbox = await Sandbox.start({ posts: 0 })
    const folder = mkdtempSync(join(tmpdir(), "postwire-examples-"))
    const port = await freePort()
    const grace = sandbox.user({ username: "grace" })
    const ids: Array<string> = []
    const write = (count: number) => {
      for (let i = 0; i < count; i++) {
        ids.push(grace.post(`question ${ids.length}, @ada`).id, grace.message(sandbox.ada, `message ${ids.length}`).id)
      }
    }
    let desk: ChildProcess | undefined
    /** Runs it until it has answered so many, and ends it. */
    const runFor = async (answers: number, signal: "SIGKILL" | "SIGTERM", ready: () => void) => {
      const own = desk = spawn(
        process.execPath,
        ["--disable-warning=ExperimentalWarning", path("../support-desk.ts")],
        {
          env: {
            ...environmentOf(sandbox),
            POSTWIRE_BEARER_TOKEN: undefined,
            POSTWIRE_APP_BEARER_TOKEN: Redacted.value(sandbox.seeded.appBearerToken),
            POSTWIRE_JOURNAL: join(folder, "journal"),
            SUPPORT_STORE: join(folder, "support.db"),
            PORT: String(port)
          },
          stdio: ["ignore", "pipe", "inherit"]
        }
      )
      const ended = once(own, "exit")
      let left = answers
      for await (const line of createInterface({ input: own.stdout })) {
        if (line === "answering mentions and messages") ready()
        if (line.startsWith("answered") && --left === 0) own.kill(signal)
      }
      return ended
    }
    try {
      assert.deepStrictEqual(await runFor(3, "SIGKILL", () => write(5)), [null, "SIGKILL"])
      write(2)
      assert.deepStrictEqual(await runFor(6, "SIGTERM", () => write(3)), [0, null])
      write(2)
      let answered: ReadonlyArray<string> = []
      await using client = createClient(sandbox.settings)
      const look = async () => {
        const { data: posts = [] } = await client.getUsersPosts({ id: sandbox.ada.id, max_results: 100 })
        const { data: messages = [] } = await client.getDirectMessageEvents({
          participant_id: grace.id,
          max_results: 100,
          dm_event_fields: ["text"]
        })
        answered = [...posts, ...messages].flatMap(({ text }) =>
          /^Thank you! Your ticket is (\d+)/.exec(text ?? "")?.[1] ?? []
        )
      }
      const last = runFor(Infinity, "SIGTERM", () => {})
      for (await look(); answered.length < ids.length; await look()) await sleep(200)
      desk?.kill("SIGTERM")
      assert.deepStrictEqual(await last, [0, null])
      await look()
      assert.deepStrictEqual(answered.toSorted(), ids.toSorted())
    } finally {
      desk?.kill("SIGKILL")
      rmSync(folder, { recursive: true })
    }
  }, 120_000)

  it("a web app signs its users in, and calls for them when their tokens have expired", async () => {
    await using sandbox = await Sandbox.start({ posts: 60 })
    const port = await freePort()
    const tokenStore = mkdtempSync(join(tmpdir(), "postwire-examples-"))
    const { client } = sandbox.app({ kind: "confidential", redirects: [`http://localhost:${port}/callback`] })
    const app = spawn(process.execPath, [path("../sign-in.ts")], {
      env: {
        ...environmentOf(sandbox),
        PORT: String(port),
        POSTWIRE_CLIENT_ID: client.id,
        POSTWIRE_CLIENT_SECRET: client.secret,
        POSTWIRE_TOKEN_STORE: tokenStore
      },
      stdio: ["ignore", "pipe", "inherit"]
    })
    try {
      await once(createInterface({ input: app.stdout! }), "line")
      let cookie = ""
      const get = async (address: string | URL) => {
        const { pathname, search } = new URL(address, "http://localhost")
        const response = await fetch(`http://127.0.0.1:${port}${pathname}${search}`, {
          headers: { cookie },
          redirect: "manual"
        })
        cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie
        return response
      }
      const allowed = async (decision: "allow" | "deny") =>
        get(locationOf(await answerForm(await fetch((await get("/login")).headers.get("location")!), { decision })))
      const denied = await allowed("deny")
      assert.strictEqual(denied.status, 403)
      assert.match(await denied.text(), /^The sign-in was denied/)
      assert.strictEqual((await get("/callback?code=a&state=b")).status, 403)
      assert.strictEqual((await allowed("allow")).headers.get("location"), "/")
      assert.strictEqual((await get("/")).status, 200)
      sandbox.clock.advance("3 hours")
      assert.strictEqual((await get("/")).status, 200)
      const [grant] = sandbox.grants.list()
      assert.deepInclude(grant, { refreshes: 1, alive: true })
      sandbox.grants.revoke(grant!.id)
      assert.strictEqual((await get("/")).headers.get("location"), "/login")
    } finally {
      app.kill()
      rmSync(tokenStore, { recursive: true })
    }
  })

  it("a folder of pictures is posted once, however often it is started", async () => {
    await using sandbox = await Sandbox.start({ posts: 0 })
    const folder = mkdtempSync(join(tmpdir(), "postwire-examples-"))
    const files = {
      "harbour.png": png(),
      "lighthouse.png": png({ width: 64, height: 48 }),
      "lighthouse.txt": "Good evening\n",
      "lighthouse.alt.txt": "A lighthouse at dusk",
      "torn.png": png().subarray(0, 30)
    }
    for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content)
    const start = async () =>
      (await run(process.execPath, [path("../publish.ts"), folder], {
        env: { ...environmentOf(sandbox), XDG_STATE_HOME: join(folder, "state") }
      })).stdout
    try {
      const [first, again] = [await start(), await start()]
      assert.match(first, /^posted: harbour\.png \d+\nposted: lighthouse\.png \d+\nnot posted: torn\.png: .*must/)
      assert.strictEqual(again, first.replace(/^posted:/gm, "was posted before:"))
      assert.strictEqual(sandbox.store.counts().posts, 2)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("a path and parameters without a declaration are requested", async () => {
    await using sandbox = await Sandbox.start({ posts: 60 })
    const { stdout } = await run(process.execPath, [path("../undeclared.ts")], { env: environmentOf(sandbox) })
    const [since, refused, own, ...rest] = stdout.split("\n")
    assert.match(since!, /^with us since \d{4}$/)
    assert.match(refused!, /^searchRecentPosts: the service refused a parameter \(400\): .*\[widgets\] is not one of/)
    assert.strictEqual(
      own,
      "createPost: extraBody.text is a parameter of createPost: pass it among the parameters."
    )
    assert.deepStrictEqual(rest, [""])
    assert.deepStrictEqual(
      sandbox.requests.map(({ operation, status }) => [operation, status]),
      [["getUser", 200], ["searchRecentPosts", 200], ["like", 200], ["searchRecentPosts", 400]]
    )
  })

  it("a handler has a client for each request", async () => {
    const { GET } = await import("../handler.ts")
    await using sandbox = await Sandbox.start({ posts: 0 })
    vi.stubEnv("POSTWIRE_BASE_URL", sandbox.baseUrl)
    const ask = (token?: string) =>
      GET(
        new Request("http://app.test/api/me", {
          headers: token === undefined ? {} : { authorization: `Bearer ${token}` }
        })
      )
    const token = String(sandbox.settings.bearerToken)
    const answers = await Promise.all([ask(), ask("wrong"), ...Array.from({ length: 20 }, () => ask(token))])
    assert.deepStrictEqual(answers.map(({ status }) => status), [401, 401, ...Array.from({ length: 20 }, () => 200)])
    assert.propertyVal(await answers[2]!.json(), "name", "Ada Lovelace")
    sandbox.budget.leave("getMe", 0)
    const refused = await ask(token)
    assert.strictEqual(refused.status, 503)
    assert.match(refused.headers.get("retry-after") ?? "", / GMT$/)
  })

  it("a stream of pages becomes a file", async () => {
    await using sandbox = await Sandbox.start({ posts: 600 })
    const cwd = mkdtempSync(join(tmpdir(), "postwire-examples-"))
    try {
      const { stdout } = await run(process.execPath, [path("../stream.ts")], { cwd, env: environmentOf(sandbox) })
      const lines = readFileSync(join(cwd, "posts.jsonl"), "utf8").trimEnd().split("\n")
      assert.strictEqual(stdout, `${lines.length} posts\n`)
      assert.strictEqual(
        new Set(lines.map((line) => (JSON.parse(line) as { readonly id: string }).id)).size,
        lines.length
      )
      assert.isAbove(lines.length, 400)
    } finally {
      rmSync(cwd, { recursive: true })
    }
  })
})

describe("the programs of the sandbox's page", () => {
  it("runs under the test runner of Node", async () => {
    const { stdout } = await run(process.execPath, ["--test", path("../sandbox/runner.ts")], {
      // Vitest tells the programs that it starts that they are tests of its own.
      env: { PATH: process.env["PATH"], NODE_OPTIONS: "--disable-warning=ExperimentalWarning" }
    })
    assert.match(stdout, /pass 1\n/)
    assert.match(stdout, /fail 0\n/)
  })

  it("calls the service with curl", async (context) => {
    if (await run("curl", ["--version"]).then(() => false, () => true)) context.skip("curl is not installed")
    await using sandbox = await Sandbox.start({ posts: 60 })
    const folder = mkdtempSync(join(tmpdir(), "postwire-examples-"))
    try {
      const { stdout } = await run("sh", ["-e", path("../sandbox/admin.sh")], {
        env: {
          PATH: process.env["PATH"],
          BASE_URL: sandbox.baseUrl,
          ADMIN_TOKEN: Redacted.value(sandbox.adminToken),
          SNAPSHOT: join(folder, "snapshot.sqlite")
        }
      })
      assert.match(stdout, /"status":"ok".*"posts":200/)
      assert.strictEqual(sandbox.store.counts().posts, 200)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
  it("runs under pytest", async (context) => {
    const python = ["-c", "import pytest, requests"]
    if (await run("python3", python).then(() => false, () => true)) {
      context.skip("python3 here lacks pytest or requests: pip install pytest requests")
    }
    const { stdout } = await run(
      "python3",
      ["-m", "pytest", "-q", "-p", "no:cacheprovider", path("../sandbox/test_service.py")],
      { env: { ...process.env, POSTWIRE: `${process.execPath} ${postwire}`, PYTHONDONTWRITEBYTECODE: "1" } }
    )
    assert.match(stdout, /3 passed/)
  })
})

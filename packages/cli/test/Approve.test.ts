/** `postwire approve`: a user agrees in a terminal to what an agent has prepared. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Journal } from "@postwire/core/storage/Journal"
import * as Book from "@postwire/mcp/writing/Book"
import * as FileJournal from "@postwire/node/FileJournal"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Layer, Redacted, Stdio } from "effect"
import * as Input from "effect/Terminal"
import { once } from "node:events"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Environment } from "../src/connection/Variables.ts"
import { Terminal } from "../src/terminal/Terminal.ts"
import * as Commands from "./Commands.ts"
import { start } from "./support/Processes.ts"

const prepared: Book.Contents = {
  account: "5d41402a",
  as: "ada",
  kind: "write",
  of: "publish",
  micros: 15_000,
  lines: ["A post, for up to $0.015:", "text: «?|Good morning» (12 of 280)"],
  action: { _tag: "post", text: "Good morning", media: [] }
}

/** A journal in a folder, and the command of its user, who types this. */
const user = Effect.gen(function*() {
  const folder = join(yield* Commands.folder, "postwire")
  const journal = FileJournal.make(folder)
  const book = <A, E>(effect: Effect.Effect<A, E, Journal>) => Effect.provideService(effect, Journal, journal)
  const run = (typed: string | undefined, ...args: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      let shown = ""
      const screen = { isTerminal: typed !== undefined, columns: 80, write: (text: string) => void (shown += text) }
      const ended = yield* Commands.parseOn(
        Layer.mergeAll(
          NodeServices.layer,
          Stdio.layerTest({ stdinIsTerminal: Effect.succeed(typed !== undefined) }),
          Layer.effect(
            Input.Terminal,
            Effect.map(Input.Terminal, (terminal) => Input.make({ ...terminal, readLine: Effect.succeed(typed ?? "") }))
          ).pipe(Layer.provide(NodeServices.layer))
        ),
        "approve",
        ...args
      ).pipe(
        Effect.provideService(Terminal, { output: screen, errors: screen }),
        Effect.provideService(Environment, { POSTWIRE_JOURNAL: folder })
      )
      return { ...ended, shown }
    })
  return { book, run, folder, file: join(folder, "mcp.json") }
})

describe("postwire approve", () => {
  it.live("shows exactly what would be sent and its price, and records the answer in a file of this user", () =>
    Effect.gen(function*() {
      const { book, file, run } = yield* user
      const handle = yield* book(Book.enter(prepared))
      const { code, errors, shown } = yield* run("y", handle)
      assert.strictEqual(code, 0, errors)
      assert.strictEqual(
        shown,
        `${handle}\n  A post, for up to $0.015:\n  text: «?|Good morning» (12 of 280)\n` +
          "Allow publish, for up to $0.015, as ada? [y/N] "
      )
      assert.include(errors, "Approved. The agent can repeat its call.")
      assert.strictEqual((yield* book(Book.find(handle)))?.state, "approved")
      if (process.platform !== "win32") assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    }).pipe(Effect.scoped))

  it.live("without a handle asks for everything that waits, and declines by default", () =>
    Effect.gen(function*() {
      const { book, run } = yield* user
      assert.include((yield* run("y")).errors, "Nothing waits for approval.")
      const handles = [yield* book(Book.enter(prepared)), yield* book(Book.enter({ ...prepared, lines: ["Another"] }))]
      const { errors, shown } = yield* run("")
      assert.include(shown, "Good morning")
      assert.include(shown, "Another")
      assert.include(errors, "Declined: the agent cannot do this.")
      for (const handle of handles) assert.isUndefined(yield* book(Book.find(handle)))
    }).pipe(Effect.scoped))

  it.live("needs a terminal, and a handle that waits and was not changed", () =>
    Effect.gen(function*() {
      const { book, file, run } = yield* user
      const handle = yield* book(Book.enter(prepared))
      const piped = yield* run(undefined, handle)
      assert.strictEqual(piped.code, 1)
      assert.include(piped.errors, "An approval needs a terminal")
      assert.include((yield* run("y", "0".repeat(32))).errors, "Nothing waits under this handle")
      writeFileSync(file, readFileSync(file, "utf8").replaceAll("Good morning", "Bad morning"))
      const changed = yield* run("y", handle)
      assert.include(changed.errors, "Nothing waits under this handle")
      assert.notInclude(changed.shown, "morning")
    }).pipe(Effect.scoped))
})

/** `postwire mcp --http` as a process, and its tools. */
const served = Effect.fnUntraced(function*(journal: string, env: Readonly<Record<string, string | undefined>>) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      start(["mcp", "--http", "0", "--allow-writes"], { ...process.env, ...env, POSTWIRE_JOURNAL: journal })
    ),
    (child) =>
      Effect.promise(async () => {
        child.kill("SIGTERM")
        if (child.exitCode === null) await once(child, "close")
      })
  )
  const { token, url } = yield* Effect.promise(async () => {
    let said = ""
    for await (const part of child.stderr ?? []) {
      said += part
      const [, url] = /Serving at (\S+)\. /.exec(said) ?? []
      const [, token] = /token of this run: (\S+)/.exec(said) ?? []
      if (url !== undefined && token !== undefined) return { token, url }
    }
    return assert.fail(said)
  })
  const protocol = "io.modelcontextprotocol"
  const call = (name: string, input: object, authorization = `Bearer ${token}`) =>
    Effect.promise(async () => {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          authorization,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": name
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name,
            arguments: input,
            _meta: {
              [`${protocol}/protocolVersion`]: "2026-07-28",
              [`${protocol}/clientCapabilities`]: {},
              [`${protocol}/clientInfo`]: { name: "host", version: "1" }
            }
          }
        })
      })
      return { status: response.status, text: await response.text() }
    })
  return { call }
})

describe("postwire mcp --http", () => {
  it.live("publishes what the user has approved in a terminal, once, though the answer is lost", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { baseUrl, faults, seeded } = sandbox
      const { folder, run } = yield* user
      const { call } = yield* served(folder, {
        POSTWIRE_BASE_URL: baseUrl,
        POSTWIRE_BEARER_TOKEN: Redacted.value(seeded.userBearerToken),
        XDG_STATE_HOME: folder
      })
      assert.strictEqual((yield* call("spend", {}, "Bearer x")).status, 401)
      const prepared = yield* call("prepare_post", { text: "Good morning" })
      const [, handle = ""] = /handle: (\w+)/.exec(prepared.text) ?? []
      assert.include((yield* call("publish", { handle })).text, ` approve ${handle}`)
      assert.include((yield* run("yes", handle)).errors, "Approved.")
      faults.add({ operation: "createPost", reset: "after" })
      assert.include((yield* call("publish", { handle })).text, "OutcomeUnknown: createPost")
      assert.include((yield* call("publish", { handle })).text, "posted: id:")
      assert.strictEqual(
        sandbox.requests.filter(({ method, path }) => method === "POST" && path === "/2/posts").length,
        1
      )
    }).pipe(Effect.scoped, Effect.provide(Sandbox.layerServer({ posts: 0 }))))
})

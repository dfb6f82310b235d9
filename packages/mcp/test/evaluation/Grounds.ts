/** Where conversations take place: a server in memory, or `postwire mcp` as a process. */
import { environmentVariable } from "@postwire/core/errors/Errors"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Exit, Layer, Queue, Scope, Sink, Stdio, Stream } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Readable } from "node:stream"
import { postwire } from "../../../core/test/support/ProgramFile.ts"
import * as Server from "../../src/server/Server.ts"
import { services } from "../support/Scene.ts"
import type { Flags } from "./Conversations.ts"
import type { Pipe } from "./Host.ts"

/** A sandbox, and servers of it. */
export interface Ground {
  readonly sandbox: Sandbox.Sandbox["Service"]
  /** Starts a server, which passes each line that it prints on. */
  readonly open: (receive: (line: string) => void) => Promise<Pipe>
}

const micros = (dollars: number | undefined) => dollars === undefined ? undefined : dollars * 1_000_000

/** A folder of this ground alone. */
const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-mcp-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** In memory, through the same messages. */
export const inMemory = Effect.fnUntraced(function*({ askAbove, maxSpend, ...flags }: Flags) {
  const context = yield* Layer.build(Sandbox.layer({ posts: 0 }))
  const folder = yield* temporary
  const settings = { ...flags, folder, askAbove: micros(askAbove), version: "1", spendLimit: { total: maxSpend ?? 1 } }
  const open = Effect.fnUntraced(function*(receive: (line: string) => void) {
    const stdin = yield* Queue.unbounded<Uint8Array>()
    const stdio = Stdio.layerTest({
      stdin: Stream.fromQueue(stdin),
      stdout: () =>
        Sink.forEach((written: string | Uint8Array) =>
          Effect.sync(() => {
            const text = typeof written === "string" ? written : new TextDecoder().decode(written)
            for (const line of text.split("\n")) if (line !== "") receive(line)
          })
        )
    })
    const scope = yield* Scope.make()
    yield* Server.layerStdio(settings).pipe(Layer.provide([services(settings), stdio]), Layer.buildWithScope(scope))
    return {
      write: (line) => void Queue.offerUnsafe(stdin, new TextEncoder().encode(line)),
      close: () => Effect.runPromiseWith(context)(Scope.close(scope, Exit.void))
    } satisfies Pipe
  })
  const ground: Ground = {
    sandbox: yield* Effect.provideContext(Sandbox.Sandbox, context),
    open: (receive) => Effect.runPromiseWith(context)(open(receive))
  }
  return ground
})

const argumentsOf = ({ allowWrites, askAbove, maxSpend, toolsets, trustedOnly }: Flags): ReadonlyArray<string> => [
  "mcp",
  ...allowWrites === true ? ["--allow-writes"] : [],
  ...trustedOnly === true ? ["--trusted-only"] : [],
  ...toolsets === undefined ? [] : ["--toolsets", toolsets.join()],
  ...maxSpend === undefined ? [] : ["--max-spend", String(maxSpend)],
  ...askAbove === undefined ? [] : ["--ask-above", String(askAbove)]
]

/** Starts `postwire mcp` for a sandbox on a port. The files of its processes are those of this ground alone. */
const processes = Effect.fnUntraced(function*(flags: Flags) {
  const sandbox = yield* Effect.acquireRelease(
    Effect.promise(() => Sandbox.start({ posts: 0 })),
    ({ stop }) => Effect.promise(stop)
  )
  const home = yield* temporary
  const { appBearerToken = "", baseUrl, bearerToken } = sandbox.settings
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("POSTWIRE_"))),
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    POSTWIRE_MCP_TOKEN: token,
    [environmentVariable("baseUrl")]: baseUrl,
    [environmentVariable("bearerToken")]: bearerToken,
    [environmentVariable("appBearerToken")]: appBearerToken
  }
  const start = (...args: ReadonlyArray<string>) =>
    spawn(process.execPath, [postwire, ...argumentsOf(flags), ...args], { env })
  return { sandbox, start }
})

const token = "a-token-of-the-evaluation"

/** As a process, over standard input and output. */
export const ofProcess = Effect.fnUntraced(function*(flags: Flags) {
  const { sandbox, start } = yield* processes(flags)
  const ground: Ground = {
    sandbox,
    open: (receive) => {
      const child = start()
      let errors = ""
      child.stderr.on("data", (text) => errors += text)
      createInterface({ input: child.stdout }).on("line", receive)
      return Promise.resolve({
        write: (line) => void child.stdin.write(line),
        close: async () => {
          child.stdin.end()
          const [code, signal] = await once(child, "close")
          if (code !== 0 || errors !== "") throw new Error(`postwire mcp ended with ${code ?? signal}: ${errors}`)
        }
      })
    }
  }
  return ground
})

/** As a process, over HTTP. */
export const overHttp = Effect.fnUntraced(function*(flags: Flags) {
  const { sandbox, start } = yield* processes(flags)
  const ground: Ground = {
    sandbox,
    open: async (receive) => {
      const child = start("--http", "0")
      const address = Promise.withResolvers<string>()
      createInterface({ input: child.stderr }).on("line", (line) => {
        const url = /http:\/\/[\w.:/]+mcp/.exec(line)
        if (url !== null) address.resolve(url[0])
      })
      const { abort, post } = poster(await address.promise, receive)
      return {
        write: (line) => void post(line),
        abort,
        close: async () => {
          child.kill("SIGINT")
          await once(child, "close")
        }
      }
    }
  }
  return ground
})

/** Sends messages, and passes on those that come back: one, or a stream of events. */
const poster = (url: string, receive: (line: string) => void) => {
  let session: Readonly<Record<string, string>> = {}
  const controllers = new Map<unknown, AbortController>()
  const send = async (line: string, signal: AbortSignal) => {
    const { method, params } = JSON.parse(line)
    const version = params?._meta?.["io.modelcontextprotocol/protocolVersion"]
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...session,
        ...version !== undefined && {
          "mcp-protocol-version": version,
          "mcp-method": method,
          ...(params.name ?? params.uri) !== undefined && { "mcp-name": params.name ?? params.uri }
        }
      },
      body: line,
      signal
    })
    const id = response.headers.get("mcp-session-id")
    if (method === "initialize" && id !== null) {
      session = { "mcp-session-id": id, "mcp-protocol-version": params.protocolVersion }
    }
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
    if (response.body === null) return
    for await (const text of createInterface({ input: Readable.from(response.body) })) {
      const message = isStream ? text.startsWith("data:") ? text.slice("data:".length).trim() : "" : text
      if (message !== "") receive(message)
    }
  }
  const post = async (line: string) => {
    const controller = new AbortController()
    controllers.set(JSON.parse(line).id, controller)
    try {
      await send(line, controller.signal)
    } catch (error) {
      if (!controller.signal.aborted) throw error
    }
  }
  return { post, abort: (id: number) => controllers.get(id)?.abort() }
}

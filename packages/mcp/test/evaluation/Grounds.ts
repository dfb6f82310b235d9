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

/** In memory, through the same messages. */
export const inMemory = Effect.fnUntraced(function*({ askAbove, maxSpend, ...flags }: Flags) {
  const context = yield* Layer.build(Sandbox.layer({ posts: 0 }))
  const settings = { ...flags, askAbove: micros(askAbove), version: "1", spendLimit: { total: maxSpend ?? 1 } }
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

/** As a process that speaks to a sandbox on a port. Its files are those of this ground alone. */
export const ofProcess = Effect.fnUntraced(function*(flags: Flags) {
  const sandbox = yield* Effect.acquireRelease(
    Effect.promise(() => Sandbox.start({ posts: 0 })),
    ({ stop }) => Effect.promise(stop)
  )
  const home = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-mcp-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true }))
  )
  const { appBearerToken = "", baseUrl, bearerToken } = sandbox.settings
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("POSTWIRE_"))),
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    [environmentVariable("baseUrl")]: baseUrl,
    [environmentVariable("bearerToken")]: bearerToken,
    [environmentVariable("appBearerToken")]: appBearerToken
  }
  const ground: Ground = {
    sandbox,
    open: (receive) => {
      const child = spawn(process.execPath, [postwire, ...argumentsOf(flags)], {
        env,
        stdio: ["pipe", "pipe", "inherit"]
      })
      createInterface({ input: child.stdout }).on("line", receive)
      return Promise.resolve({
        write: (line) => void child.stdin.write(line),
        close: async () => {
          child.stdin.end()
          const [code, signal] = await once(child, "close")
          if (code !== 0) throw new Error(`postwire mcp ended with ${code ?? signal}`)
        }
      })
    }
  }
  return ground
})

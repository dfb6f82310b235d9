/** Runs the command line in this process. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Cause, Effect, Exit, Runtime } from "effect"
import { Command } from "effect/cli"
import { TestConsole } from "effect/testing"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { load, plain } from "../src/Cli.ts"
import { environmentOf } from "../src/commands/SandboxCommand.ts"
import { Environment } from "../src/connection/Variables.ts"
import * as ErrorReport from "../src/terminal/ErrorReport.ts"
import * as Presenter from "../src/terminal/Presenter.ts"
import * as Report from "../src/terminal/Report.ts"

export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-cli-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** The variables for the sandbox, with those that a test replaces. */
export const variables = (replaced: Readonly<Record<string, string | undefined>> = {}) =>
  Effect.map(Sandbox.Sandbox, ({ baseUrl, seeded }): Readonly<Record<string, string | undefined>> => ({
    ...environmentOf(baseUrl, seeded),
    ...replaced
  }))

/** What a command line printed, and its exit code. */
export interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs a command line that needs no service. */
export const parse = (...args: ReadonlyArray<string>): Effect.Effect<Ended> => parseOn(NodeServices.layer, ...args)

/** Runs a command line where what it has of the system is something else. */
export const parseOn = (
  services: typeof NodeServices.layer,
  ...args: ReadonlyArray<string>
): Effect.Effect<Ended> =>
  Effect.gen(function*() {
    // Accounts and journals of whoever runs the tests are not for them.
    const environment = {
      POSTWIRE_TOKEN_STORE: "/nonexistent/accounts",
      POSTWIRE_JOURNAL: "/nonexistent/journal",
      ...yield* Environment
    }
    const postwire = yield* Effect.promise(() => load(plain(args)))
    const exit = yield* Command.runWith(postwire, { version: "1.2.3" })(plain(args)).pipe(
      Effect.tapCause((cause) => ErrorReport.report(cause, false)),
      Effect.exit,
      Effect.provideService(Report.IsJson, args.includes("--json")),
      Effect.provideService(Environment, environment)
    )
    return {
      code: Exit.isSuccess(exit) ? 0 : Runtime.getErrorExitCode(Cause.squash(exit.cause)),
      output: (yield* TestConsole.logLines).join("\n"),
      errors: (yield* TestConsole.errorLines).join("\n")
    }
  }).pipe(Effect.provide([services, TestConsole.layer, Presenter.layer], { local: true }))

/** A file of variables that only its owner can read. */
export const credentials = Effect.fnUntraced(function*(variables: Readonly<Record<string, string | undefined>>) {
  const file = join(yield* folder, "credentials")
  const lines = Object.entries(variables).flatMap(([name, value]) => value === undefined ? [] : [`${name}=${value}\n`])
  writeFileSync(file, lines.join(""), { mode: 0o600 })
  return file
})

/** Runs a command line with variables in a file. */
export const runWith = (variables: Readonly<Record<string, string | undefined>>, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(credentials(variables), (file) => parse(...args, "--credentials", file)).pipe(Effect.scoped)

/** Runs a command line with the sandbox's credentials in a file. */
export const run = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(variables(), (variables) => runWith(variables, ...args))

/** A service of the test's own making, on loopback. */
export const serve = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(listener).listen(0, "127.0.0.1")
      await once(server, "listening")
      const address = server.address()
      return { server, baseUrl: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}` }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

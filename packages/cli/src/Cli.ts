/** The `postwire` command. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import packageJson from "../package.json" with { type: "json" }
import * as Demo from "./Demo.ts"
import * as SandboxCommand from "./SandboxCommand.ts"
import * as StatusCommand from "./StatusCommand.ts"
import * as WorkerCommand from "./WorkerCommand.ts"

/** The whole command line. */
export const postwire = Command.make("postwire").pipe(
  Command.withDescription("A client, a local service and exports for a social posting service."),
  Command.withSubcommands([Demo.command, SandboxCommand.command, WorkerCommand.command, StatusCommand.command])
)

/** Runs the command line of this process. */
export const run = (): void => {
  Command.run(postwire, { version: packageJson.version }).pipe(
    Effect.tapCause(report),
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain({ disableErrorReporting: true })
  )
}

/** Says on standard error what went wrong: an expected failure in words, a defect with its stack. */
const report = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause) || !Runtime.getErrorReported(Cause.squash(cause))) return Effect.void
  return Console.error(`postwire: ${
    Option.match(Cause.findErrorOption(cause), {
      onNone: () => Cause.pretty(cause),
      onSome: (error) => messagesOf(error).join(": ")
    })
  }`)
}

/** The messages of an error and of what caused it. */
const messagesOf = (error: unknown): ReadonlyArray<string> =>
  error instanceof Error ? [error.message, ...messagesOf(error.cause)] : []

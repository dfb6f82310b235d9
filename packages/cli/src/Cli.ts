/** The `postwire` command. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import packageJson from "../package.json" with { type: "json" }
import * as Demo from "./Demo.ts"
import * as SandboxCommand from "./SandboxCommand.ts"

/** The whole command line. */
export const postwire = Command.make("postwire").pipe(
  Command.withDescription("A client, a local service and exports for a social posting service."),
  Command.withSubcommands([Demo.command, SandboxCommand.command])
)

/** Runs the command line of this process. */
export const run = (): void => {
  Command.run(postwire, { version: packageJson.version }).pipe(
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain
  )
}

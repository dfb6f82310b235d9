/** The `postwire` command. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import packageJson from "../package.json" with { type: "json" }
import * as AccountsCommand from "./commands/AccountsCommand.ts"
import * as CallCommand from "./commands/CallCommand.ts"
import * as ComplyCommand from "./commands/ComplyCommand.ts"
import * as ConversationCommand from "./commands/ConversationCommand.ts"
import * as CountsCommand from "./commands/CountsCommand.ts"
import * as Demo from "./commands/Demo.ts"
import * as DoctorCommand from "./commands/DoctorCommand.ts"
import * as ExportCommand from "./commands/ExportCommand.ts"
import * as HydrateCommand from "./commands/HydrateCommand.ts"
import * as ListsCommand from "./commands/ListsCommand.ts"
import * as LoginCommand from "./commands/LoginCommand.ts"
import * as LogoutCommand from "./commands/LogoutCommand.ts"
import * as PlanCommand from "./commands/PlanCommand.ts"
import * as PostCommand from "./commands/PostCommand.ts"
import * as RequestCommand from "./commands/RequestCommand.ts"
import * as RulesCommand from "./commands/RulesCommand.ts"
import * as SandboxCommand from "./commands/SandboxCommand.ts"
import * as SpendCommand from "./commands/SpendCommand.ts"
import * as StatusCommand from "./commands/StatusCommand.ts"
import * as StreamCommand from "./commands/StreamCommand.ts"
import * as ThreadCommand from "./commands/ThreadCommand.ts"
import * as UploadCommand from "./commands/UploadCommand.ts"
import * as WorkerCommand from "./commands/WorkerCommand.ts"
import * as ErrorReport from "./terminal/ErrorReport.ts"
import * as Presenter from "./terminal/Presenter.ts"
import * as Report from "./terminal/Report.ts"
import * as StandardOutput from "./terminal/StandardOutput.ts"
import { Terminal } from "./terminal/Terminal.ts"

/** `--debug`. Its value is read from the arguments when the command has failed. */
const Debug = GlobalFlag.Setting("debug")({
  flag: Flag.Boolean("debug").pipe(
    Flag.withDescription("Show errors in full detail"),
    Flag.withDefault(false)
  )
})

/** The whole command line. */
export const postwire = Command.make("postwire").pipe(
  Command.withDescription("A client, a local service and exports for a social posting service."),
  Command.withSubcommands([
    ExportCommand.command,
    PlanCommand.command,
    StreamCommand.command,
    HydrateCommand.command,
    ComplyCommand.command,
    CallCommand.command,
    RequestCommand.command,
    CountsCommand.command,
    SpendCommand.command,
    ConversationCommand.command,
    ListsCommand.command,
    RulesCommand.command,
    PostCommand.command,
    UploadCommand.command,
    ThreadCommand.command,
    LoginCommand.command,
    LogoutCommand.command,
    AccountsCommand.command,
    DoctorCommand.command,
    Demo.command,
    SandboxCommand.command,
    WorkerCommand.command,
    StatusCommand.command
  ]),
  Command.withGlobalFlags([Debug])
)

const isDebug = process.argv.includes("--debug")

/** Runs the command line of this process. */
export const run = (): void => {
  const arrived = StandardOutput.watch()
  Command.run(postwire, { version: packageJson.version }).pipe(
    Effect.andThen(arrived),
    Effect.tapCause((cause) => ErrorReport.report(cause, isDebug)),
    Effect.provide([NodeServices.layer, Logger.layer([logger]), Presenter.layer]),
    NodeRuntime.runMain({ disableErrorReporting: true })
  )
}

/** The same notice is not repeated for this long, in milliseconds. */
const isNews = Report.news(60_000)

/** Shows the log lines of libraries, such as that a database is unavailable, as notices, except those of the cluster's engine. */
const logger = Logger.make(({ fiber, message }) => {
  const { module = "" } = fiber.getRef(References.CurrentLogAnnotations)
  if (String(module).startsWith("effect/") && !isDebug) return
  const text = Array.isArray(message) ? message.join(" ") : String(message)
  if (!isNews(text, Monotonic.millisUnsafe(fiber.getRef(Clock.Clock)))) return
  Report.speak(fiber.getRef(Console.Console), fiber.getRef(Terminal))(text)
})

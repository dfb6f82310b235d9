/** The `postwire` command. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import packageJson from "../package.json" with { type: "json" }
import * as Args from "./terminal/Args.ts"
import * as ErrorReport from "./terminal/ErrorReport.ts"
import * as Presenter from "./terminal/Presenter.ts"
import * as Report from "./terminal/Report.ts"
import * as StandardOutput from "./terminal/StandardOutput.ts"
import { Terminal } from "./terminal/Terminal.ts"

/** `--debug`. Its value is read from the arguments when the command has failed. */
const Debug = GlobalFlag.Setting("debug")({
  flag: Args.toggle("debug", "Show errors in full detail")
})

/** The commands in the order of the help. Each is a module of its own: all take three times as long to load as one. */
const commands = {
  export: () => import("./commands/ExportCommand.ts"),
  plan: () => import("./commands/PlanCommand.ts"),
  stream: () => import("./commands/StreamCommand.ts"),
  hydrate: () => import("./commands/HydrateCommand.ts"),
  comply: () => import("./commands/ComplyCommand.ts"),
  call: () => import("./commands/CallCommand.ts"),
  request: () => import("./commands/RequestCommand.ts"),
  counts: () => import("./commands/CountsCommand.ts"),
  spend: () => import("./commands/SpendCommand.ts"),
  conversation: () => import("./commands/ConversationCommand.ts"),
  lists: () => import("./commands/ListsCommand.ts"),
  rules: () => import("./commands/RulesCommand.ts"),
  post: () => import("./commands/PostCommand.ts"),
  upload: () => import("./commands/UploadCommand.ts"),
  thread: () => import("./commands/ThreadCommand.ts"),
  login: () => import("./commands/LoginCommand.ts"),
  logout: () => import("./commands/LogoutCommand.ts"),
  accounts: () => import("./commands/AccountsCommand.ts"),
  doctor: () => import("./commands/DoctorCommand.ts"),
  demo: () => import("./commands/Demo.ts"),
  sandbox: () => import("./commands/SandboxCommand.ts"),
  worker: () => import("./commands/WorkerCommand.ts"),
  status: () => import("./commands/StatusCommand.ts")
}

/** The command line for these arguments: the command that they begin with, none for the version, all for help and suggestions. */
export const load = async (args: ReadonlyArray<string>) => {
  const named = Object.entries(commands).filter(([name]) => name === args[0])
  const needed = named.length > 0 || args.join() === "--version" ? named : Object.entries(commands)
  const loaded = await Promise.all(needed.map(([, load]) => load()))
  return Command.make("postwire").pipe(
    Command.withSubcommands(loaded.map(({ command }) => command)),
    Command.withGlobalFlags([Debug]),
    Args.help("Client, exports and local sandbox for X's (formerly Twitter's) API v2.")
  )
}

const isDebug = process.argv.includes("--debug")

/** Runs the command line of this process. */
export const run = async (): Promise<void> => {
  const arrived = StandardOutput.watch()
  const postwire = await load(process.argv.slice(2))
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

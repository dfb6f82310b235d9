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
import { groups, lines, type Name } from "./commands/Lines.ts"
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

const Quiet = GlobalFlag.Setting("quiet")({
  flag: Args.toggle("quiet", "Show only results and errors: no progress, no notices")
})

/** Each command is a module of its own: all take three times as long to load as one. */
const commands = {
  sync: () => import("./commands/SyncCommand.ts"),
  search: () => import("./commands/SearchCommand.ts"),
  query: () => import("./commands/QueryCommand.ts"),
  archive: () => import("./commands/ArchiveCommand.ts"),
  export: () => import("./commands/ExportCommand.ts"),
  plan: () => import("./commands/PlanCommand.ts"),
  stream: () => import("./commands/StreamCommand.ts"),
  hydrate: () => import("./commands/HydrateCommand.ts"),
  analytics: () => import("./commands/AnalyticsCommand.ts"),
  comply: () => import("./commands/ComplyCommand.ts"),
  call: () => import("./commands/CallCommand.ts"),
  request: () => import("./commands/RequestCommand.ts"),
  counts: () => import("./commands/CountsCommand.ts"),
  spend: () => import("./commands/SpendCommand.ts"),
  conversation: () => import("./commands/ConversationCommand.ts"),
  lists: () => import("./commands/ListsCommand.ts"),
  rules: () => import("./commands/RulesCommand.ts"),
  webhooks: () => import("./commands/WebhooksCommand.ts"),
  post: () => import("./commands/PostCommand.ts"),
  upload: () => import("./commands/UploadCommand.ts"),
  thread: () => import("./commands/ThreadCommand.ts"),
  article: () => import("./commands/ArticleCommand.ts"),
  chat: () => import("./commands/ChatCommand.ts"),
  login: () => import("./commands/LoginCommand.ts"),
  logout: () => import("./commands/LogoutCommand.ts"),
  accounts: () => import("./commands/AccountsCommand.ts"),
  config: () => import("./commands/ConfigCommand.ts"),
  doctor: () => import("./commands/DoctorCommand.ts"),
  migrate: () => import("./commands/MigrateCommand.ts"),
  demo: () => import("./commands/Demo.ts"),
  listen: () => import("./commands/ListenCommand.ts"),
  replay: () => import("./commands/ReplayCommand.ts"),
  trigger: () => import("./commands/TriggerCommand.ts"),
  mcp: () => import("./commands/McpCommand.ts"),
  approve: () => import("./commands/ApproveCommand.ts"),
  sandbox: () => import("./commands/SandboxCommand.ts"),
  worker: () => import("./commands/WorkerCommand.ts"),
  status: () => import("./commands/StatusCommand.ts"),
  help: () => import("./commands/HelpCommand.ts")
} satisfies Record<Name, unknown>

const isName = (word: string | undefined): word is Name => word !== undefined && Object.hasOwn(lines, word)

const names = Object.keys(lines).filter(isName)

/** A command as a list shows it. */
const listed = (name: Name) => Command.make(name).pipe(Args.help(lines[name]))

/** The arguments without `help COMMAND`, which is `COMMAND --help`. */
export const plain = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, second, ...rest] = args
  if (first !== "help" || second?.startsWith("-") === true) return args
  return second === undefined ? ["--help"] : isName(second) ? [second, ...rest, "--help"] : args
}

/** The names of the modules that these arguments need: help and suggestions have enough with the lines. */
const neededFor = (args: ReadonlyArray<string>): ReadonlyArray<Name> =>
  args.some((arg) => /^--(completions|wizard)\b/.test(arg)) ? names : args.filter(isName)

/** The command line for these arguments: the command that they begin with, none for the version, all for help and suggestions. */
export const load = async (args: ReadonlyArray<string>) => {
  const needed = neededFor(args)
  const loaded = await Promise.all(
    names
      .filter((name) => isName(args[0]) ? name === args[0] : args.join() !== "--version")
      .map(async (name) => [name, needed.includes(name) ? (await commands[name]()).command : listed(name)] as const)
  )
  return Command.make("postwire").pipe(
    Command.withSubcommands(
      Object.entries(groups).flatMap(([group, own]) => {
        const commands = loaded.flatMap(([name, command]) => name in own ? [command] : [])
        return commands.length === 0 ? [] : [{ group, commands }]
      })
    ),
    Command.provideEffect(
      Terminal,
      Effect.zipWith(Terminal, Quiet, (terminal, isQuiet) => isQuiet ? { ...terminal, isQuiet } : terminal)
    ),
    Command.withGlobalFlags([Debug, Quiet]),
    Args.help("Client, exports and local sandbox for X's (formerly Twitter's) API v2.", undefined, {
      "postwire help export": "A command, and its flags",
      "postwire help environment": "A topic: credentials, environment, exit-codes or settings"
    })
  )
}

const isDebug = process.argv.includes("--debug")

/** Runs the command line of this process. */
export const run = async (): Promise<void> => {
  const arrived = StandardOutput.watch()
  const args = plain(process.argv.slice(2))
  const postwire = await load(args)
  Command.runWith(postwire, { version: packageJson.version })(args).pipe(
    Effect.andThen(arrived),
    Effect.tapCause((cause) => ErrorReport.report(cause, isDebug)),
    Effect.provideService(Report.IsJson, process.argv.includes("--json")),
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

/** `postwire config`: shows and changes the defaults of a user and of a project. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Config from "../connection/Config.ts"
import * as Variables from "../connection/Variables.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

const nameArgument = Argument.String("name").pipe(
  Argument.withDescription(`One of ${Config.settings.map(({ name }) => name).join(", ")}`)
)

const project = Args.toggle("project", "The project's file, postwire.json, instead of your own")

const fileOf = (isProject: boolean) =>
  isProject ?
    Config.projectFile :
    Effect.mapError(Config.userFile, () =>
      new ErrorReport.Failure({ message: "There is no home folder", advice: "Set HOME, or XDG_CONFIG_HOME." }))

/** The setting with its value and the place that it is from. */
const entryOf = Effect.fnUntraced(function*({ name, usual, variable }: Config.Setting) {
  const set = Variables.valueOf(yield* Variables.Environment, variable)
  const { file, value } = (yield* Config.all).get(name) ?? {}
  return {
    name,
    value: set ?? value ?? usual,
    from: set !== undefined ? variable : file?.path ?? (usual === undefined ? undefined : "default")
  }
})

const list = Command.make(
  "list",
  { json: Report.json },
  Effect.fnUntraced(function*({ json }) {
    const settings = yield* Effect.forEach(Config.settings, entryOf)
    const { output } = yield* Terminal
    yield* Report.print(json, { settings }, () => {
      const rows = [
        ["SETTING", "VALUE", "FROM"],
        ...settings.map(({ from = "", name, value = "" }) => [name, value, from])
      ]
      const widths = [0, 1].map((i) => Math.max(...rows.map((row) => Text.width(row[i] ?? ""))))
      return rows.map((row) =>
        Text.cut(row.map((cell, i) => Text.pad(cell, widths[i] ?? 0)).join("  ").trimEnd(), output.columns)
      )
    }, Report.withTitles)
  })
).pipe(Args.help("List all settings, their values, and where each comes from.", "List all settings"))

const get = Command.make(
  "get",
  { name: nameArgument },
  Effect.fnUntraced(function*({ name }) {
    const { value } = yield* entryOf(yield* Config.find(name))
    if (value === undefined) {
      return yield* ErrorReport.refuse(`${name} is not set`, `postwire config set ${name} VALUE sets it.`)
    }
    yield* Report.lines(value)
  })
).pipe(Args.help("Print the value of a setting.", "Print the value of a setting"))

const set = Command.make(
  "set",
  { name: nameArgument, value: Argument.String("value"), project },
  Effect.fnUntraced(function*({ name, project, value }) {
    const setting = yield* Config.find(name)
    const file = yield* fileOf(project)
    yield* Config.check(setting, value, file)
    yield* Config.change(file, setting, value)
    const { from, value: used } = yield* entryOf(setting)
    yield* Report.say(
      `${setting.name} is ${value} in ${file.path}.`,
      from === file.path ? undefined : `Commands here use ${used}, from ${from}.`
    )
  })
).pipe(Args.help("Set a default, for all commands of yours or for those in a project.", "Set a default", {
  "postwire config set account ada": "Your own default",
  "postwire config set account bot --project": "In this folder and those below"
}))

const unset = Command.make(
  "unset",
  { name: nameArgument, project },
  Effect.fnUntraced(function*({ name, project }) {
    const setting = yield* Config.find(name)
    const file = yield* fileOf(project)
    yield* Config.change(file, setting, undefined)
    yield* Report.say(`${setting.name} is removed from ${file.path}.`)
  })
).pipe(Args.help("Remove a default from a file.", "Remove a default"))

const path = Command.make(
  "path",
  { project },
  Effect.fnUntraced(function*({ project }) {
    yield* Report.lines((yield* fileOf(project)).path)
  })
).pipe(Args.help("Print where the file of defaults is.", "Print where the file is"))

export const command = Command.make("config").pipe(
  Command.withSubcommands([list, get, set, unset, path]),
  Args.help(
    "Show and change defaults: your own, and those of the nearest postwire.json in this folder or above, which take precedence. " +
      "Variables and flags override both. No secrets are kept there. postwire help settings explains each.",
    lines.config,
    {
      "postwire config list": "Each value, and where it comes from",
      "postwire config set askAbove 20": "Ask before spending more than $20"
    }
  )
)

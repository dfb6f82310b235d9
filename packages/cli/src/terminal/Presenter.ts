/** Shows help, and the two lines for an invalid command line, with suggestions. */
import type { NonShowHelpErrors } from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import type { HelpDoc } from "effect/cli/HelpDoc"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { closestMatch } from "leven"
import * as Help from "./Help.ts"
import * as Report from "./Report.ts"
import { forShells } from "./ShellWords.ts"
import { Terminal } from "./Terminal.ts"

/** Help goes to standard output, errors to standard error. */
export const layer = CliOutput.layerPresenter({
  present: (event) => {
    switch (event._tag) {
      case "Help":
        return Effect.flatMap(
          Terminal,
          ({ output }) => Console.log(Help.render(Help.sectionsOf(event.helpDoc), output))
        )
      case "Version":
        return CliOutput.defaultPresenter.present(event)
      case "InvalidInvocation":
        return Effect.gen(function*() {
          const misspelt = event.errors.filter((error) =>
            error._tag === "UnknownSubcommand" && meantBy(error, event.helpDoc).length > 0
          )
          // The flags of a misspelt command are unknown for that reason alone.
          const errors = misspelt.length > 0 ? misspelt : event.errors
          // Suggestions follow after an empty line.
          const messages = errors.map(({ message }) => forShells(message.split("\n\n", 1)[0] ?? ""))
          const advice = adviceFor({ ...event, errors })
          if (yield* Report.IsJson) {
            const [{ _tag: tag } = { _tag: "ShowHelp" }] = errors
            return yield* Report.sayFailure({ tag, message: messages.join(" "), advice, exitCode: 1 })
          }
          yield* Effect.forEach(
            messages,
            (message, i) => Report.say(message, i < messages.length - 1 ? undefined : advice),
            { discard: true }
          )
        })
    }
  }
})

const adviceFor = ({ commandPath, errors, helpDoc }: CliOutput.Presenter.InvalidInvocation): string => {
  const meant = errors.flatMap((error) => meantBy(error, helpDoc))
  const all = errors.some(({ _tag }) => _tag === "UnknownSubcommand") ? "commands" : "flags with their rules"
  const isEarly = meant.length === 0 && commandPath.length === 1 &&
    errors.some(({ _tag }) => _tag === "UnrecognizedOption")
  return `${meant.length === 0 ? "" : `Did you mean ${listed(meant)}? `}${
    isEarly ? "The flags of a command come after its name. " : ""
  }${commandPath.join(" ")} --help lists all ${all}.`
}

/** Suggestions: similar names, our names for the live service's, and commands with the same words. */
const meantBy = (
  error: NonShowHelpErrors,
  { flags, globalFlags = [], subcommands = [] }: HelpDoc
): ReadonlyArray<string> => {
  if (!("suggestions" in error) || error.suggestions.length > 0) return "suggestions" in error ? error.suggestions : []
  if (error._tag === "UnrecognizedOption") {
    const flag = neutral(error.option).replace(/[._]/g, "-")
    const meant = closestMatch(flag, [...flags, ...globalFlags].map(({ name }) => `--${name}`), { maxDistance: 2 })
    return meant === undefined ? [] : [meant]
  }
  const names = subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
  const typed = neutral(error.subcommand)
  // An operation, without the command that calls it.
  if (names.includes("call") && /[a-z][A-Z]/.test(typed)) return [`call ${typed}`]
  return names.includes(typed) ? [typed] : sharing(typed, names)
}

const neutral = (word: string): string => word.replace("Tweet", "Post").replace("tweet", "post")

/** The most suggestions. */
const suggested = 4

/** The names with every word that was typed (`search`, `users_posts`); those that start with it come first. */
const sharing = (typed: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const words = typed.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z]+/).filter((word) => word !== "")
  const begins = (name: string): number => name.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1
  return words.length === 0 ? [] : names
    .filter((name) => words.every((word) => name.toLowerCase().includes(word)))
    .sort((a, b) => begins(a) - begins(b) || a.length - b.length)
    .slice(0, suggested)
}

const listed = (names: ReadonlyArray<string>): string =>
  names.length < 3 ? names.join(" or ") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`

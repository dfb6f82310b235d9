/** Formats help, and the two lines for an invalid command line, with suggestions. */
import type { NonShowHelpErrors } from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import type { FlagDoc, HelpDoc } from "effect/cli/HelpDoc"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Report from "./Report.ts"
import { forShells } from "./ShellWords.ts"
import { Terminal } from "./Terminal.ts"
import * as Text from "./Text.ts"

/** Help goes to standard output, errors to standard error. */
export const layer = CliOutput.layerPresenter({
  present: (event) => {
    switch (event._tag) {
      case "Help":
        return Effect.gen(function*() {
          const { canColor } = yield* TerminalCapabilities
          const { output } = yield* Terminal
          const { flags } = event.helpDoc
          const help = CliOutput.defaultFormatter({ colors: canColor }).formatHelpDoc({
            ...event.helpDoc,
            flags: [
              ...flags.filter(({ required }) => required).map(marked),
              ...flags.filter(({ required }) => !required)
            ]
          })
          yield* Console.log(help.split("\n\n").map((section) => fit(section, output.columns)).join("\n\n"))
        })
      case "Version":
        return CliOutput.defaultPresenter.present(event)
      case "InvalidInvocation":
        return Effect.forEach(event.errors, (error, i) =>
          Report.say(
            // Suggestions follow after an empty line.
            forShells(error.message.split("\n\n", 1)[0] ?? ""),
            i < event.errors.length - 1 ? undefined : adviceFor(event)
          ), { discard: true })
    }
  }
})

/** Marks required flags. */
const marked = (flag: FlagDoc): FlagDoc => ({
  ...flag,
  description: Option.some(`${Option.getOrElse(flag.description, () => "")} (required)`.trimStart())
})

const adviceFor = ({ commandPath, errors, helpDoc }: CliOutput.Presenter.InvalidInvocation): string => {
  const meant = errors.flatMap((error) => meantBy(error, helpDoc))
  const all = errors.some(({ _tag }) => _tag === "UnknownSubcommand") ? "commands" : "flags with their rules"
  return `${meant.length === 0 ? "" : `Did you mean ${listed(meant)}? `}${
    commandPath.join(" ")
  } --help lists all ${all}.`
}

/** Suggestions: similar names, our names for the live service's, and commands with the same words. */
const meantBy = (error: NonShowHelpErrors, { flags, subcommands = [] }: HelpDoc): ReadonlyArray<string> => {
  if (!("suggestions" in error) || error.suggestions.length > 0) return "suggestions" in error ? error.suggestions : []
  if (error._tag === "UnrecognizedOption") {
    const flag = neutral(error.option).replace(/[._]/g, "-")
    return flags.map(({ name }) => `--${name}`).filter((name) => name === flag)
  }
  const names = subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
  const typed = neutral(error.subcommand)
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

/** The widest left column; wider names get a line of their own. */
const widest = 30

/** Fits a section of help to the terminal: names on the left, descriptions on the right. */
const fit = (section: string, columns: number): string => {
  const lines = section.split("\n")
  if (lines.every((line) => Text.width(line) <= columns)) return section
  const rows = lines.map((line) => /^ {2}(\S.*?) {2,}(\S.*)$/.exec(line)?.slice(1) ?? [line])
  const left =
    Math.min(widest, Math.max(...rows.map(([name = "", text]) => text === undefined ? 0 : Text.width(name)))) + 4
  return rows.flatMap(([name = "", text]) => {
    if (text === undefined) {
      return Text.wrap(name.trim(), columns - 2).map((line) => name.startsWith(" ") ? `  ${line}` : line)
    }
    const [first = "", ...more] = Text.wrap(text, columns - left).map((line) => " ".repeat(left) + line)
    const label = `  ${name}`
    return Text.width(label) < left - 1
      ? [Text.pad(label, left) + first.slice(left), ...more]
      : [...Text.wrap(name, columns - 2, 2).map((line) => `  ${line}`), first, ...more]
  }).join("\n")
}

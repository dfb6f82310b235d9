/** The output of all commands: results on standard output, notices on standard error. */
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Args from "./Args.ts"
import * as Palette from "./Palette.ts"
import { type Screen, Terminal } from "./Terminal.ts"
import * as Text from "./Text.ts"

export const json = Args.toggle("json", "Print JSON")

/** `--json` of commands that run until they are stopped. */
export const jsonWhenReady = Args.toggle("json", "Print one JSON line when ready")

/** Adds colours to text without control characters. */
type Paint = (text: string, screen: Screen) => string

/** Prints a result: as JSON for programs, or as lines for users. Control characters are escaped. */
export const print = (
  json: boolean,
  value: unknown,
  lines: () => ReadonlyArray<string>,
  paint: Paint = (text) => text
): Effect.Effect<void> =>
  Effect.flatMap(Terminal, ({ output }) =>
    Console.log(
      json ? Text.plainJson(JSON.stringify(value, null, 2)) : paint(Text.plain(lines().join("\n")), output)
    ))

/** Paints the first line, which names the columns. */
export const withTitles: Paint = (text, screen) => text.replace(/^.*/, (line) => Palette.paint(screen, "title", line))

export const lines = (...lines: ReadonlyArray<string>): Effect.Effect<void> => print(false, undefined, () => lines)

/** Prints a part of a result, or that a command is ready: as one line of JSON, or as lines for users. */
export const part = (
  json: boolean,
  value: unknown,
  lines: ReadonlyArray<string>,
  paint: Paint = (text) => text
): Effect.Effect<void> =>
  Effect.flatMap(
    Terminal,
    ({ output }) =>
      Console.log(json ? Text.plainJson(JSON.stringify(value)) : paint(Text.plain(lines.join("\n")), output))
  )

/** Prints data unchanged; on a terminal, control characters are escaped. */
export const data = (text: string): Effect.Effect<void> =>
  Effect.flatMap(
    Terminal,
    ({ output }) => Console.log(output.isTerminal ? Text.plainJson(text.replaceAll("\r\n", "\n")) : text)
  )

/** Shows a notice on standard error, and advice if there is any. With `--quiet` it is omitted. */
export const say = (text: string, advice?: string): Effect.Effect<void> =>
  Effect.map(speaker, (speak) => speak(text, advice))

/** Shows an error, or a part of a prompt, also with `--quiet`. */
export const insist = (text: string, advice?: string): Effect.Effect<void> =>
  Effect.updateService(say(text, advice), Terminal, (terminal) => ({ ...terminal, isQuiet: false }))

/** The function that shows a notice outside Effects. */
export const speaker: Effect.Effect<ReturnType<typeof speak>> = Effect.gen(function*() {
  return speak(yield* Console.Console, yield* Terminal)
})

/** Formats a notice and its advice: a line each, wrapped on a terminal. */
export const speak =
  (to: Console.Console, { errors, isQuiet = false }: Terminal) => (text: string, advice?: string): void => {
    if (isQuiet) return
    const line = `${Palette.paint(errors, "faint", "postwire:")} ${Text.oneLine(text)}`
    const shown = errors.isTerminal ? Text.wrap(line, errors.columns, 2).join("\n") : line
    if (advice === undefined) return to.error(begin(errors) + shown)
    const advised = errors.isTerminal ? Text.wrap(advice, errors.columns - 2) : [advice]
    to.error([begin(errors) + shown, ...advised.map((line) => `  ${line}`)].join("\n"))
  }

/** On a terminal, a notice replaces the progress bar, which is drawn again below. */
const begin = ({ isTerminal }: Screen): string => isTerminal ? "\r\u001b[K" : ""

/** True if `--json` is given: a failure is a line of JSON then. */
export const IsJson = Context.Reference<boolean>("@postwire/cli/terminal/Report/IsJson", { defaultValue: () => false })

/** The failure of a command. */
export interface Failed {
  readonly tag: string
  readonly message: string
  readonly advice?: string | undefined
  readonly exitCode: number
  /** Everything that is known, with `--debug`. */
  readonly detail?: string | undefined
}

/** Shows on standard error how a command has failed: as lines, or with `--json` as one line of JSON. */
export const sayFailure = Effect.fnUntraced(function*(failed: Failed, lines: ReadonlyArray<string> = linesOf(failed)) {
  const { errors } = yield* Terminal
  const text = (yield* IsJson) ?
    Text.plainJson(JSON.stringify({ error: failed }))
    : Text.plain(lines.join("\n")).replace(/^postwire:/, (name) => Palette.mark(errors, "bad", name))
  yield* Console.error(begin(errors) + text)
})

/** A failure as lines. Texts of the service in it cannot pass for lines of this program. */
export const linesOf = ({ advice, detail, message }: Omit<Failed, "exitCode" | "tag">): ReadonlyArray<string> => [
  `postwire: ${Text.oneLine(message)}`,
  ...advice === undefined ? [] : [`  ${advice}`],
  ...detail === undefined ? [] : quoted(detail.split("\n"))
]

/** Lines with a mark before each. */
export const quoted = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map((line) => `  | ${line}`)

/** Returns a function that accepts a text unless it was accepted less than `pause` milliseconds ago. */
export const news = (pause: number): (text: string, now: number) => boolean => {
  const said = new Map<string, number>()
  return (text, now) => {
    if (now - (said.get(text) ?? -pause) < pause) return false
    if (said.size > 100) said.clear()
    said.set(text, now)
    return true
  }
}

/** The most partial errors shown. */
const shown = 10

/** Shows the first partial errors. `before` is the number of earlier ones. */
export const sayProblems = (problems: ReadonlyArray<object>, before = 0): Effect.Effect<void> =>
  Effect.forEach(problems.slice(0, Math.max(0, shown - before)), (problem) => insist(describe(problem)), {
    discard: true
  })

/** Shows how many partial errors were omitted. */
export const sayMoreProblems = (total: number): Effect.Effect<void> =>
  total > shown ? insist(`and ${Text.count(total - shown)} more`) : Effect.void

interface Described {
  readonly detail?: unknown
  readonly message?: unknown
  readonly title?: unknown
  readonly value?: unknown
}

const describe = ({ detail, message, title, value }: Described): string => {
  const what = String(detail ?? message ?? title ?? "an error without a description")
  return `${what}${typeof value === "string" && !what.includes(value) ? ` (${value})` : ""}`
}

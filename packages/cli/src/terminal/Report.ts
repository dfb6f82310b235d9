/** What every command says in one way: answers on standard output, notices on standard error. */
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { type Screen, Terminal } from "./Terminal.ts"
import * as Text from "./Text.ts"

/** `--json`. */
export const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON"), Flag.withDefault(false))

/** `--json` of commands that run until they are ended. */
export const jsonWhenReady = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON line when ready"),
  Flag.withDefault(false)
)

/** Prints an answer: as JSON for programs, or as lines for people. Neither can steer a terminal. */
export const print = (json: boolean, value: unknown, lines: () => ReadonlyArray<string>): Effect.Effect<void> =>
  json
    ? Effect.andThen(Console.log(Text.plainJson(JSON.stringify(value, null, 2))), sayPreamble)
    : Console.log(Text.plain(lines().join("\n")))

/** Of the script of the workspace: npm writes what it runs to standard output first, unless it is told not to. */
const followsPreamble = Config.all({
  script: Config.String("npm_lifecycle_event"),
  level: Config.String("npm_config_loglevel").pipe(Config.withDefault("notice"))
}).pipe(
  Config.map(({ level, script }) => script === "postwire" && level !== "silent"),
  Config.withDefault(false)
)

const sayPreamble: Effect.Effect<void> = Effect.gen(function*() {
  const { output } = yield* Terminal
  if (output.isTerminal || !(yield* Effect.orElseSucceed(followsPreamble, () => false))) return
  yield* say("npm has written lines of its own before the JSON.", "npm run -s postwire -- leaves them out.")
})

/** Prints lines for people. */
export const lines = (...lines: ReadonlyArray<string>): Effect.Effect<void> => print(false, undefined, () => lines)

/** Prints that a command is ready: as one JSON line for programs, or as lines for people. */
export const ready = (json: boolean, value: unknown, lines: ReadonlyArray<string>): Effect.Effect<void> =>
  json ? Effect.andThen(Console.log(JSON.stringify(value)), sayPreamble) : Console.log(lines.join("\n"))

/** Prints data as it is; only a terminal is not steered by it. */
export const data = (text: string): Effect.Effect<void> =>
  Effect.flatMap(
    Terminal,
    ({ output }) => Console.log(output.isTerminal ? Text.plainJson(text.replaceAll("\r\n", "\n")) : text)
  )

/** Says something on standard error while a command runs, and what to do where that is known. */
export const say = (text: string, advice?: string): Effect.Effect<void> =>
  Effect.map(speaker, (speak) => speak(text, advice))

/** The function that says something on standard error where no Effect runs. */
export const speaker: Effect.Effect<ReturnType<typeof speak>> = Effect.gen(function*() {
  return speak(yield* Console.Console, yield* Terminal)
})

/** A notice and its advice are a line each, which a terminal shows broken at spaces. */
export const speak = (to: Console.Console, { errors }: Terminal) => (text: string, advice?: string): void => {
  const line = `postwire: ${Text.oneLine(text)}`
  const shown = errors.isTerminal ? Text.wrap(line, errors.columns, 2).join("\n") : line
  if (advice === undefined) return to.error(begin(errors) + shown)
  const advised = errors.isTerminal ? Text.wrap(advice, errors.columns - 2) : [advice]
  to.error([begin(errors) + shown, ...advised.map((line) => `  ${line}`)].join("\n"))
}

/** On a terminal, what is said takes the place of a progress bar, which is drawn anew below. */
const begin = ({ isTerminal }: Screen): string => isTerminal ? "\r\u001b[K" : ""

/** Says on standard error how a command has failed. */
export const sayFailure = (lines: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.flatMap(Terminal, ({ errors }) => Console.error(begin(errors) + Text.plain(lines.join("\n"))))

/** Tells whether a text is news: the same is none for so many milliseconds. */
export const news = (pause: number): (text: string, now: number) => boolean => {
  const said = new Map<string, number>()
  return (text, now) => {
    if (now - (said.get(text) ?? -pause) < pause) return false
    if (said.size > 100) said.clear()
    said.set(text, now)
    return true
  }
}

/** So many partial errors are told one by one. */
const shown = 10

/** Says what partial errors there are: the first ones, and how many more. `before` were there before these. */
export const sayProblems = (problems: ReadonlyArray<object>, before = 0): Effect.Effect<void> =>
  Effect.forEach(problems.slice(0, Math.max(0, shown - before)), (problem) => say(describe(problem)), { discard: true })

/** Says how many of so many partial errors were not told one by one. */
export const sayMoreProblems = (total: number): Effect.Effect<void> =>
  total > shown ? say(`and ${Text.count(total - shown)} more`) : Effect.void

/** The members of a problem that people read. */
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

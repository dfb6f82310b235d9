/** The failure of a command: its own errors, the two lines shown for every error, and the exit code. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import { InvalidParameters } from "@postwire/core/errors/Errors"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { isSqlError } from "effect/sql/SqlError"
import * as Advice from "./Advice.ts"
import * as Report from "./Report.ts"
import { forShells } from "./ShellWords.ts"
import * as Text from "./Text.ts"

/** The exit code of a command ended by a signal. */
export const interrupted = 130

/** The result is complete except for parts that the service reported errors for. */
export class PartialErrors extends Schema.TaggedError<PartialErrors>()("PartialErrors", {
  operation: Schema.String,
  errors: Schema.Int,
  /** Names the place where the errors are shown. */
  advice: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = 3
  override get message(): string {
    return `${this.operation}: the service reported ${Text.quantity(this.errors, "errors")} for parts of the request`
  }
}

/** Flags contradict each other. */
export class Contradiction extends Schema.TaggedError<Contradiction>()("Contradiction", {
  reason: Schema.String,
  advice: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** Refuses more than one of some flags. */
export const oneOf = (flags: Readonly<Record<string, boolean>>): Effect.Effect<void, Contradiction> => {
  const names = Object.keys(flags)
  return Object.values(flags).filter(Boolean).length <= 1 ? Effect.void : refuse(
    `${names.slice(0, -1).join(", ")} and ${names.at(-1)} contradict each other`,
    "Pass one of them."
  )
}

/** Refuses a combination of flags. */
export const refuse = (reason: string, advice: string): Effect.Effect<never, Contradiction> =>
  Effect.fail(new Contradiction({ reason, advice }))

/** A given file cannot be used. */
export class FileUnusable extends Schema.TaggedError<FileUnusable>()("FileUnusable", {
  path: Schema.String,
  reason: Schema.String,
  advice: Schema.String
}) {
  override get message(): string {
    return `${this.path}: ${this.reason}`
  }
}

/** An argument breaks a rule. */
export class Unfit extends Schema.TaggedError<Unfit>()("Unfit", {
  /** A file, or a flag. */
  subject: Schema.String,
  rule: Schema.String,
  value: Schema.optional(Schema.String),
  advice: Schema.String
}) {
  override get message(): string {
    return `${this.subject} ${this.rule}.${this.value === undefined ? "" : ` Got ${this.value}.`}`
  }
}

/** A program's parameter as the command line names it: a file, or a flag. */
export interface Subject {
  readonly name: string
  readonly isFile: boolean
}

/** Reports invalid parameters in terms of the command line. */
export const inFlags =
  (subjectOf: (parameter: string) => Subject | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unfit, R> =>
    Effect.mapError(effect, (error) => {
      const subject = error instanceof InvalidParameters ? subjectOf(error.parameter) : undefined
      return error instanceof InvalidParameters && subject !== undefined
        ? new Unfit({
          subject: subject.name,
          rule: error.rule,
          value: error.value,
          advice: `${
            subject.isFile ? "Change the file, then run the same command again" : "Correct it"
          }; nothing was sent.`
        })
        : error
    })

/** An error with its context. */
class Situated extends Error {
  readonly situation: Advice.Situation
  override readonly [Runtime.errorExitCode]: number
  override readonly [Runtime.errorReported]: boolean
  constructor(error: unknown, situation: Advice.Situation) {
    super("", { cause: error })
    this.situation = situation
    this[Runtime.errorExitCode] = Runtime.getErrorExitCode(error)
    this[Runtime.errorReported] = Runtime.getErrorReported(error)
  }
}

/** Attaches the context to the errors of a command, for the report. */
export const within =
  (situation: Advice.Situation) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Situated, R> =>
    Effect.mapError(
      effect,
      (error) =>
        error instanceof Situated
          ? new Situated(error.cause, { ...error.situation, ...situation })
          : new Situated(error, situation)
    )

/** Reports an error on standard error; with `debug`, in all detail but for secrets. */
export const report = (cause: Cause.Cause<unknown>, debug: boolean): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause) || !Runtime.getErrorReported(Cause.squash(cause))) return Effect.void
  const text = Option.match(Cause.findErrorOption(cause), {
    // A full disk is not a defect of the program, wherever it occurs.
    onNone: () =>
      debug || DatabaseProblem.of(Cause.squash(cause)) === undefined
        ? [Cause.pretty(cause)]
        : explain(Cause.squash(cause)),
    onSome: (error) => [
      ...error instanceof Situated ? explain(error.cause, error.situation) : explain(error),
      ...debug ? [Cause.pretty(error instanceof Situated ? Cause.fail(error.cause) : cause)] : []
    ]
  })
  return Report.sayFailure(text)
}

/** The error, and advice if there is any. */
export const explain = (error: unknown, situation: Advice.Situation = {}): ReadonlyArray<string> => {
  const messages = messagesOf(error)
  const advice = Advice.of(error, messages, situation)
  const problem = advice === undefined ? DatabaseProblem.of(error) : undefined
  // The innermost message is that of the database or the system, which may not name the file.
  const said = problem === undefined || Predicate.isTagged(error, "StoreUnavailable")
    ? messages
    : [problem.reason, ...messages.slice(-1)]
  return linesOf(said, advice ?? problem?.advice ?? (isSqlError(error) ? addressAdvice : undefined), situation)
}

const addressAdvice = "Check that the database runs and that its address is right; existing data is safe."

const linesOf = (messages: ReadonlyArray<string>, advice: string | undefined, situation: Advice.Situation) => {
  const all = Text.joinLines(messages.join(": "))
  const what = `postwire: ${
    advice !== undefined && all.endsWith(`. ${advice}`) ? all.slice(0, -advice.length - 2) : all
  }`
  return advice === undefined ? [what] : [what, `  ${Advice.inSituation(advice, situation)}`]
}

/** A message without the advice for programs: commands have their own. */
export const forCommands = (text: string): string => {
  const end = Math.max(0, text.length - longestAdvice)
  return forShells(text.slice(0, end) + text.slice(end).replace(forPrograms, ""))
}

/** In characters. Messages may contain texts of the service, of any length. */
const longestAdvice = 1_000

/** Advice of the core and the sandbox, at the end of messages. */
const forPrograms = new RegExp(
  `(?:${
    [
      / Nothing is lost: check with getMediaUploadStatus, .*/,
      / If it is not there, publish the thread again .*/,
      / Publish the thread again under .*/,
      / Pass (it|them) to the client, or set [A-Z_, ]+( \(read .+\))?\.?/,
      / Request less, or raise spendLimit\./,
      / Try again later, or set spendLimit\.withoutStore\./,
      / Buy credits in the service's console\./,
      / Raise the cap in the service's console(, or wait until [\d-]+)?\./,
      /: choose another one, or 0 for any free port/,
      /\. Is the sandbox running\?/,
      / Add one with updateStreamRules or syncRules, then connect\./,
      / End one with deleteConnections, or wait until one is closed\./,
      / Do less for each item, set a larger bufferSize, .*/,
      / The items that waited there are lost; reconnect with resumeFrom\./
    ].map(({ source }) => source).join("|")
  })$`
)

/** The messages of an error and of its causes, without repetitions. */
const messagesOf = (error: unknown, said = ""): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return []
  const message = forCommands(error.message)
  const rest = messagesOf(error.cause, said + message)
  return said.includes(message) ? rest : [message, ...rest]
}

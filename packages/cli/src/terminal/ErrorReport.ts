/** How a command fails: the errors of its own, what every error means in two lines, and the exit code. */
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

/** The exit code of what a signal has ended. */
export const interrupted = 130

/** What could be answered is there, but the service reported errors for parts of what was asked. */
export class PartialErrors extends Schema.TaggedError<PartialErrors>()("PartialErrors", {
  operation: Schema.String,
  errors: Schema.Int,
  /** Where they are. */
  advice: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = 3
  override get message(): string {
    return `${this.operation}: the service reported ${Text.quantity(this.errors, "errors")} for parts of what was asked`
  }
}

/** The flags contradict each other. */
export class Contradiction extends Schema.TaggedError<Contradiction>()("Contradiction", {
  reason: Schema.String,
  advice: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** At most one of some flags may be given. */
export const oneOf = (flags: Readonly<Record<string, boolean>>): Effect.Effect<void, Contradiction> => {
  const names = Object.keys(flags)
  return Object.values(flags).filter(Boolean).length <= 1 ? Effect.void : refuse(
    `${names.slice(0, -1).join(", ")} and ${names.at(-1)} contradict each other`,
    "Pass one of them."
  )
}

/** Refuses what the flags ask for. */
export const refuse = (reason: string, advice: string): Effect.Effect<never, Contradiction> =>
  Effect.fail(new Contradiction({ reason, advice }))

/** A file that was named cannot be used. */
export class FileUnusable extends Schema.TaggedError<FileUnusable>()("FileUnusable", {
  path: Schema.String,
  reason: Schema.String,
  advice: Schema.String
}) {
  override get message(): string {
    return `${this.path}: ${this.reason}`
  }
}

/** What a command was given breaks a rule. */
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

/** What a parameter of a program is on the command line: a file, or a flag. */
export interface Subject {
  readonly name: string
  readonly isFile: boolean
}

/** Says what is wrong with parameters of a program as what the command was given. */
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

/** An error, and where it happened. */
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

/** Keeps what is known of where the errors of a command happen, for the report of them. */
export const within =
  (situation: Advice.Situation) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Situated, R> =>
    Effect.mapError(
      effect,
      (error) =>
        error instanceof Situated
          ? new Situated(error.cause, { ...error.situation, ...situation })
          : new Situated(error, situation)
    )

/** Says on standard error what went wrong; with `debug` everything that is known of it, less the secrets. */
export const report = (cause: Cause.Cause<unknown>, debug: boolean): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause) || !Runtime.getErrorReported(Cause.squash(cause))) return Effect.void
  const text = Option.match(Cause.findErrorOption(cause), {
    // A disk that is full is nobody's mistake in the program, wherever it was not expected.
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

/** What happened, and what to do where that is known. */
export const explain = (error: unknown, situation: Advice.Situation = {}): ReadonlyArray<string> => {
  const messages = messagesOf(error)
  const advice = Advice.of(error, messages, situation)
  const problem = advice === undefined ? DatabaseProblem.of(error) : undefined
  // The one furthest down is what the database or the system itself has said, which does not name the file of a sandbox.
  const said = problem === undefined || Predicate.isTagged(error, "StoreUnavailable")
    ? messages
    : [problem.reason, ...messages.slice(-1)]
  return told(said, advice ?? problem?.advice ?? (isSqlError(error) ? addressAdvice : undefined), situation)
}

const addressAdvice = "See that the database runs and that its address is right; what is there stays."

const told = (messages: ReadonlyArray<string>, advice: string | undefined, situation: Advice.Situation) => {
  const all = Text.joinLines(messages.join(": "))
  const what = `postwire: ${
    advice !== undefined && all.endsWith(`. ${advice}`) ? all.slice(0, -advice.length - 2) : all
  }`
  return advice === undefined ? [what] : [what, `  ${Advice.told(advice, situation)}`]
}

/** A text without what programs are to do: a command says that in its own words. */
export const forCommands = (text: string): string => {
  const end = Math.max(0, text.length - longestAdvice)
  return forShells(text.slice(0, end) + text.slice(end).replace(forPrograms, ""))
}

/** In characters. The rest of a message may be the service's own words, of any length. */
const longestAdvice = 1_000

const forPrograms =
  / Nothing is lost: look with getMediaUploadStatus, .*$| If it is not there, publish the thread again .*$| Publish the thread anew under .*$| Pass (it|them) to the client, or set [A-Z_, ]+( \(read .+\))?\.?$| Ask for less, or raise spendLimit\.$| Try again later, or set spendLimit\.withoutStore\.$| Buy credits in the service's console\.$| Raise the cap in the service's console(, or wait for [\d-]+)?\.$|: choose another one, or 0 for any that is free$|\. Is the sandbox running\?$| Add one with updateStreamRules or syncRules, then connect\.$| End one with deleteConnections, or wait until its holder ends it\.$| Do less for each item, set a larger bufferSize, .*$| Items that waited there are lost; connect anew with resumeFrom\.$/

/** The messages of an error and of what caused it, less those that another one holds already. */
const messagesOf = (error: unknown, said = ""): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return []
  const message = forCommands(error.message)
  const rest = messagesOf(error.cause, said + message)
  return said.includes(message) ? rest : [message, ...rest]
}

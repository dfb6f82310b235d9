/** The failure of a command: its own errors, the two lines shown for every error, and the exit code. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import * as Errors from "@postwire/core/errors/Errors"
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
import * as Statements from "./Statements.ts"
import * as Text from "./Text.ts"

/** The exit code of a command ended by a signal. */
export const interrupted = 130

/** The exit code of a command that is done, but not with everything. */
export const incomplete = 3

/** The result is complete except for parts that the service reported errors for. */
export class PartialErrors extends Schema.TaggedError<PartialErrors>()("PartialErrors", {
  operation: Schema.String,
  errors: Schema.Int,
  /** Names the place where the errors are shown. */
  advice: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = incomplete
  override get message(): string {
    return `${this.operation}: the service reported ${Text.quantity(this.errors, "errors")} for parts of the request`
  }
}

/** The failure of a command, with advice for its user. */
export class Failure extends Schema.TaggedError<Failure>()("Failure", {
  message: Schema.String,
  advice: Schema.optional(Schema.String)
}) {}

export const refuse = (message: string, advice?: string): Effect.Effect<never, Failure> =>
  Effect.fail(new Failure({ message, advice }))

/** Refuses the first combination that is given. */
export const refuseAny = (
  cases: ReadonlyArray<readonly [isGiven: boolean, message: string, advice: string]>
): Effect.Effect<void, Failure> => {
  const [, message, advice] = cases.find(([isGiven]) => isGiven) ?? []
  return message === undefined ? Effect.void : refuse(message, advice)
}

/** Refuses more than one of some flags. */
export const oneOf = (flags: Readonly<Record<string, boolean>>): Effect.Effect<void, Failure> => {
  const names = Object.keys(flags)
  return Object.values(flags).filter(Boolean).length <= 1 ? Effect.void : refuse(
    `${names.slice(0, -1).join(", ")} and ${names.at(-1)} contradict each other`,
    "Pass one of them."
  )
}

/** A program's parameter as the command line names it: a file, or a flag. */
export interface Subject {
  readonly name: string
  readonly isFile: boolean
}

/** Reports invalid parameters in terms of the command line. */
export const inFlags =
  (subjectOf: (parameter: string) => Subject | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Failure, R> =>
    Effect.mapError(effect, (error) => {
      if (!(error instanceof Errors.InvalidParameters)) return error
      const { parameter, rule, value } = error
      const subject = subjectOf(parameter)
      return subject === undefined ? error : new Failure({
        message: `${subject.name} ${rule}.${value === undefined ? "" : ` Got ${value}.`}`,
        advice: `${
          subject.isFile ? "Change the file, then run the same command again" : "Correct it"
        }; nothing was sent.`
      })
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
  const failure = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || !Runtime.getErrorReported(failure)) return Effect.void
  const exitCode = Runtime.getErrorExitCode(failure)
  return Option.match(Cause.findErrorOption(cause), {
    onNone: () => {
      // A full disk is not a defect of the program, wherever it occurs.
      if (!debug && DatabaseProblem.of(failure) !== undefined) {
        return Report.sayFailure({ ...explained(failure), exitCode })
      }
      const detail = Cause.pretty(cause)
      const [message = "", ...rest] = detail.split("\n")
      const lines = [message, ...Report.quoted(rest)]
      return Report.sayFailure({ tag: "Defect", message, exitCode, detail }, lines)
    },
    onSome: (error) => {
      const [inner, situation] = error instanceof Situated ? [error.cause, error.situation] : [error]
      const detail = debug ? Cause.pretty(error instanceof Situated ? Cause.fail(inner) : cause) : undefined
      return Report.sayFailure({ ...explained(inner, situation), exitCode, detail })
    }
  })
}

/** The tag and message of an error, and advice if there is any. */
export const explained = (error: unknown, situation: Advice.Situation = {}): Omit<Report.Failed, "exitCode"> => {
  const messages = messagesOf(error)
  const known = Advice.of(error, messages, situation)
  const problem = known === undefined ? DatabaseProblem.of(error) : undefined
  // The innermost message is that of the database or the system, which may not name the file.
  const said = problem === undefined || Predicate.isTagged(error, "StoreUnavailable")
    ? messages
    : [problem.reason, ...messages.slice(-1)]
  const advice = known ?? problem?.advice ?? (isSqlError(error) ? addressAdvice : undefined)
  return {
    tag: Predicate.hasProperty(error, "_tag") ? String(error._tag) : error instanceof Error ? error.name : "Failure",
    message: Text.joinLines(said.join(": ")),
    advice: advice && Advice.inSituation(advice, situation)
  }
}

/** The error, and advice if there is any, as lines. */
export const explain = (error: unknown, situation?: Advice.Situation): ReadonlyArray<string> =>
  Report.linesOf(explained(error, situation))

const addressAdvice = "Check that the database runs and that its address is right; existing data is safe."

/** The message of an error without its advice, which is shown apart and may be for programs. */
export const statementOf = (error: Error): string => forShells(Statements.of(error, Errors.statementOf(error)))

/** The messages of an error and of its causes, without repetitions. */
const messagesOf = (error: unknown, said = ""): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return []
  const message = statementOf(error)
  const rest = messagesOf(error.cause, said + message)
  return said.includes(message) ? rest : [rest.length === 0 ? message : message.replace(/\.$/, ""), ...rest]
}

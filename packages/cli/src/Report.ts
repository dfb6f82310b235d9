/** What every command says in one way: answers on standard output, notices and errors on standard error. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import { environmentVariable } from "@postwire/core/Errors"
import * as Cause from "effect/Cause"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { isSqlError } from "effect/sql/SqlError"

/** `--json`. */
export const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON"), Flag.withDefault(false))

/** Prints an answer: as JSON for programs, or as lines for people. Neither can steer a terminal. */
export const print = (json: boolean, value: unknown, lines: () => ReadonlyArray<string>): Effect.Effect<void> =>
  Console.log(json ? plainJson(JSON.stringify(value, null, 2)) : plain(lines().join("\n")))

/**
 * A notice on standard error: one line, which a terminal shows broken at spaces. There it takes the place of a progress
 * bar, which is drawn anew below.
 */
export const notice = (text: string): string => {
  const line = `postwire: ${plain(text.replace(/\s+/g, " ").trim())}`
  return process.stderr.isTTY === true ? `\r\u001b[K${wrap(line, process.stderr.columns).join("\n")}` : line
}

/** Breaks a line at spaces; what follows is indented. */
export const wrap = (text: string, columns = 80): ReadonlyArray<string> => {
  const indent = " ".repeat(2 + (/^ */.exec(text)?.[0].length ?? 0))
  const lines: Array<string> = []
  let line = text
  while (line.length > columns) {
    const space = line.lastIndexOf(" ", columns)
    const at = space <= indent.length ? columns : space
    lines.push(line.slice(0, at).trimEnd())
    line = indent + line.slice(at).trimStart()
  }
  return [...lines, line]
}

/** Says something on standard error while a command runs, and what to do where that is known. */
export const say = (text: string, advice?: string): Effect.Effect<void> =>
  Console.error(advice === undefined ? notice(text) : `${notice(text)}\n  ${advice}`)

/** So many partial errors are told one by one. */
const shown = 10

/** Says what partial errors there are: the first ones, and how many more. `before` were there before these. */
export const sayProblems = (problems: ReadonlyArray<object>, before = 0): Effect.Effect<void> =>
  Effect.forEach(problems.slice(0, Math.max(0, shown - before)), (problem) => say(describe(problem)), { discard: true })

/** Says how many of so many partial errors were not told one by one. */
export const sayMoreProblems = (total: number): Effect.Effect<void> =>
  total > shown ? say(`and ${(total - shown).toLocaleString("en-US")} more`) : Effect.void

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

/** What could be answered is there, but the service reported errors for parts of what was asked. */
export class PartialErrors extends Schema.TaggedError<PartialErrors>()("PartialErrors", {
  operation: Schema.String,
  errors: Schema.Int,
  /** Where they are. */
  advice: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = 3
  override get message(): string {
    return `${this.operation}: the service reported ${this.errors.toLocaleString("en-US")} ${
      this.errors === 1 ? "error" : "errors"
    } for parts of what was asked`
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

/** What is known of where an error happened. */
export interface Situation {
  /** Whether the same command with `--resume` goes on. Default false. */
  readonly resumable?: boolean | undefined
  /** The file of `--credentials`, and the variables in it. */
  readonly credentials?: { readonly path: string; readonly names: ReadonlyArray<string> } | undefined
}

/** An error, and where it happened. */
class Situated extends Error {
  readonly situation: Situation
  override readonly [Runtime.errorExitCode]: number
  override readonly [Runtime.errorReported]: boolean
  constructor(error: unknown, situation: Situation) {
    super("", { cause: error })
    this.situation = situation
    this[Runtime.errorExitCode] = Runtime.getErrorExitCode(error)
    this[Runtime.errorReported] = Runtime.getErrorReported(error)
  }
}

/** Keeps what is known of where the errors of a command happen, for the report of them. */
export const within =
  (situation: Situation) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Situated, R> =>
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
  return Console.error(plain(text.join("\n")))
}

/** What happened, and what to do where that is known. */
export const explain = (error: unknown, situation: Situation = {}): ReadonlyArray<string> => {
  const advice = adviceOf(error, situation)
  const problem = advice === undefined ? DatabaseProblem.of(error) : undefined
  const messages = messagesOf(error)
  // The one furthest down is what the database or the system itself has said, which does not name the file of a sandbox.
  const said = problem === undefined || Predicate.isTagged(error, "StoreUnavailable")
    ? messages
    : [problem.reason, ...messages.slice(-1)]
  return told(said, advice ?? problem?.advice ?? (isSqlError(error) ? addressAdvice : undefined), situation)
}

const addressAdvice = "See that the database runs and that its address is right; what is there stays."

const told = (messages: ReadonlyArray<string>, advice: string | undefined, situation: Situation) => {
  const what = `postwire: ${messages.join(": ")}`.replaceAll(/\s*\n\s*/g, " ")
  return advice === undefined
    ? [what]
    : [what, `  ${situation.resumable === true ? advice : advice.replace(/ with --resume|: nothing is lost/g, "")}`]
}

const adviceOf = (error: unknown, situation: Situation): string | undefined => {
  if (!Predicate.isObject(error)) return undefined
  if ("advice" in error && typeof error["advice"] === "string") return error["advice"]
  // Whatever wraps it, and in whatever way.
  if (messagesOf(error).some((message) => message.includes("EADDRINUSE"))) {
    return "Choose another port with --port; 0 takes any free one."
  }
  const advice = "_tag" in error ? advices[String(error["_tag"])] : undefined
  return typeof advice === "function" ? advice(error, situation) : advice
}

type Advice = string | ((error: Readonly<Record<string, unknown>>, situation: Situation) => string | undefined)

/** Variables, and where they are. */
const settings = (names: ReadonlyArray<string>, { credentials }: Situation): string => {
  const variables = names.map(environmentVariable)
  return credentials !== undefined && variables.some((variable) => credentials.names.includes(variable))
    ? `${variables.join(", ")} in ${credentials.path}`
    : variables.join(", ")
}

const ofUser = ["consumerKey", "consumerSecret", "accessToken", "accessTokenSecret"]

/** For the errors of calls. Those that are not here say it themselves. */
const advices: Readonly<Record<string, Advice>> = {
  BadRequest: "Change the parameter that the service names.",
  ConflictingIdentifiers: "Pass exactly one of them.",
  Forbidden: "Ask for the access that it needs, or use another credential.",
  InvalidParameters: "Correct it; --help lists every flag with its rule.",
  InvalidSettings: ({ setting }, situation) =>
    ["baseUrl", "wire", "bearerToken", ...ofUser].includes(String(setting))
      ? `Set ${settings([String(setting)], situation)}.`
      : undefined,
  MissingAccessToken: ({ missing }, { credentials }) =>
    Array.isArray(missing)
      ? `Set ${missing.map(environmentVariable).join(", ")}${
        credentials === undefined ? ", or name a file with --credentials" : ` in ${credentials.path}`
      }.`
      : undefined,
  NotFound: "Check the id.",
  PaginationStuck: "Try again later with --resume; if it stays, tell the service.",
  RateLimited: "Run the same command with --resume when the budget is back.",
  RateLimitWaitTooLong: "Run the same command with --resume when it is back.",
  ServerFailure: "Run the same command with --resume in a while: nothing is lost.",
  TransportFailure: ({ cause }) =>
    `${
      Predicate.hasProperty(cause, "code") && cause.code === "ECONNREFUSED"
        ? "See that the service runs at that address (postwire sandbox starts a local one)"
        : "Look at the connection"
    }, then run the same command with --resume: nothing is lost.`,
  Unauthorized: ({ credential }, situation) =>
    `Check ${settings(credential === "oauth1" ? ofUser : ["bearerToken"], situation)}; postwire doctor tells more.`,
  UndecodableResponse: "Something between here and the service may have answered; try again with --resume.",
  UnexpectedStatus: (_, situation) => `Look at ${settings(["baseUrl"], situation)}, then try again with --resume.`
}

/** What only programs can do about a missing credential. */
const forPrograms = / Pass (it|them) to the client, or set [A-Z_, ]+\.$/

/** The messages of an error and of what caused it, less those that another one holds already. */
const messagesOf = (error: unknown, said = ""): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return []
  const message = error.message.replace(forPrograms, "")
  const rest = messagesOf(error.cause, said + message)
  return said.includes(message) ? rest : [message, ...rest]
}

/** What would steer a terminal: escapes, other controls, and marks that turn its direction. */
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text without what would steer a terminal. */
export const plain = (text: string): string => text.replace(steering, "\ufffd")

/** JSON that holds the same and cannot steer a terminal. */
export const plainJson = (json: string): string =>
  json.replace(steering, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

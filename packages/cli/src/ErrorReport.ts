/** How a command fails: the errors of its own, what every error means in two lines, and the exit code. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import { environmentVariable } from "@postwire/core/Errors"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { isSqlError } from "effect/sql/SqlError"
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

/** What is known of where an error happened. */
export interface Situation {
  /** Whether the same command with `--resume` goes on. Default false. */
  readonly resumable?: boolean | undefined
  /** The file of `--credentials`, and the variables in it. */
  readonly credentials?: { readonly path: string; readonly names: ReadonlyArray<string> } | undefined
  /** The account that the command speaks for. */
  readonly account?: string | undefined
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
  return Report.sayFailure(text)
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
  const all = messages.join(": ").replaceAll(/\s*\n\s*/g, " ")
  const what = `postwire: ${
    advice !== undefined && all.endsWith(`. ${advice}`) ? all.slice(0, -advice.length - 2) : all
  }`
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

/** Of errors whose last sentence says it. */
const lastSentence: Advice = ({ message }) => String(message).split(". ").at(-1)

/** What to do about settings that have a flag besides their variable. */
const ofFlags: Readonly<Record<string, string>> = {
  account: "Choose another name.",
  clientId: "Set POSTWIRE_CLIENT_ID, or pass --client-id.",
  clientSecret: "Set POSTWIRE_CLIENT_SECRET.",
  tokenStore: "Name one with --token-store, or set POSTWIRE_TOKEN_STORE."
}

/** For the errors of calls. Those that are not here say it themselves. */
const advices: Readonly<Record<string, Advice>> = {
  AuthorizationDenied: ({ error, message }, situation) =>
    error === "access_denied"
      ? lastSentence({ message }, situation)
      : "Check the app's settings in the service's console.",
  BadRequest: "Change the parameter that the service names.",
  ConflictingIdentifiers: "Pass exactly one of them.",
  Forbidden: "Ask for the access that it needs, or use another credential.",
  InvalidParameters: "Correct it; --help lists every flag with its rule.",
  InvalidSettings: ({ setting }, situation) =>
    setting === "cluster"
      ? "Correct --cluster, or POSTWIRE_CLUSTER_URL where that holds it."
      : ["baseUrl", "wire", "bearerToken", ...ofUser].includes(String(setting))
      ? `Set ${settings([String(setting)], situation)}.`
      : ofFlags[String(setting)],
  InvalidRedirect: lastSentence,
  LoginRequired: lastSentence,
  MissingAccessToken: ({ credential, missing }, { account, credentials }) =>
    account !== undefined
      ? `Account "${account}" has none: postwire login ${account}${
        credential === "oauth1" ? " --pin adds it" : " adds one"
      }.`
      : Array.isArray(missing)
      ? `Set ${missing.map(environmentVariable).join(", ")}${
        credentials === undefined
          ? ", name a file with --credentials, or sign in: postwire login"
          : ` in ${credentials.path}`
      }.`
      : undefined,
  MissingScope: lastSentence,
  NotFound: ({ operation }) => `Check the ${/^[A-Z]+ \//.test(String(operation)) ? "path" : "id"}.`,
  PaginationStuck: "Try again later with --resume; if it stays, tell the service.",
  RateLimited: "Run the same command with --resume when the budget is back.",
  RateLimitWaitTooLong: "Run the same command with --resume when it is back.",
  ServerFailure: "Run the same command with --resume in a while: nothing is lost.",
  TokenStoreFailure: lastSentence,
  TransportFailure: ({ cause }) =>
    `${
      Predicate.hasProperty(cause, "code") && cause.code === "ECONNREFUSED"
        ? "See that the service runs at that address (postwire sandbox starts a local one)"
        : "Look at the connection"
    }, then run the same command with --resume: nothing is lost.`,
  Unauthorized: ({ credential, operation }, situation) =>
    credential === "app"
      ? `Check ${
        settings(["clientId", "clientSecret"], situation)
      }: a public app has no secret, a confidential one needs it.`
      : String(operation).startsWith("OAuth1Login.")
      ? `Check ${settings(["consumerKey", "consumerSecret"], situation)}.`
      : situation.account !== undefined
      ? `Sign in again: postwire login ${situation.account}${credential === "oauth1" ? " --pin" : ""}`
      : `Check ${settings(credential === "oauth1" ? ofUser : ["bearerToken"], situation)}; postwire doctor tells more.`,
  UndecodableResponse: "Something between here and the service may have answered; try again with --resume.",
  UnexpectedStatus: (_, situation) => `Look at ${settings(["baseUrl"], situation)}, then try again with --resume.`
}

/** A text without what programs are to do: a command says that in its own words. */
export const forCommands = (text: string): string => forShells(text.replace(forPrograms, ""))

const forPrograms =
  / Pass (it|them) to the client, or set [A-Z_, ]+( \(read .+\))?\.?$|: choose another one, or 0 for any that is free$|\. Is the sandbox running\?$/

/** The messages of an error and of what caused it, less those that another one holds already. */
const messagesOf = (error: unknown, said = ""): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return []
  const message = forCommands(error.message)
  const rest = messagesOf(error.cause, said + message)
  return said.includes(message) ? rest : [message, ...rest]
}

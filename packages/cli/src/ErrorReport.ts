/** How a command fails: the errors of its own, what every error means in two lines, and the exit code. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import { environmentVariable, InvalidParameters } from "@postwire/core/Errors"
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
          advice: `${subject.isFile ? "Make such a file of it" : "Correct it"}; nothing was sent.`
        })
        : error
    })

/** What is known of where an error happened. */
export interface Situation {
  /** Whether the same command goes on: with `--resume`, or by `itself`. Default false. */
  readonly resumable?: boolean | "itself" | undefined
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
  return advice === undefined ? [what] : [what, `  ${ofSituation(advice, situation)}`]
}

const ofSituation = (advice: string, { resumable = false }: Situation): string =>
  resumable === true
    ? advice
    : advice.replace(resumable === "itself" ? / with --resume/g : / with --resume|: nothing is lost/g, "")

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
  journal: "Name a folder in POSTWIRE_JOURNAL.",
  tokenStore: "Name one with --token-store, or set POSTWIRE_TOKEN_STORE."
}

/** What to do about a file that was to be uploaded. */
const ofSource: Readonly<Record<string, string>> = {
  absent: "Check the path.",
  forbidden: "Name a file that you may read.",
  changed: "Leave it as it is while it is uploaded, and run the same command again.",
  short: "Leave it as it is while it is uploaded, and run the same command again.",
  long: "Leave it as it is while it is uploaded, and run the same command again.",
  unreadable: "Name a file that can be read."
}

/** For the errors of calls. Those that are not here say it themselves. */
const advices: Readonly<Record<string, Advice>> = {
  AuthorizationDenied: ({ error, message }, situation) =>
    error === "access_denied"
      ? lastSentence({ message }, situation)
      : "Check the app's settings in the service's console.",
  BadRequest: ({ message }) =>
    /\bmedia ids?\b/i.test(String(message))
      ? "Media is for who uploaded it, and for a day: postwire upload FILE makes another id."
      : "Change the parameter that the service names.",
  ConflictingIdentifiers: "Pass exactly one of them.",
  Forbidden: ({ message }) =>
    /\bduplicate\b/i.test(String(message))
      ? "There is such a post of yours already: look for it, or change the text."
      : "Ask for the access that it needs, or use another credential.",
  InvalidParameters: "Correct it; --help lists every flag with its rule.",
  InvalidSettings: ({ setting }, situation) =>
    setting === "cluster"
      ? "Correct --cluster, or POSTWIRE_CLUSTER_URL where that holds it."
      : ["baseUrl", "wire", "bearerToken", ...ofUser].includes(String(setting))
      ? `Set ${settings([String(setting)], situation)}.`
      : ofFlags[String(setting)],
  InvalidRedirect: lastSentence,
  JournalFailure: lastSentence,
  LoginRequired: lastSentence,
  MediaNotReady: (_, { resumable }) =>
    resumable === "itself"
      ? "Run the same command again: it goes on waiting."
      : "Upload it first: postwire upload FILE waits again, and prints the id for --media-id.",
  MediaProcessingFailed: lastSentence,
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
  SourceFailure: ({ fault }) => ofSource[String(fault)],
  ThreadBroken: "The same command with --again begins another thread; with --abandon it leaves this one as it is.",
  ThreadUndecided:
    "Look for it. If it is not there, the same command with --continue sends it; with --abandon it leaves the thread as it is.",
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
  UploadExpired: lastSentence,
  UndecodableResponse: "Something between here and the service may have answered; try again with --resume.",
  UnexpectedStatus: (_, situation) => `Look at ${settings(["baseUrl"], situation)}, then try again with --resume.`
}

/** A text without what programs are to do: a command says that in its own words. */
export const forCommands = (text: string): string => forShells(text.replace(forPrograms, ""))

const forPrograms =
  / Nothing is lost: look with getMediaUploadStatus, .*$| If it is not there, publish the thread again .*$| Publish the thread anew under .*$| Pass (it|them) to the client, or set [A-Z_, ]+( \(read .+\))?\.?$|: choose another one, or 0 for any that is free$|\. Is the sandbox running\?$/

/** The messages of an error and of what caused it, less those that another one holds already. */
const messagesOf = (error: unknown, said = ""): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return []
  const message = forCommands(error.message)
  const rest = messagesOf(error.cause, said + message)
  return said.includes(message) ? rest : [message, ...rest]
}

/** Advice for the errors of commands: one line each, in terms of the command line. */
import { environmentVariable } from "@postwire/core/errors/Errors"
import * as Predicate from "effect/Predicate"
import * as Statements from "./Statements.ts"

export interface Situation {
  /** True if the same command continues: with `--resume`, or by `itself`. Default false. */
  readonly resumable?: boolean | "itself" | undefined
  /** The file of `--credentials`, and the variables in it. */
  readonly credentials?: { readonly path: string; readonly names: ReadonlyArray<string> } | undefined
  readonly account?: string | undefined
}

/** The advice that an error has itself. In errors of the core it ends the message. */
const ownAdvice = (error: object): string | undefined =>
  "advice" in error && typeof error.advice === "string" ? error.advice : undefined

/** The advice for an error, if there is any. `messages` are its own and those of its causes. */
export const of = (error: unknown, messages: ReadonlyArray<string>, situation: Situation): string | undefined => {
  if (!Predicate.isObject(error)) return undefined
  // The error may be wrapped.
  if (messages.some((message) => message.includes("EADDRINUSE"))) {
    return "Choose another port with --port; 0 takes any free one."
  }
  const advice = "_tag" in error ? advices[String(error["_tag"])] : undefined
  return (typeof advice === "function" ? advice(error, situation) : advice) ?? ownAdvice(error)
}

type Advice = string | ((error: Readonly<Record<string, unknown>>, situation: Situation) => string | undefined)

/** Variables, and the file that they are in. */
const settings = (names: ReadonlyArray<string>, { credentials }: Situation): string => {
  const variables = names.map(environmentVariable)
  return credentials !== undefined && variables.some((variable) => credentials.names.includes(variable))
    ? `${variables.join(", ")} in ${credentials.path}`
    : variables.join(", ")
}

const ofUser = ["consumerKey", "consumerSecret", "accessToken", "accessTokenSecret"]

/** Advice for operations that accept the app's token only. */
const ofApp = (situation: Situation): string =>
  `Set ${settings(["appBearerToken"], situation)} to the app's bearer token${
    situation.account === undefined ? "" : ", and use no account"
  }.`

/** Advice for settings that have both a flag and a variable. */
const ofFlags: Readonly<Record<string, string>> = {
  account: "Choose another name.",
  clientId: "Set POSTWIRE_CLIENT_ID, or pass --client-id.",
  clientSecret: "Set POSTWIRE_CLIENT_SECRET.",
  journal: "Name a folder in POSTWIRE_JOURNAL.",
  tokenStore: "Name one with --token-store, or set POSTWIRE_TOKEN_STORE."
}

/** The settings of spend limits. */
const limitNames: Readonly<Record<string, string>> = {
  day: "POSTWIRE_SPEND_PER_DAY",
  month: "POSTWIRE_SPEND_PER_MONTH",
  total: "--max-spend"
}

/** How to spend under a limit on requests whose price is unknown. */
export const unknownPrice =
  "State the most that such a request may cost, in dollars: POSTWIRE_UNKNOWN_PRICE, or postwire config set unknownPrice."

/** Tests whether the address may be wrong: its host is unknown, or does not speak TLS. */
const isAddress = (reason: string): boolean => /ENOTFOUND|wrong version number/.test(reason)

/** Advice for files to upload. */
const ofSource: Readonly<Record<string, string>> = {
  absent: "Check the path.",
  forbidden: "Name a file that you may read.",
  changed: "Do not change it during the upload; then run the same command again.",
  short: "Do not change it during the upload; then run the same command again.",
  long: "Do not change it during the upload; then run the same command again.",
  unreadable: "Name a file that can be read."
}

/** Advice in terms of the command line, where the error has none. */
const advices: Readonly<Record<string, Advice>> = {
  ArticleUndecided: ({ article_id, post_id, step }) =>
    post_id !== undefined
      ? "The same command looks for the post, and records it."
      : step === "draft" && article_id !== undefined
      ? `The same command with --draft ${String(article_id)} continues with it.`
      : step === "draft"
      ? "Look among your drafts. If it is there, the same command with --draft ID continues with it; if not, with --continue."
      : "The same command looks for the post again. If it is certainly not among your posts, --continue publishes the draft.",
  AuthorizationDenied: ({ error }) =>
    error === "access_denied" ? undefined : "Check the app's settings in the service's console.",
  BadRequest: ({ message }) =>
    /\bmedia ids?\b/i.test(String(message))
      ? "Media belongs to the user who uploaded it, and expires after a day: postwire upload FILE makes a new id."
      : "Change the parameter that the service names.",
  ComplianceExpired: "Start over with --force: the jobs are created again.",
  ComplianceFailed: "Check the ids in the file, then start over with --force.",
  ComplianceNotComplete: "Run the same command with --resume: it continues to wait.",
  ConflictingIdentifiers: "Pass exactly one of them.",
  Forbidden: ({ advice, message, planRule }, situation) =>
    advice !== undefined && advice === planRule
      ? String(planRule)
      : advice !== undefined
      ? ofApp(situation)
      : /\bduplicate\b/i.test(String(message))
      ? "You have such a post already: look for it, or change the text."
      : "Request the required access, or use another credential.",
  InvalidParameters: "Correct it; --help lists every flag with its rule.",
  InvalidSettings: (error, situation) => {
    const { setting } = error
    if (Statements.isWithoutService(error)) {
      return "For X itself: postwire config set wire x. For a local one: postwire sandbox. For another: set it."
    }
    return setting === "cluster"
      ? "Correct --cluster, or POSTWIRE_CLUSTER_URL if the address is there."
      : ["baseUrl", "wire", "bearerToken", "appBearerToken", ...ofUser].includes(String(setting))
      ? `Set ${settings([String(setting)], situation)}.`
      : ofFlags[String(setting)]
  },
  MediaNotReady: (_, { resumable }) =>
    resumable === "itself"
      ? "Run the same command again: it continues to wait."
      : "Upload it first: postwire upload FILE waits again, and prints the id for --media-id.",
  MissingAccessToken: ({ credential, missing }, situation) => {
    const { account, credentials } = situation
    if (Array.isArray(missing) && missing.includes("appBearerToken")) return ofApp(situation)
    return account !== undefined
      ? `Account "${account}" has none: postwire login ${account}${
        credential === "oauth1" ? " --pin adds it" : " adds one"
      }.`
      : Array.isArray(missing)
      ? credentials === undefined
        ? `Run postwire login, or set ${missing.map(environmentVariable).join(", ")}.${
          credential === "oauth1" ? " With a user's bearer token, pass --no-user-auth." : ""
        }`
        : `Set ${missing.map(environmentVariable).join(", ")} in ${credentials.path}.`
      : undefined
  },
  NoRules: "Add some: postwire rules apply FILE.",
  NotFound: ({ detail, operation }) =>
    /^[A-Z]+ \//.test(String(operation))
      ? "Check the path."
      : detail === "There is no such operation."
      ? "Check POSTWIRE_BASE_URL."
      : "Check the id.",
  PaymentRequired: ({ reason, resetAt }) =>
    `${reason === "credits" ? "Buy credits" : "Raise the cap"} in the service's console${
      resetAt instanceof Date ? `, or wait for ${resetAt.toISOString().slice(0, 10)}` : ""
    }, then run the same command with --resume.`,
  PaginationStuck: "Try again later with --resume; if it persists, report it to the service.",
  RateLimited: "Run the same command with --resume after the reset.",
  RateLimitWaitTooLong: "Run the same command with --resume after the reset.",
  ServerFailure: "Run the same command with --resume in a while: nothing is lost.",
  SourceFailure: ({ fault }) => ofSource[String(fault)],
  SpendLimitReached: ({ limit, needed, period, unavailable }) => {
    if (unavailable !== undefined) {
      return "Check the store in POSTWIRE_SPEND_STORE, or set POSTWIRE_SPEND_WITHOUT_STORE=allow."
    }
    if (needed === Infinity) return unknownPrice
    const name = limitNames[String(period)]
    if (Number(needed) > Number(limit)) return `Request less, or raise ${name}.`
    return period === "total"
      ? `Raise ${name}, then run the same command with --resume.`
      : `Run the same command with --resume after the limit's reset, or raise ${name}.`
  },
  SpillFailed: "Make room for temporary files, then run the same command again.",
  StreamOverflow: "Write to a faster disk, or request fewer fields; the same command continues.",
  ThreadBroken: "The same command with --again starts another thread; with --abandon it keeps this one as it is.",
  ThreadUndecided:
    "Look for it. If it is not there, the same command with --continue sends it; with --abandon it keeps the thread as it is.",
  TooManyConnections: ({ connections }) => {
    const [held] = Array.isArray(connections) ? connections : []
    return `End it there, or from here: postwire call deleteConnections --uuids ${held?.id ?? "ID"}`
  },
  TransportFailure: ({ cause, reason }) =>
    `${
      Predicate.hasProperty(cause, "code") && cause.code === "ECONNREFUSED"
        ? "Check that the service runs at that address (postwire sandbox starts a local one)"
        : isAddress(String(reason))
        ? "Check POSTWIRE_BASE_URL and the connection"
        : "Check the connection"
    }, then run the same command with --resume: nothing is lost.`,
  Unauthorized: ({ bearer, credential, operation }, situation) =>
    credential === "app"
      ? `Check ${
        settings(["clientId", "clientSecret"], situation)
      }: a public app has no secret, a confidential one needs it.`
      : String(operation).startsWith("OAuth1Login.")
      ? `Check ${settings(["consumerKey", "consumerSecret"], situation)}.`
      : situation.account !== undefined
      ? `Sign in again: postwire login ${situation.account}${credential === "oauth1" ? " --pin" : ""}`
      : `Check ${
        settings(
          credential === "oauth1"
            ? ofUser
            : [...bearer === "app" ? ["appBearerToken"] : [], "bearerToken"],
          situation
        )
      }; postwire doctor shows more.`,
  UndecodableResponse: "Something between here and the service may have answered; try again with --resume.",
  SubscriptionsRefused: ({ advice }) =>
    `${
      typeof advice === "string" ? advice : "Correct the file."
    } The others are there: run the same command again after that.`,
  UnexpectedStatus: (_, situation) => `Check ${settings(["baseUrl"], situation)}, then try again with --resume.`
}

/** Removes the parts about resuming if the command cannot be resumed. */
export const inSituation = (advice: string, { resumable = false }: Situation): string =>
  resumable === true ? advice : advice
    .replace(/(the same command) with --resume/g, "$1 again")
    .replace(resumable === "itself" ? / with --resume/g : / with --resume|: nothing is lost/g, "")

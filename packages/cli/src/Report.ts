/** What goes wrong, in two lines that a person can act on: what happened, and what to do. */
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"

/**
 * Says on standard error what went wrong; with `debug` everything that is known of it, less the secrets. Only where a
 * command is `resumable` it is told to be resumed.
 */
export const report = (cause: Cause.Cause<unknown>, debug: boolean, resumable = true): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause) || !Runtime.getErrorReported(Cause.squash(cause))) return Effect.void
  const text = Option.match(Cause.findErrorOption(cause), {
    onNone: () => [Cause.pretty(cause)],
    onSome: (error) => [...explain(error, resumable), ...debug ? [Cause.pretty(cause)] : []]
  })
  return Console.error(plain(text.join("\n")))
}

/** What happened, and what to do where that is known. */
export const explain = (error: unknown, resumable = true): ReadonlyArray<string> => {
  const what = `postwire: ${messagesOf(error).join(": ")}`.replaceAll(/\s*\n\s*/g, " ")
  const advice = adviceFor(error)
  return advice === undefined
    ? [what]
    : [what, `  ${resumable ? advice : advice.replace(/ with --resume|: nothing is lost/g, "")}`]
}

const adviceFor = (error: unknown): string | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  if ("advice" in error && typeof error.advice === "string") return error.advice
  // Whatever wraps it, and in whatever way.
  if (messagesOf(error).some((message) => message.includes("EADDRINUSE"))) {
    return "Choose another port with --port; 0 takes any free one."
  }
  return "_tag" in error ? advices[String(error._tag)] : undefined
}

/** For the errors of calls. Those that are not here say it themselves. */
const advices: Readonly<Record<string, string>> = {
  BadRequest: "Change the parameter that the service names.",
  ConflictingIdentifiers: "Pass exactly one of them.",
  Forbidden: "Ask for the access that it needs, or use another credential.",
  InvalidParameters: "Correct it; --help lists every flag with its rule.",
  NotFound: "Check the id.",
  PaginationStuck: "Try again later with --resume; if it stays, tell the service.",
  RateLimited: "Run the same command with --resume when the budget is back.",
  RateLimitWaitTooLong: "Run the same command with --resume when it is back.",
  SqlError: "See that the database runs and that its address is right; what is there stays.",
  ServerFailure: "Run the same command with --resume in a while: nothing is lost.",
  TransportFailure: "Look at the connection, then run the same command with --resume: nothing is lost.",
  Unauthorized: "Check POSTWIRE_BEARER_TOKEN, or the file of --credentials.",
  UndecodableResponse: "Something between here and the service may have answered; try again with --resume.",
  UnexpectedStatus: "Look at POSTWIRE_BASE_URL, then try again with --resume."
}

/** The messages of an error and of what caused it, less those that another one holds already. */
const messagesOf = (error: unknown, said = ""): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return []
  const rest = messagesOf(error.cause, said + error.message)
  return said.includes(error.message) ? rest : [error.message, ...rest]
}

/** What would steer a terminal: escapes, other controls, and marks that turn its direction. */
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text without what would steer a terminal. */
export const plain = (text: string): string => text.replace(steering, "\ufffd")

/** JSON that holds the same and cannot steer a terminal. */
export const plainJson = (json: string): string =>
  json.replace(steering, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** How a stream reacts when a connection is refused or lost: it fails, retries after a pause, or makes room for itself. */
import { closedReason } from "../client/CallErrors.ts"
import type { Problem, RateLimited } from "../errors/Errors.ts"
import { NoRules } from "../errors/StreamErrors.ts"
import type { Fault } from "./internal/backoff.ts"
import type { AnyStreamError } from "./internal/buffer.ts"

/** A retry after a pause. */
export interface Retry {
  readonly _tag: "Again"
  readonly fault: Fault
  /** The earliest time at which the service will accept a retry, if it states one. */
  readonly notBefore: Date | undefined
  /** Milliseconds until `notBefore`, if the time of the response is known: the clock of this machine may differ. */
  readonly retryAfter: number | undefined
}

/** The reaction to an error. */
export type Verdict =
  | Retry
  /** Retrying does not help. */
  | { readonly _tag: "Final"; readonly error: AnyStreamError }
  /** The app has as many connections as it may. */
  | { readonly _tag: "Crowded"; readonly error: RateLimited }

/** Decides how to react to an error. `wasConnected` is true if the stream had a connection before. */
export const verdictOf = (error: AnyStreamError, wasConnected: boolean): Verdict => {
  switch (error._tag) {
    case "TransportFailure":
      // A certificate that was wrong from the start stays wrong.
      return error.reason === closedReason || (error.phase === "tls" && !wasConnected)
        ? { _tag: "Final", error }
        : again("network")
    case "RateLimited": {
      const issue = issueOf(error)
      if (issue === "TooManyConnections") return { _tag: "Crowded", error }
      if (isOfRules(issue)) return withoutRules(error.operation, error.detail)
      if (issue !== undefined) return again("service")
      if (error.type?.endsWith("/usage-capped") === true) return { _tag: "Final", error }
      return again("limit", error.rateLimit?.remaining === 0 ? error.resetAt : undefined, error.retryAfter)
    }
    case "RateLimitWaitTooLong":
      return again("limit", error.resetAt)
    case "ServerFailure":
    case "UndecodableResponse":
      return again("service")
    case "UnexpectedStatus":
      return error.status === 409 || isOfRules(issueOf(error))
        ? withoutRules(error.operation, error.detail)
        : again("service")
    case "Forbidden":
    case "BadRequest":
      return isOfRules(issueOf(error)) ? withoutRules(error.operation, error.detail) : { _tag: "Final", error }
    default:
      return { _tag: "Final", error }
  }
}

const again = (fault: Fault, notBefore?: Date, retryAfter?: number): Retry => ({
  _tag: "Again",
  fault,
  notBefore,
  retryAfter
})

/** True if the service refused or ended a connection because it cannot use the rules. */
export const isOfRules = (issue: string | undefined): boolean =>
  issue === "InvalidRules" || issue === "RuleConfigurationIssue" || issue === "RulesInvalidIssue"

const withoutRules = (operation: string, detail: string | undefined): Verdict => ({
  _tag: "Final",
  error: new NoRules({ operation, detail })
})

const issueOf = ({ problems }: { readonly problems: ReadonlyArray<Problem> }): string | undefined =>
  problems.map((problem) => problem["connection_issue"]).find((issue) => typeof issue === "string")

/** What it means that a connection was refused or lost: the end, a schedule, or that others hold what there is. */
import { closedReason } from "../client/CallErrors.ts"
import type { AnyError, Problem, RateLimited } from "../errors/Errors.ts"
import { NoRules } from "../errors/StreamErrors.ts"
import type { Fault } from "./internal/backoff.ts"
import type { AnyStreamError } from "./internal/buffer.ts"

/** What is to be done. */
export type Verdict =
  /** Trying again does not help. */
  | { readonly _tag: "Final"; readonly error: AnyStreamError }
  /** The app holds as many connections as it may have. */
  | { readonly _tag: "Crowded"; readonly error: RateLimited }
  | {
    readonly _tag: "Again"
    readonly fault: Fault
    readonly error: AnyStreamError
    /** When the service says that it helps. */
    readonly notBefore: Date | undefined
  }

/** What a refusal or a broken connection means. */
export const verdictOf = (error: AnyError, wasConnected: boolean): Verdict => {
  const again = (fault: Fault, notBefore?: Date): Verdict => ({ _tag: "Again", fault, error, notBefore })
  switch (error._tag) {
    case "TransportFailure":
      // A certificate that is wrong at first stays so.
      return error.reason === closedReason || (error.phase === "tls" && !wasConnected)
        ? { _tag: "Final", error }
        : again("network")
    case "RateLimited": {
      const issue = issueOf(error)
      if (issue === "TooManyConnections") return { _tag: "Crowded", error }
      if (isOfRules(issue)) return withoutRules(error.operation, error.detail)
      if (issue !== undefined) return again("service")
      if (error.type?.endsWith("/usage-capped") === true) return { _tag: "Final", error }
      return again("limit", error.rateLimit?.remaining === 0 ? error.resetAt : undefined)
    }
    case "RateLimitWaitTooLong":
      return again("limit", error.resetAt)
    case "ServerFailure":
      return again("service")
    case "UnexpectedStatus":
      return error.status === 409 || isOfRules(issueOf(error))
        ? withoutRules(error.operation, error.detail)
        : again("service")
    case "Forbidden":
    case "BadRequest":
      return isOfRules(issueOf(error)) ? withoutRules(error.operation, error.detail) : { _tag: "Final", error }
    case "UndecodableResponse":
      return again("service")
    default:
      return { _tag: "Final", error }
  }
}

/** Whether the service ended a connection since it cannot use the rules. */
export const isOfRules = (issue: string | undefined): boolean =>
  issue === "InvalidRules" || issue === "RuleConfigurationIssue" || issue === "RulesInvalidIssue"

const withoutRules = (operation: string, detail: string | undefined): Verdict => ({
  _tag: "Final",
  error: new NoRules({ operation, detail })
})

const issueOf = ({ problems }: { readonly problems: ReadonlyArray<Problem> }): string | undefined =>
  problems.map((problem) => problem["connection_issue"]).find((issue) => typeof issue === "string")

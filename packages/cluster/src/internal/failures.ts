/** The consequence of a failure for an export: wait, or fail with a reason and a remedy. */
import { type AnyError, type InvalidSettings, statementOf } from "@postwire/core/errors/Errors"
import type { ExportError } from "@postwire/export/files/ExportErrors"
import type { NotPlannable } from "@postwire/export/sources/Plan"
import type { ConfigError } from "effect/Config"
import * as Schema from "effect/Schema"
import { variableOf } from "../Clients.ts"

/**
 * An export or a part of it failed for a reason that waiting does not mend. Finished pages stay in the tables. Starting the same export
 * again retries what is left.
 */
export class ExportFailed
  extends Schema.TaggedError<ExportFailed>("@postwire/cluster/Workflow/ExportFailed")("ExportFailed", {
    reason: Schema.String
  })
{
  override get message(): string {
    return this.reason
  }
}

/** Tests whether a failure may be temporary. */
export const isTransient = (error: AnyError | ExportError | NotPlannable | InvalidSettings | ConfigError): boolean => {
  switch (error._tag) {
    case "TransportFailure":
    case "ServerFailure":
    case "UndecodableResponse":
    case "RateLimitWaitTooLong":
      return true
    case "SpendLimitReached":
      return error.unavailable !== undefined
    case "StorageFailure":
      return error.fault === "locked" || error.fault === "unavailable" || error.fault === "full"
    case "RateLimited":
      // A usage cap lasts for days or weeks.
      return error.type?.endsWith("/usage-capped") !== true
    default:
      return false
  }
}

/** Fails until the export is started again. Advice for programs is not stored. */
export const failed = (error: { readonly message: string }) => new ExportFailed({ reason: statementOf(error) })

const ofUser = ["consumerKey", "consumerSecret", "accessToken", "accessTokenSecret"]

/** A failure, naming the variables of the worker's environment if the credentials are the cause. */
export const refusedFor = (
  name: string,
  error: AnyError | ExportError | NotPlannable | InvalidSettings | ConfigError
) => {
  const variables = (settings: ReadonlyArray<string>) => settings.map((setting) => variableOf(name, setting)).join(", ")
  const unusable = `The worker cannot use the credentials "${name}"`
  switch (error._tag) {
    case "ConfigError":
      return new ExportFailed({ reason: `${unusable}: ${error.message}` })
    case "InvalidSettings":
      return new ExportFailed({ reason: `${unusable}: ${variables([error.setting])} ${error.rule}` })
    case "MissingAccessToken":
      return new ExportFailed({
        reason: `${unusable}: ${error.operation} needs ${
          error.credential === "bearer" ? "a bearer token" : "OAuth 1.0a user context"
        }, and ${variables(error.missing)} ${
          error.missing.length === 1 ? "is" : "are"
        } not set where it runs, nor is there such an account`
      })
    case "Unauthorized":
      return new ExportFailed({
        reason: `${error.message} Look at ${
          variables(error.credential === "bearer" ? ["bearerToken"] : ofUser)
        } where the worker runs.`
      })
    case "LoginRequired":
    case "MissingScope":
      // Their advice is a command to run.
      return new ExportFailed({ reason: error.message })
    default:
      return failed(error)
  }
}

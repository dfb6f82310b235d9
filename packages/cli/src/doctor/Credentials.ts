/** Checks whether the service accepts the credentials, and their permissions. */
import * as Credentials from "@postwire/core/auth/Credentials"
import { Client } from "@postwire/core/client/Client"
import { type AnyError, environmentVariable } from "@postwire/core/errors/Errors"
import { getAllPostsCount, getRecentPostsCount } from "@postwire/core/operations/Counts"
import { getUsage } from "@postwire/core/operations/Usage"
import { getMe } from "@postwire/core/operations/Users"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Response } from "@postwire/core/schema/Response"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { type Check, result } from "./Check.ts"

const ask = Effect.fnUntraced(function*(definition: Definition, parameters: object, retries = 0) {
  const client = yield* Client
  return yield* Effect.result(
    Effect.flatMap(
      client.request(definition, parameters, { retries, timeout: 15_000 }),
      (response) => client.read(definition, response)
    )
  )
})

/** The user of the credentials. The retry is for a wrong clock. */
export const ofMe = (userAuth: boolean) => ask(getMe.definition, { user_auth: userAuth }, userAuth ? 1 : 0)

const nameOf = ({ data }: Response<unknown, unknown>): string =>
  Predicate.hasProperty(data, "username") ? `@${String(data.username)}` : "a user"

const unclear = (error: AnyError): Check["status"] =>
  error._tag === "Unauthorized" || error._tag === "Forbidden" ? "bad" : "warning"

const query = "postwire"

export const bearer = Effect.fnUntraced(
  function*({ bearerToken }: Credentials.Values, isThere: boolean, place: string) {
    const name = environmentVariable("bearerToken")
    const check = (status: Check["status"], finding: string, advice: string): ReadonlyArray<Check> => [
      result("bearer token", status, finding, advice)
    ]
    if (bearerToken === undefined) return check("info", "Not set", `${name} is required for searches and counts.`)
    if (!isThere) return check("info", "Set, but not tried", "Run doctor again when the service responds.")
    const me = yield* ofMe(false)
    if (me._tag === "Success") return [yield* countsCheck(nameOf(me.success), "user")]
    if (me.failure._tag === "Forbidden") return [yield* countsCheck("an app", "app")]
    return me.failure._tag === "Unauthorized"
      ? check("bad", "Set, but the service does not accept it (401)", `Create a new token and set ${name}${place}.`)
      : check(
        unclear(me.failure),
        `Set, but not confirmed: ${me.failure.message}`,
        "Run doctor again later."
      )
  }
)

/** Checks whether a bearer token can count posts, and in which archives. */
const countsCheck = Effect.fnUntraced(
  function*(who: string, kind: "user" | "app"): Effect.fn.Return<Check, never, Client> {
    const counts = yield* ask(getRecentPostsCount.definition, { query, granularity: "day" })
    const archive = yield* ask(getAllPostsCount.definition, { query, granularity: "day" })
    const hasArchive = archive._tag === "Success" ? true : archive.failure._tag === "Forbidden" ? false : undefined
    const details = { kind, archive: hasArchive }
    if (counts._tag === "Failure") {
      const found = `Belongs to ${who}, but ${counts.failure.message}`
      return result(
        "bearer token",
        unclear(counts.failure),
        found,
        "Check the app's access in the service's portal.",
        details
      )
    }
    const archives = hasArchive === true ? " and the full archive" : ""
    const advice = hasArchive === undefined
      ? "The full archive did not respond: run doctor again."
      : hasArchive
      ? "Searches, counts and look-ups work with it."
      : "For the full archive, request research access."
    return result(
      "bearer token",
      "ok",
      `Belongs to ${who}, can count and search recent posts${archives}`,
      advice,
      details
    )
  }
)

/** Checks whether the app's own token is that of an app. */
export const appBearer = Effect.fnUntraced(
  function*({ appBearerToken }: Credentials.Values, isThere: boolean, place: string) {
    const name = environmentVariable("appBearerToken")
    const check = (status: Check["status"], finding: string, advice: string): ReadonlyArray<Check> => [
      result("app's token", status, finding, advice)
    ]
    if (appBearerToken === undefined) return []
    if (!isThere) return check("info", "Set, but not tried", "Run doctor again when the service responds.")
    const usage = yield* ask(getUsage.definition, {})
    if (usage._tag === "Success") {
      return check("ok", "Belongs to an app", "Streams, their rules and compliance jobs work with it.")
    }
    const { _tag, message } = usage.failure
    return _tag === "Unauthorized"
      ? check("bad", "Set, but the service does not accept it (401)", `Create a new token and set ${name}${place}.`)
      : _tag === "Forbidden"
      ? check(
        "bad",
        "Set, but it does not belong to an app (403)",
        `Set ${name}${place} to the token of the app itself.`
      )
      : check("warning", `Set, but not confirmed: ${message}`, "Run doctor again later.")
  }
)

export const user = Effect.fnUntraced(function*(
  values: Credentials.Values,
  isThere: boolean,
  place: string,
  rightsOf: () => string | undefined
) {
  const missing = Credentials.signing.filter((name) => values[name] === undefined).map(environmentVariable)
  const check = (
    status: Check["status"],
    finding: string,
    advice: string,
    details?: Check["details"]
  ): ReadonlyArray<Check> => [
    result("user (OAuth 1.0a)", status, finding, advice, details)
  ]
  if (missing.length === Credentials.signing.length) {
    const all = "POSTWIRE_CONSUMER_KEY, POSTWIRE_CONSUMER_SECRET, POSTWIRE_ACCESS_TOKEN, POSTWIRE_ACCESS_TOKEN_SECRET"
    return check("info", "Not set", `Writes and your own lists need ${all}.`)
  }
  if (missing.length > 0) {
    const found = `Only ${
      Credentials.signing.length - missing.length
    } of its ${Credentials.signing.length} parts are set`
    return check("bad", found, `Set ${missing.join(", ")} too${place}.`, { missing })
  }
  if (!isThere) return check("info", "Set, but not tried", "Run doctor again when the service responds.")
  const me = yield* ofMe(true)
  if (me._tag === "Failure") {
    return unclear(me.failure) === "bad"
      ? check(
        "bad",
        "Set, but the service does not accept it",
        "Check that its 4 parts belong together, and the clock."
      )
      : check("warning", `Set, but not confirmed: ${me.failure.message}`, "Run doctor again later.")
  }
  const rights = rightsOf()
  const [may, advice] = rights === undefined
    ? ["can read; the service does not show whether it can write", "A refused write would show it."]
    : rights === "read"
    ? ["can read", "To write, give the app that permission, then make a new access token."]
    : rights === "read-write"
    ? ["can read and write", "For direct messages, give the app that permission, then make a new access token."]
    : ["can read, write and send direct messages", "All operations work with it."]
  return check("ok", `Belongs to ${nameOf(me.success)}, ${may}`, advice, { rights })
})

/** Whether the service takes the credentials, and what they may do. */
import * as Credentials from "@postwire/core/auth/Credentials"
import { Client } from "@postwire/core/client/Client"
import { type AnyError, environmentVariable } from "@postwire/core/errors/Errors"
import { getAllPostsCount, getRecentPostsCount } from "@postwire/core/operations/Counts"
import { getMe } from "@postwire/core/operations/Users"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Response } from "@postwire/core/schema/Response"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Check } from "./Check.ts"

/** The four that make an OAuth 1.0a credential. */
export const parts = Credentials.names.slice(1)

const ask = Effect.fnUntraced(function*(definition: Definition, parameters: object, retries = 0) {
  const client = yield* Client
  return yield* Effect.result(
    Effect.flatMap(
      client.request(definition, parameters, { retries, timeout: 15_000 }),
      (response) => client.read(definition, response)
    )
  )
})

/** Who the credentials of a kind belong to. The retry is for a clock that is wrong. */
export const ofMe = (userAuth: boolean) => ask(getMe.definition, { user_auth: userAuth }, userAuth ? 1 : 0)

const nameOf = ({ data }: Response<unknown, unknown>): string =>
  Predicate.hasProperty(data, "username") ? `@${String(data.username)}` : "a user"

const unclear = (error: AnyError): Check["status"] =>
  error._tag === "Unauthorized" || error._tag === "Forbidden" ? "bad" : "warning"

/** A query that anyone may count. */
const query = "postwire"

/** What the bearer token may do. */
export const bearer = Effect.fnUntraced(
  function*({ bearerToken }: Credentials.Values, isThere: boolean, place: string) {
    const name = environmentVariable("bearerToken")
    const check = (check: Omit<Check, "name">): ReadonlyArray<Check> => [{ name: "bearer token", ...check }]
    if (bearerToken === undefined) {
      return check({ status: "info", finding: "Not set", advice: `${name} is what searches and counts need.` })
    }
    if (!isThere) {
      return check({
        status: "info",
        finding: "Set, but not tried",
        advice: "Run doctor again when the service answers."
      })
    }
    const me = yield* ofMe(false)
    if (me._tag === "Failure" && me.failure._tag === "Unauthorized") {
      return check({
        status: "bad",
        finding: "Set, but the service does not accept it (401)",
        advice: `Make a new token and set ${name}${place}.`
      })
    }
    const isApp = me._tag === "Failure" && me.failure._tag === "Forbidden"
    if (me._tag === "Failure" && !isApp) {
      return check({
        status: unclear(me.failure),
        finding: `Set, but not confirmed: ${me.failure.message}`,
        advice: "Run doctor again later."
      })
    }
    const counts = yield* ask(getRecentPostsCount.definition, { query, granularity: "day" })
    const archive = yield* ask(getAllPostsCount.definition, { query, granularity: "day" })
    const may = [
      ...counts._tag === "Success" ? ["recent posts"] : [],
      ...archive._tag === "Success" ? ["the full archive"] : []
    ]
    const who = me._tag === "Success" ? nameOf(me.success) : "an app"
    return check({
      status: counts._tag === "Failure" ? unclear(counts.failure) : "ok",
      finding: counts._tag === "Failure"
        ? `Belongs to ${who}, but ${counts.failure.message}`
        : `Belongs to ${who}, may count and search ${may.join(" and ")}`,
      advice: counts._tag === "Failure"
        ? "Look at the app's access in the service's portal."
        : archive._tag === "Success"
        ? "Searches, counts and look-ups work with it."
        : archive.failure._tag === "Forbidden"
        ? "For the full archive, ask for research access."
        : "The full archive did not answer: run doctor again for it.",
      details: {
        kind: me._tag === "Success" ? "user" : "app",
        archive: archive._tag === "Success" ? true : archive.failure._tag === "Forbidden" ? false : undefined
      }
    })
  }
)

/** What the user may do for whom the four speak. */
export const user = Effect.fnUntraced(function*(
  values: Credentials.Values,
  isThere: boolean,
  place: string,
  rightsOf: () => string | undefined
) {
  const missing = parts.filter((name) => values[name] === undefined).map(environmentVariable)
  const check = (check: Omit<Check, "name">): ReadonlyArray<Check> => [{ name: "user (OAuth 1.0a)", ...check }]
  if (missing.length === parts.length) {
    return check({
      status: "info",
      finding: "Not set",
      advice: "Writes and one's own lists need POSTWIRE_CONSUMER_KEY, POSTWIRE_CONSUMER_SECRET, " +
        "POSTWIRE_ACCESS_TOKEN, POSTWIRE_ACCESS_TOKEN_SECRET."
    })
  }
  if (missing.length > 0) {
    return check({
      status: "bad",
      finding: `Only ${parts.length - missing.length} of its ${parts.length} parts are set`,
      advice: `Set ${missing.join(", ")} too${place}.`,
      details: { missing }
    })
  }
  if (!isThere) {
    return check({
      status: "info",
      finding: "Set, but not tried",
      advice: "Run doctor again when the service answers."
    })
  }
  const me = yield* ofMe(true)
  if (me._tag === "Failure") {
    const isRefused = unclear(me.failure) === "bad"
    return check({
      status: unclear(me.failure),
      finding: isRefused ? "Set, but the service does not accept it" : `Set, but not confirmed: ${me.failure.message}`,
      advice: isRefused ? "Check that its 4 parts belong together, and the clock." : "Run doctor again later."
    })
  }
  const rights = rightsOf()
  const [may, advice] = rights === undefined
    ? ["may read; the service does not say whether it may write", "A refused write would show it."]
    : rights === "read"
    ? ["may read", "To write, give the app that permission, then make a new access token."]
    : rights === "read-write"
    ? ["may read and write", "For direct messages, give the app that permission, then make a new access token."]
    : ["may read, write and send direct messages", "All operations work with it."]
  return check({ status: "ok", finding: `Belongs to ${nameOf(me.success)}, ${may}`, advice, details: { rights } })
})

/** `postwire doctor`: whether the command can work here, and what to do where it cannot. It reads; it changes nothing. */
import * as Client from "@postwire/core/Client"
import * as Credentials from "@postwire/core/Credentials"
import type { Definition } from "@postwire/core/Definition"
import { type AnyError, environmentVariable } from "@postwire/core/Errors"
import * as Monotonic from "@postwire/core/Monotonic"
import { getAllPostsCount, getRecentPostsCount } from "@postwire/core/operations/Counts"
import { getMe } from "@postwire/core/operations/Users"
import * as RateLimit from "@postwire/core/RateLimit"
import type { Response } from "@postwire/core/Response"
import * as NodeClient from "@postwire/node/NodeClient"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Command from "effect/cli/Command"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpClient, transform } from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import packageJson from "../package.json" with { type: "json" }
import * as Connection from "./Connection.ts"
import * as Progress from "./Progress.ts"
import * as Report from "./Report.ts"
import * as Table from "./Table.ts"

/** One thing that was looked at. */
export interface Check {
  readonly name: string
  /** `bad` keeps the command from working, `warning` may, `info` says what is not used. */
  readonly status: "ok" | "info" | "warning" | "bad"
  readonly finding: string
  readonly advice: string
  /** Figures, for programs. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Something keeps the command from working. */
export class Unwell extends Schema.TaggedError<Unwell>()("Unwell", { names: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `${this.names.length === 1 ? "One thing is" : `${this.names.length} things are`} wrong: ${
      this.names.join(", ")
    }`
  }
}

/** `postwire doctor`. */
export const command = Command.make(
  "doctor",
  {
    json: Report.json,
    credentials: Connection.flag
  },
  Effect.fnUntraced(function*({ credentials, json }) {
    const checks = yield* examine(
      yield* Connection.variables(credentials),
      process.versions.node,
      Option.getOrUndefined(credentials)
    )
    const bad = checks.filter(({ status }) => status === "bad").map(({ name }) => name)
    yield* Report.print(json, { ok: bad.length === 0, checks }, () => checks.flatMap(told))
    if (bad.length > 0) return yield* new Unwell({ names: bad })
  })
).pipe(
  Command.withDescription("Look at credentials, clock, budgets and the connection; say what to do."),
  Command.withShortDescription("Find out why it does not work")
)

/** At most 80 columns. */
const told = ({ advice, finding, name, status }: Check): ReadonlyArray<string> => [
  ...Table.wrap(Table.oneLine(finding), 53).map((line, i) =>
    `${(i === 0 ? status : "").padEnd(9)}${(i === 0 ? name : "").padEnd(18)}${line}`
  ),
  ...Table.wrap(advice, 53).map((line) => `${" ".repeat(27)}${line}`)
]

/** What an answer showed besides its body. */
interface Seen {
  readonly date: string | undefined
  readonly rights: string | undefined
  readonly begun: number
  readonly ended: number
}

/** Looks at everything, with at most seven requests, none of which counts towards the post cap. */
export const examine = Effect.fnUntraced(function*(
  variables: Readonly<Record<string, string | undefined>>,
  node: string,
  /** The file of `--credentials`. */
  file?: string
) {
  const place = file === undefined ? "" : ` in ${file}`
  const checks: Array<Check> = [nodeCheck(node)]
  const settings = NodeClient.fromEnvironment(variables)
  const checked = yield* Effect.result(
    Effect.flatMap(NodeClient.wireOf(settings), (wire) => Client.check({ ...settings, wire }))
  )
  const values = yield* Effect.result(Credentials.check(settings))
  if (values._tag === "Failure") {
    const { rule, setting } = values.failure
    const name = environmentVariable(setting)
    checks.push({ name: "credentials", status: "bad", finding: `${name} ${rule}`, advice: `Set ${name} anew${place}.` })
  }
  if (checked._tag === "Failure") {
    const { rule, setting } = checked.failure
    const name = environmentVariable(setting)
    checks.push({ name: "settings", status: "bad", finding: `${name} ${rule}`, advice: `Set ${name}${place}.` })
  }
  if (values._tag === "Failure" || checked._tag === "Failure") return checks

  const seen: Array<Seen> = []
  const recorded = Layer.effect(
    HttpClient,
    Effect.map(HttpClient, (http) =>
      transform(http, (exchange) =>
        Effect.gen(function*() {
          const begun = yield* Clock.currentTimeMillis
          const response = yield* exchange
          const { date, "x-access-level": rights } = response.headers
          seen.push({ date, rights, begun, ended: yield* Clock.currentTimeMillis })
          return response
        })))
  ).pipe(Layer.provide(UndiciHttpClient.layer({ connectTimeout: 10_000 })))
  const { baseUrl, wire } = checked.success
  yield* Effect.gen(function*() {
    const connection = yield* reach(baseUrl, wire.name)
    checks.push(...connection.checks)
    const isOAuth1 = parts.every((name) => values.success[name] !== undefined)
    const ofBearer = yield* bearer(values.success, connection.isThere, place)
    const ofUser = yield* user(values.success, connection.isThere, place, () => seen.at(-1)?.rights)
    if (connection.isThere) {
      const isRefused = isOAuth1 && ofUser.some(({ status }) => status !== "ok")
      checks.push(...clockChecks(seen, isRefused))
    }
    checks.push(...ofBearer, ...ofUser)
    if (values.success.bearerToken === undefined && !isOAuth1) {
      checks.push({
        name: "credentials",
        status: "bad",
        finding: "There is none that works by itself",
        advice: file === undefined
          ? `Set ${environmentVariable("bearerToken")}, or name a file with --credentials.`
          : `Set ${environmentVariable("bearerToken")}${place}.`
      })
    }
    if (connection.isThere) checks.push(...budgetChecks(yield* RateLimit.snapshot, yield* Clock.currentTimeMillis))
  }).pipe(
    Effect.provide(
      Client.layer({ ...settings, wire }).pipe(
        Layer.provide([Credentials.layer(settings), NodeCrypto.layer]),
        Layer.provideMerge([recorded, RateLimit.layerFail])
      )
    )
  )
  return checks
})

/** The four that make an OAuth 1.0a credential. */
const parts = Credentials.names.slice(1)

const needed = packageJson.engines.node.replace(/[^\d.]/g, "")

/** Whether Node is new enough. */
export const nodeCheck = (version: string): Check => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [least = 0, leastMinor = 0] = needed.split(".").map(Number)
  const isNew = major > least || (major === least && minor >= leastMinor)
  return {
    name: "node",
    status: isNew ? "ok" : "bad",
    finding: `Node ${version}`,
    advice: isNew ? `${needed} or newer is needed.` : `Install Node ${needed} or newer.`,
    details: { version }
  }
}

/** Asks without a credential: whether there is somebody, and in which words. */
const reach = Effect.fnUntraced(function*(baseUrl: string, wire: "neutral" | "x") {
  const http = yield* HttpClient
  const begun = yield* Monotonic.millis
  const ask = (path: string) =>
    http.execute(HttpClientRequest.get(baseUrl + path)).pipe(
      Effect.map(({ status }) => status),
      Effect.timeoutOption("15 seconds"),
      Effect.result
    )
  const asked = yield* ask("/2/posts?ids=1")
  const millis = Math.round((yield* Monotonic.millis) - begun)
  if (asked._tag === "Failure" || Option.isNone(asked.success)) {
    const cause = asked._tag === "Failure" && "cause" in asked.failure.reason ? asked.failure.reason.cause : undefined
    const why = asked._tag === "Success" ? "no answer in 15 s" : Predicate.hasProperty(cause, "message")
      ? String(cause.message)
      : asked.failure.reason._tag
    const check: Check = {
      name: "service",
      status: "bad",
      finding: `${baseUrl} does not answer: ${why}`,
      advice: `Look at the connection, proxies, and ${environmentVariable("baseUrl")}.`,
      details: { baseUrl }
    }
    return { isThere: false, checks: [check] }
  }
  const other = yield* ask("/2/tweets?ids=1")
  const knows = (status: number | undefined) => status !== undefined && status !== 404 && status < 500
  const spoken = [
    ...knows(Option.getOrUndefined(asked.success)) ? ["neutral"] : [],
    ...other._tag === "Success" && knows(Option.getOrUndefined(other.success)) ? ["x"] : []
  ]
  const checks: ReadonlyArray<Check> = [
    {
      name: "service",
      status: spoken.length > 0 ? "ok" : "warning",
      finding: `${baseUrl} answers in ${Math.round(millis)} ms`,
      advice: spoken.length > 0
        ? "Everything is sent there."
        : `It does not seem to know the paths: look at ${environmentVariable("baseUrl")}.`,
      details: { baseUrl, millis }
    },
    spoken.length === 0 || spoken.includes(wire)
      ? {
        name: "wire",
        status: "ok",
        finding: `${wire} is set; the paths ${
          spoken.length === 0 ? "tell nothing" : spoken.length === 2 ? "fit both wires" : "fit it"
        }`,
        advice: "Your own words are the same on both wires.",
        details: { set: wire, spoken }
      }
      : {
        name: "wire",
        status: "bad",
        finding: `${wire} is set, but the service seems to speak ${spoken.join()}`,
        advice: `Set ${environmentVariable("wire")}=${spoken.join()}.`,
        details: { set: wire, spoken }
      }
  ]
  return { isThere: true, checks }
})

/** Signatures older than this are refused by services; half of it is time to act. */
const tolerance = 300_000

/** A client corrects the time of its signatures when one was refused, so a wrong clock is bad only where that did not help. */
const clockChecks = (seen: ReadonlyArray<Seen>, isRefused: boolean): ReadonlyArray<Check> => {
  // The least round trip tells the most. A date says the second that has begun.
  const [best] = seen.filter(({ date }) => Number.isFinite(Date.parse(date ?? "")))
    .sort((a, b) => (a.ended - a.begun) - (b.ended - b.begun))
  if (best === undefined) {
    return [{
      name: "clock",
      status: "warning",
      finding: "The service tells no time",
      advice: "Keep the clock right: signatures hold the time."
    }]
  }
  const offset = Math.round((best.begun + best.ended) / 2 - (Date.parse(best.date ?? "") + 500))
  const size = Math.abs(offset)
  const away = `${(size / 1000).toFixed(1)} s ${offset > 0 ? "ahead of" : "behind"} the service`
  return [{
    name: "clock",
    status: size < 3_000 ? "ok" : size < tolerance / 2 || !isRefused ? "warning" : "bad",
    finding: size < 3_000 ? "It agrees with the service" : `It is ${away}`,
    advice: size < 3_000
      ? "Signatures need that."
      : size < tolerance || isRefused
      ? "Set the clock, best by NTP: signatures hold the time."
      : "Signatures are corrected for it, at the price of a refused request. Set the clock, best by NTP.",
    details: { offsetMillis: offset }
  }]
}

const ask = Effect.fnUntraced(function*(definition: Definition, parameters: object, retries = 0) {
  const client = yield* Client.Client
  return yield* Effect.result(
    Effect.flatMap(
      client.request(definition, parameters, { retries, timeout: 15_000 }),
      (response) => client.read(definition, response)
    )
  )
})

const nameOf = ({ data }: Response<unknown, unknown>): string =>
  Predicate.hasProperty(data, "username") ? `@${String(data.username)}` : "a user"

const unclear = (error: AnyError): Check["status"] =>
  error._tag === "Unauthorized" || error._tag === "Forbidden" ? "bad" : "warning"

/** A query that anyone may count. */
const query = "postwire"

const bearer = Effect.fnUntraced(function*({ bearerToken }: Credentials.Values, isThere: boolean, place: string) {
  const name = environmentVariable("bearerToken")
  const check = (check: Omit<Check, "name">): ReadonlyArray<Check> => [{ name: "bearer token", ...check }]
  if (bearerToken === undefined) {
    return check({ status: "info", finding: "Not set", advice: `${name} is what searches and counts need.` })
  }
  if (!isThere) {
    return check({ status: "info", finding: "Set; not tried", advice: "Run doctor again when the service answers." })
  }
  const me = yield* ask(getMe.definition, { user_auth: false })
  if (me._tag === "Failure" && me.failure._tag === "Unauthorized") {
    return check({
      status: "bad",
      finding: "Set, but the service does not take it (401)",
      advice: `Make a new token and set ${name}${place}.`
    })
  }
  const isApp = me._tag === "Failure" && me.failure._tag === "Forbidden"
  if (me._tag === "Failure" && !isApp) {
    return check({
      status: unclear(me.failure),
      finding: `Set; ${me.failure.message}`,
      advice: "Run doctor again later."
    })
  }
  const counts = yield* ask(getRecentPostsCount.definition, { query, granularity: "day" })
  const archive = yield* ask(getAllPostsCount.definition, { query, granularity: "day" })
  const may = [
    ...counts._tag === "Success" ? ["recent posts"] : [],
    ...archive._tag === "Success" ? ["the full archive"] : []
  ]
  const who = me._tag === "Success" ? `of ${nameOf(me.success)}` : "of an app"
  return check({
    status: counts._tag === "Failure" ? unclear(counts.failure) : "ok",
    finding: counts._tag === "Failure"
      ? `Set, ${who}, but ${counts.failure.message}`
      : `Set, ${who}: may count and search ${may.join(" and ")}`,
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
})

const user = Effect.fnUntraced(function*(
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
    return check({ status: "info", finding: "Set; not tried", advice: "Run doctor again when the service answers." })
  }
  // The retry is for a clock that is wrong.
  const me = yield* ask(getMe.definition, { user_auth: true }, 1)
  if (me._tag === "Failure") {
    const isRefused = unclear(me.failure) === "bad"
    return check({
      status: unclear(me.failure),
      finding: isRefused ? "Set, but the service does not take it" : `Set; ${me.failure.message}`,
      advice: isRefused ? "Check that its 4 parts belong together, and the clock." : "Run doctor again later."
    })
  }
  const rights = rightsOf()
  const [may, advice] = rights === undefined
    ? ["its rights are not announced", "A refused write tells whether it may write."]
    : rights === "read"
    ? ["may read", "To write, give the app that permission, then make a new access token."]
    : rights === "read-write"
    ? ["may read and write", "For direct messages, give the app that permission, then make a new access token."]
    : ["may read, write and send direct messages", "All operations work with it."]
  return check({ status: "ok", finding: `Set, of ${nameOf(me.success)}: ${may}`, advice, details: { rights } })
})

const budgetChecks = (usages: ReadonlyArray<RateLimit.Usage>, now: number): ReadonlyArray<Check> =>
  usages.flatMap(({ credential, limit, operation, remaining, resetAt }): ReadonlyArray<Check> => {
    if (remaining === undefined) return []
    const left = resetAt === undefined ? "" : `, anew in ${Progress.duration((resetAt.getTime() - now) / 1000)}`
    return [{
      name: "budget",
      status: remaining === 0 ? "warning" : "ok",
      finding: `${operation} (${credential}): ${Progress.count(remaining)}${
        limit === undefined ? "" : ` of ${Progress.count(limit)}`
      } left${left}`,
      advice: remaining === 0 ? "Commands wait until then." : "Each operation has its own.",
      details: { operation, credential, limit, remaining, resetAt: resetAt?.toISOString() }
    }]
  })

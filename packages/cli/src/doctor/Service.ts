/** Checks whether the service responds, its names, and its clock. */
import { environmentVariable } from "@postwire/core/errors/Errors"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import type { WireName } from "@postwire/core/schema/WireName"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import { type Check, result } from "./Check.ts"

export interface Seen {
  readonly date: string | undefined
  readonly rights: string | undefined
  readonly begun: number
  readonly ended: number
}

/** Sends requests without credentials, to find out whether the service responds and with which paths. */
export const reach = Effect.fnUntraced(function*(baseUrl: string, wire: WireName) {
  const http = yield* HttpClient
  const begun = yield* Monotonic.millis
  const ask = (path: string) =>
    http.execute(HttpClientRequest.get(baseUrl + path)).pipe(
      Effect.map(({ status }) => status),
      Effect.timeoutOrElse({ duration: "15 seconds", orElse: () => Effect.undefined }),
      Effect.result
    )
  const first = yield* ask("/2/posts?ids=1")
  const millis = Math.round((yield* Monotonic.millis) - begun)
  if (first._tag === "Failure" || first.success === undefined) {
    const check = result(
      "service",
      "bad",
      `${baseUrl} does not respond: ${first._tag === "Failure" ? reasonOf(first.failure) : "no response in 15 s"}`,
      `Check the connection, proxies, and ${environmentVariable("baseUrl")}.`,
      { baseUrl }
    )
    return { isThere: false, checks: [check] }
  }
  const second = yield* ask("/2/tweets?ids=1")
  const knows = (status: number | undefined) => status !== undefined && status !== 404 && status < 500
  const spoken = [
    ...knows(first.success) ? ["neutral"] : [],
    ...second._tag === "Success" && knows(second.success) ? ["x"] : []
  ]
  const service = result(
    "service",
    spoken.length > 0 ? "ok" : "warning",
    `${baseUrl} responds in ${millis} ms`,
    spoken.length > 0
      ? "All requests go there."
      : `It does not seem to know the paths: check ${environmentVariable("baseUrl")}.`,
    { baseUrl, millis }
  )
  return { isThere: true, checks: [service, wireCheck(wire, spoken)] }
})

const reasonOf = ({ reason }: HttpClientError): string => {
  const cause = "cause" in reason ? reason.cause : undefined
  return Predicate.hasProperty(cause, "message") ? String(cause.message) : reason._tag
}

const wireCheck = (wire: WireName, spoken: ReadonlyArray<string>): Check => {
  const details = { set: wire, spoken }
  return spoken.length === 0 || spoken.includes(wire === "neutral" ? wire : "x")
    ? result(
      "wire",
      "ok",
      `${wire} is set; the paths ${
        spoken.length === 0 ? "fit no wire" : spoken.length === 2 ? "fit all wires" : "fit it"
      }`,
      "Your programs use the same names with all wires.",
      details
    )
    : result(
      "wire",
      "bad",
      `${wire} is set, but the service seems to speak ${spoken.join()}`,
      `Set ${environmentVariable("wire")}=${spoken.join()}.`,
      details
    )
}

/** Services refuse signatures that are older, in milliseconds. */
const tolerance = 300_000

/** The client corrects its signatures after a refusal, so a wrong clock is bad only if that did not help. */
export const clockChecks = (seen: ReadonlyArray<Seen>, isRefused: boolean): ReadonlyArray<Check> => {
  // The shortest round trip is the most exact. A date header is truncated to the second.
  const [best] = seen.filter(({ date }) => Number.isFinite(Date.parse(date ?? "")))
    .sort((a, b) => (a.ended - a.begun) - (b.ended - b.begun))
  if (best === undefined) {
    return [
      result("clock", "warning", "The service sends no time", "Keep the clock correct: signatures contain the time.")
    ]
  }
  const offset = Math.round((best.begun + best.ended) / 2 - (Date.parse(best.date ?? "") + 500))
  const size = Math.abs(offset)
  const away = `${(size / 1000).toFixed(1)} s ${offset > 0 ? "ahead of" : "behind"} the service`
  return [
    result(
      "clock",
      size < 3_000 ? "ok" : size < tolerance / 2 || !isRefused ? "warning" : "bad",
      size < 3_000 ? "It agrees with the service" : `It is ${away}`,
      size < 3_000
        ? "Signatures need that."
        : size < tolerance || isRefused
        ? "Set the clock, best by NTP: signatures contain the time."
        : "The client corrects its signatures after a refused request. Set the clock, best by NTP.",
      { offsetMillis: offset }
    )
  ]
}

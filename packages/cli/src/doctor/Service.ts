/** Whether the service answers, in which words, and what time it is there. */
import { environmentVariable } from "@postwire/core/errors/Errors"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import type { WireName } from "@postwire/core/schema/WireName"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Check } from "./Check.ts"

/** What an answer showed besides its body. */
export interface Seen {
  readonly date: string | undefined
  readonly rights: string | undefined
  readonly begun: number
  readonly ended: number
}

/** Asks without a credential: whether there is somebody, and in which words. */
export const reach = Effect.fnUntraced(function*(baseUrl: string, wire: WireName) {
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
    spoken.length === 0 || spoken.includes(wire === "neutral" ? wire : "x")
      ? {
        name: "wire",
        status: "ok",
        finding: `${wire} is set; the paths ${
          spoken.length === 0 ? "tell nothing" : spoken.length === 2 ? "fit all wires" : "fit it"
        }`,
        advice: "Your own words are the same on all wires.",
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
export const clockChecks = (seen: ReadonlyArray<Seen>, isRefused: boolean): ReadonlyArray<Check> => {
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

/** Posts events to a program on this machine, and challenges it, as the service does. */
import * as Delivery from "@postwire/core/events/Delivery"
import * as Signature from "@postwire/core/events/Signature"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { isLoopback } from "../connection/Loopback.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Text from "../terminal/Text.ts"
import type { EventDelivery } from "./EventDelivery.ts"

/** The address of the program. */
export const flag = Flag.String("forward-to").pipe(
  Flag.withMetavar("URL"),
  Flag.withDescription("The webhook of a program on this machine, such as http://localhost:3000/hook")
)

/** The answer of the program to a request. */
export interface Answer {
  /** Undefined without an answer. */
  readonly status: number | undefined
  readonly millis: number
  /** Why it is not the answer that the service needs; undefined if it is. */
  readonly problem: string | undefined
}

/** The answer to a challenge. */
export interface Challenged extends Answer {
  /** True if the program also signs what could be a delivery: everyone can have it sign forged events. */
  readonly signsDeliveries: boolean
}

/** An attempt to deliver an event. */
export interface Attempt extends Answer {
  readonly delivery: EventDelivery
  /** From 1. */
  readonly number: number
  /** The pause before the next attempt, in milliseconds; undefined after the last one. */
  readonly wait: number | undefined
}

export interface Forwarder {
  /** Challenges the program, as the service does before it registers a webhook. */
  readonly challenge: Effect.Effect<Challenged>
  /** Posts an event once. */
  readonly post: (delivery: EventDelivery) => Effect.Effect<Attempt>
}

/** Makes the forwarder to an address. Deliveries have private data and a signature of the app, so they stay on this machine. */
export const make = Effect.fnUntraced(function*(given: string, secret: Redacted.Redacted | undefined) {
  const url = URL.parse(given)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return yield* ErrorReport.refuse(
      `--forward-to is not an address: ${given}`,
      "Write it like http://localhost:3000/hook."
    )
  }
  if (!isLoopback(url.hostname)) {
    return yield* ErrorReport.refuse(
      `--forward-to must be on this machine, and ${url.hostname} is not: events are private and signed by the app.`,
      "Forward to localhost, 127.0.0.1 or [::1]; for other addresses register a webhook (createWebhook)."
    )
  }
  if (secret === undefined) {
    return yield* ErrorReport.refuse(
      "No consumer secret: events are signed with it.",
      "Set POSTWIRE_CONSUMER_SECRET to the API Key Secret of the app; postwire sandbox prints that of a sandbox."
    )
  }
  const exchange = exchangeWith(yield* HttpClient.HttpClient)
  const challenge = (token: string) => {
    const challenged = new URL(url)
    challenged.searchParams.set("crc_token", token)
    const expected = Signature.sign(secret, token)
    return exchange(
      HttpClientRequest.get(challenged.href),
      Delivery.challengeMillis,
      (text) => problemOf(text, expected)
    )
  }
  return {
    challenge: Effect.gen(function*() {
      const answer = yield* challenge(randomBytes(24).toString("base64url"))
      const signsDeliveries = answer.problem === undefined && (yield* challenge("{\"data\":{}}")).problem === undefined
      return { ...answer, signsDeliveries }
    }),
    post: (delivery) =>
      Effect.map(
        exchange(
          HttpClientRequest.post(url.href).pipe(
            HttpClientRequest.setHeader(Signature.header, Signature.sign(secret, delivery.body)),
            HttpClientRequest.bodyText(delivery.body, "application/json")
          ),
          Delivery.answerMillis
        ),
        (answer) => ({ ...answer, delivery, number: 1, wait: undefined })
      )
  } satisfies Forwarder
})

/** The HTTP client of forwarders. It follows no redirects. */
export const layer = UndiciHttpClient.layer({ maxBodySize: 1_048_576 })

const exchangeWith = (http: HttpClient.HttpClient) =>
  Effect.fnUntraced(
    function*(
      request: HttpClientRequest.HttpClientRequest,
      limitMillis: number,
      problemOf: (text: string) => string | undefined = () => undefined
    ): Effect.fn.Return<Answer> {
      const begun = yield* Monotonic.millis
      const received = yield* http.execute(request).pipe(
        Effect.flatMap(({ status, text }) => Effect.map(text, (text) => ({ status, text }))),
        Effect.timeoutOption(limitMillis),
        Effect.catch(({ reason }) => Effect.succeed("cause" in reason ? messageOf(reason.cause) : reason._tag))
      )
      const millis = Math.round((yield* Monotonic.millis) - begun)
      if (typeof received === "string") return { status: undefined, millis, problem: received }
      if (Option.isNone(received)) {
        return { status: undefined, millis, problem: `no answer within ${limitMillis / 1000} s` }
      }
      const { status, text } = received.value
      return { status, millis, problem: status === Delivery.acknowledged ? problemOf(text) : refusalOf(status, text) }
    }
  )

const messageOf = (cause: unknown): string => Predicate.hasProperty(cause, "message") ? String(cause.message) : "Failed"

/** The first line of a refusal. */
const refusalOf = (status: number, text: string): string =>
  status < 400
    ? `the service requires ${Delivery.acknowledged}${status < 300 ? "" : ", and follows no redirects"}`
    : Text.oneLine(text.trim().split("\n", 1).join()) || "the answer is empty"

const problemOf = (text: string, expected: string): string | undefined => {
  let response: unknown
  try {
    const body: unknown = JSON.parse(text)
    response = Predicate.hasProperty(body, "response_token") ? body.response_token : undefined
  } catch {
    return "the answer is not JSON"
  }
  return response === undefined
    ? "the answer has no response_token"
    : response === expected
    ? undefined
    : "response_token is not signed with POSTWIRE_CONSUMER_SECRET"
}

/** Delivers an event with the retries of the service. Returns whether it was acknowledged. */
export const deliver = Effect.fnUntraced(function*<E, R>(
  { post }: Forwarder,
  delivery: EventDelivery,
  onAttempt: (attempt: Attempt) => Effect.Effect<unknown, E, R>
) {
  for (let number = 1;; number++) {
    const attempt = yield* post(delivery)
    const isDelivered = attempt.problem === undefined
    const wait = isDelivered ? undefined : Delivery.retryMillis[number - 1]
    yield* onAttempt({ ...attempt, number, wait })
    if (wait === undefined) return isDelivered
    yield* Effect.sleep(wait)
  }
})

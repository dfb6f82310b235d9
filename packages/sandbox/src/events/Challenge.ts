/** Challenges: a webhook proves that it knows the consumer secret of its app. */
import * as Signature from "@postwire/core/events/Signature"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { gunzipSync } from "node:zlib"
import * as Problem from "../http/Problem.ts"
import * as Outgoing from "./Outgoing.ts"

/** A failed check of a webhook. */
export interface Refusal {
  readonly reason: string
  /** True if it makes the webhook invalid immediately, and not only after 28 hours without a success. */
  readonly isFinal: boolean
}

export type Verdict = "passed" | Refusal

/** A new token: one that cannot be the body of a delivery. */
export const token = (): string => randomBytes(24).toString("base64url")

/** The address that challenges a webhook. */
export const urlOf = (url: string, token: string): string => {
  const target = new URL(url)
  target.hash = ""
  target.search += `${target.search === "" ? "?" : "&"}crc_token=${token}`
  return target.href
}

/** Judges the answer to a challenge. */
export const verdictOf = (answer: Outgoing.Answer, secret: Redacted.Redacted, token: string): Verdict => {
  if (!Outgoing.isResponse(answer)) return { reason: answer.reason, isFinal: answer.cause === "tls" }
  const { status } = answer
  if (status >= 400) return { reason: `It responded with status ${status}, not 200.`, isFinal: false }
  const refuse = (reason: string): Refusal => ({ reason, isFinal: true })
  if (status >= 300) return refuse(`It responded with the redirect ${status}. Redirects are not followed.`)
  if (status !== 200) return refuse(`It responded with status ${status}, not 200.`)
  const text = textOf(answer)
  if (text === undefined) return refuse("Its content-encoding does not fit its body.")
  return responseIn(text) === Signature.sign(secret, token) ? "passed" : refuse(
    "The `response_token` is wrong. It is \"sha256=\" and the base64 of the HMAC-SHA256 of the crc_token with the consumer " +
      "secret of the app, in a JSON object."
  )
}

const textOf = ({ bytes, encoding = "identity" }: Outgoing.Response): string | undefined => {
  if (encoding === "identity") return bytes.toString()
  try {
    return encoding === "gzip" ? gunzipSync(bytes, { maxOutputLength: 65_536 }).toString() : undefined
  } catch {
    return undefined
  }
}

const responseIn = (text: string): unknown => {
  try {
    const body: unknown = JSON.parse(text)
    return Predicate.hasProperty(body, "response_token") ? body.response_token : undefined
  } catch {
    return undefined
  }
}

/** 400: a webhook did not pass. */
export const problemOf = ({ reason }: Refusal): Problem.Problem =>
  Problem.invalidRequest(`CrcValidationFailed: ${reason}`)

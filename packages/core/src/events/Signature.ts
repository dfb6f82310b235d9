/**
 * Signatures of webhooks: the base64 of an HMAC-SHA256 with the secret of the app. The service signs deliveries with it, and
 * challenges the webhook to sign a token.
 *
 * Both use the same key and the same function. A webhook that signed any token would therefore sign forged deliveries for everyone
 * who requests it, so only texts that cannot be a delivery are signed.
 *
 * @stability experimental
 */
import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import * as Redacted from "effect/Redacted"
import { nodeCrypto } from "../internal/nodeCrypto.ts"

/** The header of a delivery's signature. */
export const header = "x-twitter-webhooks-signature"

/** Signs bytes, or the UTF-8 of a text: `sha256=` and 44 characters. */
export const sign = (secret: Redacted.Redacted, message: Uint8Array | string): string =>
  signed(Redacted.value(secret), bytesOf(message))

/** Signs the token of a challenge. Returns `undefined` for a text that is not such a token. */
export const answer = (secret: Redacted.Redacted, token: string): string | undefined =>
  isToken.test(token) ? sign(secret, token) : undefined

/** Tokens have neither braces nor quotes, which the JSON object of a delivery needs. */
const isToken = /^[A-Za-z0-9+/=_-]{16,128}$/

/** Makes the check of signatures: the bytes of a body are signed with one of the secrets. It takes the same time for each. */
export const verifier = (
  secrets: ReadonlyArray<Redacted.Redacted>
): (body: Uint8Array, signature: string) => boolean => {
  const keys = secrets.map(Redacted.value)
  return (body, signature) => {
    if (!isSignature.test(signature)) return false
    let isValid = false
    // Every secret is tried, so that the time does not tell which one matches.
    for (const key of keys) if (isSame(signed(key, body), signature)) isValid = true
    return isValid
  }
}

const isSignature = /^sha256=[A-Za-z0-9+/]{43}=$/

/** Compares texts of equal length without ending at the first difference. */
const isSame = (one: string, other: string): boolean => {
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}

const signed = (key: string, message: Uint8Array): string => {
  // Web Crypto is asynchronous, which costs more than the signature of an event.
  const node = nodeCrypto()
  return `sha256=${
    node === undefined
      ? btoa(String.fromCharCode(...hmac(sha256, bytesOf(key), message)))
      : node.createHmac("sha256", key).update(message).digest("base64")
  }`
}

const bytesOf = (message: Uint8Array | string): Uint8Array =>
  typeof message === "string" ? new TextEncoder().encode(message) : message

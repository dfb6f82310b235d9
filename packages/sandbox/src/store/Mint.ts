/** Generates identifiers, tokens and codes in the service's formats, with the platform's cryptographic generator. */
import * as Redacted from "effect/Redacted"
import { randomInt } from "node:crypto"

/** Random letters and digits. */
export const text = (length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("")

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/** An access token, refresh token or authorization code. `now` is in milliseconds. */
export const token = (kind: "at" | "rt" | "ac", now: number): Redacted.Redacted =>
  Redacted.make(Buffer.from(`${text(45)}:${now}:1:1:${kind}:1`).toString("base64url"))

/** An OAuth 2.0 client id, made of twenty characters. */
export const clientId = (characters = text(20)): string => Buffer.from(`${characters}:1:ci`).toString("base64url")

/** An app-only bearer token. It contains percent escapes, which are sent verbatim, like those of the service. */
export const appToken = (): Redacted.Redacted => Redacted.make(`${"A".repeat(22)}${text(28)}%2F${text(50)}%3D`)

/** A PIN of seven digits that a user types into an app. */
export const pin = (): Redacted.Redacted => Redacted.make(String(randomInt(1_000_000, 10_000_000)))

/** New identifiers, tokens and codes, in the shapes of the service and from the platform's cryptographic generator. */
import * as Redacted from "effect/Redacted"
import { randomInt } from "node:crypto"

/** Random letters and digits. */
export const text = (length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("")

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/** An access token, a refresh token or an authorization code that is made now (in milliseconds). */
export const token = (kind: "at" | "rt" | "ac", now: number): Redacted.Redacted =>
  Redacted.make(Buffer.from(`${text(45)}:${now}:1:1:${kind}:1`).toString("base64url"))

/** The id of an OAuth 2.0 client, of twenty characters. */
export const clientId = (characters = text(20)): string => Buffer.from(`${characters}:1:ci`).toString("base64url")

/** The token of an app alone. It has escapes, as those of the service do: it is sent as it is. */
export const appToken = (): Redacted.Redacted => Redacted.make(`${"A".repeat(22)}${text(28)}%2F${text(50)}%3D`)

/** What a user types into an app. */
export const pin = (): Redacted.Redacted => Redacted.make(String(randomInt(1_000_000, 10_000_000)))

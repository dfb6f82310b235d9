/**
 * Page tokens: a position in a listing. A token that was modified, or belongs to another operation or other parameters, is
 * refused.
 */
import * as Result from "effect/Result"
import { createHmac, timingSafeEqual } from "node:crypto"
import type { Cursor } from "../store/Pages.ts"

/** The parameters that the pages of a listing share: everything but the token, the page size and the selected fields. */
export interface Listing {
  readonly operation: string
  readonly parameters: Readonly<Record<string, string | number | boolean | null | undefined>>
}

/** The token for a cursor of the listing, or for its start. Each `detour` has a different token for the same position. */
export const encode = (listing: Listing, cursor: Cursor | undefined, detour = 0): string => {
  const place = cursor === undefined ? "s" : (cursor.direction === "older" ? "o" : "n") + cursor.key
  const payload = Buffer.from(detour === 0 ? place : `${detour}${place}`)
  return Buffer.concat([seal(listing, payload), payload]).toString("base64url")
}

/** The cursor of a token, undefined at the start; fails if the token was not issued for this listing. */
export const decode = (listing: Listing, token: string): Result.Result<Cursor | undefined, "invalid"> => {
  const bytes = Buffer.from(token, "base64url")
  const payload = bytes.subarray(sealBytes)
  // Decoding ignores stray characters and bits; only the canonical spelling is valid.
  const genuine = payload.length > 0 && bytes.toString("base64url") === token &&
    timingSafeEqual(bytes.subarray(0, sealBytes), seal(listing, payload))
  if (!genuine) return Result.fail("invalid")
  const place = payload.toString().replace(/^[0-9]+/, "")
  return Result.succeed(
    place === "s" ? undefined : { direction: place[0] === "o" ? "older" : "newer", key: place.slice(1) }
  )
}

const sealBytes = 12

// Guards against mistakes, not attackers: a forged position reveals nothing that the request could not list anyway.
const sealKey = "postwire page token 1"

const seal = (listing: Listing, payload: Buffer): Buffer =>
  createHmac("sha256", sealKey)
    .update(fingerprint(listing))
    .update("\0")
    .update(payload)
    .digest()
    .subarray(0, sealBytes)

const fingerprint = ({ operation, parameters }: Listing): string =>
  JSON.stringify([
    operation,
    Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined).sort(([a], [b]) =>
      a < b ? -1 : a > b ? 1 : 0
    )
  ])

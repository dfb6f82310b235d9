/** Signed requests that were seen: the same one is not accepted twice. */
import * as Crypto from "node:crypto"

/** How far the timestamp of a signature may be from the clock of the service. */
export const toleranceSeconds = 300

/** The nonces of one service. */
export interface Nonces {
  /** Notes a nonce of a token and timestamp (in seconds); false when it was there already. */
  readonly claim: (token: string, timestamp: number, nonce: string, now: number) => boolean
  readonly clear: () => void
}

/** Remembers nonces as long as their timestamps are accepted, and the latest `maximum` of them at most. */
export const make = (maximum = 100_000): Nonces => {
  const expiries = new Map<string, number>()
  return {
    claim: (token, timestamp, nonce, now) => {
      // Of one length, however long a nonce is.
      const key = Crypto.hash("sha1", JSON.stringify([token, timestamp, nonce]), "base64")
      if (expiries.has(key)) return false
      for (const [oldest, expiry] of expiries) {
        if (expiry >= now && expiries.size < maximum) break
        expiries.delete(oldest)
      }
      expiries.set(key, (timestamp + toleranceSeconds) * 1000 + 999)
      return true
    },
    clear: () => expiries.clear()
  }
}

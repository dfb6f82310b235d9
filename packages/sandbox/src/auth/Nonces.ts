/** Remembers nonces of signed requests to prevent replays. */
import * as Crypto from "node:crypto"

/** The maximum difference between a signature's timestamp and the service's clock, in seconds. */
export const toleranceSeconds = 300

export type Nonces = ReturnType<typeof make>

/** Keeps nonces while their timestamps are acceptable, at most the latest `maximum`. */
export const make = (maximum = 100_000) => {
  const expiries = new Map<string, number>()
  return {
    /** Records a nonce of a token and timestamp (in seconds); false if it was used before. */
    claim: (token: string, timestamp: number, nonce: string, now: number): boolean => {
      // Hashed, so that a long nonce takes no more memory.
      const key = Crypto.hash("sha1", JSON.stringify([token, timestamp, nonce]), "base64")
      if (expiries.has(key)) return false
      for (const [oldest, expiry] of expiries) {
        if (expiry >= now && expiries.size < maximum) break
        expiries.delete(oldest)
      }
      expiries.set(key, (timestamp + toleranceSeconds) * 1000 + 999)
      return true
    },
    clear: (): void => expiries.clear()
  }
}

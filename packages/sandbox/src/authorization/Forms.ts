/** Single-use tokens of forms. */
import { randomBytes } from "node:crypto"

/** Keeps the latest `maximum` forms; a replaced state invalidates all. */
export const make = <A>(epoch: () => number, maximum = 1_000) => {
  const shown = new Map<string, { readonly question: A; readonly epoch: number }>()
  return {
    /** Returns the token of a form. */
    show: (question: A): string => {
      const token = randomBytes(24).toString("base64url")
      for (const oldest of shown.keys()) {
        if (shown.size < maximum) break
        shown.delete(oldest)
      }
      shown.set(token, { question, epoch: epoch() })
      return token
    },
    /** The contents of a form; undefined if it was already sent, or never shown. */
    take: (token: string): A | undefined => {
      const found = shown.get(token)
      shown.delete(token)
      return found?.epoch === epoch() ? found.question : undefined
    }
  }
}

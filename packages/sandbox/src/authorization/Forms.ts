/** Single-use tokens of forms. */
import { randomBytes } from "node:crypto"

/** The open forms. */
export interface Forms<A> {
  /** Returns the token of a form. */
  readonly show: (question: A) => string
  /** The contents of a form; undefined if it was already sent, or never shown. */
  readonly take: (token: string) => A | undefined
}

/** Keeps the latest `maximum` forms; a replaced state invalidates all. */
export const make = <A>(epoch: () => number, maximum = 1_000): Forms<A> => {
  const shown = new Map<string, { readonly question: A; readonly epoch: number }>()
  return {
    show: (question) => {
      const token = randomBytes(24).toString("base64url")
      for (const oldest of shown.keys()) {
        if (shown.size < maximum) break
        shown.delete(oldest)
      }
      shown.set(token, { question, epoch: epoch() })
      return token
    },
    take: (token) => {
      const found = shown.get(token)
      shown.delete(token)
      return found?.epoch === epoch() ? found.question : undefined
    }
  }
}

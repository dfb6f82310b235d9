/** The forms that pages show: each can be sent once, and only by whoever was shown it. */
import { randomBytes } from "node:crypto"

/** What was asked on pages and is not answered yet. */
export interface Forms<A> {
  /** Returns the token of a form. */
  readonly show: (question: A) => string
  /** What a form asks; nothing when it was sent before, or was never shown. */
  readonly take: (token: string) => A | undefined
}

/** Forgets the oldest when there are `maximum`, and all when the state is another one. */
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

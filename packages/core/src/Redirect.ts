/** The address that a service sends the browser to when a sign-in has ended: where an app reads how. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { decode, type Form } from "./AuthorizationRequest.ts"
import { AuthorizationDenied, InvalidRedirect } from "./Errors.ts"
import * as Redaction from "./Redaction.ts"

/** How a kind of sign-in tells its end. */
export interface Reading {
  /** What must be told again of what was sent, if the address is that of this sign-in. */
  readonly isOurs: (query: Form) => boolean
  /** The code of a denial. */
  readonly denial: (query: Form) => string | undefined
  /** The proof that the user agreed. */
  readonly proof: (query: Form) => string | undefined
  /** What no error may hold. */
  readonly secrets: ReadonlyArray<string>
}

/** Reads an address, absolute or as a server sees it: from its path on. */
export const read = (
  address: string | URL,
  { denial, isOurs, proof, secrets }: Reading
): Effect.Effect<Redacted.Redacted, AuthorizationDenied | InvalidRedirect> =>
  Effect.gen(function*() {
    const text = String(address).trim()
    if (!/^([a-z][a-z0-9+.-]*:|\/|\?)/i.test(text) || !URL.canParse(text, anywhere)) {
      return yield* new InvalidRedirect({ fault: "address" })
    }
    const query = decode(new URL(text, anywhere).search)
    if (!isOurs(query)) return yield* new InvalidRedirect({ fault: "other" })
    const error = denial(query)
    const given = proof(query)
    if (error !== undefined) {
      const redact = Redaction.make(() => given === undefined ? secrets : [...secrets, given])
      // It comes from a browser, and may go to a terminal.
      const told = (said: string) => redact(said).replace(/\p{Cc}+/gu, " ").slice(0, 500)
      const { error_description: detail } = query
      return yield* new AuthorizationDenied({
        error: told(error),
        detail: detail === undefined ? undefined : told(detail)
      })
    }
    if (given === undefined || given === "") return yield* new InvalidRedirect({ fault: "incomplete" })
    return Redacted.make(given)
  })

const anywhere = "http://localhost"

/** The address that a service sends the browser to when a sign-in has ended: where an app reads how. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Redaction from "../../auth/Redaction.ts"
import { AuthorizationDenied, InvalidRedirect } from "../../errors/Errors.ts"
import { decode, type Form } from "./tokenRequest.ts"

/** How a kind of sign-in tells its end. */
export interface Reading {
  /** The secret that the sign-in began with. A program keeps it meanwhile, and may have lost it. */
  readonly began: Redacted.Redacted<unknown> | undefined
  /** The same secret in the address. */
  readonly repeated: (query: Form) => string | undefined
  /** The code of a denial. */
  readonly denial: (query: Form) => string | undefined
  /** The proof that the user agreed. */
  readonly proof: (query: Form) => string | undefined
}

/** Reads an address, absolute or as a server sees it: from its path on. */
export const read = (
  address: string | URL,
  { began, denial, proof, repeated }: Reading
): Effect.Effect<Redacted.Redacted, AuthorizationDenied | InvalidRedirect> =>
  Effect.gen(function*() {
    const text = String(address).trim()
    if (!/^([a-z][a-z0-9+.-]*:|\/|\?)/i.test(text) || !URL.canParse(text, anywhere)) {
      return yield* new InvalidRedirect({ fault: "address" })
    }
    const query = decode(new URL(text, anywhere).search)
    const expected = Redacted.isRedacted(began) ? Redacted.value(began) : undefined
    // Without one, every address without one would be the end of this sign-in.
    if (typeof expected !== "string" || expected === "" || repeated(query) !== expected) {
      return yield* new InvalidRedirect({ fault: "other" })
    }
    const error = denial(query)
    const given = proof(query)
    if (error !== undefined) {
      const redact = Redaction.make(() => given === undefined ? [expected] : [expected, given])
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

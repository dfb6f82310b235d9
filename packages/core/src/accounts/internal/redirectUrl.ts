/** The URL that a service redirects to at the end of a sign-in, with its result. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Redaction from "../../auth/Redaction.ts"
import { AuthorizationDenied, InvalidRedirect } from "../../errors/Errors.ts"
import { decode, type Form } from "./tokenRequest.ts"

/** The query parameters of one kind of sign-in. */
export interface Reading {
  /** The secret from the beginning of the sign-in. The program keeps it meanwhile, and may have lost it. */
  readonly began: Redacted.Redacted<unknown> | undefined
  /** The same secret in the URL. */
  readonly repeated: (query: Form) => string | undefined
  /** The code of a denial. */
  readonly denial: (query: Form) => string | undefined
  /** The proof of consent. */
  readonly proof: (query: Form) => string | undefined
}

/** Reads a URL, absolute or, as servers see it, from its path on. */
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
    // An absent secret must not match a URL without one.
    if (typeof expected !== "string" || expected === "" || repeated(query) !== expected) {
      return yield* new InvalidRedirect({ fault: "other" })
    }
    const error = denial(query)
    const given = proof(query)
    if (error !== undefined) {
      const redact = Redaction.make(() => given === undefined ? [expected] : [expected, given])
      // This comes from a browser and may be printed on a terminal.
      const clean = (text: string) => redact(text).replace(/\p{Cc}+/gu, " ").slice(0, 500)
      const { error_description: detail } = query
      return yield* new AuthorizationDenied({
        error: clean(error),
        detail: detail === undefined ? undefined : clean(detail)
      })
    }
    if (given === undefined || given === "") return yield* new InvalidRedirect({ fault: "incomplete" })
    return Redacted.make(given)
  })

const anywhere = "http://localhost"

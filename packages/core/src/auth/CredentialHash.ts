/** Hashes that identify credentials without revealing them: rate limits and exports are shared with other processes. */
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as Redacted from "effect/Redacted"
import { nodeCrypto } from "../internal/nodeCrypto.ts"

/** Makes the function that hashes tokens for one service. Cached hashes need no Effect. */
export const make = (baseUrl: string) => {
  const known = new WeakMap<Redacted.Redacted, string>()
  return (token: Redacted.Redacted): string | Effect.Effect<string> => {
    const fingerprint = known.get(token)
    if (fingerprint !== undefined) return fingerprint
    const learn = (digest: string): string => {
      const fingerprint = digest.slice(0, 16)
      known.set(token, fingerprint)
      return fingerprint
    }
    const digest = sha256(`${baseUrl} ${Redacted.value(token)}`)
    return typeof digest === "string" ? learn(digest) : Effect.map(digest, learn)
  }
}

/** SHA-256 in base64. Synchronous if the platform has a way, as servers do; Web Crypto is asynchronous. */
const sha256 = (text: string): string | Effect.Effect<string> => {
  const node = nodeCrypto()
  if (node !== undefined) return node.createHash("sha256").update(text).digest("base64")
  const { subtle }: { readonly subtle?: SubtleCrypto } = globalThis.crypto
  // A page loaded over plain `http:` has neither. Its hash may be weak, since it shares rate limits with no other process.
  if (subtle === undefined) return String(Hash.string(text))
  return Effect.map(
    Effect.promise(() => subtle.digest("SHA-256", new TextEncoder().encode(text))),
    (digest) => btoa(String.fromCharCode(...new Uint8Array(digest)))
  )
}

/** The hashes of Node, if available. */
import * as Predicate from "effect/Predicate"

interface Hash {
  readonly update: (data: string | Uint8Array) => Hash
  readonly copy: () => Hash
  readonly digest: (encoding: "base64" | "hex") => string
}

interface NodeCrypto {
  readonly createHash: (algorithm: string) => Hash
  readonly createHmac: (algorithm: string, key: string) => Hash
}

/** Looked up instead of imported: a bundle for browsers must not contain it. */
export const nodeCrypto = (): NodeCrypto | undefined => {
  const host: unknown = Reflect.get(globalThis, "process")
  return Predicate.hasProperty(host, "getBuiltinModule") && typeof host.getBuiltinModule === "function"
    ? host.getBuiltinModule("node:crypto")
    : undefined
}

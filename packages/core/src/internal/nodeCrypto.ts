/** The hashes of Node, where there are any. */
import * as Predicate from "effect/Predicate"

interface Hash {
  readonly update: (data: string | Uint8Array) => Hash
  readonly copy: () => Hash
  readonly digest: (encoding: "base64" | "hex") => string
}

interface NodeCrypto {
  readonly createHash: (algorithm: string) => Hash
}

/** Asked for, not imported: a bundle for browsers must not hold it. */
export const nodeCrypto = (): NodeCrypto | undefined => {
  const host: unknown = Reflect.get(globalThis, "process")
  return Predicate.hasProperty(host, "getBuiltinModule") && typeof host.getBuiltinModule === "function"
    ? host.getBuiltinModule("node:crypto")
    : undefined
}

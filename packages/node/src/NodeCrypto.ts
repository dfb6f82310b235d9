/** The cryptography of Node, in place of core's plain JavaScript. */
import * as OAuth1 from "@postwire/core/auth/OAuth1"
import * as Layer from "effect/Layer"
import type * as Crypto from "node:crypto"

// Not imported: Node takes 12 ms to load it, and a client may never sign.
let loaded: typeof Crypto | undefined

/** Signs OAuth 1.0a requests with `node:crypto`, a few times faster than the default of core. */
export const layer: Layer.Layer<never> = Layer.succeed(
  OAuth1.HmacSha1,
  (key, message) =>
    (loaded ??= process.getBuiltinModule("node:crypto")).createHmac("sha1", key).update(message).digest("base64")
)

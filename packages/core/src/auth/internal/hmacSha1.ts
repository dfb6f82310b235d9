/** HMAC-SHA1 in plain JavaScript. */
import { hmac } from "@noble/hashes/hmac.js"
import { sha1 } from "@noble/hashes/legacy.js"

const encoder = /*#__PURE__*/ new TextEncoder()

/** The HMAC-SHA1 of a message with a key, both UTF-8, as base64. */
export const hmacSha1 = (key: string, message: string): string =>
  btoa(String.fromCharCode(...hmac(sha1, encoder.encode(key), encoder.encode(message))))

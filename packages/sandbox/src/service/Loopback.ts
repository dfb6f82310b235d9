/** Restricts a server to clients on this machine. */
import type * as Headers from "effect/http/Headers"

/**
 * True if `host` and `origin` name this machine. A web page can reach loopback ports too, through a host name that resolves
 * to one or by an address in its scripts; browsers reveal both in these headers.
 */
export const isLocal = (headers: Headers.Headers): boolean =>
  loopback.test(`http://${headers["host"]}`) && loopback.test(headers["origin"] ?? "http://localhost")

const loopback = /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

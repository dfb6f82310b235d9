/** Who may talk to a server on this machine. */
import type * as Headers from "effect/http/Headers"

/**
 * A web page reaches loopback ports too, under a name of its own that it points there or by an address in its scripts;
 * the browser tells both, in the headers `host` and `origin`.
 */
export const isLocal = (headers: Headers.Headers): boolean =>
  loopback.test(`http://${headers["host"]}`) && loopback.test(headers["origin"] ?? "http://localhost")

const loopback = /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

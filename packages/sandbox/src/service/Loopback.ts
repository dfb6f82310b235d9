/** Restricts a server to clients that web pages cannot be. */
import type * as Headers from "effect/http/Headers"

/**
 * True if `host` and `origin` name this machine. A web page can reach loopback ports too, through a host name that resolves
 * to one or by an address in its scripts; browsers reveal both in these headers.
 */
export const isLocal = (headers: Headers.Headers): boolean => areNamed(headers, loopback)

/**
 * True if `host` and `origin` are addresses or names of private networks: those without a dot, as of containers, and those
 * under `.internal`. The host name of a web page has a dot and another ending.
 */
export const isPrivate = (headers: Headers.Headers): boolean => areNamed(headers, own)

const areNamed = (headers: Headers.Headers, names: RegExp): boolean =>
  names.test(`http://${headers["host"]}`) && names.test(headers["origin"] ?? "http://localhost")

const loopback = /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

const own = /^https?:\/\/([\w-]+|[\w.-]+\.internal|\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])(:\d{1,5})?$/i

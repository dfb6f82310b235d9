/** The servers that listen on this thread. They cannot respond while a caller blocks it. */
import * as Predicate from "effect/Predicate"
import { channel } from "node:diagnostics_channel"
import type { Server } from "node:net"

const servers = new Set<Server>()

const isServer = (value: unknown): value is Server =>
  typeof value === "object" && value !== null && "listening" in value && value.listening === true && "address" in value

const add = (server: Server) => {
  servers.add(server)
  server.once("close", () => servers.delete(server))
}

// Servers that listen from now on, and servers that listened before this module was loaded. Only an old, undocumented function of
// Node lists the latter.
channel("tracing:net.server.listen:asyncEnd").subscribe((message) => {
  if (Predicate.hasProperty(message, "server") && isServer(message.server)) add(message.server)
})
const handles: unknown = Reflect.get(process, "_getActiveHandles")?.call(process)
for (const handle of Array.isArray(handles) ? handles : []) {
  if (isServer(handle)) add(handle)
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Checks whether the service at an address listens on this thread. */
export const listensHere = (baseUrl: string): boolean => {
  if (servers.size === 0 || !URL.canParse(baseUrl)) return false
  const { hostname, port, protocol } = new URL(baseUrl)
  if (!loopback.test(hostname)) return false
  const wanted = Number(port) || (protocol === "https:" ? 443 : 80)
  const host = hostname.replace(/[[\]]/g, "")
  for (const server of servers) {
    const address = server.address()
    if (typeof address !== "object" || address?.port !== wanted) continue
    if (host === "localhost" || [host, "::", "0.0.0.0"].includes(address.address)) return true
  }
  return false
}

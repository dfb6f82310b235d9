/** A service on loopback that counts the requests of each operation in fixed windows, as the real one does. */
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"

export interface Options {
  /** Requests per window. */
  readonly limit: number
  /** Seconds. */
  readonly window: number
  /** Milliseconds that an answer takes. */
  readonly latency?: number
  readonly onRequest?: (request: IncomingMessage, count: number) => void
}

/** Windows begin with their first request and end on a whole second, as they are announced. */
export const start = async ({ latency = 5, limit, onRequest, window }: Options) => {
  const windows: Array<{ readonly end: number; used: number }> = []
  const arrivals: Array<number> = []
  let refusals = 0
  const server = createServer((request, response) => {
    const now = performance.timeOrigin + performance.now()
    arrivals.push(now)
    onRequest?.(request, arrivals.length)
    let current = windows.at(-1)
    if (current === undefined || now >= current.end) {
      windows.push(current = { end: Math.ceil(now / 1000 + window) * 1000, used: 0 })
    }
    const isAllowed = current.used < limit
    if (isAllowed) current.used++
    else refusals++
    response.writeHead(isAllowed ? 200 : 429, {
      "content-type": "application/json",
      "x-rate-limit-limit": limit,
      "x-rate-limit-remaining": limit - current.used,
      "x-rate-limit-reset": current.end / 1000
    })
    const body = isAllowed
      ? { data: request.url?.includes("/search/") === true ? [] : { id: "1", text: "a" } }
      : { title: "Too Many Requests", type: "about:blank", status: 429 }
    void sleep(latency).then(() => response.end(JSON.stringify(body)))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a port has an address")
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    arrivals,
    used: () => windows.map(({ used }) => used),
    refusals: () => refusals,
    stop,
    [Symbol.dispose]: stop
  }
}

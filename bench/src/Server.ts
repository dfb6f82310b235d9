/** The server of the benchmark, a process of its own: it answers with prepared bytes. Its hello is its port. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Bodies from "./Bodies.ts"
import * as Child from "./Child.ts"

/** The headers of the live service, without compression and cookies. */
const headersOf = (body: Buffer): Array<string> =>
  Object.entries({
    "content-type": "application/json; charset=utf-8",
    "content-length": String(body.length),
    "cache-control": "no-cache, no-store, max-age=0",
    server: "tsa_o",
    "api-version": "2.55",
    "x-access-level": "read",
    "x-rate-limit-limit": "450",
    "x-rate-limit-remaining": "449",
    "x-rate-limit-reset": String(Math.floor(Date.now() / 1000) + 900),
    "x-transaction-id": "5f1d9a7be2c04c63",
    "x-response-time": "112",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "x-xss-protection": "0",
    "strict-transport-security": "max-age=631138519"
  }).flat()

const answers = new Map(
  (["neutral", "x"] as const).flatMap((wire) =>
    Bodies.workloads.map((workload) => {
      const body = Buffer.from(Bodies.text(wire, workload))
      return [Bodies.target(wire, workload).split("?", 1)[0], { body, headers: headersOf(body) }]
    })
  )
)

const server = Http.createServer((request, response) => {
  const answer = answers.get(request.url?.split("?", 1)[0])
  if (answer === undefined || request.headers.authorization === undefined) {
    response.writeHead(answer === undefined ? 404 : 401).end()
  } else {
    response.writeHead(200, answer.headers).end(answer.body)
  }
})

// Connections outlast the batches of all others.
server.keepAliveTimeout = 120_000
server.listen(0, "127.0.0.1", () =>
  Child.answer((server.address() as AddressInfo).port, async () => {
    const { system, user } = process.cpuUsage()
    return user + system
  }))

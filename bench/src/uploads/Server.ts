/** A service that takes any upload and keeps none of its bytes, a process of its own. Its hello is its port. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Child from "../Child.ts"

const answers: Readonly<Record<string, object>> = {
  initialize: { id: "1", media_key: "13_1", expires_after_secs: 86_400 },
  append: { expires_at: 4_102_444_800 },
  finalize: { id: "1", media_key: "13_1", size: 1, expires_after_secs: 86_400 }
}

let received = 0

const server = Http.createServer((request, response) => {
  const answer = answers[/\/(\w+)$/.exec(request.url ?? "")?.[1] ?? ""]
  request.on("data", (bytes: Buffer) => void (received += bytes.length))
  request.on("end", () => {
    const status = answer === undefined ? 404 : request.headers.authorization === undefined ? 401 : 200
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ data: answer }))
  })
})
server.keepAliveTimeout = 120_000

/** How many bytes came since it was asked last. */
const taken = async (): Promise<number> => {
  const bytes = received
  received = 0
  return bytes
}

server.listen(0, "127.0.0.1", () => Child.answer((server.address() as AddressInfo).port, taken))

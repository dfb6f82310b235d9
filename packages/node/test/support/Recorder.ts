/** A service over HTTP that keeps every request and answers what a test says. */
import { once } from "node:events"
import * as Http from "node:http"
import type * as Net from "node:net"

/** A request as it arrived. */
export interface Recorded {
  readonly method: string
  /** As it was signed: with scheme and host. */
  readonly url: string
  readonly path: string
  readonly query: ReadonlyArray<readonly [key: string, value: string]>
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
}

/** Starts a service; `answer` gives the body of the answer, or a whole one. */
export const start = async (answer: (request: Recorded) => object) => {
  const requests: Array<Recorded> = []
  const server = Http.createServer(async (incoming, response) => {
    let body = ""
    // Of bytes, each is a character.
    const encoding = incoming.headers["content-type"]?.startsWith("multipart/") === true ? "latin1" : "utf8"
    for await (const chunk of incoming.setEncoding(encoding)) body += chunk
    const [path, query = ""] = (incoming.url ?? "").split("?") as [string, string?]
    const request: Recorded = {
      method: incoming.method ?? "",
      url: `${baseUrl}${incoming.url}`,
      path,
      query: [...new URLSearchParams(query)],
      headers: incoming.headers,
      body
    }
    requests.push(request)
    response.writeHead(200, {
      "content-type": "application/json",
      "x-request-id": `r${requests.length}`,
      "set-cookie": ["a=1; Expires=Thu, 01 Jan 2037 00:00:00 GMT", "b=2"]
    })
    response.end(JSON.stringify(answer(request)))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const baseUrl = `http://127.0.0.1:${(server.address() as Net.AddressInfo).port}`
  return {
    baseUrl,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}

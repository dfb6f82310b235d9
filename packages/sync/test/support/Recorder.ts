/** A service over HTTP in a process of its own, as nothing runs in this one while a client blocks. */
import { start } from "./Children.ts"

/** A request as it arrived. */
export interface Recorded {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Starts it. Every request but those for the user's id is answered with what `answer` last said. */
export const startRecorder = async () => {
  const { child, ready: { baseUrl } } = await start<{ readonly baseUrl: string }>([
    "--input-type=module",
    "-e",
    recorder
  ])
  return {
    child,
    baseUrl,
    answer: async (body: unknown) =>
      void await fetch(`${baseUrl}/answer`, { method: "PUT", body: JSON.stringify(body) }),
    /** Takes the requests since the last call. */
    requests: async (): Promise<ReadonlyArray<Recorded>> => (await fetch(`${baseUrl}/requests`)).json()
  }
}

const recorder = `
  import { createServer } from "node:http"
  let answer = "{}"
  let requests = []
  // The test's thread stands still while its client blocks, and would not see that an idle connection was closed.
  const server = createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
    let body = ""
    // Of bytes, each is a character.
    const encoding = request.headers["content-type"]?.startsWith("multipart/") ? "latin1" : "utf8"
    for await (const chunk of request.setEncoding(encoding)) body += chunk
    response.setHeader("content-type", "application/json")
    response.setHeader("set-cookie", ["a=1; Expires=Thu, 01 Jan 2037 00:00:00 GMT", "b=2"])
    if (request.url === "/answer") return response.end(String(answer = body))
    if (request.url === "/requests") return response.end(JSON.stringify(requests.splice(0)))
    requests.push({ method: request.method, url: baseUrl + request.url, headers: request.headers, body })
    response.end(request.url === "/2/users/me" ? '{"data":{"id":"77"}}' : answer)
  })
  let baseUrl
  server.listen(0, "127.0.0.1", () => {
    baseUrl = "http://127.0.0.1:" + server.address().port
    console.log(JSON.stringify({ baseUrl }))
  })
`

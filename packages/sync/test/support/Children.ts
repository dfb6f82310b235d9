/** Servers for clients that block: in processes of their own, as nothing runs in this one meanwhile. */
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { postwire } from "../../../core/test/support/ProgramFile.ts"

/** Starts Node and waits for its first line of output, which is JSON. */
export const start = async <A>(
  args: ReadonlyArray<string>,
  options: SpawnOptions = {}
): Promise<{ readonly child: ChildProcess; readonly ready: A }> => {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    ...options
  })
  if (child.stdout === null) throw new Error("the output of the child is not piped")
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the child ended with ${code} before it was ready`)
  })
  const [line] = await Promise.race([once(createInterface(child.stdout), "line"), ended])
  return { child, ready: JSON.parse(line) }
}

/** What `postwire sandbox --json` prints. */
export interface Ready {
  readonly baseUrl: string
  readonly adminToken: string
  readonly environment: Readonly<Record<string, string>>
}

/** Starts a sandbox. */
export const startSandbox = () =>
  start<Ready>([
    postwire,
    "sandbox",
    "--port",
    "0",
    "--posts",
    "400",
    "--json"
  ])

/** Starts a server that answers by what stands first in the `query` or the `text` of the request. */
export const startFaults = () => start<{ readonly baseUrl: string }>(["--input-type=module", "-e", faults])

/** Ends a child and waits for it. */
export const stop = async (child: ChildProcess | undefined): Promise<void> => {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.kill("SIGKILL")
  await once(child, "exit")
}

const faults = `
  import { createServer } from "node:http"
  const seen = new Map()
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request.setEncoding("utf8")) body += chunk
    const url = new URL(request.url, "http://x")
    const word = url.searchParams.get("query") ?? (body === "" ? url.pathname.split("/").at(-1) : JSON.parse(body).text)
    const [kind, argument] = word.slice(0, 100).split(":")
    const times = (seen.get(word) ?? 0) + 1
    seen.set(word, times)
    const json = (status, value, headers) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value))
    switch (kind) {
      case "503404": return json(times % 2 === 1 ? 503 : 404, {
        title: "Not Found Error",
        type: "about:blank/resource-not-found",
        resource_type: "post",
        resource_id: word
      })
      case "deep": {
        const value = "[".repeat(Number(argument)) + "]".repeat(Number(argument))
        return response.writeHead(400).end('{"errors":[{"message":"M","value":' + value + '}]}')
      }
      case "echo": {
        const quote = JSON.stringify(request.headers)
        switch (argument) {
          case "page": return response.end("<pre>" + quote + "</pre>")
          case "field": return json(200, { data: [{ id: { quote }, text: quote }], meta: {} })
          case "errors": return json(200, { data: [{ id: "1", text: "" }], errors: [{ detail: quote }], meta: {} })
          case "id": return json(200, {}, { "x-request-id": quote })
          default: return json(Number(argument), { title: "T", detail: quote, errors: [{ message: quote }] })
        }
      }
      case "status": return json(Number(argument), { title: "T", detail: "D", type: "about:blank" })
      case "text": return response.end("<html>bearer " + request.headers.authorization.slice(7) + "</html>")
      case "form": return json(200, { data: [{ id: 5 }], meta: {} })
      case "spoiled": return json(200, {
        data: [{ id: "1", text: [request.headers.authorization] }, { id: "2", text: "b" }], meta: {}
      })
      case "break": return response.writeHead(200, { "content-length": 100 }).write("{", () => request.socket.destroy())
      case "drop": return request.socket.destroy()
      case "hang": return
      case "repeat": return json(200, { data: [{ id: "1", text: "" }], meta: { result_count: 1, next_token: "same" } })
      case "pages": {
        const from = Number(url.searchParams.get("next_token") ?? 0)
        const size = Number(url.searchParams.get("max_results") ?? 10)
        const data = Array.from({ length: size }, (_, i) => ({ id: String(from + i), text: String(size) }))
        const meta = { result_count: size, next_token: String(from + size) }
        return setTimeout(() => json(200, { data, meta }), 40)
      }
      case "flaky": return times === 1 ? json(503, {}) : json(200, { data: [{ id: "1", text: "at last" }], meta: {} })
      case "count": return json(200, {
        data: [{ id: String(seen.get(word.slice(6)) ?? 0), text: "" }], meta: {}
      })
      case "large": return json(200, { data: [{ id: "1", text: "\u20ac".repeat(Number(argument)) }], meta: { result_count: 1 } })
      case "size": return json(201, { data: { id: "1", text: String(body.length) } })
      case "busy": return times <= Number(argument)
        ? json(429, { title: "T" }, {})
        : json(200, { data: [{ id: "1", text: "at last" }], meta: { result_count: 1 } })
      case "spent": return json(429, { title: "T", detail: "D" }, {
        "x-rate-limit-limit": "1", "x-rate-limit-remaining": "0",
        "x-rate-limit-reset": String(Math.ceil(Date.now() / 1000) + 600)
      })
      default: return json(404, { title: word })
    }
  })
  server.listen(0, "127.0.0.1", () => {
    console.log(JSON.stringify({ baseUrl: "http://127.0.0.1:" + server.address().port }))
  })
`

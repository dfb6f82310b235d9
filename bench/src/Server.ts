/**
 * The services that contenders use, each a process of its own, which answers with prepared bytes: `node Server.ts <service>
 * [argument...]`. Its hello is its address.
 */
import * as Http from "node:http"
import * as Net from "node:net"
import * as Bodies from "./Bodies.ts"
import * as Child from "./Child.ts"
import * as Lines from "./Lines.ts"

/** The headers of the live service, without compression and cookies. */
const headersOf = (length: number): Array<string> =>
  Object.entries({
    "content-type": "application/json; charset=utf-8",
    "content-length": String(length),
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

/** One post, and 100 with their authors, with the names of both wires. */
const calls = () => {
  const answers = new Map(
    (["neutral", "x"] as const).flatMap((wire) =>
      Bodies.workloads.map((workload) => {
        const body = Buffer.from(Bodies.text(wire, workload))
        return [Bodies.target(wire, workload).split("?", 1)[0], { body, headers: headersOf(body.length) }]
      })
    )
  )
  return Http.createServer((request, response) => {
    const answer = answers.get(request.url?.split("?", 1)[0])
    if (answer === undefined || request.headers.authorization === undefined) {
      response.writeHead(answer === undefined ? 404 : 401).end()
    } else {
      response.writeHead(200, answer.headers).end(answer.body)
    }
  })
}

/** A page whose posts get ids of their own, newest first. */
const filler = (size: number) => {
  const page = Bodies.page(size)
  const [head = "", tail = ""] = JSON.stringify(page).split(/,"next_token":"[^"]*"/)
  const template = Buffer.from(head)
  const places = page.data.flatMap(({ id }, index) => {
    const found: Array<readonly [at: number, index: number]> = []
    for (let at = template.indexOf(id); at >= 0; at = template.indexOf(id, at + 1)) found.push([at, index])
    return found
  })
  return (number: number, isLast: boolean): Buffer => {
    const next = isLast ? tail : `,"next_token":"${number + 1}"${tail}`
    const filled = Buffer.allocUnsafe(template.length + next.length)
    template.copy(filled)
    filled.write(next, template.length, "latin1")
    const ids = page.data.map((_, i) => String(1_790_000_000_000_000_000n - BigInt(number * size + i)))
    for (const [at, index] of places) filled.write(ids[index]!, at, "latin1")
    return filled
  }
}

/** Pages of `max_results` posts after some milliseconds; a query of "last 200" has 200 of them, any other has no end. */
const pages = (latency = "0") => {
  const fillers = new Map<number, ReturnType<typeof filler>>()
  return Http.createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://localhost")
    const size = Number(searchParams.get("max_results"))
    const number = Number(searchParams.get("next_token"))
    const count = Number(/last (\d+)/.exec(searchParams.get("query") ?? "")?.[1] ?? Infinity)
    const fill = fillers.get(size) ?? filler(size)
    fillers.set(size, fill)
    const answer = () => {
      const body = fill(number, number + 1 >= count)
      response.writeHead(200, {
        "content-type": "application/json; charset=utf-8",
        "content-length": body.length
      }).end(body)
    }
    if (latency === "0") answer()
    else setTimeout(answer, Number(latency))
  })
}

/** The requested posts; every tenth is deleted. */
const lookups = () =>
  Http.createServer((request, response) => {
    const ids = new URL(request.url ?? "", "http://localhost").searchParams.get("ids")?.split(",") ?? []
    const data = ids.filter((id) => !id.endsWith("7")).map((id) => ({
      id,
      text: `What was said in post ${id}, which is about as long as posts are: a hundred characters or some more.`,
      edit_history_post_ids: [id],
      created_at: "2026-11-20T12:00:00.000Z",
      lang: "en",
      public_metrics: {
        like_count: 12,
        reply_count: 3,
        repost_count: 4,
        quote_count: 0,
        impression_count: 980,
        bookmark_count: 1
      }
    }))
    const errors = ids.filter((id) => id.endsWith("7")).map((id) => ({
      title: "Not Found Error",
      detail: `Could not find post with ids: [${id}].`,
      type: "https://api.twitter.com/2/problems/resource-not-found",
      resource_type: "post",
      resource_id: id,
      parameter: "ids",
      value: id
    }))
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data, errors }))
  })

/** Takes any upload and keeps none of its bytes. */
const uploads = () => {
  const answers: Readonly<Record<string, object>> = {
    initialize: { id: "1", media_key: "13_1", expires_after_secs: 86_400 },
    append: { expires_at: 4_102_444_800 },
    finalize: { id: "1", media_key: "13_1", size: 1, expires_after_secs: 86_400 }
  }
  return Http.createServer((request, response) => {
    const answer = answers[/\/(\w+)$/.exec(request.url ?? "")?.[1] ?? ""]
    let received = 0
    request.on("data", (bytes: Buffer) => void (received += bytes.length))
    request.on("end", () => {
      const expected = Number(request.headers["content-length"] ?? received)
      const status = answer === undefined ? 404 : received < expected ? 400 : 200
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ data: answer }))
    })
  })
}

/**
 * Lines of a stream without end, as fast as the client reads, each post with its own id; an HTTP chunk holds 64 KiB of lines,
 * cut where it happens to be, or one line.
 */
const lines = (wire = "neutral", pieces = "block", rules = "1") => {
  const fill = Lines.filler(Lines.framed(wire as "neutral", Number(rules), pieces === "line"))
  return Net.createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
      const go = () => {
        while (!socket.destroyed && socket.write(fill()));
      }
      socket.on("drain", go)
      go()
    })
  })
}

const services: Readonly<Record<string, (...args: ReadonlyArray<string>) => Net.Server>> = {
  calls,
  pages,
  lookups,
  uploads,
  lines
}

const [name = "", ...args] = process.argv.slice(2)
const server = services[name]!(...args)
// Connections outlast the batches of all others.
if (server instanceof Http.Server) server.keepAliveTimeout = 120_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (typeof address === "object") Child.answer(`http://127.0.0.1:${address?.port}`, async () => {})
})

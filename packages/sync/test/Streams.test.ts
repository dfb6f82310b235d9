import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import * as Sync from "../src/index.ts"
import { start, stop } from "./support/Children.ts"
import { thrown } from "./support/Thrown.ts"

/** Streams what the bearer token says, and answers how many of its streams are open. */
const service = `
  import { createServer } from "node:http"
  const line = (id) => JSON.stringify({
    data: { id: String(id), text: "post " + id, author_id: "7", edit_history_post_ids: [String(id)], lang: id === 13 ? 5 : "en" },
    includes: { users: [{ id: "7", name: "Ada", username: "ada" }] },
    matching_rules: [{ id: "1", tag: "all" }]
  }) + "\\r\\n"
  let open = 0
  createServer((request, response) => {
    if (request.url === "/open") return response.setHeader("content-type", "application/json").end(JSON.stringify({ open }))
    if (request.url.startsWith("/2/posts/")) {
      if (!request.url.includes("/stream")) return response.setHeader("content-type", "application/json").end(
        JSON.stringify({ data: { id: "1", text: "one", edit_history_post_ids: ["1"] } })
      )
    }
    const [kind, count] = request.headers.authorization.slice(7).split(":")
    if (kind === "no") return response.writeHead(401).end("{}")
    open++
    response.on("close", () => open--)
    response.writeHead(200, { "content-type": "application/json" }).flushHeaders()
    if (kind === "silent") return
    response.write("\\r\\n")
    for (let id = 1; id <= Number(count); id++) response.write(line(id))
    if (kind === "ticking") {
      let id = Number(count)
      const timer = setInterval(() => response.write(line(++id)), 5)
      response.on("close", () => clearInterval(timer))
    }
  }).listen(0, "127.0.0.1", function() {
    console.log(JSON.stringify({ baseUrl: "http://127.0.0.1:" + this.address().port }))
  })
`

let server: Awaited<ReturnType<typeof start<{ readonly baseUrl: string }>>>

beforeAll(async () => {
  server = await start<{ readonly baseUrl: string }>(["--input-type=module", "-e", service])
})

afterAll(() => stop(server?.child))

const clientFor = (bearerToken: string) =>
  Sync.createClientSync({ baseUrl: server.ready.baseUrl, bearerToken, retries: 0 })

/** Whatever a stream asks besides itself has no part in these. */
const only = { recover: "none" } as const

const openStreams = (): number => {
  using client = clientFor("few:0")
  const { data } = client.request<{ readonly open: number }>({ method: "GET", path: "/open" })
  return data?.open ?? assert.fail("no answer")
}

/** A connection ends only while this thread is not blocked. */
const untilClosed = () => {
  for (let turn = 0; openStreams() > 0; turn++) assert.isBelow(turn, 200)
}

describe("a stream", () => {
  it("brings posts with what belongs to them, in their order, and ends its connection with the loop", () => {
    using client = clientFor("few:3")
    const texts: Array<string> = []
    for (const item of client.streamPosts({ post_fields: ["author_id"], expansions: ["author_id"] }, only)) {
      texts.push(`${item.post.text} by ${item.joined().author?.username}`)
      assert.deepStrictEqual(item.matchingRules, [{ id: "1", tag: "all" }])
      // Other calls may be made in between.
      assert.strictEqual(client.getPost({ id: "1" }).data?.text, "one")
      if (texts.length === 3) break
    }
    assert.deepStrictEqual(texts, ["post 1 by ada", "post 2 by ada", "post 3 by ada"])
    untilClosed()
  })

  it("reports omitted parts of an item", () => {
    using client = clientFor("few:13")
    const anomalies: Array<string> = []
    for (const item of client.streamPosts({}, only)) {
      anomalies.push(...item.anomalies.map(({ path }) => path))
      if (item.post.id === "13") break
    }
    assert.deepStrictEqual(anomalies, ["data.lang"])
  })

  it("has lines in other forms", () => {
    using client = clientFor("few:1")
    for (const form of ["dictionary", "raw"] as const) {
      for (const item of client.as(form).streamPosts({ expansions: ["author_id"] }, only)) {
        assert.strictEqual(item.data.text, "post 1")
        assert.deepStrictEqual(Object.keys(item).sort(), ["data", "includes", "matching_rules"])
        break
      }
    }
  })

  it("fails as calls do", () => {
    using unauthorized = clientFor("no")
    const iterate = () => [...unauthorized.streamPosts({}, only)]
    assert.instanceOf(thrown(iterate), Sync.Unauthorized)
    // @ts-expect-error no such parameter
    const parameter = thrown(() => [...unauthorized.streamPosts({ partition: 1 })])
    assert.instanceOf(parameter, Sync.InvalidParameters)
    const option = thrown(() => [...unauthorized.streamPosts({}, { bufferSize: 0 })])
    assert.instanceOf(option, Sync.InvalidParameters)
    // @ts-expect-error no function
    assert.instanceOf(thrown(() => [...unauthorized.streamPosts({}, { onEvent: 1 })]), Sync.InvalidParameters)
  })

  it("ends with its client, even if its loop does not continue", () => {
    const client = clientFor("few:2")
    const iterator = client.streamPosts({}, only)[Symbol.iterator]()
    assert.strictEqual(iterator.next().value.post.id, "1")
    client.close()
    untilClosed()
    const error = thrown(() => iterator.next())
    assert.instanceOf(error, Sync.TransportFailure)
  })
})

describe("what happens", () => {
  it("reports events in order, to onEvent and by events", () => {
    using client = clientFor("few:2")
    const told: Array<StreamEvent<unknown>> = []
    const ids: Array<string> = []
    for (const { post } of client.streamPosts({}, { ...only, onEvent: (event) => told.push(event) })) {
      ids.push(post.id)
      if (ids.length === 2) break
    }
    assert.deepStrictEqual(ids, ["1", "2"])
    assert.strictEqual(told[0]?._tag, "Connected")
    assert.instanceOf(told[0]?.at, Date)

    const tags: Array<string> = []
    for (const event of client.streamPosts.events({}, only)) {
      tags.push(event._tag === "Delivered" ? event.item.post.id : event._tag)
      if (tags.includes("2")) break
    }
    assert.strictEqual(tags[0], "Connected")
    assert.includeMembers(tags, ["KeepAlive", "1", "2"])
  })
})

describe("Ctrl-C", () => {
  const entry = new URL("../src/index.ts", import.meta.url).href
  const program = (bearerToken: string) => `
    import { createClientSync, TransportFailure } from ${JSON.stringify(entry)}
    process.on("SIGINT", () => { console.log("cleaned up"); process.exit(7) })
    const client = createClientSync({ baseUrl: ${JSON.stringify(server.ready.baseUrl)}, bearerToken: ${
    JSON.stringify(bearerToken)
  } })
    const onEvent = ({ _tag }) => { if (_tag === "Connected") console.log("connected") }
    try {
      for (const _ of client.streamPosts({}, { recover: "none", onEvent })) {}
    } catch (error) {
      console.log(error instanceof TransportFailure, error.reason)
    }
  `

  it.each([["no post comes", "silent"], ["posts come faster than a wait is long", "ticking:1"]])(
    "ends a stream while %s, and its connection",
    async (_, bearerToken) => {
      const child = spawn(process.execPath, [
        "--disable-warning=ExperimentalWarning",
        "--input-type=module",
        "-e",
        program(bearerToken)
      ], { stdio: ["ignore", "pipe", "inherit"] })
      const lines: Array<string> = []
      const output = createInterface(child.stdout).on("line", (line) => lines.push(line))
      await once(output, "line")
      // As a user does: what comes between two waits is for the event loop, which does not turn.
      const pressing = setInterval(() => child.kill("SIGINT"), 100)
      const [code, signal] = await once(child, "close")
      clearInterval(pressing)
      // With short waits, Ctrl-C may hit the moment in which Node has no listener.
      if (bearerToken === "silent" || signal === null) {
        assert.deepStrictEqual([...lines, code], ["connected", "true interrupted by SIGINT", "cleaned up", 7])
      } else assert.strictEqual(signal, "SIGINT")
      untilClosed()
    }
  )
})

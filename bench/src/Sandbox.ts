/**
 * Measures the sandbox: how long a state takes to make, a page to answer, and what load one process holds:
 *
 *     pnpm bench:sandbox [--posts <n>] [--json <file>]
 */
import * as Running from "@postwire/sandbox/Sandbox"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Agent, request } from "undici"
import * as Child from "./Child.ts"
import { median } from "./Model.ts"
import type { Ready } from "./SandboxServer.ts"

/** Milliseconds that requests took. */
interface Times {
  readonly name: string
  /** Items of a page. */
  readonly items: number
  readonly median: number
  readonly p99: number
}

/** The resources of one process. */
interface Load {
  readonly inFlight: number
  readonly perSecond: number
  readonly median: number
  readonly p99: number
}

const p99 = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? 0

const dispatcher = new Agent({ allowH2: false, connections: 64 })

interface Sent {
  readonly method?: "GET" | "POST"
  readonly path: string
  readonly body?: object
}

interface Answer {
  readonly data?: ReadonlyArray<unknown>
  readonly meta?: { readonly next_token?: string }
}

/** Sends requests, each with the token of another app; a refusal ends the measurement. */
const sender = ({ baseUrl, tokens }: Ready) => {
  let sent = 0
  return async ({ body, method = "GET", path }: Sent): Promise<{ readonly ms: number; readonly answer: Answer }> => {
    const token = tokens[sent++ % tokens.length]
    const start = performance.now()
    const response = await request(baseUrl + path, {
      dispatcher,
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body)
    })
    const text = await response.body.text()
    const ms = performance.now() - start
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`)
    return { ms, answer: JSON.parse(text) }
  }
}

type Send = ReturnType<typeof sender>

const queries = ({ busiest, root }: Ready): Readonly<Record<string, string>> => ({
  "common word": "effect",
  "two words": "effect team",
  phrase: "\"the whole team\"",
  "from:": `from:${busiest}`,
  "to:": "to:ada",
  mention: "@ada",
  hashtag: "#effect",
  cashtag: "$ACME",
  "url:": "url:example.com",
  "lang:": "lang:ja",
  "has:": "has:media",
  "is:": "effect -is:repost",
  negation: "-effect lang:en",
  "negated group": "effect -(lang:en OR is:reply)",
  OR: "effect OR team OR lang:de",
  "conversation_id:": `conversation_id:${root}`,
  "nothing found": "effect nowhere",
  "four at once": "effect lang:en is:verified has:media"
})

const times = async (name: string, send: Send, sent: Sent, count = 100): Promise<Times> => {
  const warm = await send(sent)
  const all: Array<number> = []
  for (let i = 0; i < count; i++) all.push((await send(sent)).ms)
  return { name, items: warm.answer.data?.length ?? 0, median: median(all), p99: p99(all) }
}

/** The request for the page that comes after so many others. */
const late = async (send: Send, path: string, parameter: string, pages: number): Promise<Sent> => {
  let sent: Sent = { path }
  for (let page = 0; page < pages; page++) {
    const token = (await send(sent)).answer.meta?.next_token
    if (token === undefined) return sent
    sent = { path: `${path}&${parameter}=${token}` }
  }
  return sent
}

const searches = async (ready: Ready, send: Send) => {
  const groups: Array<readonly [title: string, rows: ReadonlyArray<Times>]> = []
  for (const order of ["recency", "relevancy"]) {
    for (const [operation, size] of [["recent", 100], ["all", 500]] as const) {
      const path = (query: string) =>
        `/2/posts/search/${operation}?max_results=${size}&sort_order=${order}&query=${encodeURIComponent(query)}`
      const rows: Array<Times> = []
      for (const [name, query] of Object.entries(queries(ready))) {
        rows.push(await times(name, send, { path: path(query) }))
      }
      rows.push(await times("page 101", send, await late(send, path("effect"), "next_token", 100)))
      groups.push([`Search of ${operation === "all" ? "the archive" : "seven days"}, ${order}, ${size} posts`, rows])
    }
  }
  return groups
}

const timelines = async ({ busiest, userId }: Ready, send: Send): Promise<ReadonlyArray<Times>> => {
  const rows: Array<Times> = []
  for (
    const [name, path] of [
      ["posts of the busiest", `/2/users/${busiest}/posts?max_results=100`],
      ["the same without replies", `/2/users/${busiest}/posts?max_results=100&exclude=replies`],
      ["mentions of the busiest", `/2/users/${busiest}/mentions?max_results=100`],
      ["home", `/2/users/${userId}/timelines/reverse_chronological?max_results=100`]
    ] as const
  ) {
    rows.push(await times(name, send, { path }))
    rows.push(await times(`${name}, late`, send, await late(send, path, "pagination_token", 7)))
  }
  return rows
}

const counts = async (send: Send): Promise<ReadonlyArray<Times>> => {
  const rows: Array<Times> = []
  for (const [name, query] of [["common word", "effect"], ["negation", "-effect lang:en"], ["cashtag", "$ACME"]]) {
    for (
      const [operation, granularity] of [["recent", "minute"], ["recent", "hour"], ["recent", "day"], ["all", "day"]]
    ) {
      const path = `/2/posts/counts/${operation}?granularity=${granularity}&query=${encodeURIComponent(query!)}`
      rows.push(await times(`${name}, ${operation === "all" ? 30 : 7} days by ${granularity}`, send, { path }, 20))
    }
  }
  return rows
}

/** Of 100 requests, 40 look up posts, 25 search, 20 read timelines and 15 write. */
const mix = (ready: Ready): (i: number) => Sent => {
  const { busiest, postIds, userId } = ready
  const found = Object.values(queries(ready)).slice(0, 12)
  const id = (i: number) => postIds[i % postIds.length]!
  const fields = "expansions=author_id&post.fields=created_at,public_metrics"
  return (i) => {
    const kind = (i * 37) % 100
    if (kind < 30) return { path: `/2/posts/${id(i)}?${fields}` }
    if (kind < 40) {
      return { path: `/2/posts?ids=${Array.from({ length: 20 }, (_, n) => id(i + n * 7)).join()}&${fields}` }
    }
    if (kind < 65) {
      const query = encodeURIComponent(found[i % found.length]!)
      const order = i % 4 === 0 ? "relevancy" : "recency"
      return { path: `/2/posts/search/recent?max_results=100&sort_order=${order}&query=${query}&${fields}` }
    }
    if (kind < 75) return { path: `/2/users/${busiest}/posts?max_results=100&${fields}` }
    if (kind < 85) return { path: `/2/users/${userId}/timelines/reverse_chronological?max_results=100&${fields}` }
    return kind < 93
      ? { method: "POST", path: "/2/posts", body: { text: `load ${i} @ada #effect` } }
      : { method: "POST", path: `/2/users/${userId}/likes`, body: { post_id: id(i) } }
  }
}

const load = async (ready: Ready, send: Send, inFlight: number, from: number): Promise<Load> => {
  const next = mix(ready)
  const count = 3_000
  const all: Array<number> = []
  const start = performance.now()
  let i = from
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (i < from + count) all.push((await send(next(i++))).ms)
  }))
  return { inFlight, perSecond: count / (performance.now() - start) * 1000, median: median(all), p99: p99(all) }
}

/** Milliseconds to start and stop a sandbox of a thousand posts, as a test does: the first, which seeds it, and others. */
const startAndStop = async (): Promise<readonly [first: number, others: ReadonlyArray<number>]> => {
  const times: Array<number> = []
  for (let i = 0; i <= 100; i++) {
    const begun = performance.now()
    await (await Running.start()).stop()
    times.push(performance.now() - begun)
  }
  return [times[0]!, times.slice(1)]
}

const main = async () => {
  const { values } = parseArgs({
    args: process.argv.slice(2).filter((argument) => argument !== "--"),
    options: { posts: { type: "string", default: "1000000" }, json: { type: "string" } }
  })
  const print = (cells: ReadonlyArray<string>) =>
    console.log(cells.map((cell, i) => i === 0 ? cell.padEnd(40) : cell.padStart(10)).join(""))
  const folder = mkdtempSync(join(tmpdir(), "postwire-bench-"))
  try {
    console.log(
      `Node ${process.versions.node}; ${cpus().length} x ${cpus()[0]?.model ?? "unknown"}; ${values.posts} posts`
    )
    console.log()
    const [first, others] = await startAndStop()
    print(["Start and stop", "first ms", "median ms", "p99 ms"])
    print(["1,000 posts", first.toFixed(1), median(others).toFixed(1), p99(others).toFixed(1)])
    console.log()
    print(["Load", "seconds", "CPU s", "peak MB", "file MB"])
    const loads: Array<Ready> = []
    for (const file of [[], [join(folder, "state.sqlite")]]) {
      const server = await Child.start<never, never>("SandboxServer.ts", values.posts, ...file)
      // The type of the message is that of its sender.
      const ready = server.hello as Ready
      loads.push(ready)
      print([
        ready.size === undefined ? "in memory" : "in a file",
        ready.seconds.toFixed(1),
        ready.cpu.toFixed(1),
        ready.peak.toFixed(0),
        ready.size?.toFixed(0) ?? ""
      ])
      if (ready.size === undefined) {
        server.end()
        continue
      }
      const send = sender(ready)
      const groups = [
        ...await searches(ready, send),
        ["Timelines", await timelines(ready, send)] as const,
        [
          "Counts",
          await counts(send)
        ] as const
      ]
      for (const [title, rows] of groups) {
        console.log()
        print([title, "items", "median ms", "p99 ms"])
        for (const row of rows) print([row.name, String(row.items), row.median.toFixed(1), row.p99.toFixed(1)])
      }
      console.log()
      print(["Reads and writes, in flight", "rps", "median ms", "p99 ms"])
      const held: Array<Load> = []
      for (const [n, inFlight] of [1, 10, 50].entries()) {
        const measured = await load(ready, send, inFlight, n * 3_000)
        held.push(measured)
        print([String(inFlight), measured.perSecond.toFixed(0), measured.median.toFixed(1), measured.p99.toFixed(1)])
      }
      server.end()
      if (values.json !== undefined) {
        const made = loads.map(({ cpu, peak, seconds, size }) => ({ cpu, peak, seconds, size }))
        writeFileSync(
          values.json,
          `${JSON.stringify({ starts: { first, others: median(others) }, made, groups, held }, undefined, 2)}\n`
        )
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  await dispatcher.close()
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})

import * as Redacted from "effect/Redacted"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import type { StreamFault } from "../src/faults/StreamFaults.ts"
import * as Sandbox from "../src/Sandbox.ts"

/** A sandbox with one rule, and a way to read its stream on the wire. */
const begin = async (options: Sandbox.ServerOptions = {}) => {
  const sandbox = await Sandbox.start({ posts: 0, ...options })
  const headers = { authorization: `Bearer ${Redacted.value(sandbox.seeded.appBearerToken)}` }
  const url = `${sandbox.baseUrl}/2/posts/search/stream`
  await fetch(`${url}/rules`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ add: [{ value: "cat" }] })
  })
  return {
    sandbox,
    connect: async (query = "") => {
      const end = new AbortController()
      const response = await fetch(url + query, { headers, signal: end.signal })
      const pieces: Array<Uint8Array> = []
      const done = (async () => {
        try {
          for await (const piece of response.body ?? []) pieces.push(piece)
          return "end"
        } catch {
          return "broken"
        }
      })()
      return {
        response,
        done,
        bytes: () => Buffer.concat(pieces),
        /** The number of lines that ended, heartbeats left out. */
        whole: () => Buffer.concat(pieces).toString().split("\r\n").slice(0, -1).filter((line) => line !== "").length,
        lines: () => Buffer.concat(pieces).toString().split("\r\n").filter((line) => line !== ""),
        texts: () =>
          Buffer.concat(pieces).toString().split("\r\n").filter((line) =>
            line.startsWith("{\"data\":{\"") && line.endsWith("}")
          )
            .map((line): string => JSON.parse(line).data.text),
        abort: () => end.abort()
      }
    },
    [Symbol.asyncDispose]: sandbox[Symbol.asyncDispose]
  }
}

const texts = (count: number) => Array.from({ length: count }, (_, i) => `A cat ☕ ${i}`)

const until = async (isSo: () => boolean) => {
  while (!isSo()) await sleep(5)
}

/** Disturbs a connection until it ends, or until this number of lines ended. */
const run = async (stream: StreamFault, lines?: number, count = 5) => {
  await using bench = await begin()
  const { connect, sandbox } = bench
  sandbox.faults.add({ operation: "streamPosts", stream })
  const line = await connect()
  for (const text of texts(count)) sandbox.ada.post(text)
  if (lines === undefined) return { sandbox, line, outcome: await line.done }
  await until(() => line.whole() >= lines)
  // An extra line would arrive meanwhile.
  return { sandbox, line, outcome: await Promise.race([line.done, sleep(150, "open")]) }
}

describe("a fault of a stream", () => {
  it("cuts the line, and says nothing", async () => {
    const { line, outcome, sandbox } = await run({ kind: "cut", after: 2 })
    expect([outcome, sandbox.streams.connections().map(({ reason }) => reason)]).toEqual(["broken", [
      "connection_broken"
    ]])
    expect(line.texts()).toEqual(texts(2))
  })

  it("cuts the line inside a character", async () => {
    const { line, outcome } = await run({ kind: "cut-in-character", after: 2 })
    expect(outcome).toBe("broken")
    expect(line.texts()).toEqual(texts(2))
    expect(line.bytes().at(-1)).toBeGreaterThanOrEqual(0xc0)
  })

  it("says why the connection ends", async () => {
    const { line, outcome } = await run({ kind: "error", after: 1, disconnectType: "UpstreamOperationalDisconnect" })
    expect([outcome, line.texts()]).toEqual(["end", texts(1)])
    expect(JSON.parse(line.lines().at(-1) ?? "")).toMatchObject({
      errors: [{ title: "operational-disconnect", disconnect_type: "UpstreamOperationalDisconnect" }]
    })
  })

  it("repeats lines, puts them out of order, and garbage between", async () => {
    const repeated = await run({ kind: "duplicate", after: 1, every: 2 }, 7)
    const [a, b, c, d, e] = texts(5)
    expect(repeated.line.texts()).toEqual([a, b, b, c, d, d, e])
    expect((await run({ kind: "out-of-order", after: 1 }, 5)).line.texts()).toEqual([a, c, b, d, e])
    const garbage = await run({ kind: "garbage", after: 1 }, 6)
    expect(garbage.line.texts()).toEqual([a, b, c, d, e])
    expect(garbage.line.lines().length).toBe(6)
    expect(garbage.line.lines()[1]).toMatch(/not JSON$/)
  })

  it("stalls, also for a while, and is slow", async () => {
    const stalled = await run({ kind: "stall", after: 1 }, 0)
    expect([stalled.outcome, stalled.line.texts().filter((text) => text !== texts(1)[0])]).toEqual(["open", []])
    expect((await run({ kind: "slow", pause: 1 }, 1, 1)).line.texts()).toEqual(texts(1))
  })

  it("refuses to connect", async () => {
    await using bench = await begin()
    const { connect, sandbox } = bench
    sandbox.faults.add({ operation: "streamPosts", stream: { kind: "no-rules" } })
    sandbox.faults.add({ operation: "streamPosts", stream: { kind: "too-many-connections" } })
    sandbox.faults.add({ operation: "streamPosts", status: 503, times: 2 })
    const statuses: Array<number> = []
    for (let i = 0; i < 5; i++) statuses.push((await connect()).response.status)
    expect(statuses).toEqual([409, 429, 503, 503, 200])
  })
})

describe("a connection on a port", () => {
  it("is free again when its client has gone, and ends with the sandbox", async () => {
    const bench = await begin()
    const { connect, sandbox } = bench
    const first = await connect()
    first.abort()
    await first.done
    await until(() => sandbox.streams.connections()[0]?.reason !== undefined)
    expect(sandbox.streams.connections()[0]?.reason).toBe("client_disconnected")
    const second = await connect()
    expect(second.response.status).toBe(200)
    await sandbox.stop()
    expect(["end", "broken"]).toContain(await second.done)
  })

  it("is cut when its client does not read", async () => {
    await using bench = await begin()
    const { connect, sandbox } = bench
    const line = await connect("?post.fields=note_post,entities")
    const text = `cat ${"x".repeat(20_000)}`
    // As long as nobody else has a turn, nothing leaves.
    for (let i = 0; i < 1_000; i++) sandbox.ada.post(`${text} ${i}`)
    await line.done
    expect(sandbox.streams.connections()[0]?.reason).toBe("slow_reader")
    expect(JSON.parse(line.lines().at(-1) ?? "")).toMatchObject({ errors: [{ disconnect_type: "SlowReader" }] })
  })

  it("is billed for what it brings, each post once a day", async () => {
    await using bench = await begin()
    const { connect, sandbox } = bench
    const line = await connect()
    for (const text of texts(5)) sandbox.ada.post(text)
    await until(() => line.whole() === 5)
    line.abort()
    const { apps } = sandbox.bill.statement()
    expect(apps[0]?.lines).toContainEqual(
      expect.objectContaining({ operation: "streamPosts", charged: 5, requests: 1, dollars: 0.025 })
    )
  })
})

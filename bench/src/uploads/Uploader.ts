/** The process of one contender: `node Uploader.ts <name> <port>`. It uploads a file whenever it is asked. */
import { createClient } from "@postwire/node"
import { openAsBlob } from "node:fs"
import { open } from "node:fs/promises"
import { Agent, FormData as Form, request } from "undici"
import * as Child from "../Child.ts"

/** A file, and the bytes of a segment for those that choose none. */
export interface Task {
  readonly path: string
  readonly chunk: number
}

/** What an upload took: milliseconds, and bytes of resident memory at most beyond those at its start. */
export interface Upload {
  readonly wall: number
  readonly cpu: number
  readonly memory: number
}

export type Name = "undici" | "undici again" | "undici, Blob of the file" | "undici, one Buffer" | "postwire"

const [name, port] = process.argv.slice(2) as [Name, string]
const baseUrl = `http://127.0.0.1:${port}`
const bearerToken = "A".repeat(112)

type Send = (step: string, body: Form | Buffer | string, type?: string) => Promise<void>

/** The least that one can do: a request for each segment, one after the other. */
const bare = <A>(
  segments: (task: Task) => AsyncIterable<A>,
  append: (send: Send, index: number, segment: A) => Promise<void>
) => {
  const dispatcher = new Agent({ allowH2: false })
  const authorization = `Bearer ${bearerToken}`
  const send: Send = async (step, body, type) => {
    const headers = type === undefined ? { authorization } : { authorization, "content-type": type }
    const answer = await request(`${baseUrl}/2/media/upload/${step}`, { method: "POST", dispatcher, headers, body })
    await answer.body.json()
  }
  return async (task: Task) => {
    await send("initialize", "{}")
    let index = 0
    for await (const segment of segments(task)) await append(send, index++, segment)
    await send("1/finalize", "")
  }
}

const asForm = (send: Send, index: number, segment: Blob) => {
  const form = new Form()
  form.set("segment_index", String(index))
  form.set("media", segment)
  return send("1/append", form)
}

/** Encoded by hand, and copied into one piece of memory: nothing sends faster. */
const asBuffer = (send: Send, index: number, segment: Buffer) => {
  const head = [
    `segment_index"\r\n\r\n${index}`,
    `media"; filename="media"\r\ncontent-type: application/octet-stream\r\n\r\n`
  ]
    .map((part) => `--b\r\ncontent-disposition: form-data; name="${part}`).join("\r\n")
  const body = Buffer.concat([Buffer.from(head), segment, Buffer.from("\r\n--b--\r\n")])
  return send("1/append", body, "multipart/form-data; boundary=b")
}

const ofBytes = async function*({ chunk, path }: Task) {
  await using file = await open(path)
  const { size } = await file.stat()
  for (let at = 0; at < size; at += chunk) {
    const bytes = Buffer.allocUnsafe(Math.min(chunk, size - at))
    await file.read(bytes, 0, bytes.length, at)
    yield bytes
  }
}

const ofFile = async function*({ chunk, path }: Task) {
  const file = await openAsBlob(path)
  for (let at = 0; at < file.size; at += chunk) yield file.slice(at, at + chunk)
}

const ofBlobs = async function*(task: Task) {
  for await (const bytes of ofBytes(task)) yield new Blob([bytes])
}

const contenders: Readonly<Record<Name, () => (task: Task) => Promise<unknown>>> = {
  undici: () => bare(ofBlobs, asForm),
  "undici again": () => bare(ofBlobs, asForm),
  "undici, Blob of the file": () => bare(ofFile, asForm),
  "undici, one Buffer": () => bare(ofBytes, asBuffer),
  postwire: () => {
    const client = createClient({ baseUrl, bearerToken })
    return ({ path }) => client.upload(path, { user_auth: false })
  }
}

const upload = contenders[name]()

Child.answer("ready", async (task: Task): Promise<Upload> => {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let most = before
  const look = setInterval(() => void (most = Math.max(most, process.memoryUsage.rss())), 5)
  const used = process.cpuUsage()
  const start = performance.now()
  await upload(task)
  const wall = performance.now() - start
  const { system, user } = process.cpuUsage(used)
  clearInterval(look)
  return { wall, cpu: (system + user) / 1000, memory: Math.max(most, process.memoryUsage.rss()) - before }
})

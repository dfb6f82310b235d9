/** The process of one contender: `node Uploader.ts <name> <port>`. It uploads a file on request. */
import { createClient, type PostwireClient } from "@postwire/node"
import { createReadStream, openAsBlob, statSync } from "node:fs"
import { open } from "node:fs/promises"
import { Agent, FormData as Form, request } from "undici"
import * as Child from "../Child.ts"

/** A file, and the bytes of a segment for those that choose none. */
export interface Task {
  readonly path: string
  readonly chunk: number
}

/** The cost of an upload: milliseconds, and the peak growth of resident memory in bytes. */
export interface Upload {
  readonly wall: number
  readonly cpu: number
  readonly memory: number
}

export const names = ["undici", "undici again", "undici by hand", "path", "path with a key", "Blob", "stream"] as const

/** A contender: bare Undici with a form for each segment or with hand-made bodies; the client, with each kind of source. */
export type Name = typeof names[number]

const [name, port, folder] = process.argv.slice(2) as [Name, string, string]
const baseUrl = `http://127.0.0.1:${port}`
const bearerToken = "A".repeat(112)

type Post = (step: string, body: Form | Uint8Array | string, type?: string) => Promise<void>

/** One request for each segment, one after the other, of what is read into one piece of memory. */
const bare = (append: (post: Post, index: number, memory: Buffer<ArrayBuffer>) => Promise<void>) => {
  const dispatcher = new Agent({ allowH2: false })
  const authorization = `Bearer ${bearerToken}`
  const post: Post = async (step, body, type) => {
    const headers = type === undefined ? { authorization } : { authorization, "content-type": type }
    const answer = await request(`${baseUrl}/2/media/upload/${step}`, { method: "POST", dispatcher, headers, body })
    await answer.body.json()
  }
  return async ({ chunk, path }: Task) => {
    await post("initialize", "{}")
    await using file = await open(path)
    const { size } = await file.stat()
    const memory = Buffer.allocUnsafe(head.length + chunk + tail.length)
    head.copy(memory)
    for (let at = 0, index = 0; at < size; at += chunk) {
      const { bytesRead } = await file.read(memory, head.length, Math.min(chunk, size - at), at)
      tail.copy(memory, head.length + bytesRead)
      await append(post, index++, memory.subarray(0, head.length + bytesRead + tail.length))
    }
    await post("1/finalize", "")
  }
}

const [head, tail] = [
  Buffer.from(`--b\r\ncontent-disposition: form-data; name="media"; filename="media"\r\n\r\n`),
  Buffer.from("\r\n--b--\r\n")
]

const form = () =>
  bare((post, index, memory) => {
    const form = new Form()
    form.set("segment_index", String(index))
    form.set("media", new Blob([memory.subarray(head.length, -tail.length)]))
    return post("1/append", form)
  })

const own = (input: (path: string) => Promise<Parameters<PostwireClient["upload"]>[0]>, isResumable = false) => () => {
  const client = createClient({ baseUrl, bearerToken, journal: folder })
  let key = 0
  return async ({ path }: Task) => {
    const resume = isResumable ? { resume: `${process.pid}-${++key}` } : {}
    await client.upload(await input(path), { user_auth: false, ...resume })
  }
}

const pathOf = async (path: string) => path

const contenders: Readonly<Record<Name, () => (task: Task) => Promise<void>>> = {
  undici: form,
  "undici again": form,
  "undici by hand": () => bare((post, _, memory) => post("1/append", memory, "multipart/form-data; boundary=b")),
  path: own(pathOf),
  "path with a key": own(pathOf, true),
  Blob: own((path) => openAsBlob(path)),
  stream: own(async (path) => ({ stream: createReadStream(path), size: statSync(path).size }))
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

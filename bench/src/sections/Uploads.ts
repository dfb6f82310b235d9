/** Uploads of a file, beside bare Undici that sends the same segments as forms, and the memory that they take. */
import type { PostwireClient } from "@postwire/node"
import { closeSync, createReadStream, ftruncateSync, openAsBlob, openSync, statSync, writeSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { Agent, FormData as Form, request } from "undici"
import { mp4 } from "../../../packages/core/test/support/MediaBytes.ts"
import * as Bodies from "../Bodies.ts"
import * as Checkout from "../Checkout.ts"
import * as Child from "../Child.ts"
import * as Rounds from "../Rounds.ts"

const MiB = 1_048_576

/** So many MiB of a file, and the bytes of a segment for those that choose none. */
interface Batch extends Rounds.Task {
  readonly path: string
  readonly chunk: number
}

type Post = (step: string, body: Form | Uint8Array | string, type?: string) => Promise<void>

const [head, tail] = [
  Buffer.from(`--b\r\ncontent-disposition: form-data; name="media"; filename="media"\r\n\r\n`),
  Buffer.from("\r\n--b--\r\n")
]

/** One request for each segment, one after the other, of what is read into one piece of memory. */
const bare =
  (append: (post: Post, index: number, memory: Buffer<ArrayBuffer>) => Promise<void>) =>
  async ({ url }: Rounds.Settings) => {
    const dispatcher = new Agent({ allowH2: false })
    const authorization = `Bearer ${Bodies.bearerToken}`
    const post: Post = async (step, body, type) => {
      const headers = type === undefined ? { authorization } : { authorization, "content-type": type }
      const answer = await request(`${url}/2/media/upload/${step}`, { method: "POST", dispatcher, headers, body })
      await answer.body.json()
    }
    return async ({ chunk, path }: Batch) => {
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

const postwire =
  (input: (path: string) => Promise<Parameters<PostwireClient["upload"]>[0]>, isResumable = false) =>
  async ({ folder, place, url }: Rounds.Settings) => {
    const [{ createClient }] = await Checkout.modules(folder)("@postwire/node")
    const client = createClient({ baseUrl: url, bearerToken: Bodies.bearerToken, journal: join(place, "journal") })
    let key = 0
    return async ({ path }: Batch) => {
      const resume = isResumable ? { resume: `${process.pid}-${++key}` } : {}
      await client.upload(await input(path), { user_auth: false, ...resume })
    }
  }

export const contenders: Rounds.Contenders<Batch> = {
  "undici, FormData": bare((post, index, memory) => {
    const form = new Form()
    form.set("segment_index", String(index))
    form.set("media", new Blob([memory.subarray(head.length, -tail.length)]))
    return post("1/append", form)
  }),
  "undici, by hand": bare((post, _, memory) => post("1/append", memory, "multipart/form-data; boundary=b")),
  "a path": postwire(async (path) => path),
  "a path with a key": postwire(async (path) => path, true),
  "a Blob": postwire((path) => openAsBlob(path)),
  "a stream": postwire(async (path) => ({ stream: createReadStream(path), size: statSync(path).size }))
}

/** The client's choice for files of this size. */
const chunkOf = (size: number): number => Math.min(Math.max(Math.ceil(size / 100 / MiB), 1), 4) * MiB

/** A video as far as its header goes; the rest is a hole in the file. */
const film = (place: string, mebibytes: number): Batch => {
  const size = mebibytes * MiB
  const header = Buffer.from(mp4({ isFast: true, media: new Uint8Array() }))
  header.writeUInt32BE(size - header.length + 8, header.length - 8)
  const path = join(place, `${mebibytes}.mp4`)
  const file = openSync(path, "w")
  writeSync(file, header)
  ftruncateSync(file, size)
  closeSync(file)
  return { count: mebibytes, path, chunk: chunkOf(size) }
}

const run = async (bench: Rounds.Bench, seconds: number): Promise<void> => {
  using server = await Child.start<object, unknown>("Server.ts", "uploads")
  const start = (name: string) => Rounds.start<Batch>(bench, "Uploads", name, { url: String(server.hello) })
  const [small, middle] = [film(bench.place, 1), film(bench.place, bench.full ? 64 : 16)]
  const peers = ["undici, FormData", "undici, by hand"]
  await Rounds.withAll(
    Rounds.select(bench, peers, ["a path", "a path with a key"]),
    start,
    (contenders) =>
      Rounds.compare(bench, {
        section: "uploads",
        contenders,
        scenarios: [{ name: `a MiB of ${middle.count}`, task: middle }],
        seconds: bench.full ? seconds / 2 : seconds,
        from: 0,
        share: bench.full ? 0.5 : 1
      })
  )
  if (bench.full) {
    const all = ["undici, FormData", "a path", "a path with a key", "a Blob", "a stream"]
    for (const task of [small, middle, film(bench.place, 512)]) {
      const at = { section: "uploads", scenario: `a MiB of ${task.count}, in a new process` }
      await Rounds.long<Batch>(bench, at, all, start, small, task, 1)
    }
  }
}

export const section: Rounds.Section = { name: "uploads", seconds: 7, fullSeconds: 60, run }

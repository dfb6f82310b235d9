/**
 * What an upload takes beside requests of bare Undici, and how much memory, whatever the file's size:
 *
 *     pnpm bench:uploads [--rounds 5] [--mebibytes 64]
 *
 * The files are not media, so that nothing is found in them; what receives them reads and forgets them, in a process of its own.
 */
import { upload } from "@postwire/core/Upload"
import * as FileSource from "@postwire/node/FileSource"
import * as NodeClient from "@postwire/node/NodeClient"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { spawn } from "node:child_process"
import { randomFillSync } from "node:crypto"
import { once } from "node:events"
import { createReadStream, mkdtempSync, openAsBlob, openSync, rmSync, statSync, writeSync } from "node:fs"
import { open } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as undici from "undici"

const self = fileURLToPath(import.meta.url)

const MiB = 1_048_576

/** What is compared sends segments of one length. */
const chunk = 4 * MiB

const { positionals: [role = "all", ...given], values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "5" }, mebibytes: { type: "string", default: "64" } }
})

/** Answers every request of an upload once it was read. */
const receive = async (): Promise<void> => {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const data = request.url?.endsWith("/append") === true
        ? { expires_at: 4_000_000_000 }
        : { id: "1", media_key: "7_1", size: 1, expires_after_secs: 86_400 }
      response.setHeader("content-type", "application/json").end(JSON.stringify({ data }))
    })
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  console.log((server.address() as AddressInfo).port)
}

const start = (...args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", self, ...args], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() }
}

const clientOf = (baseUrl: string, journal: string) =>
  ManagedRuntime.make(NodeClient.layer({
    baseUrl,
    consumerKey: "k",
    consumerSecret: "s",
    accessToken: "1-t",
    accessTokenSecret: "s",
    journal
  }))

const options = { type: "video/mp4", chunkBytes: chunk } as const

/** Sends a small file, then one of which it tells by how many MiB its process grew. */
const measure = async ([baseUrl = "", folder = "", source = "", small = "", large = ""]: ReadonlyArray<string>) => {
  const client = clientOf(baseUrl, folder)
  const inputs = {
    path: async (path: string) => FileSource.file(path),
    key: async (path: string) => FileSource.file(path),
    Blob: (path: string) => openAsBlob(path),
    stream: async (path: string) => ({ stream: createReadStream(path), size: statSync(path).size })
  }
  const send = async (path: string) => {
    const input = await inputs[source as keyof typeof inputs](path)
    await client.runPromise(
      source === "key" ? upload.resumable(`${process.pid} ${path}`, input, options) : upload(input, options)
    )
  }
  await send(small)
  const before = process.memoryUsage.rss()
  await send(large)
  console.log(((process.resourceUsage().maxRSS * 1024 - before) / MiB).toFixed(1))
  await client.dispose()
}

/** Requests of bare Undici, one for each segment: with the platform's form, or with a body that is put together by hand. */
const bare = (baseUrl: string, dispatcher: undici.Agent, isForm: boolean) => async (path: string): Promise<void> => {
  const file = await open(path)
  const { size } = await file.stat()
  const [head, tail] = [
    Buffer.from("--b\r\ncontent-disposition: form-data; name=\"media\"\r\n\r\n"),
    Buffer.from("\r\n--b--\r\n")
  ]
  const memory = Buffer.allocUnsafe(head.length + chunk + tail.length)
  head.copy(memory)
  for (let offset = 0; offset < size; offset += chunk) {
    const { bytesRead } = await file.read(memory, head.length, chunk, offset)
    tail.copy(memory, head.length + bytesRead)
    const form = new undici.FormData()
    if (isForm) form.append("media", new Blob([memory.subarray(head.length, head.length + bytesRead)]), "media")
    const { body } = await undici.request(`${baseUrl}/2/media/upload/1/append`, {
      dispatcher,
      method: "POST",
      ...(isForm ? { body: form } : {
        body: memory.subarray(0, head.length + bytesRead + tail.length),
        headers: { "content-type": "multipart/form-data; boundary=b" }
      })
    })
    await body.json()
  }
  await file.close()
}

const median = (times: ReadonlyArray<number>): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN

const compare = async (baseUrl: string, folder: string, path: string): Promise<void> => {
  const dispatcher = new undici.Agent()
  const client = clientOf(baseUrl, folder)
  let key = 0
  const ways: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
    "bare Undici, FormData": bare(baseUrl, dispatcher, true),
    "bare Undici, body put together by hand": bare(baseUrl, dispatcher, false),
    upload: (path) => client.runPromise(upload(FileSource.file(path), options)),
    "upload with a key": (path) => client.runPromise(upload.resumable(`k${++key}`, FileSource.file(path), options))
  }
  const times = new Map(Object.keys(ways).map((name): [string, Array<number>] => [name, []]))
  for (let round = -1; round < Number(values.rounds); round++) {
    for (const [name, send] of Object.entries(ways)) {
      const begin = performance.now()
      await send(path)
      if (round >= 0) times.get(name)?.push(performance.now() - begin)
    }
  }
  const size = statSync(path).size / MiB
  const [first = Number.NaN] = Array.from(times.values(), median)
  for (const [name, taken] of times) {
    const millis = median(taken)
    console.log(`${name}: ${(size / millis * 1000).toFixed(0)} MiB/s, ${(first / millis).toFixed(2)} of the first`)
  }
  await client.dispose()
  await dispatcher.close()
}

const all = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-bench-"))
  const receiver = start("receive")
  try {
    const baseUrl = `http://127.0.0.1:${(await receiver.lines.next()).value}`
    const noise = randomFillSync(Buffer.alloc(MiB))
    const fileOf = (mebibytes: number) => {
      const path = join(folder, String(mebibytes))
      const file = openSync(path, "w")
      for (let i = 0; i < mebibytes; i++) writeSync(file, noise)
      return path
    }
    const small = fileOf(1)
    for (const source of ["path", "key", "Blob", "stream"]) {
      const grown: Array<string> = []
      for (const mebibytes of [1, 64, 512]) {
        const { child, lines } = start("measure", baseUrl, folder, source, small, fileOf(mebibytes))
        const exit = once(child, "exit")
        grown.push(`${mebibytes} MiB: ${(await lines.next()).value} MiB`)
        await exit
      }
      console.log(`memory at the peak above the start, by ${source}: ${grown.join(", ")}`)
    }
    await compare(baseUrl, folder, fileOf(Number(values.mebibytes)))
  } finally {
    receiver.child.kill()
    rmSync(folder, { recursive: true })
  }
}

const roles: Readonly<Record<string, (given: ReadonlyArray<string>) => Promise<void>>> = { all, receive, measure }
await roles[role]?.(given)

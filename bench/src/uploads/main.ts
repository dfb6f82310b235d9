/**
 * Measures uploads of a file, in turns with bare Undici, which sends the same segments as forms, and how much memory they take:
 *
 *     pnpm bench:uploads [--rounds <n>] [--json <file>]
 */
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { mp4 } from "../../../packages/core/test/support/MediaBytes.ts"
import * as Child from "../Child.ts"
import { median, spread } from "../Measurement.ts"
import type { Name, Task, Upload } from "./Uploader.ts"

const MiB = 1_048_576

/** That of the file whose throughput is measured. */
const size = 64 * MiB

/** The client's choice for files of this size. */
const chunkOf = (size: number): number => Math.min(Math.max(Math.ceil(size / 100 / MiB), 1), 4) * MiB

/** Those whose throughput is measured, and those whose memory. */
const fast: ReadonlyArray<Name> = ["undici", "undici again", "undici by hand", "path", "path with a key"]
const lean: ReadonlyArray<Name> = ["undici", "path", "path with a key", "Blob", "stream"]

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--"),
  options: { rounds: { type: "string", default: "11" }, json: { type: "string" } }
})
const rounds = Number(values.rounds)

/** A video as far as its header goes; the rest is a hole in the file. */
const film = (folder: string, size: number): string => {
  const header = Buffer.from(mp4({ isFast: true, media: new Uint8Array() }))
  header.writeUInt32BE(size - header.length + 8, header.length - 8)
  const path = join(folder, `${size}.mp4`)
  const file = openSync(path, "w")
  writeSync(file, header)
  ftruncateSync(file, size)
  closeSync(file)
  return path
}

const start = async (name: Name, port: unknown, folder: string) => ({
  name,
  uploads: new Array<Upload>(),
  uploader: await Child.start<Task, Upload>("uploads/Uploader.ts", name, String(port), join(folder, "journal"))
})

const main = async () => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-bench-"))
  const server = await Child.start<object, number>("uploads/Server.ts")
  const send = async (uploader: Child.Child<Task, Upload>, size: number) => {
    const upload = await uploader.ask({ path: join(folder, `${size}.mp4`), chunk: chunkOf(size) })
    const received = await server.ask({})
    if (received < size) throw new Error(`Of ${size} bytes ${received} came.`)
    return upload
  }
  for (const each of [MiB, size, 512 * MiB]) film(folder, each)

  const contenders = await Promise.all(fast.map((name) => start(name, server.hello, folder)))
  for (const { uploader } of contenders) for (let k = 0; k < 3; k++) await send(uploader, size)
  for (let round = 0; round < rounds; round++) {
    for (let k = 0; k < contenders.length; k++) {
      const { uploader, uploads } = contenders[(k + round) % contenders.length]!
      uploads.push(await send(uploader, size))
    }
  }
  for (const { uploader } of contenders) uploader.end()
  const baseline = contenders[0]!.uploads
  const throughput = contenders.map(({ name, uploads }) => ({
    name,
    megabytesPerSecond: size / 1e6 / (median(uploads.map(({ wall }) => wall)) / 1000),
    relative: spread(uploads.map(({ wall }, round) => baseline[round]!.wall / wall)),
    cpu: spread(uploads.map(({ cpu }, round) => cpu / baseline[round]!.cpu))
  }))

  // A process keeps allocated memory for a while, so each upload has its own.
  const memory = []
  for (const name of lean) {
    for (const each of [MiB, size, 512 * MiB]) {
      const { uploader } = await start(name, server.hello, folder)
      await send(uploader, MiB)
      memory.push({ name, size: each / MiB, megabytes: (await send(uploader, each)).memory / MiB })
      uploader.end()
    }
  }
  server.end()
  rmSync(folder, { recursive: true })

  console.log(
    `${size / MiB} MiB in segments of ${chunkOf(size) / MiB} MiB, medians of ${rounds} rounds, relative to bare Undici`
  )
  for (const { cpu, megabytesPerSecond, name, relative } of throughput) {
    console.log(
      `  ${name.padEnd(26)}${megabytesPerSecond.toFixed(0).padStart(6)} MB/s  ${relative.median.toFixed(2)} (${
        relative.low.toFixed(2)
      } to ${relative.high.toFixed(2)})  CPU ${cpu.median.toFixed(2)}`
    )
  }
  console.log("Most memory above the start, MiB")
  for (const { megabytes, name, size } of memory) {
    console.log(`  ${name.padEnd(26)}${String(size).padStart(6)} MiB  ${megabytes.toFixed(1).padStart(6)}`)
  }
  const again = throughput[1]
  const own = throughput.find(({ name }) => name === "path")
  const drift = Math.abs(again!.relative.median - 1)
  console.log(
    drift > 0.05 ? `Bare Undici was ${(drift * 100).toFixed(0)} % from itself: figures prove little.` : "Goals"
  )
  const goal = (met: boolean, figure: number, text: string) =>
    console.log(`  ${met ? "met   " : "missed"} ${figure.toFixed(2)}  ${text}`)
  goal(own!.relative.median >= 0.95, own!.relative.median, "throughput / undici >= 0.95")
  const { megabytes } = memory.findLast(({ name }) => name === "path")!
  goal(megabytes < 64, megabytes, "MiB above the start for 512 MiB < 64")
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ throughput, memory }, undefined, 2))
}

await main()

/** Decompresses a file. The compression is recognised by the first bytes, whatever the name. */
import { Readable, type Transform } from "node:stream"
import * as zlib from "node:zlib"

/** The bytes of gzip members, Zstandard frames, or a plain file. */
export async function* inflate(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = chunks[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < 4) {
    const next = await iterator.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  const all = (async function*(): AsyncGenerator<Buffer> {
    if (head.length > 0) yield head
    yield* { [Symbol.asyncIterator]: () => iterator }
  })()
  if (head[0] === 0x1f && head[1] === 0x8b) yield* through(all, zlib.createGunzip({ chunkSize }))
  else if (head.length >= 4 && isZstandard(head.readUInt32LE(0))) {
    yield* through(frames(all), zlib.createZstdDecompress({ chunkSize }))
  } else yield* all
}

/** Bytes that are decompressed at a time. Each takes a turn of a thread. */
const chunkSize = 262_144

async function* through(chunks: AsyncIterable<Buffer>, transform: Transform): AsyncGenerator<Buffer> {
  const input = Readable.from(chunks)
  // `pipe` does not forward errors.
  input.on("error", (error) => transform.destroy(error))
  try {
    yield* input.pipe(transform) as AsyncIterable<Buffer>
  } finally {
    input.destroy()
  }
}

const frame = 0xfd2fb528

const isSkippable = (magic: number): boolean => magic >>> 4 === 0x184d2a5

const isZstandard = (magic: number): boolean => magic === frame || isSkippable(magic)

/** A part of a frame: its length, whether its bytes are needed, and whether a frame ends before it. */
interface Part {
  readonly bytes: number
  readonly isSeen: boolean
  readonly ends?: true
}

/** The parts of Zstandard frames. Each is requested with the bytes of the one before, if they are needed. (RFC 8878, 3.1.) */
function* frameParts(): Generator<Part, void, Buffer> {
  while (true) {
    const magic = (yield { bytes: 4, isSeen: true, ends: true }).readUInt32LE(0)
    if (isSkippable(magic)) {
      yield { bytes: (yield { bytes: 4, isSeen: true }).readUInt32LE(0), isSeen: false }
      continue
    }
    if (magic !== frame) throw new Error("a Zstandard frame is followed by other data")
    const descriptor = (yield { bytes: 1, isSeen: true }).readUInt8(0)
    const isSingle = (descriptor >> 5 & 1) === 1
    const sizes = [isSingle ? 1 : 0, 2, 4, 8]
    const dictionaries = [0, 1, 2, 4]
    yield {
      bytes: (isSingle ? 0 : 1) + (dictionaries[descriptor & 3] ?? 0) + (sizes[descriptor >> 6] ?? 0),
      isSeen: false
    }
    for (let isLast = false; !isLast;) {
      const header = (yield { bytes: 3, isSeen: true }).readUIntLE(0, 3)
      isLast = (header & 1) === 1
      yield { bytes: (header >> 1 & 3) === 1 ? 1 : header >> 3, isSeen: false }
    }
    if ((descriptor >> 2 & 1) === 1) yield { bytes: 4, isSeen: false }
  }
}

/** The same bytes, in chunks that end where a frame ends: Node drops what follows a frame, and does not report a truncated one. */
async function* frames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const parts = frameParts()
  let wanted = parts.next(Buffer.alloc(0)).value
  let seen = Buffer.alloc(0)
  let missing = wanted?.bytes ?? 0
  for await (const chunk of chunks) {
    let from = 0
    for (let at = 0; at < chunk.length;) {
      const taken = Math.min(missing, chunk.length - at)
      if (wanted?.isSeen === true) seen = Buffer.concat([seen, chunk.subarray(at, at + taken)])
      at += taken
      missing -= taken
      while (missing === 0) {
        wanted = parts.next(seen).value
        seen = Buffer.alloc(0)
        missing = wanted?.bytes ?? 0
        if (wanted?.ends === true && at > from) {
          yield chunk.subarray(from, at)
          from = at
        }
      }
    }
    if (from < chunk.length) yield chunk.subarray(from)
  }
  if (wanted?.ends !== true || seen.length > 0) throw new Error("a Zstandard frame is incomplete")
}

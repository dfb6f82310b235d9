/** The bytes of a file as they were before it was compressed. What it is, its first bytes say, whatever its name is. */
import { Readable, type Transform } from "node:stream"
import * as zlib from "node:zlib"

/** The bytes in chunks of gzip members, Zstandard frames, or of neither. */
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
  if (head[0] === 0x1f && head[1] === 0x8b) yield* through(all, zlib.createGunzip())
  else if (head.length >= 4 && isZstandard(head.readUInt32LE(0))) {
    yield* through(frames(all), zlib.createZstdDecompress())
  } else yield* all
}

async function* through(chunks: AsyncIterable<Buffer>, transform: Transform): AsyncGenerator<Buffer> {
  const input = Readable.from(chunks)
  // A failure of what is read does not reach who reads by itself.
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

/**
 * The same bytes, in chunks that end where a frame ends: Node leaves out what a chunk has beyond that, and does not say when a
 * frame is cut off. (RFC 8878, 3.1.)
 */
async function* frames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  /** Reads a frame in pieces: yields how many bytes are wanted next, and is given them where `isSeen`. */
  const layout = function*(): Generator<
    { readonly bytes: number; readonly isSeen: boolean; readonly ends?: true },
    void,
    Buffer
  > {
    while (true) {
      const magic = (yield { bytes: 4, isSeen: true, ends: true }).readUInt32LE(0)
      if (isSkippable(magic)) {
        yield { bytes: (yield { bytes: 4, isSeen: true }).readUInt32LE(0), isSeen: false }
        continue
      }
      if (magic !== frame) throw new Error("what follows a Zstandard frame is none")
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
  const parts = layout()
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
  if (wanted?.ends !== true || seen.length > 0) throw new Error("it ends in the middle of a Zstandard frame")
}

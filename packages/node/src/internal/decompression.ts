/** The content encodings that a client accepts. */
import type * as Zlib from "node:zlib"

type Decompressed = (error: Error | null, plain: Buffer<ArrayBuffer>) => void

interface Options {
  readonly maxOutputLength: number
}

/** Fails with `ERR_BUFFER_TOO_LARGE` if the decoded body would exceed a number of bytes. */
type Decompress = (body: Buffer, maxBytes: number, done: Decompressed) => void

/** Up to this size in bytes, a thread would cost more than it saves. */
const maxBytesOnThisThread = 1024 * 1024

// Not imported: Node takes 2 ms to load them, and a client may never receive such a body.
let loaded: typeof Zlib | undefined
const zlib = () => loaded ??= process.getBuiltinModule("node:zlib")

/** The longest possible body, whatever a client allows. */
let longest: number | undefined

const decompressor = (
  decompress: () => (body: Buffer, options: Options, done: Decompressed) => void,
  decompressSync: () => (body: Buffer, options: Options) => Buffer<ArrayBuffer>
): Decompress =>
(body, maxBytes, done) => {
  longest ??= process.getBuiltinModule("node:buffer").constants.MAX_LENGTH
  const options = { maxOutputLength: Math.min(maxBytes, longest) }
  if (body.length > maxBytesOnThisThread) return decompress()(body, options, done)
  let plain: Buffer<ArrayBuffer>
  try {
    plain = decompressSync()(body, options)
  } catch (error) {
    return done(error instanceof Error ? error : new Error(String(error)), Buffer.alloc(0))
  }
  done(null, plain)
}

const gunzip = decompressor(() => zlib().gunzip, () => zlib().gunzipSync)

/** By the name of the encoding, in lower case. */
export const decompressors: ReadonlyMap<string, Decompress> = new Map([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["br", decompressor(() => zlib().brotliDecompress, () => zlib().brotliDecompressSync)]
])

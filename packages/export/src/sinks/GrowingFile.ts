/** A file that only grows. Rows wait in memory, so that many of them are written at once. */
import { createHash, type Hash } from "node:crypto"
import type * as fs from "node:fs/promises"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import * as disk from "../files/Disk.ts"

/**
 * The compression of files. Every page is a gzip member or zstd frame of its own: both formats allow a sequence of them, and
 * resuming truncates between two.
 */
export type Compression = "none" | "gzip" | "zstd"

const gzip = promisify<Uint8Array, zlib.ZlibOptions, Uint8Array>(zlib.gzip)

type Compress = ((bytes: Uint8Array) => Promise<Uint8Array>) | undefined

// A Node without it loads this module, too, to report that it is not supported.
const zstd = (bytes: Uint8Array): Promise<Uint8Array> => promisify<Uint8Array, Uint8Array>(zlib.zstdCompress)(bytes)

const compressors: { readonly [C in Compression]: Compress } = {
  none: undefined,
  gzip: (bytes) => gzip(bytes, {}),
  zstd
}

/** The compression of a file. A spool is read by the export alone, so its frames hold as many pages as are written at once. */
export type Packing = Compression | "spool"

/** The most bytes that wait: larger writes are no faster. */
const maxWaitingBytes = 262_144

/** The most bytes of a UTF-16 code unit in UTF-8. */
const bytesPerUnit = 3

/** An open file. A write that failed is repeated by the next one. */
export class GrowingFile {
  readonly path: string
  readonly #file: fs.FileHandle
  readonly #packing: Packing
  readonly #hash: Hash
  #bytes: number
  #syncedBytes: number
  #waiting = Buffer.allocUnsafe(65_536)
  #waitingBytes = 0

  constructor(path: string, file: fs.FileHandle, packing: Packing, hash: Hash, bytes: number) {
    this.path = path
    this.#file = file
    this.#packing = packing
    this.#hash = hash
    this.#bytes = bytes
    this.#syncedBytes = bytes
  }

  /** The bytes in the file. */
  get bytes(): number {
    return this.#bytes
  }

  /** True if enough waits for a write. */
  get isFull(): boolean {
    return this.#waitingBytes >= maxWaitingBytes
  }

  /** The digest of the file; more can follow. */
  get digest(): disk.Digest {
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest("hex") }
  }

  /** Appends the texts of a page to what waits. */
  async append(texts: ReadonlyArray<string>): Promise<void> {
    const from = this.#waitingBytes
    let end = from
    for (const text of texts) {
      this.#reserve(end, text.length * bytesPerUnit)
      end += this.#waiting.write(text, end)
    }
    const compress = this.#packing === "spool" ? undefined : compressors[this.#packing]
    if (compress !== undefined) {
      const bytes = await compress(this.#waiting.subarray(from, end))
      this.#reserve(from, bytes.length)
      this.#waiting.set(bytes, from)
      end = from + bytes.length
    }
    this.#waitingBytes = end
  }

  /** Writes what waits. */
  async write(): Promise<void> {
    // A compressed file has bytes even without rows.
    if (this.#waitingBytes === 0 && this.#bytes > 0) return
    const waiting = this.#waiting.subarray(0, this.#waitingBytes)
    const bytes = this.#packing === "spool" ? await zstd(waiting) : waiting
    for (let written = 0; written < bytes.length;) {
      const { bytesWritten } = await this.#file.write(bytes, written, bytes.length - written, this.#bytes + written)
      written += bytesWritten
    }
    this.#hash.update(bytes)
    this.#bytes += bytes.length
    this.#waitingBytes = 0
  }

  /** Forces what was written to the disk. */
  async sync(): Promise<void> {
    const bytes = this.#bytes
    if (bytes === this.#syncedBytes) return
    await this.#file.datasync()
    this.#syncedBytes = bytes
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  #reserve(from: number, bytes: number): void {
    const needed = from + bytes
    if (needed <= this.#waiting.length) return
    const larger = Buffer.allocUnsafe(2 * needed)
    this.#waiting.copy(larger, 0, 0, from)
    this.#waiting = larger
  }
}

/** Opens a file at a digest: empty, or truncated to its length, with a hash that has its bytes. */
export const open = async (
  path: string,
  packing: Packing,
  hash: Hash | undefined,
  bytes: number
): Promise<GrowingFile> => {
  const file = await disk.open(path, bytes === 0 ? "w" : "r+")
  if (bytes > 0) await file.truncate(bytes)
  return new GrowingFile(path, file, packing, hash ?? createHash("sha256"), bytes)
}

/**
 * Bodies of named parts (`multipart/form-data`, RFC 7578), some of which are bytes. They are plain data that can cross threads
 * and be sent repeatedly: bytes are not copied, and those of a `Blob` are read only when they are sent.
 */
import { identity } from "effect/Function"
import * as HttpBody from "effect/http/HttpBody"
import * as Stream from "effect/Stream"

/** Bytes in memory, or a `Blob` that reads them on demand. */
export type Bytes = Uint8Array<ArrayBuffer> | Blob

/** A part that is text. */
export interface Text {
  readonly name: string
  readonly text: string
}

/** A part that is bytes. */
export interface File {
  readonly name: string
  readonly bytes: Bytes
}

/** A body: its parts in the order of sending. */
export interface Body {
  readonly parts: ReadonlyArray<Text | File>
}

/** Tests whether a value is bytes. */
export const isBytes = (value: unknown): value is Bytes =>
  (value instanceof Uint8Array && value.buffer instanceof ArrayBuffer) || value instanceof Blob

/** The number of bytes. */
export const sizeOf = (bytes: Bytes): number => bytes instanceof Blob ? bytes.size : bytes.byteLength

/** A body from members by name. Texts come first: the reader may need them to decide how to treat the bytes. */
export const make = (members: Readonly<Record<string, unknown>>): Body => {
  const [files, texts] = [Array<File>(), Array<Text>()]
  for (const [name, value] of Object.entries(members)) {
    if (isBytes(value)) files.push({ name, bytes: value })
    else texts.push({ name, text: String(value) })
  }
  return { parts: [...texts, ...files] }
}

/** A body in one line that shows none of its bytes. */
export const describe = ({ parts }: Body): string =>
  JSON.stringify(
    Object.fromEntries(parts.map((part) => [part.name, "text" in part ? part.text : `${sizeOf(part.bytes)} bytes`]))
  )

/**
 * The body of a request: a stream for any client, and the sequence of bytes for clients that can make use of it.
 */
export class Content extends HttpBody.Stream {
  readonly bytes: ReadonlyArray<Bytes>

  constructor(bytes: ReadonlyArray<Bytes>, contentType: string) {
    super(
      Stream.fromAsyncIterable(new Pieces(bytes), identity),
      contentType,
      bytes.reduce((total, piece) => total + sizeOf(piece), 0)
    )
    this.bytes = bytes
  }
}

/** A body of parts. Its boundary is random, so that no bytes contain it. */
export class Form extends Content {
  constructor({ parts }: Body) {
    const boundary = `postwire-${globalThis.crypto.randomUUID()}`
    super(encode(parts, boundary), `multipart/form-data; boundary=${boundary}`)
  }
}

/** A sequence of bytes, in pieces small enough to measure the upload rate. It can be iterated repeatedly. */
export class Pieces implements AsyncIterable<Uint8Array> {
  readonly #bytes: ReadonlyArray<Bytes>

  constructor(bytes: ReadonlyArray<Bytes>) {
    this.#bytes = bytes
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (const bytes of this.#bytes) {
      const size = sizeOf(bytes)
      for (let at = 0; at < size; at += pieceSize) {
        const end = at + pieceSize
        yield bytes instanceof Blob ? await read(bytes.slice(at, end)) : bytes.subarray(at, end)
      }
    }
  }
}

const pieceSize = 128 * 1024

const read = async (blob: Blob): Promise<Uint8Array> => {
  try {
    return new Uint8Array(await blob.arrayBuffer())
  } catch {
    throw new BlobUnreadable()
  }
}

/** The file of a Blob is gone or has changed. The code marks the message as safe to show. */
class BlobUnreadable extends Error {
  readonly code = "ERR_BLOB_UNREADABLE"
  override readonly message = "a Blob could not be read: its file is gone or has changed"
}

const encode = (parts: Body["parts"], boundary: string): ReadonlyArray<Bytes> => {
  const bytes: Array<Bytes> = []
  let text = ""
  for (const part of parts) {
    text += `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(part.name)}"`
    if ("text" in part) {
      text += `\r\n\r\n${part.text}\r\n`
      continue
    }
    // Without a file name, readers take a part for text. The caller's file name is private.
    text += `; filename="${quoted(part.name)}"\r\ncontent-type: ${typeOf(part.bytes)}\r\n\r\n`
    bytes.push(encoder.encode(text), part.bytes)
    text = "\r\n"
  }
  bytes.push(encoder.encode(`${text}--${boundary}--\r\n`))
  return bytes
}

const encoder = /*#__PURE__*/ new TextEncoder()

/** A name between quotes, as browsers write it. */
const quoted = (name: string): string => name.replace(/[\r\n"]/g, encodeURIComponent)

const typeOf = (bytes: Bytes): string => {
  const type = bytes instanceof Blob ? bytes.type : ""
  return mediaType.test(type) ? type : "application/octet-stream"
}

const mediaType = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/

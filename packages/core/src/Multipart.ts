/**
 * Bodies of named parts (`multipart/form-data`, RFC 7578), of which some are bytes. Plain data that crosses threads, and
 * that can be sent again: bytes are neither copied nor, where they are those of a `Blob`, read before they are sent.
 */
import type * as HttpBody from "effect/http/HttpBody"
import * as Inspectable from "effect/Inspectable"

/** Bytes in memory, or those that a `Blob` reads when they are asked for. */
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

/** A body: its parts in the order in which they are sent. */
export interface Body {
  readonly parts: ReadonlyArray<Text | File>
}

/** Whether a value is bytes. */
export const isBytes = (value: unknown): value is Bytes =>
  (value instanceof Uint8Array && value.buffer instanceof ArrayBuffer) || value instanceof Blob

/** The number of bytes. */
export const sizeOf = (bytes: Bytes): number => bytes instanceof Blob ? bytes.size : bytes.byteLength

/** A body of members by name. Texts come first: who reads them may decide what becomes of the bytes. */
export const make = (members: Readonly<Record<string, unknown>>): Body => {
  const [files, texts] = [Array<File>(), Array<Text>()]
  for (const [name, value] of Object.entries(members)) {
    if (isBytes(value)) files.push({ name, bytes: value })
    else texts.push({ name, text: String(value) })
  }
  return { parts: [...texts, ...files] }
}

/** A body in a line that shows none of its bytes. */
export const describe = ({ parts }: Body): string =>
  JSON.stringify(
    Object.fromEntries(
      parts.map((part) => [part.name, "text" in part ? part.text : `${sizeOf(part.bytes)} bytes`])
    )
  )

/** A body as it travels. */
export interface Encoded {
  readonly contentType: string
  /** In bytes. */
  readonly contentLength: number
  /** What is sent one after the other. */
  readonly pieces: ReadonlyArray<Bytes>
}

/** Encodes a body, with a boundary that nobody can guess and so none of its bytes hold. */
export const encode = ({ parts }: Body): Encoded => {
  const boundary = `postwire-${globalThis.crypto.randomUUID()}`
  const pieces: Array<Bytes> = []
  let text = ""
  for (const part of parts) {
    text += `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(part.name)}"`
    if ("text" in part) {
      text += `\r\n\r\n${part.text}\r\n`
      continue
    }
    // Without a file name, readers take a part for text. That of the caller's file is nobody's business.
    text += `; filename="${quoted(part.name)}"\r\ncontent-type: ${typeOf(part.bytes)}\r\n\r\n`
    pieces.push(encoder.encode(text), part.bytes)
    text = "\r\n"
  }
  pieces.push(encoder.encode(`${text}--${boundary}--\r\n`))
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: pieces.reduce((total, piece) => total + sizeOf(piece), 0),
    pieces
  }
}

const encoder = /*#__PURE__*/ new TextEncoder()

/** A name between quotes, as browsers write it. */
const quoted = (name: string): string => name.replace(/[\r\n"]/g, encodeURIComponent)

const typeOf = (bytes: Bytes): string => {
  const type = bytes instanceof Blob ? bytes.type : ""
  return mediaType.test(type) ? type : "application/octet-stream"
}

const mediaType = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/

/**
 * A body of a request. Clients that know it send its `encoded` pieces. For any other one it is a form of the platform, which
 * has a copy of the bytes in memory.
 */
export class Form extends Inspectable.Class implements HttpBody.FormData {
  readonly ["~effect/http/HttpBody"] = "~effect/http/HttpBody"
  readonly _tag = "FormData"
  readonly contentType = undefined
  readonly contentLength = undefined
  readonly #body: Body
  #encoded: Encoded | undefined

  constructor(body: Body) {
    super()
    this.#body = body
  }

  get encoded(): Encoded {
    return this.#encoded ??= encode(this.#body)
  }

  get formData(): FormData {
    const form = new FormData()
    for (const part of this.#body.parts) {
      if ("text" in part) form.append(part.name, part.text)
      else form.append(part.name, blobOf(part.bytes), part.name)
    }
    return form
  }

  toJSON(): unknown {
    return { _id: "effect/HttpBody", _tag: "FormData", formData: describe(this.#body) }
  }
}

const blobOf = (bytes: Bytes): Blob => bytes instanceof Blob ? bytes : new Blob([bytes], { type: typeOf(bytes) })

/** Events of encrypted chat as the service sends them: signed bytes of a client in an envelope that the service adds. */

/** The parts of an event. */
export interface Parts {
  readonly sequenceId: string
  readonly messageId: string
  readonly senderId: string
  /** `A:B`, or `g...` for a group. */
  readonly conversationId: string
  readonly createdAt: number
  /** The encoded details of the event. */
  readonly detail: Uint8Array
  readonly signature: Uint8Array
}

/** The encoded event, as base64 text. */
export const encode = (parts: Parts): string =>
  base64Of([
    text(1, parts.sequenceId),
    text(2, parts.messageId),
    text(3, parts.senderId),
    text(4, parts.conversationId),
    text(6, String(parts.createdAt)),
    struct(7, parts.detail),
    struct(9, parts.signature),
    stop
  ])

/** The details of a message: its encrypted contents as the client encoded them. */
export const messageDetail = (contents: Uint8Array): Uint8Array => Buffer.concat([struct(1, contents), stop])

/** The signature of a change. */
export const signatureOf = (
  signature: { readonly signature: string; readonly public_key_version: string; readonly signature_version: string }
): Uint8Array =>
  Buffer.concat([
    text(1, signature.signature),
    text(2, signature.public_key_version),
    text(3, signature.signature_version),
    stop
  ])

/** The bytes of base64 text. */
export const bytesOf = (base64: string): Uint8Array => Buffer.from(base64, "base64")

// Thrift's binary protocol: a field has a byte for its type, two for its id, then its value; a zero ends a struct.
const stop = Uint8Array.of(0)

const header = (type: number, id: number) => Uint8Array.of(type, id >> 8, id & 255)

const text = (id: number, value: string): Uint8Array => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(value))
  return Buffer.concat([header(11, id), length, Buffer.from(value)])
}

/** A struct that is encoded with its end. */
const struct = (id: number, encoded: Uint8Array): Uint8Array => Buffer.concat([header(12, id), encoded])

const base64Of = (parts: ReadonlyArray<Uint8Array>): string => Buffer.concat(parts).toString("base64")

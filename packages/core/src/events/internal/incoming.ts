/** Requests to a webhook: what of them is acceptable, and the bytes of their bodies. */
import type * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { Watch } from "../../http/Deadlines.ts"

/** A request, however a server represents it. */
export interface Incoming {
  readonly method: string
  /** Its address, absolute or from its path on. */
  readonly url: string
  /** A header by its lower-case name. One that was given twice has its values joined by commas. */
  readonly header: (name: string) => string | undefined
  /**
   * Reads the whole body as it was sent, up to a number of bytes, and then calls `done`. Returns a function that gives up.
   */
  readonly read: (most: number, done: (result: Uint8Array | RequestRefused) => void) => () => void
}

/** The answer to a request. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * A webhook refuses a request, such as one that is too long or has the wrong signature. No event was stored or handled. The sender
 * receives the status; the service sends an event again after a 5xx.
 */
export class RequestRefused extends /*#__PURE__*/ Data.TaggedError("RequestRefused")<{
  /** The HTTP status of the answer. */
  readonly status: number
  /** The reason in a word, for metrics. */
  readonly outcome: string
  readonly reason: string
}> {
  override get message(): string {
    return this.reason
  }
}

/** Refuses a request. */
export const refused = (status: number, outcome: string, reason: string): RequestRefused =>
  new RequestRefused({ status, outcome, reason })

/** The largest body. Deliveries have some thousand bytes. */
const mostBytes = 1024 * 1024

/** A body that arrives more slowly is refused: the service waits for 10 seconds. */
const readMillis = 5_000

/** Refuses a body that is too long. */
export const tooLong = /*#__PURE__*/ refused(413, "too-long", `The body is longer than ${mostBytes} bytes.`)

/** Refuses a request whose body the server has replaced by the parsed one. */
export const parsed = /*#__PURE__*/ refused(
  500,
  "parsed-body",
  "The bytes of the body are gone: something has read or parsed it before. Signatures are of the bytes, so put the webhook before" +
    " the body parser, or let that keep the bytes: express.raw({ type: \"*/*\" }), for example."
)

/** Refuses a body that ended early. */
export const truncated = /*#__PURE__*/ refused(400, "truncated", "The body is not as long as content-length says.")

/** Reads the body of a delivery. */
export const bodyOf = (incoming: Incoming, clock: Clock.Clock): Effect.Effect<Uint8Array, RequestRefused> => {
  const encoding = incoming.header("content-encoding")
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return Effect.fail(refused(415, "encoded", "The body is compressed, and deliveries are not."))
  }
  const length = incoming.header("content-length")
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    return Effect.fail(refused(400, "length", "content-length is not one number."))
  }
  if (Number(length ?? 0) > mostBytes) return Effect.fail(tooLong)
  return Effect.callback((resume) => {
    const end = (result: Uint8Array | RequestRefused) => {
      watch.ended()
      resume(
        !(result instanceof Uint8Array)
          ? Effect.fail(result)
          : length === undefined || result.length === Number(length)
          ? Effect.succeed(result)
          : Effect.fail(truncated)
      )
    }
    const watch = new Watch(clock, { left: readMillis, limits, maxBodySize: mostBytes })
    let giveUp = () => {}
    watch.started(() => {
      giveUp()
      end(slow)
    })
    giveUp = incoming.read(mostBytes, end)
    return Effect.sync(() => {
      watch.ended()
      giveUp()
    })
  })
}

const limits = { connect: Infinity, firstByte: readMillis, idle: readMillis, total: readMillis }

const slow = /*#__PURE__*/ refused(408, "slow", `The body took longer than ${readMillis / 1000} s.`)

/** The tokens of a challenge in an address. A plus sign is one, since tokens have no spaces. */
export const tokensOf = (url: string): ReadonlyArray<string> =>
  Array.from(url.matchAll(/[?&]crc_token=([^&#]*)/g), ([, token = ""]) => {
    try {
      return decodeURIComponent(token)
    } catch {
      return token
    }
  })

/** A web request. */
export const fromWeb = (request: Request): Incoming => ({
  method: request.method,
  url: request.url,
  header: (name) => request.headers.get(name) ?? undefined,
  read: (most, done) => {
    const { body, bodyUsed } = request
    if (body === null || bodyUsed) {
      done(bodyUsed ? parsed : new Uint8Array(0))
      return () => {}
    }
    const reader = body.getReader()
    const cancel = () => void reader.cancel().catch(() => {})
    void readAll(reader, most).then((bytes) => {
      if (bytes === undefined) cancel()
      done(bytes ?? tooLong)
    }, () => done(truncated))
    return cancel
  }
})

const readAll = async (
  reader: ReadableStreamDefaultReader<Uint8Array>,
  most: number
): Promise<Uint8Array | undefined> => {
  const pieces: Array<Uint8Array> = []
  let size = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length
    if (size > most) return undefined
    pieces.push(next.value)
  }
  const [first] = pieces
  if (first !== undefined && pieces.length === 1) return first
  const bytes = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

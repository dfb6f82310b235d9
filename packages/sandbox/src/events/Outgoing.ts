/** Requests to webhooks. Each goes to the address itself: redirects are answers. */
import { answerMillis } from "@postwire/core/events/Delivery"
import * as Effect from "effect/Effect"
import * as Http from "node:http"
import * as Https from "node:https"

export interface Request {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Of a POST; without it, the request is a GET. */
  readonly body?: Uint8Array
  /** The pause in milliseconds before each of sixteen parts of the body. */
  readonly pause?: number | undefined
}

export interface Response {
  readonly status: number
  readonly encoding: string | undefined
  readonly bytes: Buffer
}

/** The reason why a request has no response. */
export interface Failure {
  readonly cause: "timeout" | "tls" | "connection"
  readonly reason: string
}

export type Answer = Response | Failure

export const isResponse = (answer: Answer): answer is Response => "status" in answer

/** The rest of a longer response is not read. */
const maxBytes = 64 * 1024

/** Sends requests over kept connections, until it is closed. */
export const make = () => {
  const agents = { "http:": new Http.Agent({ keepAlive: true }), "https:": new Https.Agent({ keepAlive: true }) }
  const open = ({ body, headers, url }: Request): Http.ClientRequest => {
    const target = new URL(url)
    const options = {
      method: body === undefined ? "GET" : "POST",
      headers: { ...headers, ...body !== undefined && { "content-length": body.length } },
      // The limit also holds in real time, which the clock of a test does not move.
      signal: AbortSignal.timeout(answerMillis)
    }
    return target.protocol === "https:"
      ? Https.request(target, { ...options, agent: agents["https:"] })
      : Http.request(target, { ...options, agent: agents["http:"] })
  }
  return {
    send: (request: Request): Effect.Effect<Answer> =>
      Effect.suspend(() => {
        const sending = open(request)
        const { body, pause } = request
        const answer = Effect.raceFirst(answerTo(sending), Effect.as(Effect.sleep(answerMillis), late))
        if (body === undefined || pause === undefined) {
          sending.end(body)
          return answer
        }
        return Effect.raceFirst(answer, Effect.andThen(inParts(sending, body, pause), Effect.never))
      }),
    close: (): void => {
      for (const agent of Object.values(agents)) agent.destroy()
    }
  }
}

const late: Failure = { cause: "timeout", reason: `It did not respond within ${answerMillis / 1_000} seconds.` }

const inParts = (sending: Http.ClientRequest, body: Uint8Array, pause: number): Effect.Effect<void> => {
  const size = Math.max(1, Math.ceil(body.length / 16))
  return Effect.forEach(
    Array.from({ length: 16 }, (_, i) => body.subarray(i * size, (i + 1) * size)),
    (part) => Effect.andThen(Effect.sleep(pause), Effect.sync(() => sending.write(part))),
    { discard: true }
  )
}

const answerTo = (sending: Http.ClientRequest): Effect.Effect<Answer> =>
  Effect.callback((resume) => {
    const fail = (error: NodeJS.ErrnoException) => resume(Effect.succeed(failureOf(error)))
    sending.on("error", fail).on("response", (response) => {
      const pieces: Array<Buffer> = []
      let size = 0
      const end = () =>
        resume(Effect.succeed({
          status: response.statusCode ?? 0,
          encoding: response.headers["content-encoding"],
          bytes: Buffer.concat(pieces).subarray(0, maxBytes)
        }))
      response.on("error", fail).on("end", end).on("data", (piece: Buffer) => {
        pieces.push(piece)
        size += piece.length
        if (size < maxBytes) return
        end()
        sending.destroy()
      })
    })
    return Effect.sync(() => void sending.destroy())
  })

const failureOf = ({ code = "", message }: NodeJS.ErrnoException): Failure =>
  code === "ABORT_ERR"
    ? late
    : /^EPROTO$|CERT|SSL|TLS|SIGNATURE/.test(code)
    ? { cause: "tls", reason: `TLS failed (${code}): ${message}.` }
    : { cause: "connection", reason: `The connection failed (${code}): ${message}.` }

/** The latest responses, for inspection. They are kept as sent, and redacted when they are read. */
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Secrets from "../auth/Secrets.ts"

/** A response as the journal shows it. */
export interface Response {
  /** Names in lower case; credentials are redacted. */
  readonly headers: Readonly<Record<string, string>>
  /** The text of the body; a placeholder for a long one, for bytes and for a stream. */
  readonly body: string
}

interface Kept {
  readonly headers: Response["headers"]
  /** The text in bytes, or a placeholder. */
  readonly body: Uint8Array | string
  readonly hide: Secrets.Hide
}

/** Longer bodies are not kept. */
const maxBodyBytes = 256 * 1024

/** Keeps responses up to `maximum` bytes; the oldest are dropped first. `show` redacts headers. */
export const make = (
  maximum: number,
  show: (headers: Response["headers"], hide: Secrets.Hide) => Response["headers"]
) => {
  const kept = new Map<number, Kept>()
  let bytes = 0
  return {
    add: (id: number, { body, headers }: HttpServerResponse.HttpServerResponse, hide: Secrets.Hide): void => {
      const added = { headers, body: bodyOf(body), hide }
      kept.set(id, added)
      bytes += sizeOf(added)
      for (const [oldest, dropped] of kept) {
        if (bytes <= maximum) break
        kept.delete(oldest)
        bytes -= sizeOf(dropped)
      }
    },
    get: (id: number): Response | undefined => {
      const found = kept.get(id)
      if (found === undefined) return undefined
      const { body, headers, hide } = found
      return {
        headers: show(headers, hide),
        body: typeof body === "string" ? body : hide(new TextDecoder().decode(body))
      }
    },
    clear: (): void => {
      kept.clear()
      bytes = 0
    }
  }
}

/** The memory of a response besides its body, in bytes. */
const overheadBytes = 1_000

const sizeOf = ({ body }: Kept): number => body.length + overheadBytes

const bodyOf = (body: HttpServerResponse.HttpServerResponse["body"]): Kept["body"] => {
  if (body._tag === "Empty") return ""
  if (body._tag !== "Uint8Array") return "<a stream>"
  const isText = /json|text|urlencoded/.test(body.contentType)
  return isText && body.body.length <= maxBodyBytes ? body.body : `<${body.body.length} bytes>`
}

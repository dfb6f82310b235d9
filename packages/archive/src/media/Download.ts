/** Downloads a file of media: from permitted hosts only, without credentials, and from where an earlier run stopped. */
import * as Disk from "@postwire/export/files/Disk"
import type { ExportError } from "@postwire/export/files/ExportErrors"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"
import { type Format, formatOf, headBytes, type Variant } from "./Variant.ts"

/**
 * A file of media was not fetched. `Media` records the reason and tries again in later runs, until it has made five attempts. A part that
 * has arrived is kept, and continued.
 */
export class NotFetched extends Schema.TaggedError<NotFetched>()("NotFetched", {
  reason: Schema.String,
  /** The attempts that it counts for: none if nothing was requested, all if no later one can succeed. */
  attempts: Schema.Int
}) {
  override get message(): string {
    return this.reason
  }
}

/** The bounds of a download. */
export interface Bounds {
  /** The hosts of requests, with the port unless it is the scheme's own. */
  readonly hosts: ReadonlyArray<string>
  readonly maxBytes: number
  readonly timeLimit: Duration.Input
}

/** A download. */
export interface Wanted extends Variant {
  readonly folder: string
  /** The path of the unfinished file, and what identifies its content, if it was begun. */
  readonly part: string
  readonly validator: string | null
}

/** A file that was fetched. */
export interface File extends Disk.Digest {
  /** Its path in the folder. */
  readonly file: string
  readonly contentType: string
}

/** The attempts after which a file is given up. */
export const maxAttempts = 5

export const final = (reason: string) => new NotFetched({ reason, attempts: maxAttempts })
const passing = (reason: string) => new NotFetched({ reason, attempts: 1 })

/** Downloads a file to the name of its content. `onBegin` is called before the first byte with what identifies the content. */
export const download = <E>(
  wanted: Wanted,
  bounds: Bounds,
  onBegin: (validator: string | undefined) => Effect.Effect<void, E>
): Effect.Effect<File, NotFetched | ExportError | E, HttpClient.HttpClient> =>
  Effect.scoped(downloading(wanted, bounds, onBegin)).pipe(
    Effect.catchTag("HttpClientError", () => Effect.fail(passing("the connection failed"))),
    Effect.timeoutOrElse({ duration: bounds.timeLimit, orElse: () => Effect.fail(passing("it took too long")) })
  )

const downloading = Effect.fnUntraced(function*<E>(
  wanted: Wanted,
  bounds: Bounds,
  onBegin: (validator: string | undefined) => Effect.Effect<void, E>
): Effect.fn.Return<File, NotFetched | HttpClientError | ExportError | E, HttpClient.HttpClient | Scope.Scope> {
  const { folder, kind, part, url, validator } = wanted
  const before = validator === null ? 0 : Number((yield* Disk.look(part))?.size ?? 0)
  const range = validator === null || before === 0 ? {} : { range: `bytes=${before}-`, "if-range": validator }
  const response = yield* request(url, { accept: `${kind}/*`, "accept-encoding": "identity", ...range }, bounds)
  const { headers, status } = response
  // The part is complete, or of another file.
  if (status === 416 && before > 0) return yield* downloading({ ...wanted, validator: null }, bounds, onBegin)
  if (status !== 200 && status !== 206) {
    const isPassing = status === 408 || status === 429 || status >= 500
    return yield* (isPassing ? passing : final)(`the server answered ${status}`)
  }
  const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase().replace("image/jpg", "image/jpeg")
  if (type?.startsWith(`${kind}/`) !== true) return yield* final(`the server sent ${type ?? "no type"} for ${kind}`)
  const from = status === 206 ? before : 0
  if (status === 206 && headers["content-range"]?.startsWith(`bytes ${from}-`) !== true) {
    return yield* passing("the server sent another range")
  }
  const length = Number(headers["content-length"] ?? NaN)
  if (from + length > bounds.maxBytes) return yield* final(tooLarge(bounds))
  const etag = headers["etag"]
  yield* onBegin(etag?.startsWith("W/") === false ? etag : headers["last-modified"])
  yield* write(part, from, response.stream, bounds)
  return yield* keep(folder, part, type)
})

const maxRedirects = 3

/** Requests an address, and those to which it redirects. Every one must be permitted. */
const request = Effect.fnUntraced(function*(
  address: string,
  headers: Readonly<Record<string, string>>,
  { hosts }: Bounds
): Effect.fn.Return<HttpClientResponse.HttpClientResponse, NotFetched | HttpClientError, HttpClient.HttpClient> {
  let url = URL.parse(address)
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (url === null) return yield* final("its address is invalid")
    const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
    if (!(url.protocol === "https:" || (url.protocol === "http:" && isLoopback))) {
      return yield* final("its address is not https")
    }
    if (!hosts.includes(url.host)) {
      // It may be among those of another run.
      return yield* new NotFetched({
        reason: `${url.host} is not among the hosts of media`,
        attempts: Math.min(redirects, 1)
      })
    }
    url.username = url.password = ""
    const response = yield* HttpClient.get(url, { headers })
    const { location } = response.headers
    if (location === undefined || response.status < 300 || response.status > 399) return response
    url = URL.parse(location, url)
  }
  return yield* final("it redirects too often")
})

const tooLarge = ({ maxBytes }: Pick<Bounds, "maxBytes">): string => `it is larger than ${maxBytes} bytes`

/** Writes a body after the first `from` bytes of a file. */
export const write = Effect.fnUntraced(function*<E>(
  path: string,
  from: number,
  body: Stream.Stream<Uint8Array, E>,
  bounds: Pick<Bounds, "maxBytes">
): Effect.fn.Return<void, NotFetched | E | ExportError, Scope.Scope> {
  const file = yield* Effect.acquireRelease(
    Disk.attempt(path, () => Disk.open(path, from > 0 ? "a" : "w")),
    (file) => Effect.promise(() => file.close())
  )
  let bytes = from
  const append = (chunk: Uint8Array): Effect.Effect<void, NotFetched | ExportError> => {
    bytes += chunk.length
    return bytes > bounds.maxBytes ? final(tooLarge(bounds)) : Disk.attempt(path, () => file.writeFile(chunk))
  }
  yield* Stream.runForEach(body, append)
  yield* Disk.attempt(path, () => file.sync())
})

/** Moves a complete file to the name of its content, if its bytes are of a known type, and of the one that was sent. */
export const keep = Effect.fnUntraced(function*(
  folder: string,
  path: string,
  type?: string
): Effect.fn.Return<File, NotFetched | ExportError> {
  const format = yield* headOf(path)
  if (format === undefined || format.type !== (type ?? format.type)) {
    return yield* final(`the server sent ${format?.type ?? "something else"} as ${type ?? "media"}`)
  }
  const digest = yield* Disk.digest(path)
  const file = `${digest.sha256.slice(0, 2)}/${digest.sha256}.${format.extension}`
  const target = join(folder, file)
  yield* Disk.attempt(target, async () => {
    await fs.mkdir(dirname(target), { recursive: true })
    // The same content under another key is replaced by itself.
    await Disk.place(path, target, true)
  })
  return { ...digest, file, contentType: format.type }
})

const headOf = (path: string): Effect.Effect<Format | undefined, ExportError> =>
  Disk.attempt(path, async () => {
    await using file = await fs.open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return formatOf(buffer.subarray(0, bytesRead))
  })

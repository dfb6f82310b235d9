/** Files of media on the page. Browsers request them without the token, so that their addresses are signed. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { SqlError } from "effect/sql/SqlError"
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import * as Copy from "../copy/Copy.ts"
import type { CopyUnusable } from "../copy/CopyErrors.ts"
import * as Media from "../media/Media.ts"

/** The address of the file of a medium. */
export class Addresses extends Context.Service<Addresses, (key: string) => string>()(
  "@postwire/archive/page/Files/Addresses"
) {}

/** Sends the file of a medium, or the range of it that a video needs. */
export const send = Effect.fnUntraced(function*(
  key: string,
  range: string | undefined,
  headers: Readonly<Record<string, string>>
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, SqlError | CopyUnusable, Copy.Current> {
  const copy = yield* Copy.Current
  const [found] = yield* copy.sql<{ readonly file: string; readonly content_type: string }>`
    SELECT file, content_type FROM media_files WHERE media_key = ${key} AND sha256 IS NOT NULL`
  if (found === undefined) return HttpServerResponse.empty({ status: 404, headers })
  const path = join(yield* Media.folderOf(copy), found.file)
  const size = yield* Effect.promise(() => stat(path).then(({ size }) => size, () => 0))
  const [part, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? []
  const start = Number(from ?? 0)
  const end = Math.min(size - 1, Number(to || Infinity))
  if (start > end) return HttpServerResponse.empty({ status: size === 0 ? 404 : 416, headers })
  return HttpServerResponse.raw(createReadStream(path, { start, end }), {
    status: part === undefined ? 200 : 206,
    contentType: found.content_type,
    contentLength: end - start + 1,
    headers: { ...headers, "accept-ranges": "bytes", ...part && { "content-range": `bytes ${start}-${end}/${size}` } }
  })
})

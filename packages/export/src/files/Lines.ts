/** Lines of a file. Node's own reader also ends them at U+2028 and at a lone CR, which texts may hold. */
import { createReadStream } from "node:fs"
import type { Readable } from "node:stream"
import { createGunzip } from "node:zlib"

/** The lines of a file, plain or of gzip members; of a plain one, those in its first `bytes` where given. */
export async function* linesOf(
  path: string,
  options: { readonly gzip?: boolean; readonly bytes?: number } = {}
): AsyncGenerator<string> {
  const { bytes = Infinity, gzip = false } = options
  if (bytes === 0) return
  const file = createReadStream(path, { end: bytes - 1 })
  let stream: Readable = file
  if (gzip) {
    const inflating = createGunzip()
    // A failure of the file does not reach what reads from it by itself.
    file.on("error", (error) => inflating.destroy(error))
    stream = file.pipe(inflating)
  }
  stream.setEncoding("utf8")
  let rest = ""
  for await (const chunk of stream as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop() ?? ""
    yield* lines
  }
}

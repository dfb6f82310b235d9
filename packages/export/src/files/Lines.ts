/** Lines of a file. Node's own reader also splits at U+2028 and at a lone CR, which texts may contain. */
import { createReadStream } from "node:fs"
import type { Readable } from "node:stream"
import { createGunzip } from "node:zlib"

/** The lines of a file, plain or gzip, several at a time; with `bytes`, those in its first `bytes`. */
export async function* linesOf(
  path: string,
  options: { readonly gzip?: boolean; readonly bytes?: number } = {}
): AsyncGenerator<ReadonlyArray<string>> {
  const { bytes = Infinity, gzip = false } = options
  if (bytes === 0) return
  const file = createReadStream(path, { end: bytes - 1 })
  let stream: Readable = file
  if (gzip) {
    const inflating = createGunzip()
    // `pipe` does not forward errors.
    file.on("error", (error) => inflating.destroy(error))
    stream = file.pipe(inflating)
  }
  stream.setEncoding("utf8")
  let rest = ""
  for await (const chunk of stream as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop() ?? ""
    yield lines
  }
}

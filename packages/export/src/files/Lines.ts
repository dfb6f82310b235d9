/** Lines of a file. Node's own reader also splits at U+2028 and at a lone CR, which texts may contain. */
import { createReadStream } from "node:fs"
import { StringDecoder } from "node:string_decoder"
import { inflate } from "./Inflate.ts"

/** The lines of a file, plain or compressed, several at a time; with `bytes`, those in its first `bytes`. */
export async function* linesOf(path: string, bytes = Infinity): AsyncGenerator<ReadonlyArray<string>> {
  if (bytes === 0) return
  const decoder = new StringDecoder("utf8")
  let rest = ""
  for await (const chunk of inflate(createReadStream(path, { end: bytes - 1 }) as AsyncIterable<Buffer>)) {
    const lines = (rest + decoder.write(chunk)).split("\n")
    rest = lines.pop() ?? ""
    yield lines
  }
}

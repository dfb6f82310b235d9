/** The files of an archive: each assigns a list to a variable, and its elements are read one by one. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Readable } from "node:stream"
import * as yauzl from "yauzl"
import { TakeoutUnusable } from "../copy/CopyErrors.ts"

/** An open archive. */
export interface Parts {
  readonly names: ReadonlyArray<string>
  /** A text that identifies the content of a file. */
  readonly identity: (name: string) => string
  /** The elements of a file. Throws if it is malformed. */
  readonly elements: (name: string) => AsyncGenerator<unknown>
  readonly read: (name: string) => Promise<Readable>
}

/** Files of the service compress some tenfold. */
const maxRatio = 100

/** Opens an archive, and refuses names that leave it and files that expand without measure. */
export const open = (path: string): Effect.Effect<Parts, TakeoutUnusable, Scope.Scope> =>
  Effect.gen(function*() {
    const unusable = (reason: string) => new TakeoutUnusable({ path, reason })
    const zip = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () => yauzl.openPromise(path, { autoClose: false, strictFileNames: true }),
        catch: (cause) => unusable(messageOf(cause))
      }),
      (zip) => Effect.sync(() => zip.close())
    )
    const entries = new Map<string, yauzl.Entry>()
    let packed = 0
    yield* Effect.tryPromise({
      try: async () => {
        for await (const entry of zip.eachEntry()) {
          packed += entry.compressedSize
          if (entry.uncompressedSize > 1_000_000 + maxRatio * entry.compressedSize || packed > zip.fileSize) {
            throw new Error(`${entry.fileName} is larger than its part of the file can be`)
          }
          const name = /^(?:[^/]+\/)?data\/(.+)$/.exec(entry.fileName)?.[1]
          if (name !== undefined) entries.set(name, entry)
        }
      },
      catch: (cause) => unusable(messageOf(cause))
    })
    const entryOf = (name: string) => {
      const entry = entries.get(name)
      if (entry === undefined) throw new Error(`there is no ${name}`)
      return entry
    }
    const read = (name: string) => zip.openReadStreamPromise(entryOf(name))
    return {
      names: [...entries.keys()],
      identity: (name) => `${name} ${entryOf(name).crc32} ${entryOf(name).uncompressedSize}`,
      elements: async function*(name) {
        const stream = await read(name)
        for await (const element of elementsOf(stream.setEncoding("utf8"))) yield JSON.parse(element)
      },
      read
    }
  })

export const messageOf = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

const header = /^\ufeff?\s*(?:window\.)?YTD\.\w+\.part\d+\s*=\s*\[/

/** The longest element: a conversation is one. */
const maxElement = 2 ** 28

/** The texts of the elements of a list. Reads each character a single time, however many chunks an element has. */
async function* elementsOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let head: string | undefined = ""
  let element: Array<string> = []
  let length = 0
  let depth = 0
  let isString = false
  let isEscaped = false
  for await (let chunk of chunks) {
    if (head !== undefined) {
      head += chunk
      const [found] = header.exec(head) ?? []
      if (found === undefined && head.length > 200) break
      if (found === undefined) continue
      chunk = head.slice(found.length)
      head = undefined
    }
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const code = chunk.charCodeAt(at)
      if (isEscaped) isEscaped = false
      else if (isString) {
        isEscaped = code === 0x5c
        isString = code !== 0x22
      } else if (code === 0x22) isString = true
      else if (code === 0x7b || code === 0x5b) {
        if (depth++ === 0) start = at
      } else if (code === 0x7d || code === 0x5d) {
        if (depth === 0) return
        if (--depth === 0) {
          yield [...element, chunk.slice(start, at + 1)].join("")
          element = []
          length = 0
        }
      }
    }
    if (depth > 0) {
      element.push(chunk.slice(start))
      length += chunk.length - start
      if (length > maxElement) throw new Error("an element is too long")
    }
  }
  throw new Error(head === undefined ? "it ends early" : "it does not begin with window.YTD")
}

/** Items of a stream that wait for a slow consumer, in files that are gone when the stream is. */
import { SpillFailed } from "@postwire/core/Errors"
import { Spill, type SpillQueue } from "@postwire/core/Spill"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { FileHandle } from "node:fs/promises"
import { codeOf, saidBy } from "./internal/SystemError.ts"

/** Settings of the files. */
export interface Options {
  /** The folder in which each stream makes one of its own when it has to. Default: that of the system for such things. */
  readonly folder?: string | undefined
}

/** Lets items wait in files. */
export const layer = (options: Options = {}): Layer.Layer<never> => Layer.succeed(Spill, make(options))

/** A file that is written to its end, and read from its beginning. */
interface Segment {
  readonly path: string
  readonly handle: FileHandle
  written: number
  read: number
}

/** After so many bytes comes another file, so that what was read is gone from the disk. */
const segmentBytes = 16 * 1024 * 1024

/** How many bytes are read at a time, unless one text is longer. */
const readBytes = 256 * 1024

/** The same for one who has no Layers. */
export const make = ({ folder }: Options = {}): Spill => ({
  open: Effect.suspend(() => open(folder ?? process.getBuiltinModule("node:os").tmpdir()))
})

const open = (parent: string): Effect.Effect<SpillQueue, SpillFailed, Scope.Scope> => {
  const { promises } = process.getBuiltinModule("node:fs")
  const { join } = process.getBuiltinModule("node:path")
  const attempt = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: failureOf(parent) })
  const segments: Array<Segment> = []
  let folder: string | undefined
  let made = 0

  const next = async (): Promise<Segment> => {
    // Most streams are never behind.
    folder ??= await promises.mkdtemp(join(parent, "postwire-stream-"))
    const path = join(folder, String(made++))
    const segment = { path, handle: await promises.open(path, "wx+", 0o600), written: 0, read: 0 }
    segments.push(segment)
    return segment
  }

  const remove = async ({ handle, path }: Segment): Promise<void> => {
    await handle.close()
    await promises.rm(path, { force: true })
  }

  const append = (texts: ReadonlyArray<string>) =>
    attempt(async () => {
      const last = segments.at(-1)
      const segment = last === undefined || last.written >= segmentBytes ? await next() : last
      const bytes = Buffer.from(`${texts.join("\n")}\n`)
      for (let sent = 0; sent < bytes.length;) {
        sent += (await segment.handle.write(bytes, sent, bytes.length - sent, segment.written + sent)).bytesWritten
      }
      // From now on it is there for who reads.
      segment.written += bytes.length
    })

  const take = attempt(async (): Promise<ReadonlyArray<string>> => {
    let segment = segments[0]
    while (segment !== undefined && segment.read === segment.written && segments.length > 1) {
      segments.shift()
      await remove(segment)
      segment = segments[0]
    }
    if (segment === undefined || segment.read === segment.written) return []
    for (let size = readBytes;; size *= 4) {
      const length = Math.min(size, segment.written - segment.read)
      const bytes = Buffer.alloc(length)
      const { bytesRead } = await segment.handle.read(bytes, 0, length, segment.read)
      if (bytesRead < length) throw damaged(parent)
      const end = bytes.lastIndexOf(newline)
      if (end >= 0) {
        segment.read += end + 1
        return bytes.toString("utf8", 0, end).split("\n")
      }
      if (length === segment.written - segment.read) throw damaged(parent)
    }
  })

  const close = Effect.promise(async () => {
    for (const { handle } of segments) await handle.close().catch(() => {})
    if (folder !== undefined) await promises.rm(folder, { recursive: true, force: true }).catch(() => {})
  })

  return Effect.acquireRelease(Effect.succeed({ append, take }), () => close)
}

const newline = 0x0a

const damaged = (place: string) => new SpillFailed({ place, fault: "damaged" })

const failureOf = (place: string) => (cause: unknown): SpillFailed =>
  cause instanceof SpillFailed
    ? cause
    : new SpillFailed({ place, fault: faults[codeOf(cause) ?? ""] ?? "unavailable", detail: saidBy(cause) })

const faults: Readonly<Record<string, SpillFailed["fault"]>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EACCES: "forbidden",
  EPERM: "forbidden",
  EROFS: "forbidden"
}

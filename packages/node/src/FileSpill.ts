/** Items of a stream that wait for a slow consumer, in files that end with the process at the latest. */
import { SpillFailed } from "@postwire/core/errors/Errors"
import { Spill, type SpillQueue } from "@postwire/core/streams/Spill"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { FileHandle } from "node:fs/promises"
import { faultOf, saidBy } from "./internal/systemError.ts"

/** Settings of the files. */
export interface Options {
  /** The folder for the files. Default: the system's folder for temporary files. */
  readonly folder?: string | undefined
}

/** Buffers items in files. */
export const layer = (options: Options = {}): Layer.Layer<never> => Layer.succeed(Spill, make(options))

/** A file that is appended to, and read from its start. */
interface Segment {
  readonly handle: FileHandle
  written: number
  read: number
}

/** The size of a file in bytes. Then another one follows, so that the read part is removed from the disk. */
const segmentBytes = 16 * 1024 * 1024

/** Bytes per read, unless one text is longer. */
const readBytes = 256 * 1024

/** The same without a Layer. */
export const make = ({ folder }: Options = {}): Spill => ({
  open: Effect.suspend(() => open(folder ?? process.getBuiltinModule("node:os").tmpdir()))
})

const open = (folder: string): Effect.Effect<SpillQueue, SpillFailed, Scope.Scope> => {
  const { promises } = process.getBuiltinModule("node:fs")
  const segments: Array<Segment> = []
  let turn: Promise<unknown> = Promise.resolve()
  let isClosed = false

  /** Runs one step at a time, in the order of the calls, even if the caller was interrupted. */
  const inTurn = <A>(work: () => Promise<A>): Effect.Effect<A, SpillFailed> =>
    Effect.tryPromise({
      try: () => {
        const done = turn.then(work)
        turn = done.catch(() => {})
        return done
      },
      catch: failureOf(folder)
    })

  /** A file without a name: the system removes it however the process ends. */
  const next = async (): Promise<Segment> => {
    if (isClosed) throw new SpillFailed({ place: folder, fault: "unavailable", detail: "the queue is closed" })
    const { join } = process.getBuiltinModule("node:path")
    const path = join(folder, `postwire-stream-${globalThis.crypto.randomUUID()}`)
    const segment = { handle: await promises.open(path, "wx+", 0o600), written: 0, read: 0 }
    segments.push(segment)
    await promises.rm(path)
    return segment
  }

  const append = (texts: ReadonlyArray<string>) =>
    inTurn(async () => {
      const last = segments.at(-1)
      const segment = last === undefined || last.written >= segmentBytes ? await next() : last
      const bytes = Buffer.from(`${texts.join("\n")}\n`)
      for (let sent = 0; sent < bytes.length;) {
        sent += (await segment.handle.write(bytes, sent, bytes.length - sent, segment.written + sent)).bytesWritten
      }
      segment.written += bytes.length
    })

  const take = inTurn(async (): Promise<ReadonlyArray<string>> => {
    let segment = segments[0]
    while (segment !== undefined && segment.read === segment.written && segments.length > 1) {
      segments.shift()
      await segment.handle.close()
      segment = segments[0]
    }
    if (segment === undefined || segment.read === segment.written) return []
    for (let size = readBytes;; size *= 4) {
      const length = Math.min(size, segment.written - segment.read)
      const bytes = Buffer.alloc(length)
      const { bytesRead } = await segment.handle.read(bytes, 0, length, segment.read)
      if (bytesRead < length) throw damaged(folder)
      const end = bytes.lastIndexOf(newline)
      if (end >= 0) {
        segment.read += end + 1
        return bytes.toString("utf8", 0, end).split("\n")
      }
      if (length === segment.written - segment.read) throw damaged(folder)
    }
  })

  const close = inTurn(async () => {
    isClosed = true
    for (const { handle } of segments.splice(0)) await handle.close().catch(() => {})
  })

  return Effect.acquireRelease(Effect.succeed({ append, take }), () => Effect.ignore(close))
}

const newline = 0x0a

const damaged = (place: string) => new SpillFailed({ place, fault: "damaged" })

const failureOf = (place: string) => (cause: unknown): SpillFailed =>
  cause instanceof SpillFailed
    ? cause
    : new SpillFailed({ place, fault: faultOf(cause), detail: saidBy(cause) })

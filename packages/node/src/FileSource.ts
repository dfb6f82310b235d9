/** A file as the source of an upload. */
import { SourceFailure, type SourceFault } from "@postwire/core/errors/Errors"
import type { Source } from "@postwire/core/media/Source"
import * as Effect from "effect/Effect"
import type { BigIntStats } from "node:fs"
import { codeOf, saidBy } from "./internal/systemError.ts"

/**
 * A file, by its path or its `file:` URL. It is open during the upload, and only the part being sent is in memory. A file that
 * changes meanwhile fails the upload.
 */
export const file = (place: string | URL): Source => {
  const name = nameOf(place)
  const failure = (fault: SourceFault, detail?: string) => new SourceFailure({ source: name, fault, detail })
  const failureOf = (cause: unknown): SourceFailure => {
    if (cause instanceof SourceFailure) return cause
    const fault = faults[codeOf(cause) ?? ""]
    return fault === undefined ? failure("unreadable", saidBy(cause)) : failure(fault)
  }
  const attempt = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: failureOf })

  return {
    name,
    open: Effect.gen(function*() {
      const { constants, promises } = process.getBuiltinModule("node:fs")
      const handle = yield* Effect.acquireRelease(
        // Does not wait for the writer of a pipe.
        attempt(() => promises.open(place, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))),
        (handle) => Effect.ignore(Effect.tryPromise(() => handle.close()))
      )
      const stats = yield* attempt(() => handle.stat({ bigint: true }))
      if (!stats.isFile()) return yield* failure("unreadable", "it is not a file")
      const version = versionOf(stats)
      const size = Number(stats.size)
      return {
        size,
        isSeekable: true,
        version,
        read: (offset, length, into) =>
          attempt(async () => {
            const wanted = Math.max(Math.min(length, size - offset), 0)
            const bytes = into === undefined ? new Uint8Array(wanted) : into.subarray(0, wanted)
            let filled = 0
            while (filled < bytes.length) {
              const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, offset + filled)
              if (bytesRead === 0) break
              filled += bytesRead
            }
            // A file of the same size may have other bytes.
            if (versionOf(await handle.stat({ bigint: true })) !== version) throw failure("changed")
            if (filled < bytes.length) throw failure("short", `after ${offset + filled} of ${size} bytes`)
            return bytes
          })
      }
    })
  }
}

/** The version of a file's bytes. */
const versionOf = ({ dev, ino, mtimeNs, size }: BigIntStats): string => [dev, ino, size, mtimeNs].join(" ")

/** The file name without its folders, which are private. */
const nameOf = (place: string | URL): string =>
  process.getBuiltinModule("node:path").basename(typeof place === "string" ? place : pathOf(place))

/** The path, undecoded if it cannot be decoded: opening the file reports that. */
const pathOf = ({ pathname }: URL): string => {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}

const faults: Readonly<Record<string, SourceFault>> = {
  ENOENT: "absent",
  ENOTDIR: "absent",
  EACCES: "forbidden",
  EPERM: "forbidden"
}

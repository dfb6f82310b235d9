/** Writes a file as a whole. An existing one is kept unless it may be replaced. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Args from "./Args.ts"
import * as ErrorReport from "./ErrorReport.ts"

export const force = Args.toggle("force", "Replace existing files")

export const write = Effect.fnUntraced(function*(path: string, content: string | Uint8Array, force: boolean) {
  const fs = yield* FileSystem.FileSystem
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
  const { mode, type } = yield* Effect.orElseSucceed(fs.stat(path), () => ({ mode: 0o666, type: "File" }))
  yield* Effect.mapError(
    !force
      ? fs.writeFile(path, bytes, { flag: "wx" })
      : type === "File"
      ? swap(path, bytes, mode & 0o777)
      // A device or a pipe cannot be replaced.
      : fs.writeFile(path, bytes),
    failureOf(path)
  )
})

/** Creates a file of lines that only its owner can read, or ends a last line that a kill or a full disk has left incomplete. */
export const openLines = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.gen(function*() {
    const file = yield* fs.open(path, { flag: "a+", mode: 0o600 })
    const { size } = yield* file.stat
    if (size === 0n) return
    yield* file.seek(size - 1n, "start")
    const last = new Uint8Array(1)
    yield* file.read(last)
    if (last[0] !== 0x0a) yield* file.writeAll(Uint8Array.of(0x0a))
  }).pipe(Effect.scoped, Effect.mapError(failureOf(path)))
})

/** Adds to a file that only its owner can read. */
export const append = Effect.fnUntraced(function*(path: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(path, text, { flag: "a", mode: 0o600 }).pipe(Effect.mapError(failureOf(path)))
})

/** Replaces a file, or a link to one, atomically: after a crash it has the old bytes or the new ones. */
const swap = Effect.fnUntraced(function*(path: string, bytes: Uint8Array, mode: number) {
  const fs = yield* FileSystem.FileSystem
  const temporary = `${path}.tmp`
  yield* fs.remove(temporary, { force: true })
  yield* Effect.gen(function*() {
    // A link that another process puts there meanwhile is not followed.
    const file = yield* fs.open(temporary, { flag: "wx", mode })
    yield* file.writeAll(bytes)
    yield* file.sync
  }).pipe(
    Effect.scoped,
    Effect.andThen(fs.rename(temporary, path)),
    Effect.tapError(() => Effect.ignore(fs.remove(temporary, { force: true })))
  )
})

/** Replaces a file atomically. What a link leads to is replaced. */
export const replace = Effect.fnUntraced(function*(path: string, text: string, mode = 0o666) {
  const fs = yield* FileSystem.FileSystem
  const target = yield* Effect.orElseSucceed(fs.realPath(path), () => path)
  yield* Effect.mapError(swap(target, new TextEncoder().encode(text), mode), failureOf(path))
})

const failureOf = (path: string) => (error: PlatformError): ErrorReport.Failure => {
  const { advice, reason } = error.reason._tag === "AlreadyExists"
    ? { reason: "it exists already", advice: "Name another file, or replace it with --force." }
    : DatabaseProblem.of(error) ?? {
      reason: `it cannot be written (${error.reason._tag})`,
      advice: "Check the folder, its permissions and the free space."
    }
  return new ErrorReport.Failure({ message: `${path}: ${reason}`, advice })
}

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
  yield* fs.writeFile(path, bytes, { flag: force ? "w" : "wx" }).pipe(Effect.mapError(failureOf(path)))
})

/** Adds to a file that only its owner can read. */
export const append = Effect.fnUntraced(function*(path: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(path, text, { flag: "a", mode: 0o600 }).pipe(Effect.mapError(failureOf(path)))
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

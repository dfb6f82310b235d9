/** Detects failed writes to standard output: `console.log` does not report them. */
import { PipeClosed } from "@postwire/export/files/ExportErrors"
import * as Effect from "effect/Effect"
import type { Writable } from "node:stream"
import * as ErrorReport from "./ErrorReport.ts"

/** Writes bytes unchanged. */
export const write = (bytes: Uint8Array, stream: Writable = process.stdout): Effect.Effect<void> =>
  Effect.callback((resume) => void stream.write(bytes, () => resume(Effect.void)))

/** Watches a stream. The effect waits until everything is written, and fails if something was lost. */
export const watch = (stream: Writable = process.stdout): Effect.Effect<void, ErrorReport.Failure | PipeClosed> => {
  let failure: NodeJS.ErrnoException | undefined
  stream.on("error", (error) => failure ??= error)
  return Effect.callback((resume) => {
    stream.write("", (error: NodeJS.ErrnoException | null | undefined) => {
      const lost = failure ?? error ?? undefined
      resume(
        lost === undefined ? Effect.void : lost.code === "EPIPE" ? Effect.fail(new PipeClosed()) : ErrorReport.refuse(
          `Standard output cannot be written: ${lost.message}`,
          "Make room, or redirect it; the command itself is done."
        )
      )
    })
  })
}

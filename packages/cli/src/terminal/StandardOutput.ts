/** Detects failed writes to standard output: `console.log` does not report them. */
import { PipeClosed } from "@postwire/export/files/ExportErrors"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Writable } from "node:stream"

/** Some of the output is lost. */
export class NotPrinted extends Schema.TaggedError<NotPrinted>()("NotPrinted", { reason: Schema.String }) {
  override get message(): string {
    return `Standard output cannot be written: ${this.reason}`
  }
  get advice(): string {
    return "Make room, or redirect it; the command itself is done."
  }
}

/** Writes bytes unchanged. */
export const write = (bytes: Uint8Array, stream: Writable = process.stdout): Effect.Effect<void> =>
  Effect.callback((resume) => void stream.write(bytes, () => resume(Effect.void)))

/** Watches a stream. The effect waits until everything is written, and fails if something was lost. */
export const watch = (stream: Writable = process.stdout): Effect.Effect<void, NotPrinted | PipeClosed> => {
  let failure: NodeJS.ErrnoException | undefined
  stream.on("error", (error) => failure ??= error)
  return Effect.callback((resume) => {
    stream.write("", (error: NodeJS.ErrnoException | null | undefined) => {
      const lost = failure ?? error ?? undefined
      resume(
        lost === undefined
          ? Effect.void
          : Effect.fail(lost.code === "EPIPE" ? new PipeClosed() : new NotPrinted({ reason: lost.message }))
      )
    })
  })
}

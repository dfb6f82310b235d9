/** Whether what a command printed has arrived: `console.log` keeps failures to itself. */
import { PipeClosed } from "@postwire/export/files/ExportErrors"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Writable } from "node:stream"

/** What was printed is lost, or a part of it. */
export class NotPrinted extends Schema.TaggedError<NotPrinted>()("NotPrinted", { reason: Schema.String }) {
  override get message(): string {
    return `Standard output cannot be written: ${this.reason}`
  }
  get advice(): string {
    return "Make room, or send it elsewhere; what the command has done stays done."
  }
}

/** Writes bytes as they are. */
export const write = (bytes: Uint8Array, stream: Writable = process.stdout): Effect.Effect<void> =>
  Effect.callback((resume) => void stream.write(bytes, () => resume(Effect.void)))

/** Looks at a stream from now on. The effect waits for all that was written to it, and fails when something got lost. */
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

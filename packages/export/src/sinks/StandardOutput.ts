/**
 * JSON Lines on standard output or another stream. Written lines cannot be taken back, so there is no checkpoint. Items only: every
 * line is an item.
 */
import * as Effect from "effect/Effect"
import type { Writable } from "node:stream"
import * as disk from "../files/Disk.ts"
import type * as Checkpoint from "../folders/Checkpoint.ts"
import type { StreamSink } from "../folders/Sink.ts"
import { lines } from "./Files.ts"

/** One JSON object per line. Terminal control characters are escaped; the JSON stays equivalent. */
export const make = (stream: Writable = process.stdout): StreamSink => ({
  format: "standard output",
  path: undefined,
  open: (job) =>
    Effect.gen(function*() {
      // A failing stream also emits an error event, which must not crash the process; the failed write is reported.
      const ignore = () => {}
      yield* Effect.acquireRelease(
        Effect.sync(() => stream.on("error", ignore)),
        () => Effect.sync(() => stream.off("error", ignore))
      )
      let progress = job.start
      return {
        get progress() {
          return progress
        },
        write: (page, next: Checkpoint.Progress) =>
          Effect.map(write(stream, harmless(lines(page.items).join(""))), () => progress = next),
        commit: Effect.void,
        size: () => 0,
        finish: Effect.succeed([])
      }
    })
})

const write = (stream: Writable, text: string) =>
  disk.attempt("standard output", () =>
    new Promise<void>((resolve, reject) => {
      if (stream.destroyed) reject(Object.assign(new Error("closed"), { code: "EPIPE" }))
      else stream.write(text, (error) => error ? reject(error) : resolve())
    }))

/** C1 controls, delete, and marks of text direction; JSON has escaped the other controls. */
const steering = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const harmless = (text: string): string =>
  text.replace(steering, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

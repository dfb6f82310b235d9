/**
 * JSON Lines on standard output, or on any other stream. What was written cannot be taken back, so there is no going on
 * from a checkpoint. Items only: a line is an item, whatever program reads it.
 */
import * as Effect from "effect/Effect"
import type { Writable } from "node:stream"
import * as disk from "../files/Disk.ts"
import type * as Checkpoint from "../folders/Checkpoint.ts"
import type { StreamSink } from "../folders/Sink.ts"
import { lines } from "./Files.ts"

/** One JSON object a line. Characters that would steer a terminal are escaped; the JSON stays the same. */
export const make = (stream: Writable = process.stdout): StreamSink => ({
  format: "standard output",
  path: undefined,
  open: (job) =>
    Effect.gen(function*() {
      // A stream that fails also says so as an event; the failure of the write is the one that counts.
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
        commit: (page, next: Checkpoint.Progress) =>
          Effect.map(write(stream, harmless(lines(page.items))), () => progress = next),
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

/** C1 controls, delete, and marks that turn the direction of text; JSON has escaped the other controls. */
const steering = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const harmless = (text: string): string =>
  text.replace(steering, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

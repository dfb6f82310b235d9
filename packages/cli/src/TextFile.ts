/** Texts that a command is given: in a file, or on standard input. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { FileUnusable } from "./ErrorReport.ts"

/** What stands for standard input. */
export const standardInput = "-"

/** The text of a file, or of standard input where `path` is `-`. `what` is what the file has to be. */
export const read = Effect.fnUntraced(function*(path: string, what = "a file of text") {
  const unusable = (reason: string) =>
    new FileUnusable({
      path: path === standardInput ? "standard input" : path,
      reason,
      advice: `Name ${what} that you may read.`
    })
  const bytes = yield* Effect.mapError(bytesOf(path), (error) => unusable(reasonOf(error)))
  return yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => unusable("it is not text in UTF-8")
  })
})

const reasonOf = ({ message, reason }: PlatformError): string =>
  reason._tag === "NotFound" ? "there is no such file" : message

const bytesOf = Effect.fnUntraced(function*(path: string) {
  if (path !== standardInput) return yield* (yield* FileSystem.FileSystem).readFile(path)
  const { stdin } = yield* Stdio.Stdio
  return Buffer.concat(yield* Stream.runCollect(stdin))
})

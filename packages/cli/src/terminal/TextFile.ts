/** Reads text from a file or standard input. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { Failure } from "./ErrorReport.ts"

/** The path that means standard input. */
export const standardInput = "-"

/** The text of a file, or of standard input if `path` is `-`. `what` names the expected contents. */
export const read = Effect.fnUntraced(function*(path: string, what = "a file of text") {
  const read = yield* bytes(path, what)
  return yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(read),
    catch: () => unusable(path, what, "it is not text in UTF-8")
  })
})

/** The bytes of a file, or of standard input if `path` is `-`. */
export const bytes = (path: string, what: string) =>
  Effect.mapError(bytesOf(path), (error) => unusable(path, what, reasonOf(error)))

/** The error of a file that cannot be used. */
export const unusable = (path: string, what: string, reason: string): Failure =>
  new Failure({
    message: `${path === standardInput ? "standard input" : path}: ${reason}`,
    advice: `Name ${what} that you may read.`
  })

const reasonOf = ({ message, reason }: PlatformError): string =>
  reason._tag === "NotFound"
    ? "there is no such file"
    : Predicate.hasProperty(reason.cause, "code") && reason.cause.code === "EISDIR"
    ? "it is a folder"
    : message

const bytesOf = Effect.fnUntraced(function*(path: string) {
  if (path !== standardInput) return yield* (yield* FileSystem.FileSystem).readFile(path)
  const { stdin } = yield* Stdio.Stdio
  return Buffer.concat(yield* Stream.runCollect(stdin))
})

/** Converts flags to parameters: bytes are read from files, and objects are parsed as JSON. */
import { type Definition, parametersOf } from "@postwire/core/schema/Definition"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { openAsBlob } from "node:fs"
import * as TextFile from "../terminal/TextFile.ts"
import * as UndeclaredFlags from "./UndeclaredFlags.ts"

export const read = Effect.fnUntraced(
  function*(definition: Definition, given: Readonly<Record<string, unknown>>) {
    const declared = parametersOf(definition)
    const parameters: Record<string, unknown> = { ...given }
    for (const [name, value] of Object.entries(given)) {
      const kind = declared[name]?.kind
      if (kind === "bytes") parameters[name] = yield* bytesOf(String(value))
      if (kind === "json") parameters[name] = yield* UndeclaredFlags.bodyOf(name.replaceAll("_", "-"), String(value))
    }
    return parameters
  }
)

/** The bytes of a file, read while they are sent; those of a pipe are read first. */
const bytesOf = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const isFile = path !== TextFile.standardInput &&
    (yield* Effect.orElseSucceed(fs.stat(path), () => undefined))?.type === "File"
  return isFile
    ? yield* Effect.tryPromise({
      try: () => openAsBlob(path),
      catch: (cause) => TextFile.unusable(path, "a file", String(cause))
    })
    : yield* TextFile.bytes(path, "a file")
})

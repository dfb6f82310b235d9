/** JSON files that a later run relies on: an edit is noticed by the digest that is their last member. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as disk from "./Disk.ts"
import { CheckpointUnusable, type ExportError } from "./ExportErrors.ts"

/** The JSON of an object, with a digest of it as its last member. */
export const stringify = (value: object): string => {
  // Parsing puts members in the order in which they are read later: names that are numbers come first.
  const read = JSON.parse(JSON.stringify(value)) as object
  return `${JSON.stringify({ ...read, sha256: digestOf(JSON.stringify(read)) }, undefined, 2)}\n`
}

/** The object, or `undefined` when the text was edited. */
export const parse = (text: string): unknown => {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof parsed !== "object" || parsed === null || !("sha256" in parsed)) return undefined
  const { sha256, ...value } = parsed
  return sha256 === digestOf(JSON.stringify(value)) ? value : undefined
}

const digestOf = (body: string): string => createHash("sha256").update(body).digest("hex")

/** A kind of sealed file. `read` returns `undefined` if there is none, and fails if it was edited or does not decode. */
export const file = <S extends Schema.ConstraintDecoder<object>>(schema: S) => {
  const decode = Schema.decodeUnknownOption(schema)
  return {
    read: (path: string): Effect.Effect<S["Type"] | undefined, ExportError> =>
      Effect.flatMap(disk.read(path), (text): Effect.Effect<S["Type"] | undefined, CheckpointUnusable> => {
        if (text === undefined) return Effect.undefined
        const decoded = decode(parse(text))
        return decoded._tag === "Some" ? Effect.succeed(decoded.value) : Effect.fail(edited(path))
      }),
    /** Replaces the file atomically; it is on the disk when this succeeds. */
    write: (path: string, value: S["Type"]): Effect.Effect<void, ExportError> => disk.replace(path, stringify(value))
  }
}

/** The failure of a file that was edited. */
export const edited = (path: string): CheckpointUnusable =>
  new CheckpointUnusable({ path, reason: "it was changed, or is of another version" })

/**
 * The journal of one user's uploads and threads, in a folder that no other user can write to: a file per key, with a lock file
 * beside it. A crash leaves the old text or the new one, and no lock.
 */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Journal from "@postwire/core/storage/Journal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TextFolder from "./internal/textFolder.ts"

/** Settings of the journal. */
export interface Options {
  /** The folder, created if it does not exist. Default: `postwire` in the user's folder for state. */
  readonly folder?: string | undefined
}

/** The default folder of the journal, such as `~/.local/state/postwire`. */
export const ownFolder: Effect.Effect<string, InvalidSettings> = TextFolder.ownFolder("journal", "state", "a journal")

/** The journal in a folder. Problems with the folder fail the operations that use it. */
export const layer = (options: Options = {}): Layer.Layer<Journal.Journal, InvalidSettings> =>
  Layer.effect(
    Journal.Journal,
    Effect.map(options.folder === undefined ? ownFolder : Effect.succeed(options.folder), make)
  )

/** The journal in a folder. */
export const make = (folder: string): Journal.Entries =>
  TextFolder.make(folder, {
    kind: "journal",
    open: "read",
    fileOf,
    checkName: (key) => key === "" ? Effect.fail("a key must not be empty") : Effect.void
  })

/** Some systems allow no longer file names, including the extension. */
const longestName = 200

/** A key as a file name. Capitals are escaped, since some systems do not distinguish case. */
const fileOf = (key: string): string => {
  const name = Array.from(
    new TextEncoder().encode(key),
    (byte, index) => {
      const character = String.fromCharCode(byte)
      const isPlain = index === 0 ? /[a-z0-9]/ : /[a-z0-9._-]/
      return isPlain.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`
    }
  ).join("")
  if (name.length <= longestName) return name
  const digest = process.getBuiltinModule("node:crypto").createHash("sha256").update(key).digest("hex")
  return `${name.slice(0, longestName - digest.length - 1)}~${digest}`
}

/**
 * The journal of one user's uploads and threads, in a folder that nobody else can write to: a file for each key, and beside it
 * the one that is locked. A crash leaves the old text or the new one, and no lock.
 */
import { InvalidSettings, JournalFailure } from "@postwire/core/errors/Errors"
import * as Journal from "@postwire/core/storage/Journal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as UserDirectories from "effect/persistence/UserDirectories"
import * as TextFolder from "./internal/textFolder.ts"

/** Settings of the journal. */
export interface Options {
  /** The folder, made when it is not there. Default: `postwire` in the user's folder for state. */
  readonly folder?: string | undefined
}

/** The folder of the journal where none is named, as `~/.local/state/postwire`. */
export const ownFolder: Effect.Effect<string, InvalidSettings> = Effect.suspend(() =>
  UserDirectories.make().state("postwire")
).pipe(
  Effect.filterOrFail((folder) => process.getBuiltinModule("node:path").isAbsolute(folder)),
  Effect.mapError(() =>
    new InvalidSettings({
      setting: "journal",
      rule: "must name a folder: this user has no home to keep a journal in (HOME is not set)"
    })
  )
)

/** The journal in a folder. What is wrong with the folder fails those who use it. */
export const layer = (options: Options = {}): Layer.Layer<Journal.Journal, InvalidSettings> =>
  Layer.effect(
    Journal.Journal,
    Effect.map(options.folder === undefined ? ownFolder : Effect.succeed(options.folder), make)
  )

/** The journal in a folder. */
export const make = (folder: string): Journal.Entries =>
  TextFolder.make(folder, {
    open: "read",
    fileOf,
    checkName: (key) => key === "" ? Effect.fail("a key must not be empty") : Effect.void,
    failure: (journal, action, fault, detail) => new JournalFailure({ journal, action, fault, detail })
  })

/** Some systems allow no more for the name of a file, with its ending. */
const longestName = 200

/** A key as the name of a file. Capitals are written out, for some systems have no other name for those than for small letters. */
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

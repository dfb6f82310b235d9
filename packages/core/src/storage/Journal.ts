/**
 * The journal of uploads and threads, from which an interrupted one resumes: one text per key, and one lock per key, so that only
 * one process works on a key. `@postwire/node` has a journal in files.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { JournalFailure } from "../errors/UploadErrors.ts"
import * as MemoryTexts from "./internal/memory.ts"

/** A journal. A key is any text except the empty one; the texts contain no secrets. */
export interface Entries {
  /** The text of a key, or `undefined`. */
  readonly read: (key: string) => Effect.Effect<string | undefined, JournalFailure>
  /**
   * Replaces the text of a key as a whole, or removes it with `undefined`. It is durable when this ends. Waits while another
   * client has the lock, and fails if this client has lost its lock.
   */
  readonly write: (key: string, text: string | undefined) => Effect.Effect<void, JournalFailure>
  /**
   * Holds the lock of a key until the scope ends. It excludes all other fibers and processes. A process that ends without releasing
   * it loses it soon. Waits at most half a minute for it.
   */
  readonly lock: (key: string) => Effect.Effect<void, JournalFailure, Scope.Scope>
  /** The location of a text, for messages: a path. */
  readonly describe: (key: string) => string
}

/** The maximum length of the key of an upload or a thread, in UTF-16 code units. */
const longestKey = 128

/** The rule for the key of an upload or a thread. */
export const keyRule = `must be a text of 1 to ${longestKey} characters`

/** Tests a value against that rule. Texts that are not well-formed would share one file. */
export const isKey = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= longestKey && value.isWellFormed()

/** The current journal. */
export class Journal extends /*#__PURE__*/ Context.Service<Journal, Entries>()("@postwire/core/storage/Journal") {}

/** A journal for one process, with initial texts. */
export const makeMemory: (texts?: Readonly<Record<string, string>>) => Entries = MemoryTexts.make

/** A journal for one process. */
export const layerMemory: Layer.Layer<Journal> = /*#__PURE__*/ Layer.sync(Journal, () => makeMemory())

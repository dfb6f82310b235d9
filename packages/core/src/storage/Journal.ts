/**
 * Where uploads and threads note how far they have come, so that one that was interrupted goes on: one text for each key, and a
 * lock for each, so that of all processes with one key one works. `@postwire/node` has a journal of files.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { JournalFailure } from "../errors/UploadErrors.ts"
import * as MemoryTexts from "./internal/memory.ts"

/** A journal. Its keys are any texts but the empty one; its texts hold no secrets. */
export interface Entries {
  /** The text of a key; `undefined` where there is none. */
  readonly read: (key: string) => Effect.Effect<string | undefined, JournalFailure>
  /**
   * Replaces the text of a key as a whole, or removes it with `undefined`. When it ends, that is durable. Waits while another
   * has the lock, and fails where ours was lost meanwhile.
   */
  readonly write: (key: string, text: string | undefined) => Effect.Effect<void, JournalFailure>
  /**
   * Holds the lock of a key until the scope ends. Nobody else has it meanwhile, in this process or in another; who ends without
   * giving it back, loses it soon. Waits for it half a minute at most.
   */
  readonly lock: (key: string) => Effect.Effect<void, JournalFailure, Scope.Scope>
  /** Where the text of a key is, for messages: a path. */
  readonly describe: (key: string) => string
}

/** How long the key of an upload or a thread may be, in UTF-16 code units. */
const longestKey = 128

/** What a program may give as the key of an upload or a thread, in words. */
export const keyRule = `must be a text of 1 to ${longestKey} characters`

/** Whether a value keeps that rule. What is not well-formed would share its file with others. */
export const isKey = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= longestKey && value.isWellFormed()

/** The journal in force. */
export class Journal extends /*#__PURE__*/ Context.Service<Journal, Entries>()("@postwire/core/storage/Journal") {}

/** A journal for one process, which begins with these texts. */
export const makeMemory: (texts?: Readonly<Record<string, string>>) => Entries = MemoryTexts.make

/** A journal for one process. */
export const layerMemory: Layer.Layer<Journal> = /*#__PURE__*/ Layer.sync(Journal, () => makeMemory())

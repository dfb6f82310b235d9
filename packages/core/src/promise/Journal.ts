/** A journal whose methods return Promises: one of the program's own, such as a table of its database or the storage of a page. */
import { JournalFailure } from "../errors/UploadErrors.ts"
import type { Entries } from "../storage/Journal.ts"
import * as OwnStorage from "./internal/ownStorage.ts"

/** Where uploads and threads note how far they have come: a place of the program's own. Its texts hold no secrets. */
export interface Journal {
  /** The text of a key; `undefined` where there is none. */
  readonly read: (key: string) => Promise<string | undefined>
  /** Replaces the text of a key as a whole, or removes it with `undefined`. When it resolves, that is durable. */
  readonly write: (key: string, text: string | undefined) => Promise<unknown>
  /**
   * Waits for the lock of a key and resolves with the function that gives it back. Until that is called, nobody else has the
   * lock, in this process or in another one that uses the journal. The signal is aborted when nobody waits any more.
   */
  readonly lock: (key: string, signal: AbortSignal) => Promise<() => unknown>
}

/** Whether a value has the methods of a journal. */
export const isJournal: (value: unknown) => value is Journal = OwnStorage.isOwnStore

/** The journal as Effects have it. */
export const toEffect = (given: Journal): Entries => {
  const describe = (key: string) => `journal (key ${key})`
  return {
    describe,
    ...OwnStorage.toEffect(given, {
      failure: (key, action, fault, detail) => new JournalFailure({ journal: describe(key), fault, action, detail }),
      isFailure: (cause) => cause instanceof JournalFailure
    })
  }
}

/** A journal of the program's own, whose methods return Promises: such as a table of its database or the storage of a page. */
import { JournalFailure } from "../errors/UploadErrors.ts"
import type { Entries } from "../storage/Journal.ts"
import * as OwnStorage from "./internal/ownStorage.ts"

/** The program's own store in which uploads and threads record their progress. Its texts hold no secrets. */
export interface Journal {
  /** Reads the text of a key; `undefined` if there is none. */
  readonly read: (key: string) => Promise<string | undefined>
  /** Replaces the whole text of a key, or removes it with `undefined`. Resolves when the change is durable. */
  readonly write: (key: string, text: string | undefined) => Promise<unknown>
  /**
   * Acquires the lock of a key and resolves with the function that releases it. Until then, no other caller has the lock, in this
   * process or in another process that uses the journal. The signal is aborted when the lock is no longer needed.
   */
  readonly lock: (key: string, signal: AbortSignal) => Promise<() => unknown>
}

/** True if a value has the methods of a journal. */
export const isJournal: (value: unknown) => value is Journal = OwnStorage.isOwnStore

/** The journal for Effect. */
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

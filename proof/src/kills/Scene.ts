/** A command that is killed, and its invariant. */
import type { How, Use } from "./Faults.ts"

/** A run in a folder of its own. */
export interface Case {
  readonly args: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** The state that must equal that of an undisturbed run once the command has completed. */
  readonly state: (output: string) => unknown
  /** Checks the state immediately after a fault; returns the violation. */
  readonly between?: () => string | undefined
  /** Uses the command until it is interrupted; another one ends by itself. */
  readonly use?: Use
  /** The command line by which a user decides what the command has left open. */
  readonly decide?: (errors: string) => ReadonlyArray<string> | undefined
  readonly end?: () => void
}

export interface Scene {
  readonly invariant: string
  /** Faults of which the command promises nothing. */
  readonly without?: ReadonlyArray<How>
  readonly begin: (root: string) => Case | Promise<Case>
}

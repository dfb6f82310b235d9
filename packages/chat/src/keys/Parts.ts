/** The parts of a chat before its keys are loaded. */
import type { Library } from "../library/Library.ts"
import type { ChatStore } from "./ChatStore.ts"

/** The parts of a chat before its keys are loaded. */
export interface Parts {
  readonly userId: string
  readonly library: Library
  readonly store: ChatStore
}

/** Decides when the fault of a stream connection takes effect. */
import type { StreamFault } from "../faults/StreamFaults.ts"
import { millisOf } from "../http/Time.ts"
import type { Random } from "../text/random.ts"

/** A fault that affects an open connection. */
export type Action = Exclude<StreamFault["kind"], "no-rules" | "too-many-connections">

/** The fault of one connection. */
export interface LineFault {
  readonly fault: StreamFault
  readonly action: Action
  /** True if it takes effect between two lines; otherwise it affects a line. */
  readonly isBetween: boolean
  /** Milliseconds after the connection opened, if the fault is scheduled by time. */
  readonly at: number | undefined
  /** True if it takes effect now. Called before each line and, if `isBetween`, after the last one too. */
  readonly isDue: () => boolean
}

const between: ReadonlyArray<Action> = ["cut", "stall", "slow", "error"]

export const make = (fault: StreamFault, draw: Random): LineFault | undefined => {
  const { after = 0, at, every, kind, within = 0 } = fault
  if (kind === "no-rules" || kind === "too-many-connections") return undefined
  let left = at === undefined ? after + draw.below(within + 1) : Infinity
  return {
    fault,
    action: kind,
    isBetween: between.includes(kind),
    at: at === undefined ? undefined : millisOf(at),
    isDue: () => {
      if (left-- !== 0) return false
      if (every !== undefined) left = every - 1
      return true
    }
  }
}

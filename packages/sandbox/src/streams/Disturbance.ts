/** What goes wrong on the line of one connection, at a line or a time that its fault names. */
import type { StreamFault } from "../faults/StreamFaults.ts"
import { millisOf } from "../http/Time.ts"
import type { Random } from "../text/random.ts"

/** What happens to a line, or between two of them. */
export type Act = Exclude<StreamFault["kind"], "no-rules" | "too-many-connections">

/** The fault of one connection. */
export interface Disturbance {
  readonly fault: StreamFault
  readonly act: Act
  /** Whether it strikes between two lines; else it is what becomes of one. */
  readonly isBetween: boolean
  /** In milliseconds from the beginning, where no line is named. */
  readonly at: number | undefined
  /** Whether it strikes now: asked before each line and, where it strikes between them, after the last. */
  readonly isDue: () => boolean
}

const between: ReadonlyArray<Act> = ["cut", "stall", "slow", "error"]

/** Decides when the fault of a connection strikes. */
export const make = (fault: StreamFault, draw: Random): Disturbance | undefined => {
  const { after = 0, at, every, kind, within = 0 } = fault
  if (kind === "no-rules" || kind === "too-many-connections") return undefined
  let left = at === undefined ? after + draw.below(within + 1) : Infinity
  return {
    fault,
    act: kind,
    isBetween: between.includes(kind),
    at: at === undefined ? undefined : millisOf(at),
    isDue: () => {
      if (left-- !== 0) return false
      if (every !== undefined) left = every - 1
      return true
    }
  }
}

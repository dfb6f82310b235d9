/** What goes wrong on the line of one connection, at a line or a time that its fault names. */
import type { Random } from "../internal/random.ts"
import { millisOf } from "../Time.ts"
import type { StreamFault } from "./StreamFaults.ts"

/** What a fault makes of a line that is due. */
export type Act = Exclude<StreamFault["kind"], "no-rules" | "too-many-connections">

/** The fault of one connection. */
export interface Disturbance {
  readonly fault: StreamFault
  /** In milliseconds from the beginning, where no line is named. */
  readonly at: number | undefined
  /** What becomes of the next line. */
  readonly next: () => Act | undefined
}

/** Decides when the fault of a connection strikes. */
export const make = (fault: StreamFault, draw: Random): Disturbance | undefined => {
  const { after = 0, at, every, kind, within = 0 } = fault
  if (kind === "no-rules" || kind === "too-many-connections") return undefined
  let left = at === undefined ? after + draw.below(within + 1) : Infinity
  return {
    fault,
    at: at === undefined ? undefined : millisOf(at),
    next: () => {
      if (left-- !== 0) return undefined
      if (every !== undefined) left = every - 1
      return kind
    }
  }
}

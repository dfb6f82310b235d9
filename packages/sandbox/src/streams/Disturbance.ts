/** What goes wrong on the line of one connection, at a line or a time that its fault names. */
import * as Duration from "effect/Duration"
import type * as Schema from "effect/Schema"
import type { Random } from "../internal/random.ts"
import type { StreamFault } from "./StreamFaults.ts"

type Fault = Schema.Schema.Type<typeof StreamFault>

/** What a fault makes of a line that is due. */
export type Act = Exclude<Fault["kind"], "no-rules" | "too-many-connections">

/** The fault of one connection. */
export interface Disturbance {
  readonly fault: Fault
  /** In milliseconds from the beginning, where no line is named. */
  readonly at: number | undefined
  /** What becomes of the next line. */
  readonly next: () => Act | undefined
}

/** Decides when the fault of a connection strikes. */
export const make = (fault: Fault, draw: Random): Disturbance | undefined => {
  const { after = 0, at, every, kind, within = 0 } = fault
  if (kind === "no-rules" || kind === "too-many-connections") return undefined
  let left = at === undefined ? after + draw.below(within + 1) : Infinity
  return {
    fault,
    at: at === undefined ? undefined : Duration.toMillis(at as Duration.Input),
    next: () => {
      if (left-- !== 0) return undefined
      if (every !== undefined) left = every - 1
      return kind
    }
  }
}

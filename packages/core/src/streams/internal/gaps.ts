/** What was missed: how the time is divided among the ways of fetching it, and what cannot be fetched. */
import type { Live } from "../../schema/Definition.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"
import type { Recover } from "../StreamOptions.ts"
import { timeOf } from "./serviceTime.ts"

/** A time of the service's clock, in milliseconds. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A part of a gap. */
export interface Part extends Span {
  readonly by: "recovery" | "search" | undefined
  /** Why it cannot be fetched. */
  readonly why?: string
}

const minute = 60_000

/** How far the service goes back before it sends what is new. */
export const longestBackfillMinutes = 5

const recoveryMillis = 24 * 60 * minute

/** A minute less than a search reaches, for what it takes to get there. */
const searchMillis = 7 * 24 * 60 * minute - minute

/** How late posts may come. */
export const lateMillis = ({ rules }: Live): number => rules === true ? 15_000 : minute

/** Until when all has come of a span whose items come from the oldest on. A new one among them says nothing of that. */
export const reached = (items: ReadonlyArray<AnyItem>, { from, to }: Span, live: Live): number => {
  const late = lateMillis(live)
  const last = items.at(-1)
  const time = last === undefined ? undefined : timeOf(last)
  return time === undefined || time >= to - late ? from : time - late
}

/** How long after posts were made a search has them for sure; it takes no later end. */
export const indexMillis = 30_000

/** How many minutes of backfill cover what was missed; `undefined` where it is too long ago, or not to be asked for. */
export const backfillMinutes = (missed: number, recover: Recover): number | undefined =>
  recover === "recovery" && missed <= longestBackfillMinutes * minute
    ? Math.min(longestBackfillMinutes, Math.ceil(missed / minute + 1))
    : undefined

/** Divides a gap, oldest part first. */
export const partsOf = ({ from, to }: Span, now: number, recover: Recover, live: Live): ReadonlyArray<Part> => {
  if (recover === "none") return [{ from, to, by: undefined, why: "recover is none" }]
  const recoverable = recover === "recovery" && live.recovery ? now - recoveryMillis : Infinity
  const searchable = live.rules === true ? now - searchMillis : Infinity
  const why = searchable === Infinity
    ? recoverable === Infinity
      ? "it is longer ago than the service goes back on this stream"
      : "it is more than 24 hours ago"
    : "it is more than 7 days ago"
  const parts: Array<Part> = []
  const add = (start: number, end: number, by: Part["by"]) => {
    const part = { from: Math.max(from, start), to: Math.min(to, end), by }
    if (part.from < part.to) parts.push(by === undefined ? { ...part, why } : part)
  }
  add(-Infinity, Math.min(searchable, recoverable), undefined)
  add(searchable, recoverable, "search")
  add(recoverable, Infinity, "recovery")
  return parts
}

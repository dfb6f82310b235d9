/** Gaps in a stream: how to fetch each part, and which parts cannot be fetched. */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Metrics from "../../runtime/Metrics.ts"
import type { Live } from "../../schema/Definition.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"
import type { Gap } from "../StreamEvents.ts"
import type { Recover } from "../StreamOptions.ts"

/** A period by the service's clock, in milliseconds. */
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

const longestBackfillMinutes = 5

const recoveryMillis = 24 * 60 * minute

/** One minute less than a search reaches back, as it starts a little later. */
const searchMillis = 7 * 24 * 60 * minute - minute

/** How late posts may arrive. */
export const lateMillis = ({ rules }: Live): number => rules === true ? 15_000 : minute

/** How long the search index may lag behind; a search refuses a later end. */
export const indexMillis = 30_000

/** When the event in an item happened, in milliseconds; `undefined` if it has no time. */
export const timeOf = (item: AnyItem): number | undefined => {
  const data = "post" in item ? item.post : item.event
  if (typeof data !== "object" || data === null) return undefined
  if ("created_at" in data && typeof data.created_at === "string") return millisOf(data.created_at)
  for (const member of Object.values(data)) {
    if (typeof member === "object" && member !== null && "event_at" in member && typeof member.event_at === "string") {
      return millisOf(member.event_at)
    }
  }
  return undefined
}

const millisOf = (text: string): number | undefined => {
  const millis = Date.parse(text)
  return Number.isNaN(millis) ? undefined : millis
}

/** The time up to which a span is complete, given items that arrive oldest first. A new post among them does not count. */
export const reached = (items: ReadonlyArray<AnyItem>, { from, to }: Span, live: Live): number => {
  const late = lateMillis(live)
  const last = items.at(-1)
  const time = last === undefined ? undefined : timeOf(last)
  return time === undefined || time >= to - late ? from : time - late
}

/** Minutes of backfill that cover a gap of this length; `undefined` if it is too long or backfill is not wanted. */
export const backfillMinutes = (missed: number, recover: Recover): number | undefined =>
  recover === "recovery" && missed <= longestBackfillMinutes * minute
    ? Math.min(longestBackfillMinutes, Math.ceil(missed / minute + 1))
    : undefined

/** Divides a gap into parts, oldest first. */
export const partsOf = ({ from, to }: Span, now: number, recover: Recover, live: Live): ReadonlyArray<Part> => {
  if (recover === "none") return [{ from, to, by: undefined, why: "recover is none" }]
  const recoverable = recover === "recovery" && live.recovery ? now - recoveryMillis : Infinity
  const searchable = live.rules === true ? now - searchMillis : Infinity
  const why = searchable === Infinity
    ? recoverable === Infinity ? "the service cannot send this stream again" : "it is more than 24 hours ago"
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

/** Counts a gap. */
export const count = (operation: string, { filledBy }: Gap): Effect.Effect<void> =>
  Metric.update(
    Metrics.streamGaps.of({ "postwire.operation": operation, "postwire.gap.filled_by": filledBy ?? "nothing" }),
    1
  )

/** The event of a gap. */
export const eventOf = (at: Date, { from, to }: Span, filledBy: Gap["filledBy"], why?: string): Gap => ({
  _tag: "Gap",
  at,
  from: new Date(from),
  to: new Date(to),
  filledBy,
  ...(why === undefined ? {} : { why })
})

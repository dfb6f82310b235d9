/** What came at once: items that are new, and what happened, in their order. */
import type * as Arr from "effect/Array"
import type { AnyItem } from "../../schema/StreamItem.ts"
import type { Entry } from "./buffer.ts"
import type * as DecodeLines from "./decodeLines.ts"
import { type Duplicates, idOf } from "./deduplicator.ts"

/** What is to be known of it. */
export interface Arrivals {
  readonly entries: ReadonlyArray<Entry>
  /** The last item, also where it came before. */
  readonly last: AnyItem | undefined
  /** Whether the service said that it has nothing else. */
  readonly isAlive: boolean
  /** The service says that it ends the connection. */
  readonly disconnect: Disconnect | undefined
}

/** Why the service ends a connection. */
export interface Disconnect {
  readonly type: string
  /** What it says of it. */
  readonly detail: string | undefined
}

/** `millis` is by the monotonic clock, `now` a date; while `keeps`, what came before is not forgotten by age. */
export const of = (
  arrived: Arr.NonEmptyReadonlyArray<DecodeLines.Entry>,
  duplicates: Duplicates,
  { keeps, millis, now }: { readonly keeps: boolean; readonly millis: number; readonly now: number }
): Arrivals => {
  const entries: Array<Entry> = []
  let last: AnyItem | undefined
  let isAlive = false
  let disconnect: Disconnect | undefined
  let at: Date | undefined
  for (const entry of arrived) {
    if (!("_tag" in entry)) {
      last = entry
      const id = idOf(entry)
      if (duplicates.add(id, millis, keeps)) entries.push(entry)
      else entries.push({ _tag: "Duplicate", at: at ??= new Date(now), id })
      continue
    }
    at ??= new Date(now)
    if (entry._tag === "KeepAlive") {
      isAlive = true
      entries.push({ _tag: "KeepAlive", at })
    } else if (entry._tag === "Unreadable") {
      entries.push({ _tag: "Unreadable", at, reason: entry.reason })
    } else {
      const { disconnectType: type, problems } = entry
      entries.push({ _tag: "Trouble", at, problems })
      if (type !== undefined) disconnect = { type, detail: problems[0]?.detail ?? problems[0]?.title }
    }
  }
  return { entries: entries, last, isAlive, disconnect }
}

/** The entries in the log of a shared stream. */
import * as Predicate from "effect/Predicate"
import type { Anomaly } from "../../../schema/Anomaly.ts"
import * as StreamItem from "../../../schema/StreamItem.ts"
import { idOf } from "../../internal/deduplicator.ts"
import type { Dropped, Gap, StreamEvent, Unreadable } from "../../StreamEvents.ts"
import type { Entry } from "../StreamLog.ts"

/** Events that are reported to all consumers: items that they may miss. */
export type Missed = Gap | Dropped | Unreadable

/** An item, items that may be missing, or the end of a stream with an `end_time`. */
export type Logged = { readonly item: StreamItem.AnyItem } | { readonly missed: Missed } | typeof ended

const ended = { ended: true } as const

/** The entry at the end of a stream. */
export const endOf = (at: number): Entry => ({ at, id: "", text: JSON.stringify(ended) })

/** The entry of an event; `undefined` if it only concerns the connected process. */
export const entryOf = (event: StreamEvent<StreamItem.AnyItem>): Entry | undefined => {
  const at = event.at.getTime()
  switch (event._tag) {
    case "Delivered": {
      const { item } = event
      const { anomalies, body } = item
      return {
        at,
        id: idTo(idOf(item)),
        text: JSON.stringify(anomalies.length === 0 ? { body } : { body, anomalies })
      }
    }
    case "Gap":
    case "Dropped":
    case "Unreadable":
      return { at, id: "", text: JSON.stringify({ missed: event }) }
    default:
      return undefined
  }
}

/** Escapes U+0000 and lone surrogates in an id, which not every store can keep. */
const idTo = (id: string): string => JSON.stringify(id).slice(1, -1)

/** The id of an entry. */
export const idFrom = (id: string): string => JSON.parse(`"${id}"`)

/** Decodes an entry; `undefined` if its kind is unknown to this version. */
export const read = (isPost: boolean, text: string): Logged | undefined => {
  const stored: unknown = JSON.parse(text)
  if (!Predicate.isObject(stored)) return undefined
  if (isItem(stored)) return { item: StreamItem.make(isPost, stored.body, stored.anomalies) }
  if ("ended" in stored) return ended
  return isMissed(stored) ? { missed: dated(stored.missed) } : undefined
}

const isItem = (
  stored: object
): stored is { readonly body: StreamItem.Body; readonly anomalies?: ReadonlyArray<Anomaly> } =>
  Predicate.hasProperty(stored, "body") && Predicate.isObject(stored.body)

const isMissed = (stored: object): stored is { readonly missed: Missed } =>
  Predicate.hasProperty(stored, "missed") && Predicate.isObject(stored.missed)

/** Replaces the texts of dates by dates. */
const dated = (missed: Missed): Missed => {
  const at = new Date(missed.at)
  return missed._tag === "Gap"
    ? { ...missed, at, from: new Date(missed.from), to: new Date(missed.to) }
    : { ...missed, at }
}

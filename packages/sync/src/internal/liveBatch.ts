/** What comes next of a live stream, as it crosses threads: items as JSON, which is cheaper than to clone objects. */
import type { Anomaly } from "@postwire/core/schema/Anomaly"
import type { Definition } from "@postwire/core/schema/Definition"
import * as StreamItem from "@postwire/core/schema/StreamItem"
import type { Delivered, StreamEvent, StreamNotice } from "@postwire/core/streams/StreamEvents"

/** What came at once. */
export interface LiveBatch {
  /** The lines of the items. */
  readonly lines: string
  /** What of them was left out, by their index. */
  readonly anomalies: ReadonlyMap<number, ReadonlyArray<Anomaly>>
  /** What happens, in its order, where it was asked for: a delivery is of the next item. */
  readonly events: ReadonlyArray<StreamNotice | Omit<Delivered<never>, "item">> | undefined
}

/** Of items. */
export const ofItems = (items: ReadonlyArray<StreamItem.AnyItem>): LiveBatch => {
  const anomalies = new Map<number, ReadonlyArray<Anomaly>>()
  items.forEach((item, index) => {
    if (item.anomalies.length > 0) anomalies.set(index, item.anomalies)
  })
  return { lines: JSON.stringify(items), anomalies, events: undefined }
}

/** Of everything that happens. */
export const ofEvents = (events: ReadonlyArray<StreamEvent<StreamItem.AnyItem>>): LiveBatch => {
  const items: Array<StreamItem.AnyItem> = []
  const others = events.map((event) => {
    if (event._tag !== "Delivered") return event
    const { item, ...delivered } = event
    items.push(item)
    return delivered
  })
  return { ...ofItems(items), events: others }
}

/** The items of a batch. */
export const itemsOf = (
  { result }: Pick<Definition, "result">,
  { anomalies, lines }: LiveBatch
): ReadonlyArray<StreamItem.AnyItem> => {
  const bodies: ReadonlyArray<StreamItem.Body> = JSON.parse(lines)
  return bodies.map((body, index) => StreamItem.make(StreamItem.isPost(result), body, anomalies.get(index)))
}

/** What happens in a batch that has it. */
export const eventsOf = (
  definition: Pick<Definition, "result">,
  batch: LiveBatch
): ReadonlyArray<StreamEvent<StreamItem.AnyItem>> => {
  const items = itemsOf(definition, batch)
  let delivered = 0
  return (batch.events ?? []).map((event) =>
    event._tag === "Delivered" ? { ...event, item: items[delivered++]! } : event
  )
}

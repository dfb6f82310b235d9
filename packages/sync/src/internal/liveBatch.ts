/** Batches of a live stream, which cross threads with their items as JSON: that is cheaper than cloning objects. */
import type { Anomaly } from "@postwire/core/schema/Anomaly"
import type { Definition } from "@postwire/core/schema/Definition"
import * as StreamItem from "@postwire/core/schema/StreamItem"
import type { Delivered, StreamEvent, StreamNotice } from "@postwire/core/streams/StreamEvents"

/** Items that arrived together. */
export interface LiveBatch {
  /** The items as JSON. */
  readonly lines: string
  /** Malformed parts that were omitted, by the index of the item. */
  readonly anomalies: ReadonlyMap<number, ReadonlyArray<Anomaly>>
  /** The events in order, if requested. Each `Delivered` belongs to the next item. */
  readonly events: ReadonlyArray<StreamNotice | Omit<Delivered<never>, "item">> | undefined
}

/** Makes a batch of items. */
export const ofItems = (items: ReadonlyArray<StreamItem.AnyItem>): LiveBatch => {
  const anomalies = new Map<number, ReadonlyArray<Anomaly>>()
  items.forEach((item, index) => {
    if (item.anomalies.length > 0) anomalies.set(index, item.anomalies)
  })
  return { lines: JSON.stringify(items), anomalies, events: undefined }
}

/** Makes a batch of events. */
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

/** The events of a batch that has them. */
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

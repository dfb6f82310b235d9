/** The latest requests to webhooks, for inspection, resending and replays. They are in memory. */
import type { Behaviour } from "../faults/Faults.ts"

/** An event for a webhook. */
export interface Parcel {
  readonly webhookId: string
  readonly url: string
  /** An event type, `stream.post` or `replay_job_status`. */
  readonly event: string
  /** The `event_uuid`, or the id of the post or of the job. */
  readonly eventId: string
  /** The JSON that is sent. */
  readonly body: string
}

/** An attempt to deliver something, or a challenge. */
export interface Delivery extends Omit<Parcel, "webhookId" | "body" | "eventId"> {
  /** Counts up from 1. */
  readonly id: number
  /** When the attempt began, in milliseconds. */
  readonly at: number
  /** Undefined for the challenge of a webhook that is being registered. */
  readonly webhookId: string | undefined
  /** Undefined for a challenge, whose `event` is `challenge`. */
  readonly eventId: string | undefined
  readonly attempt: number
  /** `skipped`: the webhook was invalid. `lost`: a fault kept it back. */
  readonly state: "delivered" | "failed" | "skipped" | "lost"
  /** The status of the answer, if there was one. */
  readonly status: number | undefined
  /** Why there was no answer, or why a challenge has failed. */
  readonly reason: string | undefined
  readonly millis: number
  readonly isSigned: boolean
  /** Resent on request. */
  readonly isReplay: boolean
  /** The time of the next attempt, in milliseconds. */
  readonly retryAt: number | undefined
  readonly fault: Behaviour | undefined
}

/** A delivery in full. */
export interface Entry extends Delivery {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** The first bytes of the answer, without credentials. */
  readonly answer: string | undefined
}

/** The most entries, and the most characters in them. */
const max = { entries: 10_000, characters: 32 * 1024 * 1024 }

const sizeOf = ({ answer = "", body = "" }: Entry): number => 1_000 + answer.length + body.length

export type DeliveryLog = ReturnType<typeof make>

export const make = () => {
  const kept = new Map<number, Entry>()
  let characters = 0
  let last = 0
  return {
    add: (entry: Omit<Entry, "id">): void => {
      const added = { id: ++last, ...entry }
      kept.set(added.id, added)
      characters += sizeOf(added)
      for (const [id, oldest] of kept) {
        if (kept.size <= max.entries && characters <= max.characters) break
        kept.delete(id)
        characters -= sizeOf(oldest)
      }
    },
    entry: (id: number): Entry | undefined => kept.get(id),
    /** The latest entries after `after`, oldest first. */
    list: (after = 0, latest = Infinity): ReadonlyArray<Delivery> => {
      const found = [...kept.values()].filter(({ id }) => id > after)
      return found.slice(Math.max(0, found.length - latest)).map(({ answer: _a, body: _b, headers: _h, ...line }) =>
        line
      )
    },
    /** The events for a webhook between two times, once each, oldest first. */
    between: (webhook: string, from: number, to: number): ReadonlyArray<Parcel> => {
      const parcels = new Map<string, Parcel>()
      for (const entry of kept.values()) {
        const { at, attempt, isReplay } = entry
        if (entry.webhookId !== webhook || at < from || at >= to || attempt > 1 || isReplay) continue
        const parcel = parcelOf(entry)
        if (parcel !== undefined && parcel.event !== replayEnd) parcels.set(parcel.eventId, parcel)
      }
      return [...parcels.values()]
    },
    clear: (): void => {
      kept.clear()
      characters = 0
    }
  }
}

/** The event of a replay's end. */
export const replayEnd = "replay_job_status"

/** The delivery of an entry; undefined for a challenge. */
export const parcelOf = ({ body, event, eventId, url, webhookId }: Entry): Parcel | undefined =>
  webhookId === undefined || eventId === undefined || body === undefined
    ? undefined
    : { webhookId, eventId, event, url, body }

/** Errors of streams, beside those of the calls themselves; re-exported by `Errors`. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"
import { saidOf } from "./internal/messages.ts"

/** The stream has no rules that select posts, or the service cannot use them. Reconnecting does not help. */
export class NoRules extends Data.TaggedError("NoRules")<{
  readonly operation: string
  /** The detail that the service gave. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    return `${this.operation}: the stream has no rules that the service can use${saidOf(this)}. ${this.advice}`
  }
  get advice(): string {
    return "Add one with updateStreamRules or syncRules, then connect."
  }
}

/** A connection that the service counts. */
export interface HeldConnection {
  /** Missing on `x-2026-02`. */
  readonly id?: string | undefined
  /** Such as `filtered_stream`. */
  readonly endpoint: string
  /** When it was opened, by the service's clock. */
  readonly since: Date
  /** The address of the client that holds it. */
  readonly clientIp?: string | undefined
}

/** The app's connections to the stream are at their maximum, and none of them is a lost one of this client. */
export class TooManyConnections extends Data.TaggedError("TooManyConnections")<{
  readonly operation: string
  /** The open connections; empty if the service does not list them. */
  readonly connections: ReadonlyArray<HeldConnection>
  /** The detail that the service gave. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const held = this.connections.map(({ clientIp, endpoint, id, since }) =>
      `${endpoint} since ${since.toISOString()}${clientIp === undefined ? "" : ` from ${clientIp}`}${
        id === undefined ? "" : ` (${id})`
      }`
    )
    return `${this.operation}: the app has as many connections as it is allowed${
      held.length === 0 ? saidOf(this) : `: ${held.join(", ")}`
    }. ${this.advice}`
  }
  get advice(): string {
    return "End one with deleteConnections, or wait until one is closed."
  }
}

/** The consumer of a stream is slower than the service, and more items were waiting than its buffer holds. */
export class StreamOverflow extends Data.TaggedError("StreamOverflow")<{
  readonly operation: string
  /** How many items the buffer holds. */
  readonly bufferSize: number
}> {
  override get message(): string {
    return `${this.operation}: the consumer is too slow: ${this.bufferSize} items wait for it. ${this.advice}`
  }
  get advice(): string {
    return `Do less for each item, set a larger bufferSize, or set slowConsumer: "spill" or "dropOldest".`
  }
}

/** Items for a slow consumer could not be written to the disk or read back. */
export class SpillFailed extends Data.TaggedError("SpillFailed")<{
  /** The folder. */
  readonly place: string
  readonly fault: "forbidden" | "full" | "damaged" | "unavailable"
  /** The detail that the system gave. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    return `${this.place} ${spillFaults[this.fault]}${saidOf(this)}. ${this.advice}`
  }
  get advice(): string {
    return "The items that waited there are lost; reconnect with resumeFrom."
  }
}

const spillFaults = {
  forbidden: "is not writable",
  full: "is full",
  damaged: "does not hold what was written to it",
  unavailable: "cannot be used"
} as const

/** Errors of streams, beside those of the calls themselves. */
export type StreamError = NoRules | TooManyConnections | StreamOverflow | SpillFailed

brand([NoRules, TooManyConnections, StreamOverflow, SpillFailed])

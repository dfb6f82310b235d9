/** What streams can fail with besides the calls themselves; programs find it in `Errors`. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"

/** The stream has no rules that say what it is to bring, or the service cannot use them. Connecting again does not help. */
export class NoRules extends Data.TaggedError("NoRules")<{
  readonly operation: string
  /** What the service says of it. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    return `${this.operation}: the stream has no rules that the service can use${saidOf(this)}. ` +
      "Add one with updateStreamRules or syncRules, then connect."
  }
}

/** A connection that the service counts. */
export interface HeldConnection {
  /** Missing on `x-2026-02`. */
  readonly id?: string | undefined
  /** Such as `filtered_stream`. */
  readonly endpoint: string
  /** When it was made, by the service's clock. */
  readonly since: Date
  /** The address of the client that holds it. */
  readonly clientIp?: string | undefined
}

/** The app holds as many connections to the stream as it may have, and none of them is a lost one of this client. */
export class TooManyConnections extends Data.TaggedError("TooManyConnections")<{
  readonly operation: string
  /** Who holds them; empty where the service does not tell. */
  readonly connections: ReadonlyArray<HeldConnection>
  /** What the service says of it. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const held = this.connections.map(({ clientIp, endpoint, id, since }) =>
      `${endpoint} since ${since.toISOString()}${clientIp === undefined ? "" : ` from ${clientIp}`}${
        id === undefined ? "" : ` (${id})`
      }`
    )
    return `${this.operation}: the app has as many connections as it may have${
      held.length === 0 ? saidOf(this) : `: ${held.join(", ")}`
    }. End one with deleteConnections, or wait until its holder ends it.`
  }
}

/** The consumer of a stream took longer than the service sends, and more was waiting for it than its buffer holds. */
export class StreamOverflow extends Data.TaggedError("StreamOverflow")<{
  readonly operation: string
  /** How many items the buffer holds. */
  readonly bufferSize: number
}> {
  override get message(): string {
    return `${this.operation}: the consumer is too slow: ${this.bufferSize} items wait for it. Do less for each item, ` +
      `set a larger bufferSize, or set slowConsumer: "spill" or "dropOldest".`
  }
}

/** What waits for a slow consumer could not be put on the disk, or read from there. */
export class SpillFailed extends Data.TaggedError("SpillFailed")<{
  /** The folder. */
  readonly place: string
  readonly fault: "forbidden" | "full" | "damaged" | "unavailable"
  /** What the system says of it. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    return `${this.place} ${spillFaults[this.fault]}${saidOf(this)}. Items that waited there are lost; connect anew ` +
      "with resumeFrom."
  }
}

const spillFaults = {
  forbidden: "may not be written",
  full: "is full",
  damaged: "does not hold what was written to it",
  unavailable: "cannot be used"
} as const

const saidOf = ({ detail }: { readonly detail?: string | undefined }): string =>
  detail === undefined ? "" : ` (${detail.replace(/\.$/, "")})`

/** What streams can fail with besides the calls themselves. */
export type StreamError = NoRules | TooManyConnections | StreamOverflow | SpillFailed

brand([NoRules, TooManyConnections, StreamOverflow, SpillFailed])

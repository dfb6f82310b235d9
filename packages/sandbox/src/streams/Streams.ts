/** The requests, connections and matches of streams. */
import type { Definition } from "@postwire/core/schema/Definition"
import type { Endpoint } from "@postwire/core/schema/models/Connection"
import type { Wire } from "@postwire/core/wire/Wire"
import type * as Effect from "effect/Effect"
import type { Caller } from "../auth/Authentication.ts"
import type { StreamFault } from "../faults/StreamFaults.ts"
import type { Resource, Selection } from "../projection/Projection.ts"
import type { Reason } from "./Line.ts"

/** A current or former connection to a stream. */
export interface Connection {
  readonly id: string
  readonly appId: string
  readonly endpoint: Endpoint
  readonly partition: number | undefined
  /** Milliseconds. */
  readonly openedAt: number
  readonly closedAt: number | undefined
  readonly reason: Reason | undefined
  readonly clientIp: string
  /** The number of items sent. */
  readonly sent: number
  /** The time of the latest sent item, in milliseconds. */
  readonly sentAt: number | undefined
}

export interface StreamRequest {
  readonly definition: Definition
  readonly endpoint: Endpoint
  readonly caller: Caller
  readonly wire: Wire
  readonly selection: Selection
  readonly origin: string
  readonly clientIp: string
  readonly parameters: {
    readonly backfill_minutes?: number
    readonly partition?: number
    /** Milliseconds. */
    readonly start_time?: number
    readonly end_time?: number
  }
  readonly fault: StreamFault | undefined
  /** Waits until everything written has been handed to the socket. */
  readonly delivered: Effect.Effect<void>
  /** Counts and charges sent resources. */
  readonly onSent: (resources: ReadonlyArray<Resource>, now: number) => void
}

/** A post that was delivered to a filtered stream. */
export interface Match {
  readonly postId: string
  /** Milliseconds. */
  readonly at: number
  readonly text: string
  readonly rules: ReadonlyArray<string>
}

/** The interface of the streams. */
import type { Definition } from "@postwire/core/schema/Definition"
import type { Endpoint } from "@postwire/core/schema/models/Connection"
import type { Wire } from "@postwire/core/wire/Wire"
import type * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { Caller } from "../auth/Authentication.ts"
import type { StreamFault } from "../faults/StreamFaults.ts"
import type * as Problem from "../http/Problem.ts"
import type { Resource, Selection } from "../projection/Projection.ts"
import type { Ledger } from "./Ledger.ts"
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
  readonly left: (resources: ReadonlyArray<Resource>, now: number) => void
}

/** A post that was delivered to a filtered stream. */
export interface Match {
  readonly postId: string
  /** Milliseconds. */
  readonly at: number
  readonly text: string
  readonly rules: ReadonlyArray<string>
}

/** The streams of a service. */
export interface Hub {
  readonly connect: (request: StreamRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse, Problem.Problem>
  /** The latest 1,000 closed connections and all open ones, oldest first. */
  readonly connections: () => ReadonlyArray<Connection>
  /** Ends a connection with a disconnect notice; false if it is not open. */
  readonly disconnect: (id: string, disconnectType?: string) => boolean
  /** Delivers an event to a compliance or label stream. */
  readonly publish: (endpoint: Endpoint, event: { readonly id: string; readonly data: object }) => void
  /** The latest posts delivered to filtered streams, newest first. */
  readonly matches: () => ReadonlyArray<Match>
  /** Starts recording a new ledger. */
  readonly record: () => void
  readonly ledger: () => Ledger
  /** The maximum number of rules of an app. */
  readonly maxRules: number
  /** Ends all connections and clears all state. */
  readonly clear: () => void
}

/** The streams of a service, as others see them. */
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

/** A connection to a stream, of now or of the past. */
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
  /** How many items have left on it. */
  readonly sent: number
  /** When the latest of them left, in milliseconds. */
  readonly sentAt: number | undefined
}

/** A request for a stream. */
export interface Asked {
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
  /** Waits until all that was written of the answer is on its way. */
  readonly delivered: Effect.Effect<void>
  /** Counts and charges what has left. */
  readonly left: (resources: ReadonlyArray<Resource>, now: number) => void
}

/** A post that went to a stream of rules. */
export interface Match {
  readonly postId: string
  /** Milliseconds. */
  readonly at: number
  readonly text: string
  readonly rules: ReadonlyArray<string>
}

/** The streams of a service. */
export interface Hub {
  readonly connect: (asked: Asked) => Effect.Effect<HttpServerResponse.HttpServerResponse, Problem.Problem>
  /** The latest thousand, and all that are open; oldest first. */
  readonly connections: () => ReadonlyArray<Connection>
  /** Ends a connection with a line that says why; false when it is none that is open. */
  readonly disconnect: (id: string, disconnectType?: string) => boolean
  /** Brings an event to the streams of compliance or labels. */
  readonly tell: (endpoint: Endpoint, event: { readonly id: string; readonly data: object }) => void
  /** The latest posts that went to streams of rules, newest first. */
  readonly matches: () => ReadonlyArray<Match>
  /** Begins to keep what is made and sent, anew. */
  readonly record: () => void
  readonly ledger: () => Ledger
  /** How many rules an app may have. */
  readonly maxRules: number
  /** Ends all connections, and forgets everything. */
  readonly clear: () => void
}

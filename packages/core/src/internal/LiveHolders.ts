/** Who holds the connections of an app to a stream, and the end of a stale one. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Client } from "../Client.ts"
import type { Definition, Live } from "../Definition.ts"
import type { AnyError, RateLimited } from "../Errors.ts"
import { deleteConnections, getConnections } from "../operations/Connections.ts"
import { type HeldConnection, TooManyConnections } from "../StreamErrors.ts"
import { offsetOf } from "./ServiceTime.ts"

/** What a connection knows of itself and of others in its place. */
export interface Claim {
  readonly definition: Definition & { readonly live: Live }
  /** When the stream was asked for, by the clock of this machine. */
  readonly since: number
  /** When connections of this stream were made that have ended here, by the service's clock. */
  readonly ended: ReadonlyArray<number>
  /** When those of other streams of this client were made that go on, by the service's clock. */
  readonly live: ReadonlyArray<number>
  /** Whether one that was made before the stream was asked for may be ended. */
  readonly takeOver: boolean
}

/** What there is, and what can be done about it. */
interface Holders {
  readonly connections: ReadonlyArray<HeldConnection>
  /** Whether one of it was ended. */
  readonly hasEnded: boolean
  /** Whether one of it may be of this stream, and cannot be told from others that were made at the same time. */
  readonly mayBeOwn: boolean
}

/** How often it is looked, before that is an error: for some five minutes. */
const maxLooks = 6

/**
 * Ends a stale connection, so that there is room, and says whether it has. Fails where waiting does not help either. `looks` is
 * how often it was looked before.
 */
export const makeRoom = (
  claim: Claim,
  looks: number,
  { detail }: RateLimited
): Effect.Effect<boolean, TooManyConnections, Client> =>
  Effect.flatMap(
    Effect.orElseSucceed(endStale(claim), () => undefined),
    (holders) => {
      const { definition } = claim
      // What the service does not list it will have forgotten soon.
      const mayHelp = holders === undefined
        ? looks < maxLooks
        : holders.connections.length === 0 ||
          (looks < maxLooks && (holders.hasEnded || holders.mayBeOwn || isOfParts(definition)))
      return mayHelp
        ? Effect.succeed(holders?.hasEnded === true)
        : Effect.fail(
          new TooManyConnections({ operation: definition.name, connections: holders?.connections ?? [], detail })
        )
    }
  )

/** Whether a stream comes in parts, with a connection for each: whose is which, the service does not tell. */
const isOfParts = ({ query }: Definition): boolean => query?.["partition"] !== undefined

/** Looks at the connections to a stream, and ends the one that is stale for sure: of this stream, or older than it. */
const endStale = (claim: Claim): Effect.Effect<Holders, AnyError, Client> =>
  Effect.gen(function*() {
    const client = yield* Client
    const { definition } = getConnections
    const parameters = { endpoints: [claim.definition.live.endpoint], status: "active", max_results: 100 }
    const answer = yield* client.request(definition, parameters)
    const since = claim.since + offsetOf(answer.headers, yield* Clock.currentTimeMillis)
    const { data } = yield* client.read(definition, answer)
    const connections = Array.isArray(data)
      ? data.filter(isListed).filter(({ disconnected_at }) => disconnected_at === undefined).map(heldOf)
      : []
    const stale = staleOf(connections, claim, since)
    const mayBeOwn = connections.some((connection) => isNear(connection, claim.ended))
    if (stale?.id === undefined) return { connections, hasEnded: false, mayBeOwn }
    yield* client.request(deleteConnections.definition, { uuids: [stale.id] })
    return { connections, hasEnded: true, mayBeOwn }
  })

const staleOf = (
  connections: ReadonlyArray<HeldConnection>,
  { definition, ended, live, takeOver }: Claim,
  since: number
): HeldConnection | undefined => {
  const candidates = connections.filter((connection) =>
    connection.endpoint === definition.live.endpoint && !isNear(connection, live)
  )
  return candidates.find((connection) => isNear(connection, ended)) ??
    (takeOver && !isOfParts(definition)
      ? candidates.filter((held) => held.since.getTime() < since).sort(byAge)[0]
      : undefined)
}

const byAge = (one: HeldConnection, other: HeldConnection): number => one.since.getTime() - other.since.getTime()

/** Between when the service counts a connection as made, and when its answer has come. */
const toleranceMillis = 5_000

const isNear = ({ since }: HeldConnection, times: ReadonlyArray<number>): boolean =>
  times.some((time) => Math.abs(since.getTime() - time) <= toleranceMillis)

const heldOf = ({ client_ip, connected_at, endpoint_name, id }: typeof Listed.Type): HeldConnection => ({
  id,
  endpoint: endpoint_name,
  since: new Date(connected_at),
  clientIp: client_ip
})

const Listed = /*#__PURE__*/ Schema.Struct({
  id: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  endpoint_name: Schema.String,
  connected_at: Schema.String,
  disconnected_at: /*#__PURE__*/ Schema.optionalKey(Schema.String),
  client_ip: /*#__PURE__*/ Schema.optionalKey(Schema.String)
})

const isListed = /*#__PURE__*/ Schema.is(Listed)

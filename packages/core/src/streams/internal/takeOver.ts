/** Makes room when an app has too many connections to a stream: ends one that this client made and lost. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Client } from "../../client/Client.ts"
import type { AnyError, RateLimited } from "../../errors/Errors.ts"
import { type HeldConnection, TooManyConnections } from "../../errors/StreamErrors.ts"
import { deleteConnections, getConnections } from "../../operations/Connections.ts"
import type { Definition, Live } from "../../schema/Definition.ts"
import { servedAt, toleranceMillis } from "./clock.ts"
import type { Span } from "./gaps.ts"

/** The client's own connections. */
export interface Claim {
  readonly definition: Definition & { readonly live: Live }
  /** For how many milliseconds the stream has been running. */
  readonly age: number
  /** The lifetimes of the connections that this client lost or closed, by the service's clock. */
  readonly ended: ReadonlyArray<Span>
  /** When the open connections of this client's other streams were made, by the service's clock. */
  readonly live: ReadonlyArray<number>
}

interface Holders {
  readonly connections: ReadonlyArray<HeldConnection>
  /** True if one of them was ended. */
  readonly hasEnded: boolean
  /** True if one may end by itself: an older one, whose program may be gone, or one of this stream. */
  readonly mayEnd: boolean
}

/** The number of looks before the stream fails, over some five minutes. */
const maxLooks = 6

/**
 * Ends a connection that this client has lost, and returns whether it did. Otherwise it may help to wait: the program of an older
 * connection may have been killed. Fails if waiting does not help. `looks` is the number of earlier calls.
 */
export const makeRoom = (
  claim: Claim,
  looks: number,
  { detail }: RateLimited
): Effect.Effect<boolean, TooManyConnections, Client> =>
  Effect.flatMap(Effect.orElseSucceed(endLost(claim), () => undefined), (holders) => {
    const { definition } = claim
    // A connection that the service does not list will not count for long.
    const mayHelp = holders === undefined
      ? looks < maxLooks
      : holders.connections.length === 0 ||
        (looks < maxLooks && (holders.hasEnded || holders.mayEnd || isOfParts(definition)))
    return mayHelp
      ? Effect.succeed(holders?.hasEnded === true)
      : Effect.fail(
        new TooManyConnections({ operation: definition.name, connections: holders?.connections ?? [], detail })
      )
  })

/** True if a stream has partitions with a connection for each: the service does not state the partition of a connection. */
const isOfParts = ({ query }: Definition): boolean => query?.["partition"] !== undefined

const endLost = (claim: Claim): Effect.Effect<Holders, AnyError, Client> =>
  Effect.gen(function*() {
    const client = yield* Client
    const { headers, listed: connections } = yield* list(claim, "active")
    const begun = (servedAt(headers) ?? (yield* Clock.currentTimeMillis)) - claim.age
    const foreign = connections.filter((connection) => !isNear(connection, claim.live))
    const mayEnd = foreign.some((connection) => connection.since.getTime() < begun || mayBeOf(connection, claim.ended))
    const lost = foreign.find((connection) =>
      connection.endpoint === claim.definition.live.endpoint && mayBeOf(connection, claim.ended)
    )
    if (lost?.id === undefined) return { connections, hasEnded: false, mayEnd }
    const since = lost.since.getTime()
    const { listed: past } = yield* list(claim, "inactive")
    const made = [...foreign, ...past].filter((connection) => isNear(connection, [since]))
    const own = claim.ended.filter(({ from }) => Math.abs(from - since) <= answerMillis)
    // If more connections were made around this time than this client made, it may be another program's.
    if (made.length > own.length) return { connections, hasEnded: false, mayEnd }
    yield* client.request(deleteConnections.definition, { uuids: [lost.id] })
    return { connections, hasEnded: true, mayEnd }
  })

const list = ({ definition: { live } }: Claim, status: "active" | "inactive") =>
  Effect.gen(function*() {
    const client = yield* Client
    const { definition } = getConnections
    const answer = yield* client.request(definition, { endpoints: [live.endpoint], status, max_results: 100 })
    const { data } = yield* client.read(definition, answer)
    const listed = Array.isArray(data)
      ? data.filter(isListed).filter(({ disconnected_at }) => (disconnected_at === undefined) === (status === "active"))
        .map(heldOf)
      : []
    return { headers: answer.headers, listed }
  })

/** The longest time from when the service counts a connection until its response arrives. */
const answerMillis = 5_000

const isNear = ({ since }: HeldConnection, times: ReadonlyArray<number>): boolean =>
  times.some((time) => Math.abs(since.getTime() - time) <= answerMillis)

/** True if a connection may be one with these lifetimes, so not one that was made after their end. */
const mayBeOf = ({ since }: HeldConnection, lifetimes: ReadonlyArray<Span>): boolean =>
  lifetimes.some(({ from, to }) => {
    const made = since.getTime()
    return made >= from - answerMillis && made <= Math.min(from + toleranceMillis, to)
  })

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

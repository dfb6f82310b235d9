/** Admin calls about streams and loads. */
import { endpoints as names } from "@postwire/core/schema/models/Connection"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Problem from "../http/Problem.ts"
import * as Load from "../streams/Load.ts"
import { call, type Endpoints, fallible, iso, withBody } from "./AdminEndpoint.ts"
import type { Controls } from "./Controls.ts"

/** The maximum number of connections and of matches shown. */
const shown = 50

const loadOf = ({ loading }: Controls) => ({
  load: loading === undefined
    ? null
    : { perSecond: loading.perSecond, made: loading.made(), isOver: loading.isOver() }
})

/** The current state of the streams. */
const overview = (sandbox: Controls) => {
  const { store: { credentials, streamRules }, streams } = sandbox
  const connections = streams.connections().toReversed()
  return {
    connections: [
      ...connections.filter(({ closedAt }) => closedAt === undefined),
      ...connections.filter(({ closedAt }) => closedAt !== undefined)
    ].slice(0, shown).map(({ closedAt, openedAt, sentAt, ...connection }) => ({
      ...connection,
      openedAt: iso(openedAt),
      closedAt: iso(closedAt),
      sentAt: iso(sentAt)
    })),
    rules: streamRules.appIds().flatMap((app) => {
      const name = credentials.appById(app)?.name ?? ""
      return streamRules.list(app).map((rule) => ({ app, name, ...rule }))
    }),
    matches: streams.matches().slice(0, shown).map(({ at, ...match }) => ({ at: iso(at), ...match })),
    ...loadOf(sandbox)
  }
}

/** The current state of the streams. */
export type Overview = ReturnType<typeof overview>

export const endpoints: Endpoints = {
  "GET /streams": call("The connections, the rules, the latest matches, and the load.", overview),
  "DELETE /streams/:id?disconnectType": fallible(
    "Ends a connection with a line that says why.",
    (sandbox, { disconnectType, id = "" }) =>
      sandbox.streams.disconnect(id, disconnectType)
        ? Effect.succeed(overview(sandbox))
        : Effect.fail(Problem.noRoute())
  ),
  "POST /streams/events": withBody(
    "Sends an event on a stream of compliance or labels.",
    Schema.Struct({
      endpoint: Schema.Literals(names),
      id: Schema.NonEmptyString,
      data: Schema.Record(Schema.String, Schema.Json)
    }),
    ({ streams }, { data, endpoint, id }) => {
      streams.publish(endpoint, { id, data })
      return {}
    }
  ),
  "POST /ledger": call("Begins to record which posts match and what is sent.", ({ streams }) => {
    streams.record()
    return streams.ledger()
  }),
  "GET /ledger": call("The record of matches and of what was sent.", ({ streams }) => streams.ledger()),
  "GET /load": call("The number of posts that the load has created.", loadOf),
  "POST /load": withBody(
    "Creates posts at a constant rate.",
    Schema.Struct({
      perSecond: Schema.Finite.check(
        Schema.makeFilter((perSecond) => Load.isRate(perSecond) || "must be more than 0, and 100000 at most")
      ),
      seed: Schema.optional(Schema.Int),
      posts: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
    }),
    (sandbox, options) => {
      sandbox.load(options)
      return loadOf(sandbox)
    }
  ),
  "DELETE /load": call("Stops the load.", (sandbox) => {
    sandbox.loading?.stop()
    return loadOf(sandbox)
  })
}

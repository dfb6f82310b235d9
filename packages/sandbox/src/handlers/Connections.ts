import * as Effect from "effect/Effect"
import type { Reply } from "../projection/Reply.ts"
import type { Connection } from "../streams/Streams.ts"
import type { Call, Handlers } from "./Handler.ts"

/** The stream connections of the app. */
export const handlers = {
  getConnections: ({ caller, page: { cursor, limit }, parameters: { endpoints, status = "active" }, streams }) => {
    const found = streams.connections().filter(({ appId, closedAt, endpoint }) =>
      appId === caller.appId && (endpoints === undefined || endpoints.includes(endpoint)) &&
      (status === "all" || (status === "active") === (closedAt === undefined))
    ).toReversed()
    const from = cursor === undefined ? 0 : found.findIndex(({ id }) => id === cursor.key) + 1
    const listed = found.slice(from, from + limit)
    const last = listed.at(-1)
    return Effect.succeed({
      data: listed.map(shown),
      meta: { result_count: listed.length },
      page: {
        next: last === undefined || last === found.at(-1) ? undefined : { direction: "older", key: last.id },
        previous: undefined
      }
    })
  },

  deleteConnections: (call) => Effect.sync(() => end(call, call.parameters.uuids)),

  deleteAllConnections: (call) => Effect.sync(() => end(call, activeOf(call).map(({ id }) => id))),

  deleteEndpointConnections: (call) =>
    Effect.sync(() => {
      const { endpoint_id } = call.parameters
      return end(call, activeOf(call).filter(({ endpoint }) => endpoint === endpoint_id).map(({ id }) => id))
    })
} satisfies Partial<Handlers>

type Asked = Pick<Call<unknown>, "caller" | "streams">

const activeOf = ({ caller, streams }: Asked): ReadonlyArray<Connection> =>
  streams.connections().filter(({ appId, closedAt }) => appId === caller.appId && closedAt === undefined)

const end = (asked: Asked, uuids: ReadonlyArray<string>): Reply => {
  const active = new Set(activeOf(asked).map(({ id }) => id))
  const results = uuids.map((uuid) => {
    const success = active.has(uuid) && asked.streams.disconnect(uuid)
    return { uuid, success, ...(!success && { error_message: "There is no such connection that is active." }) }
  })
  const successful = results.filter(({ success }) => success).length
  return { data: { successful_kills: successful, failed_kills: results.length - successful, results } }
}

const shown = ({ clientIp, closedAt, endpoint, id, openedAt, reason }: Connection) => ({
  id,
  endpoint_name: endpoint,
  connected_at: new Date(openedAt).toISOString(),
  ...(closedAt !== undefined && { disconnected_at: new Date(closedAt).toISOString(), disconnect_reason: reason }),
  client_ip: clientIp
})

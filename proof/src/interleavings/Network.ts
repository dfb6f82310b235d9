/** A service that processes reach over a network. A request is lost before it is served, or its answer after that. */
import * as Transport from "@postwire/core/http/Transport"
import * as Effect from "effect/Effect"
import { HttpClient, HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as Layer from "effect/Layer"
import { BufferedResponse } from "../../../packages/node/src/internal/bufferedResponse.ts"
import type { Place } from "./Schedule.ts"
import type { Process } from "./World.ts"

export const baseUrl = "https://service.test"

export interface Received {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: string
  readonly authorization: string
}

export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

const lost = (request: HttpClientRequest.HttpClientRequest) => {
  const cause = Object.assign(new Error("ECONNRESET"), { code: "ECONNRESET" })
  return new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
}

const receive = ({ body, headers, method, url }: HttpClientRequest.HttpClientRequest): Received => {
  const { pathname, searchParams } = new URL(url)
  return {
    method,
    path: pathname,
    query: searchParams,
    body: body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : "",
    authorization: headers["authorization"] ?? ""
  }
}

/** The connection of a process. */
export const layer = (
  { faults, world }: Pick<Place, "faults" | "world">,
  actor: Process,
  answer: (request: Received) => Answer
): Layer.Layer<HttpClient.HttpClient> => {
  const { draw } = world
  const send = (
    request: HttpClientRequest.HttpClientRequest
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> =>
    Effect.callback((resume) => {
      const drawn = faults.at(actor)
      const fate = draw.chance(faults.total === 0 ? 0 : 0.02) ? draw.pick(["cut", "swallowed"] as const) : drawn
      const travel = () => 1 + draw.below(40)
      const fail = () => resume(Effect.fail(lost(request)))
      if (!actor.isAlive && draw.chance(0.5)) return
      if (fate === "swallowed" && actor.isAlive) return void actor.after(travel(), fail)
      const arrive = () => {
        const { body, headers = {}, status = 200 } = answer(receive(request))
        const response = new BufferedResponse(request, status, headers, Buffer.from(JSON.stringify(body)), undefined)
        actor.after(travel(), () => fate === "cut" ? fail() : resume(Effect.succeed(response)))
      }
      world.at(world.now + travel(), arrive)
    })
  return Layer.succeed(
    HttpClient.HttpClient,
    Object.assign(HttpClient.make(send), { [Transport.reports]: send })
  )
}

/** Clients whose requests and costs are counted. */
import { Client } from "@postwire/core/client/Client"
import { microsOf } from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"

/** The requests of clients. */
export interface Counts {
  requests: number
  /** Their cost, in millionths of a dollar; `undefined` if they do not count. */
  spent: number | undefined
}

/** A client that adds to counts. */
export const of = (client: Client["Service"], counts: Counts): Client["Service"] =>
  Client.of({
    ...client,
    request: (definition, parameters, options) =>
      Effect.suspend(() => {
        counts.requests++
        return client.request(definition, parameters, options)
      }),
    read: (definition, response) =>
      Effect.map(client.read(definition, response), (answer) => {
        if (answer.cost !== undefined) counts.spent = (counts.spent ?? 0) + microsOf(answer.cost.dollars)
        return answer
      })
  })

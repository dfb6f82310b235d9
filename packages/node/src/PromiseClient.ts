/** The Promise face on Node. */
import * as Effect from "effect/Effect"
import { setImmediate as turn } from "node:timers/promises"
import { BufferedResponse } from "./internal/BufferedResponse.ts"
import type { Platform } from "./internal/Calls.ts"
import { type Makers, on } from "./internal/PromiseFace.ts"

export type { CallOptions } from "./internal/Calls.ts"
export type { PageOptions } from "./internal/Pages.ts"
export {
  type Answer,
  checkForm,
  type Chosen,
  type EffectFace,
  type Methods,
  type PromiseClient,
  type PromiseOperation,
  type PromisePaged
} from "./internal/PromiseFace.ts"

const platform: Platform = {
  webOf: async (response) => {
    // Whose headers are still as they came: cookies cannot be told apart when they are one line.
    if (response instanceof BufferedResponse) return response.toWeb()
    const { arrayBuffer, headers, status } = response
    const body = await Effect.runPromise(arrayBuffer)
    return new globalThis.Response(body.byteLength === 0 ? null : body, { status, headers: { ...headers } })
  },
  turn: () => turn()
}

export const {
  /** A client with the services of a context; `end` is called when it is closed. */
  of,
  /**
   * The way from Effect to Promises: a client on the services of a Layer, such as one on another HttpClient. Closing it
   * releases what the Layer acquired. Rejects with what the Layer fails with.
   */
  fromLayer
}: Makers = on(platform)

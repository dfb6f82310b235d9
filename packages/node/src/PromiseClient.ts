/** The Promise face on Node. */
import type { Platform } from "@postwire/core/promises/Calls"
import { type Makers, on } from "@postwire/core/promises/PromiseFace"
import * as Transport from "@postwire/core/Transport"
import * as Effect from "effect/Effect"
import { BufferedResponse } from "./internal/BufferedResponse.ts"

export type { CallOptions } from "@postwire/core/promises/Calls"
export type { PageOptions } from "@postwire/core/promises/Pages"
export {
  type Answer,
  type Chosen,
  type EffectFace,
  type Methods,
  type PromiseClient,
  type PromiseOperation,
  type PromisePaged,
  type WithEffect,
  withEffect
} from "@postwire/core/promises/PromiseFace"

const platform: Platform = {
  // Whose headers are still as they came, it makes one at once.
  webOf: async (response) =>
    response instanceof BufferedResponse ? response.toWeb() : Effect.runPromise(Transport.toWeb(response)),
  turn: () => new Promise((resolve) => setImmediate(resolve))
}

export const {
  /** A client with the services of a context, `also` more than the methods; `end` is called when it is closed. */
  of,
  /**
   * The way from Effect to Promises: a client on the services of a Layer, such as one on another HttpClient. Closing it
   * releases what the Layer acquired. Rejects with what the Layer fails with.
   */
  fromLayer
}: Makers = on(platform)

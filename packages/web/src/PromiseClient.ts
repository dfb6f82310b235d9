/** The Promise face on web APIs. */
import { type Makers, on } from "@postwire/core/promises/PromiseFace"
import * as Transport from "@postwire/core/Transport"
import * as Effect from "effect/Effect"

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

export const {
  /** A client with the services of a context, `also` more than the methods; `end` is called when it is closed. */
  of,
  /**
   * The way from Effect to Promises: a client on the services of a Layer, such as one on another HttpClient. Closing it
   * releases what the Layer acquired. Rejects with what the Layer fails with.
   */
  fromLayer
}: Makers = /*#__PURE__*/ on({
  webOf: (response) => Effect.runPromise(Transport.toWeb(response)),
  turn: () => new Promise((resolve) => setTimeout(resolve, 0))
})

/** The Promise client on web APIs. */
import * as Transport from "@postwire/core/http/Transport"
import type { Composites, Input } from "@postwire/core/promise/Composites"
import type * as Client from "@postwire/core/promise/PromiseClient"
import { type Makers, on } from "@postwire/core/promise/PromiseClient"
import type { Form } from "@postwire/core/schema/Definition"
import * as Effect from "effect/Effect"

export type { CallOptions } from "@postwire/core/promise/Calls"
export type { PageOptions } from "@postwire/core/promise/Pages"
export {
  type Answer,
  type EffectAccess,
  type Methods,
  type PromiseOperation,
  type PromisePaged,
  type WithEffect,
  withEffect
} from "@postwire/core/promise/PromiseClient"
export type { Chosen } from "@postwire/core/promise/ReturnType"

/** A client: its operations as methods, uploads, posts with files and threads, and `close`. */
export type PromiseClient<F extends Form = "response", Also extends object = {}> = Client.PromiseClient<
  F,
  Also & Composites<Input>
>

export const {
  /** A client with the services of a context. `also` adds to its methods; `end` is called when it is closed. */
  of,
  /**
   * Converts from Effect to Promises: a client on the services of a Layer, such as one with another HttpClient. Closing the client
   * releases the resources of the Layer. Uploads and threads use the journal of the Layer, or memory by default. Rejects with the
   * errors of the Layer.
   */
  fromLayer
}: Makers<Input> = /*#__PURE__*/ on({
  webOf: (response) => Effect.runPromise(Transport.toWeb(response)),
  inputOf: (input: Input) => input,
  turn: () => new Promise((resolve) => setTimeout(resolve, 0))
})

/** The Promise client on Node. */
import * as Transport from "@postwire/core/http/Transport"
import type { Composites } from "@postwire/core/promise/Composites"
import type * as Client from "@postwire/core/promise/PromiseClient"
import { type Makers, on, type Platform } from "@postwire/core/promise/PromiseClient"
import type { Form } from "@postwire/core/schema/Definition"
import * as Effect from "effect/Effect"
import { BufferedResponse } from "./internal/bufferedResponse.ts"
import { type Input, inputOf } from "./NodeClient.ts"

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

const platform: Platform<Input> = {
  // A buffered response still has its original headers, and needs no Effect.
  webOf: async (response) =>
    response instanceof BufferedResponse ? response.toWeb() : Effect.runPromise(Transport.toWeb(response)),
  turn: () => new Promise((resolve) => setImmediate(resolve)),
  inputOf
}

/** A client: its operations as methods, uploads, posts with files and threads, and `close`. */
export type PromiseClient<F extends Form = "response", Also extends object = {}> = Client.PromiseClient<
  F,
  Also & Composites<Input>
>

export const {
  /** A client with the services of a context, and `also` beside its methods; `end` is called when it is closed. */
  of,
  /**
   * A Promise client on the services of a Layer, such as one on another HttpClient. Closing it releases the resources of the Layer.
   * Uploads and threads are recorded in the journal of the Layer, or in memory if it has none. Rejects with the errors of the
   * Layer.
   */
  fromLayer
}: Makers<Input> = on(platform)

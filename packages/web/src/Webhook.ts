/**
 * A webhook with Promises: a function that answers a web request, for Workers, Deno, Bun and every server that has them.
 *
 * ```ts
 * import { webhook } from "@postwire/web/Webhook"
 *
 * const hook = webhook({ secrets: "...", onEvent: async (event) => { ... } })
 * export default { fetch: hook }
 * ```
 *
 * @stability experimental
 */
import * as Promises from "@postwire/core/promise/Webhook"
import * as Effect from "effect/Effect"

export type { Acknowledgement, DeadLetter, Delivery } from "@postwire/core/events/Webhook"
export type * from "@postwire/core/events/WebhookEvent"
export type { DeadLetters, Webhook } from "@postwire/core/promise/Webhook"

/** Options of a webhook. */
export interface Options extends Promises.Options {
  /**
   * When a delivery is acknowledged: `after` it was handled (the default here, since Workers stop after the answer), or `before`, for
   * servers that keep running.
   */
  readonly ack?: Promises.Options["ack"]
}

/** Opens a webhook. Throws `InvalidSettings` if an option is invalid. */
export const webhook = (options: Options): Promises.Webhook =>
  Promises.open({ ack: "after", ...options }, {
    store: Effect.undefined,
    // Platforms show warnings here.
    // oxlint-disable-next-line no-console
    warn: (warning) => console.warn(warning)
  }, webhook).webhook

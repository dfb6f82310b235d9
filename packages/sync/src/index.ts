/**
 * The synchronous client of Postwire.
 *
 * ```ts
 * import { createClientSync } from "@postwire/sync"
 *
 * using client = createClientSync({ baseUrl: "http://127.0.0.1:8080", bearerToken: "..." })
 * for (const post of client.searchRecentPosts.items({ query: "effect" })) console.log(post.text)
 * ```
 */
import { fromEnvironment } from "@postwire/node"
import * as SyncClient from "./SyncClient.ts"

export * from "@postwire/core/Errors"
export { fromEnvironment } from "@postwire/node"
export type { CallOptions, Settings } from "./SyncClient.ts"

/** Every operation as a blocking method, and the end of the client. */
export interface PostwireClientSync extends SyncClient.Methods, Disposable {
  /** Ends what is under way and closes the connections. */
  readonly close: () => void
}

/**
 * Makes a client from settings, or from the environment when none are given. Throws `InvalidSettings` at once when a
 * setting breaks a rule. A worker thread, started by the first call and shared by all clients, does the work; the caller
 * blocks. The process may exit without closing the client.
 */
export const createClientSync = (settings: SyncClient.Settings = fromEnvironment()): PostwireClientSync => {
  SyncClient.assertValid(settings)
  const { close, methods } = SyncClient.make(settings)
  return { ...methods, close, [Symbol.dispose]: close }
}

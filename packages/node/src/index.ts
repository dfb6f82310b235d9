/**
 * The Promise client of Postwire.
 *
 * ```ts
 * import { createClient } from "@postwire/node"
 *
 * await using client = createClient({ baseUrl: "http://127.0.0.1:8080", bearerToken: "..." })
 * for await (const post of client.searchRecentPosts.items({ query: "effect" })) console.log(post.text)
 * ```
 */
import "@postwire/core/SupportedNode"
import type { Form } from "@postwire/core/Definition"
import { valueOf } from "@postwire/core/promises/Calls"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { Dispatcher } from "undici"
import * as NodeClient from "./NodeClient.ts"
import * as PromiseClient from "./PromiseClient.ts"
import * as UndiciHttpClient from "./UndiciHttpClient.ts"

export type { Sent } from "@postwire/core/Attempt"
export type { Form } from "@postwire/core/Definition"
export * from "@postwire/core/Errors"
export type { Announced, Change, Waiting } from "@postwire/core/RateLimit"
export { fromEnvironment, type Logger, type Settings } from "./NodeClient.ts"
export type { Answer, CallOptions, PageOptions } from "./PromiseClient.ts"

/** The HTTP session of a client: what sends its requests. */
export type Session = Pick<Dispatcher, "dispatch"> & Partial<Pick<UndiciHttpClient.Session, "statistics" | "close">>

/** Every operation as a method that returns a Promise; the session; the end of the client. */
export type PostwireClient<F extends Form = "response"> = PromiseClient.PromiseClient<F, {
  /**
   * Its own connections, with `statistics()` and `close()`, or the dispatcher that it was given. Another client that is
   * made with it as `dispatcher` shares them.
   */
  readonly session: Session
}>

/**
 * Makes a client from settings, or from the environment when none are given (`POSTWIRE_BASE_URL`,
 * `POSTWIRE_BEARER_TOKEN`, ...). Throws `InvalidSettings` at once when a setting breaks a rule; connects at the first call.
 */
export const createClient: {
  (settings?: undefined): PostwireClient
  <F extends Form = "response">(settings: NodeClient.Settings<F> & PromiseClient.Chosen<F>): PostwireClient<F>
} = <F extends Form = "response">(
  settings: NodeClient.Settings<F> = NodeClient.fromEnvironment()
): PostwireClient<F> => {
  valueOf(Effect.runSyncExit(NodeClient.check(settings)), undefined)
  const own = settings.dispatcher === undefined
    ? new UndiciHttpClient.Session(NodeClient.agentOptionsOf(settings))
    : undefined
  const session: Session = settings.dispatcher ?? own!
  const scope = Scope.makeUnsafe()
  const layer = NodeClient.layer({ ...settings, proxy: undefined, ca: undefined, dispatcher: session })
  const context = Effect.runSync(Layer.buildWithScope(layer, scope))
  const end = async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await own?.close()
  }
  // Without a setting, F is its default.
  return PromiseClient.of(context, settings.returnType ?? "response" as F, end, { session })
}

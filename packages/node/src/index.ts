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
import type { Form } from "@postwire/core/Operation"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as NodeClient from "./NodeClient.ts"
import * as PromiseClient from "./PromiseClient.ts"

export * from "@postwire/core/Errors"
export type { Form } from "@postwire/core/Operation"
export type { Announced, Change, Waiting } from "@postwire/core/RateLimit"
export { fromEnvironment, type Settings } from "./NodeClient.ts"
export type { CallOptions } from "./PromiseClient.ts"

/** Every operation as a method that returns a Promise, and the end of the client. */
export type PostwireClient<F extends Form = "response"> = PromiseClient.Methods<F> & AsyncDisposable & {
  /** The same client (one login, one pool of connections), returning results in another form. */
  readonly as: <F extends Form>(form: F) => PostwireClient<F>
  /** Ends what is under way, which is rejected, and closes the connections. */
  readonly close: () => Promise<void>
}

/**
 * Makes a client from settings, or from the environment when none are given (`POSTWIRE_BASE_URL`,
 * `POSTWIRE_BEARER_TOKEN`, ...). Throws `InvalidSettings` at once when a setting breaks a rule; connects at the first call.
 */
export const createClient = <F extends Form = "response">(
  settings: NodeClient.Settings<F> = NodeClient.fromEnvironment()
): PostwireClient<F> => {
  NodeClient.assertValid(settings)
  const scope = Scope.makeUnsafe()
  const context = Effect.runSync(Layer.buildWithScope(NodeClient.layer(settings), scope))
  const closing = new AbortController()
  const close = () => {
    closing.abort(new Error("the client is closed"))
    return Effect.runPromise(Scope.close(scope, Exit.void))
  }
  const as = <F extends Form>(form: F): PostwireClient<F> => ({
    ...PromiseClient.make(context, closing.signal, form),
    as,
    close,
    [Symbol.asyncDispose]: close
  })
  // Without a setting, F is its default.
  return as(settings.returnType ?? "response" as F)
}

/**
 * The Promise client for programs that also use Effect. It shares their `effect` and their `@postwire/core`, so that
 * operations as Effects run on it:
 *
 * ```ts
 * import { getPost } from "@postwire/core/operations/Posts"
 * import { createClient } from "@postwire/node/EffectClient"
 * import { Effect } from "effect"
 *
 * await using client = createClient({ baseUrl: "http://127.0.0.1:8080", bearerToken: "..." })
 * await Effect.runPromise(Effect.provide(getPost({ id: "1" }), client.effect.layer))
 * ```
 */
import type { Form } from "@postwire/core/schema/Definition"
import { connect, type Session } from "./internal/connect.ts"
import type * as NodeClient from "./NodeClient.ts"
import * as PromiseClient from "./PromiseClient.ts"

export * from "./index.ts"
export type { EffectAccess } from "./PromiseClient.ts"

/**
 * Every operation, uploads and posts with files, as methods that return Promises; the session; the access to Effect; and
 * `close`.
 */
export type PostwireClient<F extends Form = "response"> = PromiseClient.PromiseClient<
  F,
  PromiseClient.WithEffect & {
    /** The session, as in the client without Effect. */
    readonly session: Session
  }
>

/** Like `createClient` of `@postwire/node`, for a program that uses Effect. */
export const createClient: {
  (settings?: undefined): PostwireClient
  <F extends Form = "response">(settings: NodeClient.Settings<F> & PromiseClient.Chosen<F>): PostwireClient<F>
} = <F extends Form = "response">(
  settings: NodeClient.Settings<F> = {}
): PostwireClient<F> => {
  const { end, form, services, session } = connect(settings, createClient)
  return PromiseClient.of(services, form, end, (context) => ({
    session,
    ...PromiseClient.withEffect(services)(context)
  }))
}

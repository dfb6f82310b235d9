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
import "@postwire/core/runtime/SupportedNode"
import { checkForm, type Chosen, formOf } from "@postwire/core/promise/PromiseClient"
import type * as Core from "@postwire/core/publishing/Publish"
import type { Form } from "@postwire/core/schema/Definition"
import { fromEnvironment } from "@postwire/node/NodeClient"
import * as Effect from "effect/Effect"
import type { Composites, Input } from "./Composites.ts"
import { orThrow } from "./internal/calls.ts"
import type { Settings } from "./Settings.ts"
import * as SyncClient from "./SyncClient.ts"

export * from "@postwire/core/errors/Errors"
export type * from "@postwire/core/promise/Results"
export type { PublishOptions } from "@postwire/core/publishing/Publish"
export type { ThreadOptions } from "@postwire/core/publishing/Thread"
export type { Form } from "@postwire/core/schema/Definition"
export { fromEnvironment } from "@postwire/node/NodeClient"
export type { Compliance, ComplianceCheckOptions, ComplianceIds, Input, UploadOptions } from "./Composites.ts"
export type { RawResponse } from "./RawResponse.ts"
export type { Settings } from "./Settings.ts"
export type { CallOptions, PageOptions, Session } from "./SyncClient.ts"

/** A post to publish, with its files and its poll. */
export type Post = Core.Post<Input>

/** A file of a post, and how it is uploaded. */
export type Media = Core.Media<Input>

/** Every operation, uploads and posts with files, as blocking methods; the end of the client. */
export type PostwireClientSync<F extends Form = "response"> =
  & SyncClient.Methods<F>
  & Composites
  & Disposable
  & {
    /** The same client, returning results in another form. */
    readonly as: <F extends Form>(form: F) => PostwireClientSync<F>
    /**
     * Requests any path of the service, for what there is no method for, as every call is sent: with the credential, the
     * limits, the retries and the errors. Names are the service's own, there and back.
     */
    readonly request: SyncClient.SyncRequest<F>
    /** The HTTP session: figures of its connections, and its end. */
    readonly session: SyncClient.Session
    /** Ends what is under way and closes the connections. */
    readonly close: () => void
  }

/**
 * Makes a client from settings, or from the environment when none are given. Throws `InvalidSettings` at once when a
 * setting breaks a rule. A worker thread, started by the first call and shared by all clients, does the work; the caller
 * blocks. The process may exit without closing the client.
 */
export const createClientSync: {
  (settings?: undefined): PostwireClientSync
  <F extends Form = "response">(settings: Settings<F> & Chosen<F>): PostwireClientSync<F>
} = <F extends Form = "response">(settings: Settings<F> = fromEnvironment()): PostwireClientSync<F> => {
  orThrow(Effect.runSync(Effect.catch(SyncClient.check(settings), Effect.succeed)), createClientSync)
  const { close, composites, methods, request, session } = SyncClient.make(settings)
  const as = <F extends Form>(form: F): PostwireClientSync<F> => {
    Effect.runSync(checkForm(form))
    return { ...methods(form), ...composites, request: request(form), as, session, close, [Symbol.dispose]: close }
  }
  return as(formOf(settings))
}

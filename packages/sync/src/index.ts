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
import { checkForm, type Chosen, formOf } from "@postwire/core/promise/ReturnType"
import type * as Articles from "@postwire/core/publishing/Article"
import type * as Core from "@postwire/core/publishing/Publish"
import type { Form } from "@postwire/core/schema/Definition"
import { complete } from "@postwire/node/NodeClient"
import * as Effect from "effect/Effect"
import type { Composites, Input } from "./Composites.ts"
import { orThrow } from "./internal/calls.ts"
import type { Settings } from "./Settings.ts"
import * as SyncClient from "./SyncClient.ts"

export * from "@postwire/core/errors/Errors"
export type * from "@postwire/core/promise/Results"
export type { ArticleOptions } from "@postwire/core/publishing/Article"
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

/** An article, with its pictures. */
export type Article = Articles.Article<Input>

/** A file of a post, with the options of its upload. */
export type Media = Core.Media<Input>

/** Every operation, uploads and posts with files, as blocking methods; `close`. */
export type PostwireClientSync<F extends Form = "response"> =
  & SyncClient.Methods<F>
  & Composites
  & Disposable
  & {
    /** The same client with another return type. */
    readonly as: <F extends Form>(form: F) => PostwireClientSync<F>
    /**
     * Requests any path of the service, for endpoints without a method, with the credential, timeouts, retries and errors of every
     * call. Field names are those of the service in both directions.
     */
    readonly request: SyncClient.SyncRequest<F>
    /** The HTTP session: statistics of its connections, and `close`. */
    readonly session: SyncClient.Session
    /** Aborts calls in flight and closes the connections. */
    readonly close: () => void
  }

/**
 * Makes a client from settings. Those that are not given are read from the environment; credentials only if none is given. Throws
 * `InvalidSettings` if a setting is invalid. A worker thread, started with the first client and shared by all, does the work while
 * the caller blocks. The process may exit without closing the client.
 */
export const createClientSync: {
  (settings?: undefined): PostwireClientSync
  <F extends Form = "response">(settings: Settings<F> & Chosen<F>): PostwireClientSync<F>
} = <F extends Form = "response">(given: Settings<F> = {}): PostwireClientSync<F> => {
  const settings = complete(given)
  orThrow(Effect.runSync(Effect.catch(SyncClient.check(settings), Effect.succeed)), createClientSync)
  const { close, composites, methods, request, session } = SyncClient.make(settings)
  const as = <F extends Form>(form: F): PostwireClientSync<F> => {
    Effect.runSync(checkForm(form))
    return { ...methods(form), ...composites, request: request(form), as, session, close, [Symbol.dispose]: close }
  }
  return as(formOf(settings))
}

/**
 * The Promise client of Postwire.
 *
 * ```ts
 * import { createClient } from "@postwire/node"
 *
 * await using client = createClient({ baseUrl: "http://127.0.0.1:8080", bearerToken: "..." })
 * for await (const post of client.searchRecentPosts.items({ query: "effect" })) console.log(post.text)
 * ```
 *
 * The published package bundles its own Effect. A program that uses Effect itself creates its client with
 * `@postwire/node/EffectClient`.
 */
import "@postwire/core/runtime/SupportedNode"
import type * as Composites from "@postwire/core/promise/Composites"
import type * as Articles from "@postwire/core/publishing/Article"
import type * as Publish from "@postwire/core/publishing/Publish"
import { prometheusName } from "@postwire/core/runtime/Metrics"
import type { Form } from "@postwire/core/schema/Definition"
import * as Context from "effect/Context"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { connect, type Session } from "./internal/connect.ts"
import type * as NodeClient from "./NodeClient.ts"
import * as PromiseClient from "./PromiseClient.ts"

export type { Sent } from "@postwire/core/client/Attempt"
export * from "@postwire/core/errors/Errors"
export type { OAuth2Settings, Tokens } from "@postwire/core/promise/AccountSettings"
export type {
  ArticleOptions,
  Compliance,
  ComplianceCheckOptions,
  ComplianceIds,
  HydrateOptions,
  PublishOptions,
  ThreadOptions
} from "@postwire/core/promise/Composites"
export type { Journal } from "@postwire/core/promise/Journal"
export type * from "@postwire/core/promise/Results"
export type { ConsumeOptions, SharedItem, SharedStream } from "@postwire/core/promise/SharedStream"
export type { TokenStore } from "@postwire/core/promise/TokenStore"
export type { Announced, Change, Waiting } from "@postwire/core/rate-limit/RateLimit"
export type { Form } from "@postwire/core/schema/Definition"
export type { Scope } from "@postwire/core/schema/Scopes"
export type { SharedNotice, SharedOptions } from "@postwire/core/streams/shared/SharedStream"
export { LeaseLost, StreamLogUnavailable } from "@postwire/core/streams/shared/StreamLog"
export type { Session } from "./internal/connect.ts"
export { fromEnvironment, type Input, type Logger, type Settings } from "./NodeClient.ts"
export * as OAuth2 from "./OAuth2.ts"
export type { Answer, CallOptions, PageOptions } from "./PromiseClient.ts"
export { webhook } from "./Webhook.ts"

/**
 * The metrics of all clients of this process, in the text format of Prometheus (version 0.0.4). A program that creates its client
 * with `@postwire/node/EffectClient` reads them with Effect's `PrometheusMetrics` instead.
 */
export const prometheusMetrics = (): string =>
  PrometheusMetrics.formatUnsafe(Context.empty(), { metricNameMapper: prometheusName })

/** A post to publish, with its files and its poll. */
export type Post = Publish.Post<NodeClient.Input>

/** An article, with its pictures. */
export type Article = Articles.Article<NodeClient.Input>

/** A file of a post, with the options of its upload. */
export type Media = Publish.Media<NodeClient.Input>

/** Options of an upload. */
export type UploadOptions = Composites.UploadOptions<NodeClient.Input>

/** Every operation, uploads and posts with files, as methods that return Promises; the session; and `close`. */
export type PostwireClient<F extends Form = "response"> = PromiseClient.PromiseClient<F, {
  /**
   * Its own connections, with `statistics()` and `close()`, or the given dispatcher. Another client created with it as `dispatcher`
   * shares them.
   */
  readonly session: Session
}>

/**
 * Creates a client from settings. Those that are not given are read from the environment (`POSTWIRE_BASE_URL`,
 * `POSTWIRE_BEARER_TOKEN`, ...); credentials only if none is given. Throws `InvalidSettings` immediately if a setting is invalid;
 * connects at the first call.
 */
export const createClient: {
  (settings?: undefined): PostwireClient
  <F extends Form = "response">(settings: NodeClient.Settings<F> & PromiseClient.Chosen<F>): PostwireClient<F>
} = <F extends Form = "response">(
  settings: NodeClient.Settings<F> = {}
): PostwireClient<F> => {
  const { end, form, services, session } = connect(settings, createClient)
  return PromiseClient.of(services, form, end, () => ({ session }))
}

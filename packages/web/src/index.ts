/**
 * The Promise client of Postwire on `fetch`, for platforms other than Node.
 *
 * ```ts
 * import { createClient } from "@postwire/web"
 *
 * const client = createClient({ baseUrl: "http://127.0.0.1:8080", bearerToken: "..." })
 * for await (const post of client.searchRecentPosts.items({ query: "effect" })) console.log(post.text)
 * ```
 */
import type * as Composites from "@postwire/core/promise/Composites"
import { build } from "@postwire/core/promise/PromiseClient"
import { formOf } from "@postwire/core/promise/ReturnType"
import type * as Articles from "@postwire/core/publishing/Article"
import type * as Publish from "@postwire/core/publishing/Publish"
import type { Form } from "@postwire/core/schema/Definition"
import * as PromiseClient from "./PromiseClient.ts"
import * as WebClient from "./WebClient.ts"

export type { Sent } from "@postwire/core/client/Attempt"
export * from "@postwire/core/errors/Errors"
export type {
  ArticleOptions,
  Compliance,
  ComplianceCheckOptions,
  ComplianceIds,
  HydrateOptions,
  Input,
  PublishOptions,
  ThreadOptions,
  UploadOptions
} from "@postwire/core/promise/Composites"
export type { Journal } from "@postwire/core/promise/Journal"
export type * from "@postwire/core/promise/Results"
export type { Announced, Change, Waiting } from "@postwire/core/rate-limit/RateLimit"
export type { Form } from "@postwire/core/schema/Definition"
export type { Fetch, FetchInit } from "./FetchHttpClient.ts"
export type * from "./PlatformTypes.ts"
export type { Answer, CallOptions, PageOptions } from "./PromiseClient.ts"
export type { Logger, Settings } from "./WebClient.ts"

/** A post to publish, with its files and its poll. */
export type Post = Publish.Post<Composites.Input>

/** An article, with its pictures. */
export type Article = Articles.Article<Composites.Input>

/** A file of a post, with the options of its upload. */
export type Media = Publish.Media<Composites.Input>

/** Every operation, uploads and posts with files, as methods that return Promises; access from Effect; `close`. */
export type PostwireClient<F extends Form = "response"> = PromiseClient.PromiseClient<F, PromiseClient.WithEffect>

/** Makes a client from settings. Throws `InvalidSettings` if a setting is invalid; connects at the first call. */
export const createClient = <F extends Form = "response">(
  settings: WebClient.Settings<F> & PromiseClient.Chosen<F>
): PostwireClient<F> => {
  const { end, services } = build(WebClient.layer(settings), createClient)
  return PromiseClient.of(services, formOf(settings), end, PromiseClient.withEffect(services))
}

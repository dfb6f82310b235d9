/** Articles: long texts with headings and images. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import * as Model from "../schema/Model.ts"
import { ArticleContent, ArticleMedia } from "../schema/models/Article.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"

/**
 * Creates the draft of an Article. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write
 * permission. Whether the account needs a subscription is not documented.
 *
 * No operation reads, lists, changes or deletes a draft: keep its id. A create is never sent twice: when its answer does not
 * come it fails with `OutcomeUnknown`, and nothing shows whether there is a draft.
 *
 * ```ts
 * const draft = yield* createArticleDraft({
 *   title: "On lighthouses",
 *   content_state: { blocks: [{ type: "unstyled", text: "They are lit at dusk." }], entities: [] }
 * })
 * ```
 */
export const createArticleDraft = /*#__PURE__*/ Operation.make({
  name: "createArticleDraft",
  summary: "Creates the draft of an Article.",
  route: "POST /2/articles/draft",
  body: {
    title: /*#__PURE__*/ Parameters.required(Parameters.filled),
    content_state: /*#__PURE__*/ Parameters.required(
      /*#__PURE__*/ Parameters.structure(
        ArticleContent,
        "must be an object with blocks and entities, of the members, types and styles that the reference lists"
      )
    ),
    cover_media: /*#__PURE__*/ Parameters.structure(
      ArticleMedia,
      "must be an object with media_id and media_category"
    )
  },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({ id: Schema.String, title: /*#__PURE__*/ Schema.optionalKey(Schema.String) })
  ),
  userAuth: true,
  scopes: ["post.write"],
  limits: {},
  price: "unknown",
  effect: "create"
})

/**
 * Publishes the draft of an Article: it becomes a post. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs write permission.
 *
 * A create is never sent twice: when its answer does not come it fails with `OutcomeUnknown`.
 *
 * ```ts
 * const { data } = yield* publishArticle({ article_id: "1880028106020515845" })
 * ```
 */
export const publishArticle = /*#__PURE__*/ Operation.make({
  name: "publishArticle",
  summary: "Publishes the draft of an Article.",
  route: "POST /2/articles/:article_id/publish",
  path: { article_id: /*#__PURE__*/ Parameters.required(Parameters.id) },
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({ post_id: /*#__PURE__*/ Model.called("post_id", Schema.String) })
  ),
  userAuth: true,
  scopes: ["post.write"],
  limits: {},
  price: "unknown",
  effect: "create",
  status: 200,
  confirmWith: "getUsersPosts"
})

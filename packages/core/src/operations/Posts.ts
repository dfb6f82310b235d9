/** Post management and lookup (spec: Manage posts, Post lookup). */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import * as Model from "../schema/Model.ts"
import { Post } from "../schema/models/Post.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { path, toggle } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

/**
 * Looks one post up. Credential: bearer token, or OAuth 1.0a with `user_auth: true` (spec: Post lookup).
 *
 * A post that does not exist is no failure: `data` is `undefined` and `errors` says why.
 *
 * ```ts
 * const post = yield* getPost({ id: "1460323737035677698", post_fields: ["created_at"] })
 * ```
 */
export const getPost = /*#__PURE__*/ Operation.make({
  name: "getPost",
  summary: "Looks one post up.",
  route: "GET /2/posts/:id",
  path,
  query: Selectors.all,
  result: /*#__PURE__*/ Response.one(Post),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "post" },
  effect: "read"
})

/**
 * Looks up to 100 posts up. Credential: bearer token, or OAuth 1.0a with `user_auth: true` (spec: Post lookup).
 *
 * Posts that do not exist are listed in `errors`; the others are in `data`.
 *
 * ```ts
 * const posts = yield* getPosts({ ids: ["20", "1460323737035677698"] })
 * ```
 */
export const getPosts = /*#__PURE__*/ Operation.make({
  name: "getPosts",
  summary: "Looks up to 100 posts up.",
  route: "GET /2/posts",
  query: { ids: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.ids(100)), ...Selectors.all },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "post" },
  effect: "read"
})

const repliers = /*#__PURE__*/ Parameters.openChoice(["mentionedUsers", "following", "subscribers", "verified"])

/**
 * Creates a post of the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`
 * (spec: Manage posts). Needs write permission.
 *
 * `text` is required when there are no `media_ids`. At most 4 `media_ids` and 10 `media_tagged_user_ids`; a poll has 2 to 4 options
 * of up to 25 characters and lasts 5 to 10,080 minutes. `previous_post_id` is the post of which this one is an edit; `made_with_ai`
 * and `paid_partnership` disclose what they say. The `media_` parameters go with `media_ids`: a title, a description, a preview
 * image, and calls to action (a page, a video, an app in a store).
 *
 * On self-serve plans (pay-per-use) the service accepts a reply only where the author of the post mentions the replying user in it,
 * or quotes a post of theirs; no quotes; and one cashtag in a post. A refusal for that is `Forbidden`, with the rule as `planRule`.
 *
 * A create is never sent twice: when its answer does not come it fails with `OutcomeUnknown`.
 *
 * ```ts
 * const created = yield* createPost({ text: "Hello", reply_settings: "following" })
 * ```
 */
export const createPost = /*#__PURE__*/ Operation.make({
  name: "createPost",
  summary: "Creates a post of the authenticated user.",
  route: "POST /2/posts",
  body: {
    text: /*#__PURE__*/ Parameters.text(),
    direct_message_deep_link: /*#__PURE__*/ Parameters.text(),
    for_super_followers_only: Parameters.boolean,
    place_id: /*#__PURE__*/ Parameters.text(),
    media_ids: /*#__PURE__*/ Parameters.idArray(4),
    media_tagged_user_ids: /*#__PURE__*/ Parameters.idArray(10),
    poll_options: /*#__PURE__*/ Parameters.textArray({ minimum: 2, maximum: 4, each: 25 }),
    poll_duration_minutes: /*#__PURE__*/ Parameters.integer({ minimum: 5, maximum: 10_080 }),
    quote_post_id: Parameters.id,
    in_reply_to_post_id: Parameters.id,
    exclude_reply_user_ids: /*#__PURE__*/ Parameters.idArray(undefined, 0),
    reply_settings: repliers,
    community_id: Parameters.id,
    share_with_followers: Parameters.boolean,
    previous_post_id: Parameters.id,
    made_with_ai: Parameters.boolean,
    paid_partnership: Parameters.boolean,
    nullcast: Parameters.boolean,
    card_uri: /*#__PURE__*/ Parameters.text(),
    poll_reply_settings: repliers,
    auto_populate_reply_metadata: Parameters.boolean,
    media_title: /*#__PURE__*/ Parameters.text(),
    media_description: /*#__PURE__*/ Parameters.text(),
    media_preview_media_id: Parameters.id,
    media_embeddable: Parameters.boolean,
    media_visit_site_url: /*#__PURE__*/ Parameters.text(),
    media_watch_now_url: /*#__PURE__*/ Parameters.text(),
    media_app_store_id: /*#__PURE__*/ Parameters.text(),
    media_ipad_app_store_id: /*#__PURE__*/ Parameters.text(),
    media_play_store_id: /*#__PURE__*/ Parameters.text()
  },
  at: {
    place_id: "geo.place_id",
    media_ids: "media.media_ids",
    media_tagged_user_ids: "media.tagged_user_ids",
    poll_options: "poll.options",
    poll_duration_minutes: "poll.duration_minutes",
    in_reply_to_post_id: "reply.in_reply_to_post_id",
    exclude_reply_user_ids: "reply.exclude_reply_user_ids",
    previous_post_id: "edit_options.previous_post_id",
    poll_reply_settings: "poll.reply_settings",
    auto_populate_reply_metadata: "reply.auto_populate_reply_metadata",
    media_title: "media.title",
    media_description: "media.description",
    media_preview_media_id: "media.preview_media_id",
    media_embeddable: "media.embeddable",
    media_visit_site_url: "media.call_to_actions.visit_site.url",
    media_watch_now_url: "media.call_to_actions.watch_now.url",
    media_app_store_id: "media.call_to_actions.app_install.app_store_id",
    media_ipad_app_store_id: "media.call_to_actions.app_install.ipad_app_store_id",
    media_play_store_id: "media.call_to_actions.app_install.play_store_id"
  },
  rules: [
    /*#__PURE__*/ ParameterRule.atLeastOne("text", "media_ids"),
    /*#__PURE__*/ ParameterRule.requires("media_tagged_user_ids", "media_ids"),
    /*#__PURE__*/ ParameterRule.requires("poll_options", "poll_duration_minutes"),
    /*#__PURE__*/ ParameterRule.requires("poll_duration_minutes", "poll_options"),
    /*#__PURE__*/ ParameterRule.requires("exclude_reply_user_ids", "in_reply_to_post_id"),
    /*#__PURE__*/ ParameterRule.requires("auto_populate_reply_metadata", "in_reply_to_post_id"),
    /*#__PURE__*/ ParameterRule.requires("poll_reply_settings", "poll_options"),
    /*#__PURE__*/ ParameterRule.requires("poll_reply_settings", "poll_duration_minutes"),
    /*#__PURE__*/ ParameterRule.requires("media_title", "media_ids"),
    /*#__PURE__*/ ParameterRule.requires("media_description", "media_ids"),
    /*#__PURE__*/ ParameterRule.requires("media_preview_media_id", "media_ids"),
    /*#__PURE__*/ ParameterRule.requires("media_embeddable", "media_ids"),
    /*#__PURE__*/ ParameterRule.requires("media_visit_site_url", "media_ids"),
    /*#__PURE__*/ ParameterRule.requires("media_watch_now_url", "media_ids"),
    /*#__PURE__*/ ParameterRule.requires("media_app_store_id", "media_ids"),
    /*#__PURE__*/ ParameterRule.requires("media_ipad_app_store_id", "media_ids"),
    /*#__PURE__*/ ParameterRule.requires("media_play_store_id", "media_ids")
  ],
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Model.essential(
      /*#__PURE__*/ Schema.Struct({
        id: Schema.String,
        text: Schema.String,
        edit_history_post_ids: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Array(Schema.String))
      }),
      "id"
    )
  ),
  userAuth: true,
  scopes: ["post.read", "post.write", "users.read"],
  limits: { perWindow: 200 },
  price: { request: "postCreate", withUrl: "postCreateWithUrl" },
  selfServe: {
    in_reply_to_post_id:
      "On self-serve plans (pay-per-use) the author of the post must mention the replying user in it, or " +
      "quote a post of theirs (the service's changelog of 2026-02-23). The author may also limit who replies: see its reply_settings.",
    quote_post_id:
      "Self-serve plans (pay-per-use) have no quotes: they need an Enterprise plan (the service's changelog of 2026-04-16)."
  },
  effect: "create",
  confirmWith: "getUsersPosts"
})

/**
 * Deletes a post of the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`
 * (spec: Manage posts). Needs write permission.
 *
 * ```ts
 * yield* deletePost({ id: "1460323737035677698" })
 * ```
 */
export const deletePost = /*#__PURE__*/ toggle({
  name: "deletePost",
  summary: "Deletes a post of the authenticated user.",
  route: "DELETE /2/posts/:id",
  path,
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ deleted: Schema.Boolean })),
  scopes: ["post.read", "post.write", "users.read"],
  price: { request: "contentManage" },
  settled: {
    data: { deleted: true },
    by: { status: 404, problem: { type: "resource-not-found", resource_type: "post" } }
  }
})

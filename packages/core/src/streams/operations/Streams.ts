/** Streams of new posts and likes. */
import * as Selectors from "../../operations/Selectors.ts"
import { Like } from "../../schema/models/Like.ts"
import { Post } from "../../schema/models/Post.ts"
import * as Response from "../../schema/Response.ts"
import * as StreamOperation from "../StreamOperation.ts"
import { backfill, partition, recoverable, stream } from "./parameters.ts"

const posts = { ...recoverable, ...Selectors.all }

const ofPosts = {
  result: /*#__PURE__*/ Response.one(Post),
  limits: {},
  price: { read: "post" },
  selfServe: "none",
  ...stream
} as const

const ofLikes = {
  result: /*#__PURE__*/ Response.one(Like),
  limits: {},
  price: { read: "like" },
  selfServe: "none",
  ...stream
} as const

/**
 * Streams the posts that match the rules of the app, each with the rules that it matches. Credential: the app's bearer
 * token.
 *
 * The rules are those of `updateStreamRules`; an app without rules gets `NoRules`. An app has one connection, and posts
 * arrive some seconds after their creation. `backfill_minutes` (0 to 5), `start_time` and `end_time` are for projects with
 * Enterprise access.
 *
 * ```ts
 * const posts = streamPosts({ post_fields: ["author_id"] })
 * ```
 */
export const streamPosts = /*#__PURE__*/ StreamOperation.make({
  name: "streamPosts",
  summary: "Streams the posts that match the rules of the app.",
  route: "GET /2/posts/search/stream",
  query: posts,
  result: /*#__PURE__*/ Response.one(Post),
  limits: { perWindow: 50 },
  price: { read: "post" },
  live: { endpoint: "filtered_stream", recovery: true, rules: true },
  ...stream
})

/**
 * Streams about one percent of all posts. Credential: the app's bearer token. The project must have Enterprise access.
 * `backfill_minutes` is 0 to 5; older posts cannot be recovered.
 *
 * ```ts
 * const posts = streamPostsSample({ post_fields: ["lang"] })
 * ```
 */
export const streamPostsSample = /*#__PURE__*/ StreamOperation.make({
  name: "streamPostsSample",
  summary: "Streams about one percent of all posts.",
  route: "GET /2/posts/sample/stream",
  query: { ...backfill, ...Selectors.all },
  live: { endpoint: "sample_stream", recovery: false },
  ...ofPosts
})

/**
 * Streams one of 2 parts of about ten percent of all posts; `partition` selects the part. Credential: the app's bearer token. The
 * project must have Enterprise access.
 *
 * ```ts
 * const posts = streamPostsSample10({ partition: 1 })
 * ```
 */
export const streamPostsSample10 = /*#__PURE__*/ StreamOperation.make({
  name: "streamPostsSample10",
  summary: "Streams a part of about ten percent of all posts.",
  route: "GET /2/posts/sample10/stream",
  query: { ...posts, partition: /*#__PURE__*/ partition(2) },
  result: /*#__PURE__*/ Response.one(Post),
  limits: { perWindow: 100 },
  price: { read: "post" },
  live: { endpoint: "sample10_stream", recovery: true },
  selfServe: "none",
  ...stream
})

/**
 * Streams one of 20 parts of all posts; `partition` selects the part. Credential: the app's bearer token. The project must have
 * Enterprise access.
 *
 * ```ts
 * const posts = streamPostsFirehose({ partition: 1 })
 * ```
 */
export const streamPostsFirehose = /*#__PURE__*/ StreamOperation.make({
  name: "streamPostsFirehose",
  summary: "Streams a part of all posts.",
  route: "GET /2/posts/firehose/stream",
  query: { ...posts, partition: /*#__PURE__*/ partition(20) },
  live: { endpoint: "firehose_stream", recovery: true },
  ...ofPosts
})

/**
 * Streams one of 8 parts of all posts in English; `partition` selects the part. Credential: the app's bearer token. The project
 * must have Enterprise access.
 *
 * ```ts
 * const posts = streamPostsFirehoseEn({ partition: 1 })
 * ```
 */
export const streamPostsFirehoseEn = /*#__PURE__*/ StreamOperation.make({
  name: "streamPostsFirehoseEn",
  summary: "Streams a part of all posts in English.",
  route: "GET /2/posts/firehose/stream/lang/en",
  query: { ...posts, partition: /*#__PURE__*/ partition(8) },
  live: { endpoint: "firehose_stream_lang_en", recovery: true },
  ...ofPosts
})

/**
 * Streams one of 2 parts of all posts in Japanese; `partition` selects the part. Credential: the app's bearer token. The project
 * must have Enterprise access.
 *
 * ```ts
 * const posts = streamPostsFirehoseJa({ partition: 1 })
 * ```
 */
export const streamPostsFirehoseJa = /*#__PURE__*/ StreamOperation.make({
  name: "streamPostsFirehoseJa",
  summary: "Streams a part of all posts in Japanese.",
  route: "GET /2/posts/firehose/stream/lang/ja",
  query: { ...posts, partition: /*#__PURE__*/ partition(2) },
  live: { endpoint: "firehose_stream_lang_ja", recovery: true },
  ...ofPosts
})

/**
 * Streams one of 2 parts of all posts in Korean; `partition` selects the part. Credential: the app's bearer token. The project
 * must have Enterprise access.
 *
 * ```ts
 * const posts = streamPostsFirehoseKo({ partition: 1 })
 * ```
 */
export const streamPostsFirehoseKo = /*#__PURE__*/ StreamOperation.make({
  name: "streamPostsFirehoseKo",
  summary: "Streams a part of all posts in Korean.",
  route: "GET /2/posts/firehose/stream/lang/ko",
  query: { ...posts, partition: /*#__PURE__*/ partition(2) },
  live: { endpoint: "firehose_stream_lang_ko", recovery: true },
  ...ofPosts
})

/**
 * Streams one of 2 parts of all posts in Portuguese; `partition` selects the part. Credential: the app's bearer token. The
 * project must have Enterprise access.
 *
 * ```ts
 * const posts = streamPostsFirehosePt({ partition: 1 })
 * ```
 */
export const streamPostsFirehosePt = /*#__PURE__*/ StreamOperation.make({
  name: "streamPostsFirehosePt",
  summary: "Streams a part of all posts in Portuguese.",
  route: "GET /2/posts/firehose/stream/lang/pt",
  query: { ...posts, partition: /*#__PURE__*/ partition(2) },
  live: { endpoint: "firehose_stream_lang_pt", recovery: true },
  ...ofPosts
})

/**
 * Streams one of 20 parts of all likes; `partition` selects the part. Credential: the app's bearer token. The project must have
 * Enterprise access.
 *
 * ```ts
 * const likes = streamLikesFirehose({ partition: 1, expansions: ["liked_post_id"] })
 * ```
 */
export const streamLikesFirehose = /*#__PURE__*/ StreamOperation.make({
  name: "streamLikesFirehose",
  summary: "Streams a part of all likes.",
  route: "GET /2/likes/firehose/stream",
  query: { ...recoverable, ...Selectors.likeWithPostAuthor, partition: /*#__PURE__*/ partition(20) },
  live: { endpoint: "likes_firehose_stream", recovery: true },
  ...ofLikes
})

/**
 * Streams one of 2 parts of about ten percent of all likes; `partition` selects the part. Credential: the app's bearer token. The
 * project must have Enterprise access.
 *
 * ```ts
 * const likes = streamLikesSample10({ partition: 1 })
 * ```
 */
export const streamLikesSample10 = /*#__PURE__*/ StreamOperation.make({
  name: "streamLikesSample10",
  summary: "Streams a part of about ten percent of all likes.",
  route: "GET /2/likes/sample10/stream",
  query: { ...recoverable, ...Selectors.likeWithPostAuthor, partition: /*#__PURE__*/ partition(2) },
  live: { endpoint: "likes_sample10_stream", recovery: true },
  ...ofLikes
})

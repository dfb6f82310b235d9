/** News: stories that the service makes of posts. A model has written their texts. */
import * as Operation from "../client/Operation.ts"
import { News } from "../schema/models/News.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { path } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

/**
 * Searches for stories. Credential: bearer token, or OAuth 1.0a with `user_auth: true`.
 *
 * `query` has 1 to 2,048 characters, `max_results` is 1 to 100 (default 10) and `max_age_hours` 1 to 720 (default 168). There are
 * no pages. A model has written `name`, `hook` and `summary`, as `disclaimer` notes. `contexts` and `keywords` are JSON without a
 * documented form.
 *
 * ```ts
 * const stories = yield* searchNews({ query: "lighthouse", news_fields: ["name", "summary", "disclaimer"] })
 * ```
 */
export const searchNews = /*#__PURE__*/ Operation.make({
  name: "searchNews",
  summary: "Searches for news stories, whose texts a model has written.",
  route: "GET /2/news/search",
  query: {
    query: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.text(2048)),
    ...Selectors.news,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100, default: 10 }),
    max_age_hours: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 720, default: 168 })
  },
  result: /*#__PURE__*/ Response.many(News),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 200 },
  price: "unknown",
  effect: "read"
})

/**
 * Looks a story up. Credential: bearer token, or OAuth 1.0a with `user_auth: true`. A model has written `name`, `hook` and
 * `summary`.
 *
 * ```ts
 * const story = yield* getNewsStory({ id: "1880028106020515846", news_fields: ["name", "cluster_posts_results"] })
 * ```
 */
export const getNewsStory = /*#__PURE__*/ Operation.make({
  name: "getNewsStory",
  summary: "Looks a news story up, whose texts a model has written.",
  route: "GET /2/news/:id",
  path,
  query: Selectors.news,
  result: /*#__PURE__*/ Response.one(News),
  userAuth: false,
  scopes: ["post.read", "users.read"],
  limits: { app: { perWindow: 200 } },
  price: "unknown",
  effect: "read"
})

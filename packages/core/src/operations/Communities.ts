/** Communities, whose members post for each other. */
import * as Operation from "../client/Operation.ts"
import { Community } from "../schema/models/Community.ts"
import * as ParameterRule from "../schema/ParameterRule.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { path } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

/**
 * Looks one community up. Credential: bearer token, or OAuth 1.0a with `user_auth: true`.
 *
 * ```ts
 * const community = yield* getCommunity({ id: "1501272736215322629", community_fields: ["member_count"] })
 * ```
 */
export const getCommunity = /*#__PURE__*/ Operation.make({
  name: "getCommunity",
  summary: "Looks one community up.",
  route: "GET /2/communities/:id",
  path,
  query: Selectors.community,
  result: /*#__PURE__*/ Response.one(Community),
  userAuth: false,
  scopes: ["list.read", "post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "community" },
  effect: "read"
})

/**
 * Searches communities by their names and descriptions. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. `query` has 1 to 4,096 characters, `max_results` is 10 to 100 (default 10).
 *
 * ```ts
 * const communities = searchCommunities.items({ query: "compilers", community_fields: ["description"] })
 * ```
 */
export const searchCommunities = /*#__PURE__*/ Operation.makePaged({
  name: "searchCommunities",
  summary: "Searches communities by their names and descriptions.",
  route: "GET /2/communities/search",
  query: {
    query: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.text(4096)),
    ...Selectors.community,
    max_results: /*#__PURE__*/ Parameters.integer({ minimum: 10, maximum: 100, default: 10 }),
    next_token: Parameters.token,
    pagination_token: Parameters.token
  },
  result: /*#__PURE__*/ Response.many(Community),
  userAuth: true,
  scopes: ["post.read", "users.read"],
  limits: { perWindow: 300 },
  price: { read: "community" },
  // Two names of one token.,
  rules: [/*#__PURE__*/ ParameterRule.excludes("pagination_token", "next_token")],
  paging: { token: "next_token", directions: "forward" },
  effect: "read"
})

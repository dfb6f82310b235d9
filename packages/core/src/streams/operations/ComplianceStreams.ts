/** Streams of compliance events of posts, users and likes that an app may have stored. */
import {
  LikeComplianceEvent,
  PostComplianceEvent,
  PostLabelEvent,
  UserComplianceEvent
} from "../../schema/models/ComplianceEvents.ts"
import * as Response from "../../schema/Response.ts"
import * as StreamOperation from "../StreamOperation.ts"
import { partition, recoverable, stream } from "./parameters.ts"

const free = { limits: {}, price: "free", selfServe: "none", ...stream } as const

/**
 * Streams one of 4 parts of the events of posts that an app may have stored: deleted, withheld, edited, hidden, shown
 * again. Credential: the app's bearer token. The project must have Enterprise access.
 *
 * ```ts
 * const events = streamPostsCompliance({ partition: 1 })
 * ```
 */
export const streamPostsCompliance = /*#__PURE__*/ StreamOperation.make({
  name: "streamPostsCompliance",
  summary: "Streams a part of the compliance events of posts.",
  route: "GET /2/posts/compliance/stream",
  query: { ...recoverable, partition: /*#__PURE__*/ partition(4) },
  result: /*#__PURE__*/ Response.value(PostComplianceEvent),
  live: { endpoint: "posts_compliance_stream", recovery: true },
  ...free
})

/**
 * Streams one of 4 parts of the events of users whose data an app may have stored: deleted, suspended, protected,
 * withheld, and back. Credential: the app's bearer token. The project must have Enterprise access.
 *
 * ```ts
 * const events = streamUsersCompliance({ partition: 1 })
 * ```
 */
export const streamUsersCompliance = /*#__PURE__*/ StreamOperation.make({
  name: "streamUsersCompliance",
  summary: "Streams a part of the compliance events of users.",
  route: "GET /2/users/compliance/stream",
  query: { ...recoverable, partition: /*#__PURE__*/ partition(4) },
  result: /*#__PURE__*/ Response.value(UserComplianceEvent),
  live: { endpoint: "users_compliance_stream", recovery: true },
  ...free
})

/**
 * Streams the likes that are undone. Credential: the app's bearer token. The project must have Enterprise access.
 *
 * ```ts
 * const events = streamLikesCompliance()
 * ```
 */
export const streamLikesCompliance = /*#__PURE__*/ StreamOperation.make({
  name: "streamLikesCompliance",
  summary: "Streams the likes that are undone.",
  route: "GET /2/likes/compliance/stream",
  query: recoverable,
  result: /*#__PURE__*/ Response.value(LikeComplianceEvent),
  live: { endpoint: "likes_compliance_stream", recovery: true },
  ...free
})

/**
 * Streams labels that are added to posts or removed from them. Credential: the app's bearer token. The
 * project must have Enterprise access.
 *
 * ```ts
 * const events = streamPostLabels()
 * ```
 */
export const streamPostLabels = /*#__PURE__*/ StreamOperation.make({
  name: "streamPostLabels",
  summary: "Streams labels that are added to posts.",
  route: "GET /2/posts/label/stream",
  query: recoverable,
  result: /*#__PURE__*/ Response.value(PostLabelEvent),
  live: { endpoint: "post_label_stream", recovery: true },
  ...free
})

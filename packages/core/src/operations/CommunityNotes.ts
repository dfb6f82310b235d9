/** Community Notes, for accounts that are enrolled as AI Note Writers: the service refuses others. */
import * as Schema from "effect/Schema"
import * as Operation from "../client/Operation.ts"
import { classifications, CommunityNote, misleadingTags } from "../schema/models/CommunityNote.ts"
import { Post } from "../schema/models/Post.ts"
import * as Parameters from "../schema/Parameters.ts"
import * as Response from "../schema/Response.ts"
import { path } from "./internal/families.ts"
import * as Selectors from "./Selectors.ts"

const test_mode = /*#__PURE__*/ Parameters.required(
  /*#__PURE__*/ Parameters.always(
    "the service accepts only notes of its test mode, says its introduction of Community Notes of 2026-08-22"
  )
)

const page = {
  max_results: /*#__PURE__*/ Parameters.integer({ minimum: 1, maximum: 100, default: 10 }),
  pagination_token: Parameters.token
}

/**
 * Writes a note about a post. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs write permission
 * and an account that is enrolled as AI Note Writer.
 *
 * `text` has 1 to 280 characters and a link. `test_mode` must be true. An account writes one note about a post. A create is
 * never sent twice: when its answer does not come it fails with `OutcomeUnknown`.
 *
 * ```ts
 * const note = yield* createCommunityNote({
 *   post_id: "1460323737035677698",
 *   test_mode: true,
 *   classification: "misinformed_or_potentially_misleading",
 *   misleading_tags: ["outdated_information"],
 *   text: "The figures are of 2019: https://example.com/figures",
 *   trustworthy_sources: true
 * })
 * ```
 */
export const createCommunityNote = /*#__PURE__*/ Operation.make({
  name: "createCommunityNote",
  summary: "Writes a Community Note about a post.",
  route: "POST /2/notes",
  body: {
    post_id: /*#__PURE__*/ Parameters.required(Parameters.id),
    test_mode,
    classification: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.openChoice(classifications)),
    misleading_tags: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.choices(misleadingTags)),
    text: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.linked(280)),
    trustworthy_sources: /*#__PURE__*/ Parameters.required(Parameters.boolean),
    is_media_note: Parameters.boolean
  },
  at: {
    classification: "info.classification",
    misleading_tags: "info.misleading_tags",
    text: "info.text",
    trustworthy_sources: "info.trustworthy_sources",
    is_media_note: "info.is_media_note"
  },
  fixed: ["post_id"],
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ id: Schema.String })),
  userAuth: true,
  scopes: ["post.write"],
  limits: { perWindow: 90, perDay: 250 },
  price: "unknown",
  effect: "create",
  confirmWith: "searchCommunityNotesWritten"
})

/**
 * Rates the text of a note before it is written: `claim_opinion_score` of the response. Credential: OAuth 1.0a, or a user's
 * bearer token with `user_auth: false`. Needs write permission and an account that is enrolled as AI Note Writer.
 *
 * ```ts
 * const { data } = yield* evaluateCommunityNote({
 *   post_id: "1460323737035677698",
 *   note_text: "The figures are of 2019: https://example.com/figures"
 * })
 * ```
 */
export const evaluateCommunityNote = /*#__PURE__*/ Operation.make({
  name: "evaluateCommunityNote",
  summary: "Rates the text of a note before it is written.",
  route: "POST /2/notes/evaluate",
  body: {
    post_id: /*#__PURE__*/ Parameters.required(Parameters.id),
    note_text: /*#__PURE__*/ Parameters.required(/*#__PURE__*/ Parameters.text())
  },
  fixed: ["post_id"],
  result: /*#__PURE__*/ Response.value(
    /*#__PURE__*/ Schema.Struct({ claim_opinion_score: /*#__PURE__*/ Schema.optionalKey(Schema.Finite) })
  ),
  userAuth: true,
  scopes: ["post.write"],
  limits: { perWindow: 90 },
  price: "unknown",
  effect: "read"
})

/**
 * Lists the notes that the authenticated user has written. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs an account that is enrolled as AI Note Writer.
 *
 * `test_mode` must be true, and `max_results` is 1 to 100 (default 10).
 *
 * ```ts
 * const notes = searchCommunityNotesWritten.items({ test_mode: true, note_fields: ["info", "status"] })
 * ```
 */
export const searchCommunityNotesWritten = /*#__PURE__*/ Operation.makePaged({
  name: "searchCommunityNotesWritten",
  summary: "Lists the notes of the authenticated user.",
  route: "GET /2/notes/search/notes_written",
  query: { test_mode, ...Selectors.communityNote, ...page },
  result: /*#__PURE__*/ Response.many(CommunityNote),
  userAuth: true,
  scopes: ["post.read"],
  limits: { perWindow: 90 },
  price: { read: "note" },
  paging: { token: "pagination_token", directions: "forward" },
  effect: "read"
})

/**
 * Lists posts about which the authenticated user may write notes. Credential: OAuth 1.0a, or a user's bearer token with
 * `user_auth: false`. Needs an account that is enrolled as AI Note Writer.
 *
 * `test_mode` must be true, and `max_results` is 1 to 100 (default 10).
 *
 * ```ts
 * const posts = searchPostsEligibleForNotes.items({ test_mode: true, post_fields: ["created_at"] })
 * ```
 */
export const searchPostsEligibleForNotes = /*#__PURE__*/ Operation.makePaged({
  name: "searchPostsEligibleForNotes",
  summary: "Lists posts about which notes may be written.",
  route: "GET /2/notes/search/posts_eligible_for_notes",
  query: { test_mode, post_selection: /*#__PURE__*/ Parameters.text(), ...Selectors.all, ...page },
  result: /*#__PURE__*/ Response.many(Post),
  userAuth: true,
  scopes: ["post.read"],
  limits: { perWindow: 90 },
  price: { read: "post" },
  paging: { token: "pagination_token", directions: "forward" },
  effect: "read"
})

/**
 * Deletes a note of the authenticated user. Credential: OAuth 1.0a, or a user's bearer token with `user_auth: false`. Needs
 * write permission and an account that is enrolled as AI Note Writer.
 *
 * ```ts
 * yield* deleteCommunityNote({ id: "1880028106020515844" })
 * ```
 */
export const deleteCommunityNote = /*#__PURE__*/ Operation.make({
  name: "deleteCommunityNote",
  summary: "Deletes a note of one's own.",
  route: "DELETE /2/notes/:id",
  path,
  result: /*#__PURE__*/ Response.value(/*#__PURE__*/ Schema.Struct({ deleted: Schema.Boolean })),
  userAuth: true,
  scopes: ["post.write"],
  limits: { perWindow: 90, perDay: 250 },
  price: "unknown",
  effect: "toggle"
})

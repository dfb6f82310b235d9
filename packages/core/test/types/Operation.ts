// Type tests of the operations: this file compiles, or inference has weakened.
import type { Client } from "@postwire/core/client/Client"
import type * as Errors from "@postwire/core/errors/Errors"
import { getBookmarks } from "@postwire/core/operations/Bookmarks"
import { getRecentPostsCount } from "@postwire/core/operations/Counts"
import {
  createDirectMessage,
  createDirectMessageConversation,
  getDirectMessageEvents
} from "@postwire/core/operations/DirectMessages"
import {
  appendMediaUpload,
  createMediaMetadata,
  type deleteMediaSubtitles,
  finalizeMediaUpload,
  getMediaByKey,
  type getMediaUploadStatus,
  initializeMediaUpload,
  uploadMedia
} from "@postwire/core/operations/Media"
import { createPost, getPost, getPosts } from "@postwire/core/operations/Posts"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getSpaces, searchSpaces } from "@postwire/core/operations/Spaces"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import { getMe, getUser, getUsers } from "@postwire/core/operations/Users"
import type { Meant } from "@postwire/core/schema/ForeignNames"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined
type Success<T> = T extends Effect.Effect<infer A, infer _E, infer _R> ? A : never
type Failure<T> = T extends Effect.Effect<infer _A, infer E, infer _R> ? E : never
type Data<T> = NonNullable<Success<T> extends { readonly data: infer D } ? D : never>

// What was asked for is there.
const selected = getPost({
  id: "1",
  post_fields: ["created_at", "attachments"],
  expansions: ["author_id"],
  user_fields: ["verified"]
})
declare const one: Success<typeof selected>
export const createdAt: string = one.data!.created_at
export const text: string = one.data!.text
export const keys: ReadonlyArray<string> | undefined = one.data!.attachments?.media_keys
export const verified: boolean | undefined = one.includes.users?.[0]?.verified
// @ts-expect-error not asked for
one.data!.lang
// @ts-expect-error not expanded
one.includes.media

// Nothing asked for, nothing but the defaults.
const plain = getPost({ id: 1n })
assertType<Equal<keyof Data<typeof plain>, "id" | "text" | "edit_history_post_ids">>()
assertType<Equal<Success<typeof plain>["includes"], {}>>()

// Comma-separated literals are lists.
const csv = getPost({ id: 1, post_fields: "created_at,lang" })
export const lang: string = (null as unknown as Data<typeof csv>).lang

// A selection that is not one fixed list promises nothing beyond the defaults: each of these once read `undefined` as text.
declare const either: boolean
const union = getPost({ id: "1", post_fields: either ? ["created_at", "lang"] : ["lang"] })
assertType<Equal<Data<typeof union>["created_at"], string | undefined>>()
assertType<Equal<Data<typeof union>["lang"], string | undefined>>()
assertType<Equal<Data<typeof union>["text"], string>>()
declare const array: ReadonlyArray<"created_at" | "lang">
const dynamic = getPost({ id: "1", post_fields: array })
assertType<Equal<Data<typeof dynamic>["created_at"], string | undefined>>()
assertType<Equal<keyof Data<typeof dynamic>, "id" | "text" | "edit_history_post_ids" | "created_at" | "lang">>()
const absent = getPost({ id: "1", post_fields: either ? ["created_at"] : undefined })
assertType<Equal<Data<typeof absent>["created_at"], string | undefined>>()
const spreading = getPost({ id: "1", post_fields: ["lang", ...(either ? ["created_at"] as const : [])] })
assertType<Equal<Data<typeof spreading>["created_at"], string | undefined>>()
const chosen = getPost({ id: "1", post_fields: ["lang", either ? "created_at" : "source"] })
assertType<Equal<Data<typeof chosen>["created_at"], string | undefined>>()
assertType<Equal<Data<typeof chosen>["lang"], string>>()
const texts = getPost({ id: "1", post_fields: either ? "created_at" : "lang" })
assertType<Equal<Data<typeof texts>["created_at"], string | undefined>>()
declare const optional: { readonly id: string; readonly post_fields?: readonly ["lang"] }
const inherited = getPost(optional)
// @ts-expect-error it may not have been asked for
export const inheritedLang: string = (null as unknown as Data<typeof inherited>).lang
declare const userFields: ReadonlyArray<"verified">
const some = getPost({ id: "1", expansions: either ? ["author_id"] : undefined, user_fields: userFields })
export const includedVerified: boolean | undefined = (null as unknown as Success<typeof some>).includes.users?.[0]
  ?.verified
// @ts-expect-error it may not have been asked for
export const certain: boolean = (null as unknown as Success<typeof some>).includes.users![0]!.verified

// Of a function that is given the names, the result is that of the names.
const asking = <const Names extends ReadonlyArray<"created_at" | "lang">>(post_fields: Names) =>
  searchRecentPosts.items({ query: "a", post_fields })
const asked = asking(["created_at"])
export const askedAt: string = (null as unknown as ItemOf<typeof asked>).created_at
// @ts-expect-error not asked for
export const askedLang = (null as unknown as ItemOf<typeof asked>).lang
const adding = <const Names extends ReadonlyArray<"created_at">>(names: Names) =>
  getPost({ id: "1", post_fields: [...names, "lang"] })
const added = adding(["created_at"])
export const addedAt: string = (null as unknown as Data<typeof added>).created_at
const naming = <const Name extends "created_at" | "lang">(post_fields: Name) => getPost({ id: "1", post_fields })
const named = naming("lang")
export const namedLang: string = (null as unknown as Data<typeof named>).lang

// A name that no list has is passed on purpose, and is there or not.
const unlisted = getPost({ id: "1", post_fields: ["lang", { unlisted: "brand_new" }] })
assertType<Equal<Data<typeof unlisted>["brand_new"], unknown>>()
assertType<Equal<Data<typeof unlisted>["lang"], string>>()
const unlistedExpansion = getPost({ id: "1", expansions: ["author_id", { unlisted: "brand.new" }] })
export const place = (null as unknown as Success<typeof unlistedExpansion>).includes.places?.[0]?.full_name
// @ts-expect-error misspelt
getPost({ id: "1", post_fields: ["lang", "public_metric"] })
// @ts-expect-error misspelt
getPost({ id: "1", post_fields: "createdat" })
// @ts-expect-error misspelt, first of two
getPost({ id: "1", post_fields: "createdat,lang" })
// @ts-expect-error misspelt, second of two
getPost({ id: "1", post_fields: "lang,createdat" })
// @ts-expect-error an expansion of users, second of two
getPost({ id: "1", expansions: "author_id,pinned_post_id" })
// @ts-expect-error an expansion of posts, second of two
getMe({ expansions: "pinned_post_id,author_id" })
// @ts-expect-error an expansion of users, in a run of pages
searchRecentPosts.items({ query: "a, b", expansions: "author_id,pinned_post_id" })
getMe({ expansions: "pinned_post_id,affiliation.user_id", post_fields: "lang,author_id" })
declare const more: string
getPost({ id: "1", expansions: `author_id,${more}` })
// @ts-expect-error a field that comes along and cannot be asked for
getPost({ id: "1", post_fields: ["username"] })
// @ts-expect-error posts have no pinned post
getPost({ id: "1", expansions: ["pinned_post_id"] })
// @ts-expect-error users have no author
getMe({ expansions: ["author_id"] })
// @ts-expect-error it may hold anything
getPost({ id: "1", post_fields: [] as Array<string> })
// @ts-expect-error it may be anything
getPost({ id: "1", post_fields: "lang" as string })
getPost({ id: "1", post_fields: [] })

// Parameters.
// @ts-expect-error id is required
getPost({})
// @ts-expect-error misspelt
getPost({ id: "1", post_field: ["lang"] })
// @ts-expect-error not a parameter
getPost({ id: "1", nope: 1 })
// The parameter itself is at fault, in calls that select nothing as well.
createPost({
  text: "hi",
  // @ts-expect-error the service's word for in_reply_to_post_id
  in_reply_to_tweet_id: "1"
})
createPost({
  text: "hi",
  // @ts-expect-error not a parameter
  nope: 1
})
getPost({
  id: "1",
  // @ts-expect-error the service's name for post_fields
  tweet_fields: ["lang"]
})
searchRecentPosts.items({
  query: "a",
  // @ts-expect-error a foreign name of max_results
  limit: 10
})
getUsersPosts({
  // @ts-expect-error a wrong value, not a wrong selection
  id: true
})
interface Query {
  readonly query: string
}
export const searching = (query: Query) => searchRecentPosts(query)

// The suggestions of the compiler are those of errors.
type Searching = "query" | "max_results" | "post_fields" | "user_fields" | "next_token" | "start_time"
assertType<
  Equal<Meant<"tweet_fields" | "tweet.fields" | "tweetFields" | "post_field" | "pots_fields", Searching>, "post_fields">
>()
assertType<Equal<Meant<"limit" | "count" | "maxResults" | "max_result", Searching>, "max_results">>()
assertType<Equal<Meant<"nextToken" | "nexttoken", Searching>, "next_token">>()
assertType<Equal<Meant<"in_reply_to_tweet_id" | "reply", "text" | "in_reply_to_post_id">, "in_reply_to_post_id">>()
assertType<Equal<Meant<"userId", "id" | "user_id">, "user_id">>()
assertType<Equal<Meant<"nope" | "x", Searching>, never>>()
const draft = { text: "hi", nope: 1 }
// @ts-expect-error not a parameter
createPost(draft)
// @ts-expect-error not a selector of getUser
getUser({ id: "1", media_fields: ["url"] })
// @ts-expect-error both
getUser({ id: "1", username: "ada" })
// @ts-expect-error neither
getUser({})
// @ts-expect-error both
getDirectMessageEvents({ dm_conversation_id: "1-2", participant_id: "2" })
// @ts-expect-error neither
createDirectMessage({ text: "hi" })
// @ts-expect-error a symbol is no id
getPost({ id: Symbol() })
getUser({ id: "1", username: undefined })
getDirectMessageEvents()
getMe()
getMe({ user_auth: false })
getPosts({ ids: ["1", 2, 3n] })
getPosts({ ids: "1,2" })
createPost({ text: "hi", reply_settings: "subscribers" })
// @ts-expect-error bookmarks have no user_auth
getBookmarks({ user_auth: true })

// @ts-expect-error both
getUsers({ ids: "1", usernames: "ada" })
// @ts-expect-error neither
getSpaces({ space_fields: ["title"] })
getSpaces({ user_ids: [1n, 2], space_fields: ["title"] })
// @ts-expect-error both
createDirectMessage({ dm_conversation_id: "1-2", participant_id: 2, text: "hi" })
// @ts-expect-error participants are required
createDirectMessageConversation({ text: "hi" })
// @ts-expect-error they are a list
createDirectMessageConversation({ participant_ids: "1,2", text: "hi" })

// Values are listed; where the service may have others, they are passed on purpose.
getRecentPostsCount({ query: "a", granularity: "day" })
// @ts-expect-error no such granularity
getRecentPostsCount({ query: "a", granularity: "week" })
// @ts-expect-error no such state
searchSpaces({ query: "a", state: "ended" })
getUsersPosts({ id: 1, exclude: "replies,retweets", expansions: [{ unlisted: "brand.new" }] })
searchRecentPosts({ query: "a", sort_order: { unlisted: "brand_new" } })
// @ts-expect-error misspelt
searchRecentPosts({ query: "a", sort_order: "relevance" })
getDirectMessageEvents({ event_types: ["MessageCreate", { unlisted: "BrandNew" }] })
// @ts-expect-error misspelt
getDirectMessageEvents({ event_types: ["MessageCreated"] })
// @ts-expect-error misspelt
getUsersPosts({ id: 1, exclude: ["reply"] })
// @ts-expect-error misspelt, second of two
getUsersPosts({ id: 1, exclude: "replies,reply" })
// @ts-expect-error misspelt, second of two
getDirectMessageEvents({ event_types: "MessageCreate,MessageCreated" })
getDirectMessageEvents({ participant_id: "2", event_types: "MessageCreate,ParticipantsJoin" })
getPosts({ ids: "1,2,3" })
createPost({ text: "commas, in, a, text", reply_settings: "following" })
// @ts-expect-error misspelt
createPost({ text: "hi", reply_settings: "followers" })

// Errors are exact.
assertType<Equal<Failure<typeof plain>, Errors.OperationError>>()
const byName = getUser({ username: "ada" })
assertType<Equal<Failure<typeof byName>, Errors.OperationError | Errors.ConflictingIdentifiers>>()
const created = createPost({ text: "hi" })
assertType<Equal<Failure<typeof created>, Errors.OperationError | Errors.OutcomeUnknown>>()
export const history: ReadonlyArray<string> | undefined =
  (null as unknown as Data<typeof created>).edit_history_post_ids
assertType<Equal<Pick<Data<typeof created>, "id" | "text">, { readonly id: string; readonly text: string }>>()

// Streams.
const items = searchRecentPosts.items({ query: "effect", post_fields: ["author_id"] })
type Item = typeof items extends Stream.Stream<infer A, infer _E, infer _R> ? A : never
export const author: string = (null as unknown as Item).author_id
assertType<
  Equal<
    typeof items extends Stream.Stream<infer _A, infer E, infer R> ? [E, R] : never,
    [Errors.OperationError | Errors.PaginationStuck, Client]
  >
>()
// @ts-expect-error misspelt
searchRecentPosts.items({ query: "effect", max_result: 10 })
// @ts-expect-error does not page
getPost.items
// @ts-expect-error does not page
getMe.pages

// Through items: comma-separated literals, and names known only at run time.
type ItemOf<T> = T extends Stream.Stream<infer A, infer _E, infer _R> ? A : never
const listed = searchRecentPosts.items({ query: "a", post_fields: "lang,source" })
export const itemLang: string = (null as unknown as ItemOf<typeof listed>).lang
declare const names: ReadonlyArray<"lang" | "source">
const anything = searchRecentPosts.items({ query: "a", post_fields: names })
assertType<Equal<ItemOf<typeof anything>["lang"], string | undefined>>()
assertType<Equal<ItemOf<typeof anything>["text"], string>>()
const brandNew = searchRecentPosts.items({ query: "a", post_fields: [{ unlisted: "brand_new" }] })
assertType<Equal<ItemOf<typeof brandNew>["brand_new"], unknown>>()

// Options of calls and of runs of pages.
getMe({}, { timeout: 1_000, retries: 0 })
// @ts-expect-error a call has no pages
getUsersPosts({ id: 1 }, { limit: 5 })
getUsersPosts.items({ id: 1 }, { limit: 5, prefetch: 1, direction: "backward" })
getUsersPosts.as("raw").pages({ id: 1 }, { direction: "backward" })
// @ts-expect-error searches go forward only
searchRecentPosts.items({ query: "a" }, { direction: "backward" })
// @ts-expect-error one page at most
searchRecentPosts.items({ query: "a" }, { prefetch: 2 })
// @ts-expect-error misspelt
searchRecentPosts.pages({ query: "a" }, { limmit: 5 })

// Bytes come in three forms, and their operations take nothing else for them.
declare const buffer: ArrayBuffer
uploadMedia({ media: new Uint8Array(3), media_category: "tweet_image" })
uploadMedia({ media: buffer, media_category: "dm_gif", additional_owners: [1n, "2"], user_auth: false })
appendMediaUpload({ id: 1n, segment_index: 0, media: new Blob([]) })
// @ts-expect-error a text is no bytes
appendMediaUpload({ id: 1n, segment_index: 0, media: "bytes" })
// @ts-expect-error neither are numbers
appendMediaUpload({ id: 1n, segment_index: 0, media: [1, 2] })
// @ts-expect-error required
uploadMedia({ media: buffer })
// @ts-expect-error not a category
uploadMedia({ media: buffer, media_category: "tweet_photo" })
initializeMediaUpload({ media_type: "video/mp4", total_bytes: 12, media_category: { unlisted: "tweet_hologram" } })
const uploading = finalizeMediaUpload({ id: "1" })
assertType<Equal<NonNullable<Data<typeof uploading>["processing_info"]>["check_after_secs"], number | undefined>>()
assertType<Equal<Failure<typeof uploading>, Errors.OperationError>>()
createMediaMetadata({ id: "1", alt_text: "A cat", sensitive_media_warning: { adult_content: true }, stickers: [{}] })
// @ts-expect-error an object
createMediaMetadata({ id: "1", audience_policy: "everyone" })
const looked = getMediaByKey({ media_key: "3_1", media_fields: ["url"] })
assertType<Equal<keyof Data<typeof looked>, "media_key" | "type" | "url">>()
assertType<Equal<Parameters<typeof getMediaUploadStatus>[0]["media_id"], string | number | bigint>>()
assertType<Equal<Data<ReturnType<typeof deleteMediaSubtitles>>, { readonly deleted: boolean }>>()

// Type tests of the return forms: each is known, for one, for many, for plain values and for pages.
import type { Client } from "@postwire/core/client/Client"
import type * as Errors from "@postwire/core/errors/Errors"
import { getAllPostsCount } from "@postwire/core/operations/Counts"
import { like } from "@postwire/core/operations/Likes"
import { createPost, getPost, getPosts } from "@postwire/core/operations/Posts"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getUser } from "@postwire/core/operations/Users"
import type { Dictionary, Response } from "@postwire/core/schema/Response"
import type * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type * as Stream from "effect/Stream"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined
type Success<T> = T extends Effect.Effect<infer A, infer _E, infer _R> ? A : never
type Element<T> = T extends Stream.Stream<infer A, infer _E, infer _R> ? A : never

interface Post {
  readonly id: string
  readonly text: string
  readonly edit_history_post_ids: ReadonlyArray<string>
}

// One.
const one = { id: "1", post_fields: ["lang"], expansions: ["author_id"] } as const
const dictionary = getPost.as("dictionary")(one)
declare const body: Success<typeof dictionary>
export const lang: string | undefined = body.data?.lang
export const username: string | undefined = body.includes?.users?.[0]?.username
// @ts-expect-error not asked for
body.data?.source
// @ts-expect-error a dictionary is plain
body.rateLimit
// @ts-expect-error a dictionary is plain
body.author
assertType<Equal<keyof typeof body, "data" | "includes" | "errors" | "meta">>()
const raw = getPost.as("raw")(one)
assertType<Equal<typeof raw, Effect.Effect<HttpClientResponse, Errors.OperationError, Client>>>()
const response = getPost.as("response")({ id: "1" })
assertType<Equal<Success<typeof response>, Response<Pick<Post, "id" | "text" | "edit_history_post_ids">, {}>>>()
// @ts-expect-error no such form
getPost.as("json")

// Forms keep what an operation takes and fails with.
// @ts-expect-error misspelt
getPost.as("raw")({ id: "1", post_field: ["lang"] })
// @ts-expect-error both
getUser.as("dictionary")({ id: "1", username: "ada" })
const user = getUser.as("dictionary")({ id: "1" })
assertType<
  Equal<
    typeof user extends Effect.Effect<infer _A, infer E, infer _R> ? E : never,
    Errors.OperationError | Errors.ConflictingIdentifiers
  >
>()
const created = createPost.as("raw")({ text: "a" })
assertType<
  Equal<typeof created, Effect.Effect<HttpClientResponse, Errors.OperationError | Errors.OutcomeUnknown, Client>>
>()

// A form of a form is the last one.
const again = getPost.as("raw").as("response")
assertType<Equal<typeof again, ReturnType<typeof getPost.as<"response">>>>()

// A form known only at run time is any of them.
declare const form: "dictionary" | "raw"
const either = getPost.as(form)({ id: "1" })
export const some: HttpClientResponse | Dictionary<Post> = null as unknown as Success<typeof either>

// Many.
const many = getPosts.as("dictionary")({ ids: "1,2", post_fields: "lang,created_at" })
export const createdAt: string | undefined = (null as unknown as Success<typeof many>).data?.[0]?.created_at

// Plain values.
const toggled = like.as("dictionary")({ post_id: "1" })
assertType<Equal<Success<typeof toggled>, Dictionary<{ readonly liked?: boolean }, {}>>>()
const plain = createPost.as("dictionary")({ text: "a" })
interface Created {
  readonly id: string
  readonly text: string
  readonly edit_history_post_ids?: ReadonlyArray<string>
}
assertType<Equal<Success<typeof plain>, Dictionary<Pick<Created, keyof Created>, {}>>>()

// Pages come in the form; items and joined items do not depend on it.
const query = { query: "a", post_fields: ["lang"], expansions: ["author_id"] } as const
const pages = searchRecentPosts.as("dictionary").pages(query)
export const first: string | undefined = (null as unknown as Element<typeof pages>).data?.[0]?.lang
const raws = searchRecentPosts.as("raw").pages(query)
assertType<Equal<Element<typeof raws>, HttpClientResponse>>()
const items = searchRecentPosts.items(query)
const itemsOfRaw = searchRecentPosts.as("raw").items(query)
assertType<Equal<typeof itemsOfRaw, typeof items>>()
const joined = searchRecentPosts.joined(query)
const joinedOfRaw = searchRecentPosts.as("raw").joined(query)
assertType<Equal<typeof joinedOfRaw, typeof joined>>()
export const author: string | undefined = (null as unknown as Element<typeof joined>).author?.username
const counts = getAllPostsCount.as("raw").items({ query: "a" })
assertType<
  Equal<Element<typeof counts>, { readonly start: string; readonly end: string; readonly post_count: number }>
>()
// @ts-expect-error counts have no selectors
getAllPostsCount.items({ query: "a", post_fields: ["lang"] })

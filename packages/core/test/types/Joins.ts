// Type tests of the joins: what was expanded is known, with the fields that were asked for, and nothing else is.
import { getDirectMessageEvents } from "@postwire/core/operations/DirectMessages"
import { getPost } from "@postwire/core/operations/Posts"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getMe } from "@postwire/core/operations/Users"
import type { Joined } from "@postwire/core/schema/Joins"
import type { Response } from "@postwire/core/schema/Response"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined
type Success<T> = T extends Effect.Effect<infer A, infer _E, infer _R> ? A : never
type Element<T> = T extends Stream.Stream<infer A, infer _E, infer _R> ? A : never

const all = searchRecentPosts({
  query: "a",
  expansions: ["author_id", "referenced_posts.id", "attachments.media_keys", "attachments.poll_ids", "geo.place_id"],
  post_fields: ["lang"],
  user_fields: ["verified"],
  media_fields: ["alt_text"]
})
declare const response: Success<typeof all>
const post = response.data![0]!
export const verified: boolean | undefined = response.author(post)?.verified
// @ts-expect-error the author may be missing
response.author(post).verified
// @ts-expect-error not asked for
response.author(post)?.description
const [referenced] = response.referenced(post)
export const type: string | undefined = referenced?.type
export const lang: string | undefined = referenced?.post?.lang
export const altText: string | undefined = response.media(post)[0]?.alt_text
export const options: number | undefined = response.poll(post)?.options.length
export const place: string | undefined = response.place(post)?.full_name
export const pinned: string | undefined = response.pinned(post)?.text

// Where nothing brings it, nothing is known of it.
const bare = getPost({ id: "1", expansions: ["author_id"] })
declare const one: Success<typeof bare>
assertType<Equal<ReturnType<typeof one.poll>, unknown>>()
assertType<Equal<(typeof one extends Response<infer _D, infer I> ? keyof I : never), "users">>()
// @ts-expect-error places were not expanded
one.place(one.data!)?.full_name
// @ts-expect-error posts were not expanded
one.pinned(one.data!)?.text
const none = getPost({ id: "1" })
declare const nothing: Success<typeof none>
// @ts-expect-error nothing was expanded
nothing.author(nothing.data!)?.username

// Items with their joins: of a page, of pages, of one resource.
const [first] = response.joined()
export const name: string | undefined = first?.author?.name
export const text: string | undefined = first?.item.text
const stream = searchRecentPosts.joined({ query: "a", expansions: "author_id", post_fields: ["created_at"] })
declare const joined: Element<typeof stream>
export const createdAt: string = joined.item.created_at
export const username: string | undefined = joined.author?.username
// @ts-expect-error not asked for
joined.item.lang
// @ts-expect-error not expanded
joined.place?.full_name
const me = getMe({ expansions: ["pinned_post_id"] })
export const pinnedText: string | undefined = (null as unknown as Success<typeof me>).joined()[0]?.pinned?.text
const events = getDirectMessageEvents({ expansions: ["sender_id"] })
export const sender: string | undefined = (null as unknown as Success<typeof events>).joined()[0]?.author?.username
// @ts-expect-error one resource has no stream of joined items
getPost.joined

// More can stand where less is expected.
export const less: Response<unknown, unknown> = response
export const plain: Response<{ readonly id: string }, {}> = one
export const item: Joined<{ readonly id: string }, unknown> = joined

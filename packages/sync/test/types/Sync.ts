// Type tests of the blocking client: this file compiles, or inference has weakened.
import type { Dictionary } from "@postwire/core/schema/Response"
import {
  createClientSync,
  fromEnvironment,
  type PostwireClientSync,
  type RawResponse,
  type Settings
} from "../../src/index.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined
type Element<T> = T extends Iterable<infer A> ? A : never

// The form is that of returnType, and the response where there is none.
const baseUrl = "https://service.test"
const client = createClientSync({ baseUrl })
assertType<Equal<typeof client, PostwireClientSync>>()
const fromVariables = createClientSync(fromEnvironment({}))
assertType<Equal<typeof fromVariables, PostwireClientSync>>()
declare const settings: Settings
const fromSettings = createClientSync({ ...settings, timeout: 1000 })
assertType<Equal<typeof fromSettings, PostwireClientSync>>()
const raw = createClientSync({ baseUrl, returnType: "raw" })
assertType<Equal<typeof raw, PostwireClientSync<"raw">>>()
const dictionary = raw.as("dictionary")
assertType<Equal<typeof dictionary, PostwireClientSync<"dictionary">>>()
// @ts-expect-error no such form
createClientSync({ baseUrl, returnType: "json" })
// @ts-expect-error raw is not chosen
createClientSync<"raw">()
// @ts-expect-error raw is not chosen
createClientSync<"raw">({ baseUrl })
createClientSync<"raw">({ baseUrl, returnType: "raw" })

// Results have the selected fields.
const selected = { id: "1", post_fields: ["created_at"], expansions: ["author_id"], user_fields: ["verified"] } as const
const one = client.getPost(selected)
export const createdAt: string | undefined = one.data?.created_at
export const verified: boolean | undefined = one.author(one.data!)?.verified
// @ts-expect-error not selected
one.data?.lang
// @ts-expect-error not expanded
one.includes.media
export const same: string | undefined = dictionary.getPost(selected).data?.created_at
const response = raw.getPost(selected)
assertType<Equal<typeof response, RawResponse>>()
const liked = dictionary.like({ post_id: "1" })
assertType<Equal<typeof liked, Dictionary<{ readonly liked?: boolean }, {}>>>()
export const lang: string | undefined = client.getPosts({ ids: "1", post_fields: "lang,source" }).data?.[0]?.lang

// Through iterables.
// @ts-expect-error misspelt
client.getPosts({ ids: "1", post_fields: ["public_metric"] })
client.getPosts({ ids: "1", post_fields: ["lang", { unlisted: "brand_new" }] })
const search = { query: "a", post_fields: ["lang"], expansions: ["author_id"] } as const
for (const item of raw.searchRecentPosts.items(search)) {
  const lang: string = item.lang
  // @ts-expect-error not selected
  void [lang, item.source]
}
for (const { author, item } of dictionary.searchRecentPosts.joined(search)) {
  const username: string | undefined = author?.username
  void [username, item.lang]
}
const pages = raw.searchRecentPosts.pages(search)
assertType<Equal<Element<typeof pages>, RawResponse>>()

// Streams.
for (const item of client.streamPosts({ post_fields: ["lang"], expansions: ["author_id"] }, { tags: ["a"] })) {
  const lang: string = item.post.lang
  const username: string | undefined = item.joined().author?.username
  // @ts-expect-error not selected
  void [lang, username, item.post.source]
}
for (const line of raw.streamPosts({ post_fields: ["lang"] })) {
  const lang: string = line.data.lang
  void [lang, line.matching_rules]
}
for (const event of client.streamLikesFirehose.events({ partition: 20 })) {
  const id: string | undefined = event._tag === "Delivered" ? event.item.event.id : undefined
  void id
}
// @ts-expect-error which part?
client.streamLikesFirehose({})

// Parameters.
// @ts-expect-error misspelt
client.getPost({ id: "1", post_field: ["lang"] })
// @ts-expect-error misspelt
client.searchRecentPosts.joined({ query: "a", max_result: 10 })
// @ts-expect-error required
client.getPost()
// @ts-expect-error both
client.getUser({ id: "1", username: "ada" })
// @ts-expect-error neither
client.createDm({ text: "a" })
// @ts-expect-error does not page
client.getPost.items
// @ts-expect-error there is no signal
client.getMe({}, { signal: new AbortController().signal })
client.getMe({}, { timeout: 1000 })

// Options of calls and of runs of pages.
client.getMe({}, { timeout: 1_000, retries: 0 })
client.getMe({}, { timeout: { firstByte: 1_000, idle: 0, total: 5_000 } })
// @ts-expect-error connections serve many calls
client.getMe({}, { timeout: { connect: 1_000 } })
// @ts-expect-error a call has no pages
client.getUsersPosts({ id: 1 }, { limit: 5 })
client.getUsersPosts.items({ id: 1 }, { limit: 5, prefetch: 1, direction: "backward", timeout: 1_000 })
client.getUsersPosts.pages({ id: 1 }, { direction: "forward" })
client.getUsersPosts.joined({ id: 1 }, { limit: 5 })
// @ts-expect-error one page at most
client.getUsersPosts.items({ id: 1 }, { prefetch: 2 })
// @ts-expect-error searches go forward only
client.searchRecentPosts.items({ query: "a" }, { direction: "backward" })
// @ts-expect-error misspelt
client.searchRecentPosts.items({ query: "a" }, { limmit: 5 })
// @ts-expect-error nothing runs that could abort it
client.getMe({}, { signal: new AbortController().signal })

// A request to any path, in every form.
const anything = client.request({ method: "GET", path: "/2/widgets/1" })
assertType<Equal<typeof anything.data, unknown>>()
const rawWidget = client.as("raw").request({ method: "GET", path: "/2/widgets/1" }, { timeout: 1 })
assertType<Equal<typeof rawWidget, RawResponse>>()

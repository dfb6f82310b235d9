// Type tests of the Promise client: this file compiles, or inference has weakened.
import type { Joined } from "@postwire/core/schema/Joins"
import type { Dictionary } from "@postwire/core/schema/Response"
import { Schema } from "effect"
import {
  createClient,
  type Form,
  fromEnvironment,
  type InvalidSettings,
  type PostwireClient,
  type Settings
} from "../../src/index.ts"
import type { layer as layerOf } from "../../src/NodeClient.ts"
import { fromLayer, type PromiseClient, type WithEffect } from "../../src/PromiseClient.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined
type Element<T> = T extends AsyncIterable<infer A> ? A : never

// The form is that of returnType, and the response where there is none.
const baseUrl = "https://service.test"
const client = createClient({ baseUrl })
assertType<Equal<typeof client, PostwireClient>>()
const fromNothing = createClient()
assertType<Equal<typeof fromNothing, PostwireClient>>()
const fromVariables = createClient(fromEnvironment({}))
assertType<Equal<typeof fromVariables, PostwireClient>>()
const withMore = createClient({ ...fromEnvironment({}), wire: "x" })
assertType<Equal<typeof withMore, PostwireClient>>()
declare const settings: Settings
const fromSettings = createClient(settings)
assertType<Equal<typeof fromSettings, PostwireClient>>()
const raw = createClient({ ...fromEnvironment({}), returnType: "raw" })
assertType<Equal<typeof raw, PostwireClient<"raw">>>()
const dictionary = createClient({ baseUrl, returnType: "dictionary" })
assertType<Equal<typeof dictionary, PostwireClient<"dictionary">>>()
declare const anyForm: Settings<Form>
const any = createClient(anyForm)
assertType<Equal<typeof any, PostwireClient<Form>>>()
// @ts-expect-error no such form
createClient({ baseUrl, returnType: "json" })
// @ts-expect-error no such check
createClient({ baseUrl, checks: "none" })
// @ts-expect-error no such level
createClient({ baseUrl, accessLevel: "basic" })
createClient({ baseUrl, checks: "identifiers", accessLevel: "standard" })

// A form is a setting, not only a type.
// @ts-expect-error raw is not chosen
createClient<"raw">()
// @ts-expect-error raw is not chosen
createClient<"raw">({ baseUrl })
// @ts-expect-error neither is chosen
createClient<"raw" | "dictionary">({ baseUrl })
createClient<"raw">({ baseUrl, returnType: "raw" })
createClient<"response">({ baseUrl })
createClient(undefined)
declare const layer: ReturnType<typeof layerOf>
const ofLayer = fromLayer(layer)
assertType<Equal<typeof ofLayer, Promise<PromiseClient<"response", WithEffect>>>>()
const rawOfLayer = fromLayer(layer, { returnType: "raw" })
assertType<Equal<typeof rawOfLayer, Promise<PromiseClient<"raw", WithEffect>>>>()
// @ts-expect-error raw is not chosen
fromLayer<InvalidSettings, "raw">(layer)
// @ts-expect-error raw is not chosen
fromLayer<InvalidSettings, "raw">(layer, {})

// Views.
const view = client.as("raw")
assertType<Equal<typeof view, PostwireClient<"raw">>>()
const back = view.as("response")
assertType<Equal<typeof back, PostwireClient>>()
// @ts-expect-error no such form
client.as("json")

// Results know what was asked for.
const selected = { id: "1", post_fields: ["created_at"], expansions: ["author_id"], user_fields: ["verified"] } as const
const one = await client.getPost(selected)
export const createdAt: string | undefined = one.data?.created_at
export const verified: boolean | undefined = one.includes.users?.[0]?.verified
export const author: boolean | undefined = one.author(one.data!)?.verified
// @ts-expect-error not asked for
one.data?.lang
// @ts-expect-error not expanded
one.includes.media
const plain = await dictionary.getPost(selected)
export const same: string | undefined = plain.data?.created_at
// @ts-expect-error a dictionary is plain
plain.author
const response = await raw.getPost(selected)
assertType<Equal<typeof response, globalThis.Response>>()
const liked = await dictionary.like({ post_id: "1" })
assertType<Equal<typeof liked, Dictionary<{ readonly liked?: boolean }, {}>>>()

// Comma-separated literals are lists; names that are chosen at run time make their fields optional.
const csv = await client.getPosts({ ids: [1, "2", 3n], post_fields: "lang,source" })
export const lang: string | undefined = csv.data?.[0]?.lang
declare const names: ReadonlyArray<"created_at">
const dynamic = await client.getPosts({ ids: "1", post_fields: names })
assertType<Equal<NonNullable<typeof dynamic.data>[number]["created_at"], string | undefined>>()
assertType<Equal<NonNullable<typeof dynamic.data>[number]["text"], string>>()

// Through iterables.
const search = { query: "a", post_fields: ["lang"], expansions: ["author_id"] } as const
const items = client.searchRecentPosts.items(search)
export const itemLang: string = (null as unknown as Element<typeof items>).lang // @ts-expect-error not asked for
;(null as unknown as Element<typeof items>).source
const joined = raw.searchRecentPosts.joined(search)
declare const join: Element<typeof joined>
export const joinedLang: string = join.item.lang
export const username: string | undefined = join.author?.username
export const less: Joined<{ readonly id: string }, unknown> = join
const pages = raw.searchRecentPosts.pages(search)
assertType<Equal<Element<typeof pages>, globalThis.Response>>()
const dictionaries = dictionary.searchRecentPosts.pages(search)
export const pageLang: string | undefined = (null as unknown as Element<typeof dictionaries>).data?.[0]?.lang

// Streams.
const followed = { post_fields: ["lang"], expansions: ["author_id"] } as const
const stream = client.streamPosts(followed)
declare const item: Element<typeof stream>
export const streamedLang: string = item.post.lang
export const streamedAuthor: string | undefined = item.joined().author?.username
export const ruleTag: string | undefined = item.matchingRules[0]?.tag
// @ts-expect-error not asked for
item.post.source
// @ts-expect-error not expanded
item.includes.media
// @ts-expect-error posts are no events
item.event
const streamOfLines = dictionary.streamPosts(followed)
export const lineLang: string = (null as unknown as Element<typeof streamOfLines>).data.lang
const streamOfRaw = raw.streamPosts(followed)
assertType<Equal<typeof streamOfRaw, typeof streamOfLines>>()
const happening = client.streamPosts.events(followed, { signal: new AbortController().signal })
declare const event: Element<typeof happening>
// @ts-expect-error not every event is a delivery
event.item
export const eventLang: string | undefined = event._tag === "Delivered" ? event.item.post.lang : undefined
export const missedFrom: Date | undefined = event._tag === "Gap" ? event.from : undefined
client.streamPostsFirehose({ partition: 1 }, { recover: "recovery", slowConsumer: "dropOldest" })
// @ts-expect-error which part?
client.streamPostsFirehose({})
// @ts-expect-error which part?
client.streamPostsFirehose()
// @ts-expect-error no such policy
client.streamPosts({}, { slowConsumer: "wait" })
// @ts-expect-error misspelt
client.streamPosts({ post_field: ["lang"] })
const compliance = client.streamPostsCompliance({ partition: 1 })
declare const happened: Element<typeof compliance>
export const deleted: string | undefined = happened.event.delete?.post.id
// @ts-expect-error events are no posts
happened.post
// @ts-expect-error a stream is no promise
client.streamPosts().then

// Parameters.
// @ts-expect-error misspelt
client.getPost({ id: "1", post_field: ["lang"] })
// @ts-expect-error misspelt
raw.searchRecentPosts.items({ query: "a", max_result: 10 })
// @ts-expect-error required
client.getPost()
// @ts-expect-error required
client.searchRecentPosts.items({})
// @ts-expect-error both
client.getUser({ id: "1", username: "ada" })
// @ts-expect-error neither
client.getUsers({})
// @ts-expect-error both
client.getSpaces({ ids: "1", user_ids: "2" })
// @ts-expect-error both
client.createDm({ participant_id: 1, dm_conversation_id: "1-2", text: "a" })
// @ts-expect-error not one of them
client.getRecentPostsCount({ query: "a", granularity: "week" })
// @ts-expect-error not one of them
client.searchSpaces({ query: "a", state: "ended" })
// @ts-expect-error spaces have no user_auth
client.searchSpaces({ query: "a", user_auth: true })
client.createPost({ text: "a", reply_settings: "subscribers" })
client.getUsersPosts({ id: 1, exclude: ["replies", { unlisted: "brand_new" }], start_time: new Date() })
// @ts-expect-error misspelt
client.getPost({ id: "1", post_fields: ["public_metric"] })
// @ts-expect-error misspelt, among others
client.getPost({ id: "1", post_fields: "lang,createdat" })
// @ts-expect-error users have no author
client.getMe({ expansions: ["author_id"] })
client.getDmEvents({}, { signal: new AbortController().signal })
client.getMe()
// @ts-expect-error no such option
client.getMe({}, { limit: 1 })
// @ts-expect-error does not page
client.getPost.items

// Options of calls and of runs of pages.
client.getMe({}, { timeout: 1_000, retries: 0, signal: new AbortController().signal })
client.getMe({}, { timeout: { firstByte: 1_000, idle: 0, total: 5_000 } })
// @ts-expect-error connections serve many calls
client.getMe({}, { timeout: { connect: 1_000 } })
// @ts-expect-error a call has no pages
client.getUsersPosts({ id: 1 }, { limit: 5 })
client.getUsersPosts.items({ id: 1 }, {
  limit: 5,
  prefetch: 1,
  direction: "backward",
  timeout: 1_000,
  signal: new AbortController().signal
})
client.getUsersPosts.pages({ id: 1 }, { direction: "forward" })
client.getUsersPosts.joined({ id: 1 }, { limit: 5 })
// @ts-expect-error one page at most
client.getUsersPosts.items({ id: 1 }, { prefetch: 2 })
// @ts-expect-error searches go forward only
client.searchRecentPosts.items({ query: "a" }, { direction: "backward" })
// @ts-expect-error misspelt
client.searchRecentPosts.items({ query: "a" }, { limmit: 5 })

// A request to any path, in every form.
const widget = Schema.Struct({ at: Schema.DateFromString })
const requested = client.request({ method: "GET", path: "/2/widgets/1", schema: widget })
export const widgetAt: Promise<Date | undefined> = requested.then(({ data }) => data?.at)
const rawWidget = client.as("raw").request({ method: "GET", path: "/2/widgets/1" }, { signal: AbortSignal.abort() })
export const rawStatus: Promise<number> = rawWidget.then(({ status }) => status)
// @ts-expect-error nothing is known without a schema
client.request({ method: "GET", path: "/2/widgets/1" }).then(({ data }) => data.at)

/** One line for each resource: facts of the service outside of fences, texts of people inside. */
import type { Kind } from "@postwire/core/schema/Model"
import * as Predicate from "effect/Predicate"
import * as Fence from "./Fence.ts"
import { sanitize } from "./Sanitize.ts"

/** The length of a line: `low` costs least and is shortest. */
export type Detail = "low" | "normal" | "full"

/** A resource as the service sent it. */
export type Item = Readonly<Record<string, unknown>>

/** The options of a line. */
export interface Options {
  readonly detail: Detail
  readonly now: number
  /** Tests whether texts of a user are shown. */
  readonly isTrusted: (user: Item | undefined) => boolean
}

/** The maximum of a text's characters. */
const longest: Readonly<Record<Detail, number>> = { low: 140, normal: 1_000, full: Infinity }

const member = (item: unknown, name: string): unknown =>
  typeof item === "object" && item !== null ? Reflect.get(item, name) : undefined

const ofText = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined

const facts = (...parts: ReadonlyArray<string | undefined>): string =>
  parts.filter((part) => part !== undefined && part !== "").join(" ")

/** The age of a time in short, or its day if that is more than a month ago. */
const age = (time: unknown, now: number): string | undefined => {
  const at = typeof time === "string" ? Date.parse(time) : NaN
  if (Number.isNaN(at)) return undefined
  const minutes = Math.max(0, Math.floor((now - at) / 60_000))
  return minutes < 60
    ? `${minutes}m`
    : minutes < 1_440
    ? `${Math.floor(minutes / 60)}h`
    : minutes < 43_200
    ? `${Math.floor(minutes / 1_440)}d`
    : new Date(at).toISOString().slice(0, 10)
}

/** Counts above 0, each with its noun. */
const counts = (metrics: unknown, nouns: Readonly<Record<string, string>>): string =>
  facts(
    ...Object.entries(nouns).map(([name, noun]) => {
      const count = member(metrics, name)
      return typeof count === "number" && count > 0 ? `${count} ${noun}` : undefined
    })
  )

const withheld = "(text withheld: its author is neither followed, listed nor verified)"

const postCounts = {
  normal: { like_count: "likes", reply_count: "replies" },
  full: {
    like_count: "likes",
    reply_count: "replies",
    repost_count: "reposts",
    quote_count: "quotes",
    bookmark_count: "bookmarks",
    impression_count: "views"
  }
}

const relations: Readonly<Record<string, string>> = { replied_to: "reply-to", quoted: "quotes", reposted: "reposts" }

const referencesOf = (item: Item): ReadonlyArray<unknown> => {
  const referenced = member(item, "referenced_posts")
  return Array.isArray(referenced) ? referenced : []
}

const references = (item: Item): string =>
  facts(
    ...referencesOf(item).map((one) =>
      `${relations[String(member(one, "type"))] ?? "refers-to"}:${Fence.id(member(one, "id"))}`
    )
  )

/** Tests whether the author of a post has only repeated the text of another user. */
const isRepost = (item: Item): boolean =>
  /^RT @\w{1,15}: /.test(String(item["text"])) || referencesOf(item).some((one) => member(one, "type") === "reposted")

const post = (item: Item, author: Item | undefined, { detail, isTrusted, now }: Options): string => {
  const authorId = ofText(item["author_id"])
  const username = author?.["username"]
  const text = ofText(member(item["note_post"], "text")) ?? ofText(item["text"]) ?? ""
  const [writer, writerId] = isRepost(item) ? [] : [author, authorId]
  return facts(
    username === undefined ? authorId && `by:${Fence.id(authorId)}` : Fence.handle(username),
    detail === "low" ? undefined : age(item["created_at"], now),
    detail === "low" ? undefined : counts(item["public_metrics"], postCounts[detail]),
    `id:${Fence.id(item["id"])}`,
    references(item),
    ...detail !== "full" ? [] : [
      ofText(item["conversation_id"]) && `thread:${Fence.id(item["conversation_id"])}`,
      ofText(item["lang"]) && `lang:${Fence.id(item["lang"])}`,
      ofText(item["created_at"]) && `at:${sanitize(String(item["created_at"])).slice(0, 24)}`,
      author?.["verified"] === true ? "verified" : undefined
    ],
    isTrusted(writer) ? Fence.fence(text, writerId, longest[detail]) : withheld
  )
}

const user = (item: Item, _: Item | undefined, { detail, isTrusted, now }: Options): string => {
  const id = ofText(item["id"])
  const fenced = (name: string) => {
    const text = ofText(item[name])
    return text && Fence.fence(text, id, longest[detail])
  }
  return facts(
    Fence.handle(item["username"]),
    `id:${Fence.id(id)}`,
    item["verified"] === true ? "verified" : undefined,
    item["protected"] === true ? "protected" : undefined,
    counts(item["public_metrics"], {
      followers_count: "followers",
      ...detail === "full" && { following_count: "following", post_count: "posts" }
    }),
    detail === "full" ? age(item["created_at"], now) : undefined,
    ...isTrusted(item)
      ? [
        fenced("name"),
        ...detail === "low" ? [] : [fenced("description")],
        ...detail === "full" ? [fenced("location")] : []
      ]
      : [withheld]
  )
}

const list = (item: Item, owner: Item | undefined, { detail, isTrusted }: Options): string => {
  const ownerId = ofText(item["owner_id"])
  const texts = [item["name"], ...detail === "low" ? [] : [item["description"]]]
  return facts(
    `id:${Fence.id(item["id"])}`,
    owner === undefined ? ownerId && `by:${Fence.id(ownerId)}` : Fence.handle(owner["username"]),
    item["private"] === true ? "private" : undefined,
    counts(item, { member_count: "members", follower_count: "followers" }),
    ...isTrusted(owner)
      ? texts.map((text) => ofText(text) && Fence.fence(String(text), ownerId, longest[detail]))
      : [withheld]
  )
}

const message = (item: Item, sender: Item | undefined, { detail, isTrusted, now }: Options): string => {
  const senderId = ofText(item["sender_id"])
  const text = ofText(item["text"])
  return facts(
    sender === undefined ? senderId && `by:${Fence.id(senderId)}` : Fence.handle(sender["username"]),
    age(item["created_at"], now),
    `id:${Fence.id(item["id"])}`,
    ofText(item["dm_conversation_id"]) && `conversation:${Fence.id(item["dm_conversation_id"])}`,
    item["event_type"] === "MessageCreate" ? undefined : Fence.id(item["event_type"]),
    text && (isTrusted(sender) ? Fence.fence(text, senderId, longest[detail]) : withheld)
  )
}

/** A story. Its texts are neither of a person nor of the service's own facts. */
const news = (item: Item, _: Item | undefined, { detail, isTrusted, now }: Options): string => {
  const cluster = item["cluster_posts_results"]
  const posts = (Array.isArray(cluster) ? cluster : []).slice(0, mostPosts).map((one) =>
    Fence.id(member(one, "post_id"))
  )
  const texts = [item["name"], item["hook"], item["summary"], item["disclaimer"]]
  return facts(
    `id:${Fence.id(item["id"])}`,
    age(item["updated_at"], now),
    posts.length === 0 ? undefined : `posts:${posts.join(",")}`,
    ofText(item["category"]) && Fence.fence(String(item["category"]), undefined, 64),
    "written by a model:",
    ...isTrusted(undefined)
      ? texts.map((text) => ofText(text) && Fence.fence(String(text), undefined, longest[detail]))
      : ["(text withheld: no trusted user has written it)"]
  )
}

/** The number of posts of a story that a line names. */
const mostPosts = 5

/** Members whose values are facts of the service, if they look like that. */
const isFact = (name: string, value: string): boolean =>
  /^\d{1,20}$/.test(value) ||
  /(^|_)(id|ids|key|keys|at|type|status|url_status|start|end|lang|scope|state)$/.test(name) &&
    /^[\w:.+-]{0,64}$/.test(value)

/** Members with the secrets of a user's encrypted chats. */
const isSecret = (name: string): boolean => name === "juicebox_config" || name === "conversation_token"

/** Any value as JSON with fenced texts. */
const json = (value: unknown, name: string, author: string | undefined, options: Options): unknown =>
  isSecret(name)
    ? "(withheld: a secret)"
    : typeof value === "string"
    ? isFact(name, value)
      ? value
      : options.isTrusted(undefined)
      ? Fence.fence(value, author, longest[options.detail])
      : withheld
    : Array.isArray(value)
    ? value.map((one) => json(one, name, author, options))
    : Predicate.isObject(value)
    ? Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        /^\w{1,64}$/.test(key) ? key : Fence.fence(key, undefined, 64),
        json(one, key, ofText(member(value, "author_id")) ?? author, options)
      ])
    )
    : value

const renderers: { readonly [K in Kind]?: (item: Item, author: Item | undefined, options: Options) => string } = {
  post,
  user,
  list,
  dm_event: message,
  news
}

/** The line of a resource. A kind without a form of its own is JSON. */
export const of = (
  kind: Kind | undefined,
  item: unknown,
  author: Item | undefined,
  options: Options
): string => {
  const render = kind === undefined ? undefined : renderers[kind]
  return render !== undefined && Predicate.isObject(item)
    ? render({ ...item }, author, options)
    : JSON.stringify(json(item, "", undefined, options))
}

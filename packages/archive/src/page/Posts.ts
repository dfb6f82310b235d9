/** Posts, messages and threads as HTML. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Copy from "../copy/Copy.ts"
import { exact } from "../look/Rows.ts"
import * as Search from "../look/Search.ts"
import * as Files from "./Files.ts"
import { figures, type Html, html, nothing, time } from "./Html.ts"

/** A page: its title, and what is below it. */
export interface View {
  readonly title: string
  readonly body: Html
}

/** Posts of one page. */
const limit = 50

/** A relation of a post, and the medium that it is to. */
interface Related {
  readonly from_id: string
  readonly kind: string
  readonly to_id: string
  readonly type: string | null
  readonly alt_text: string | null
  readonly width: number | null
  readonly height: number | null
  /** The type of its file, if a sync has fetched it. */
  readonly content_type: string | null
}

/** Relations of posts, and the posts that they quote, repost or reply to. */
const relatedOf = Effect.fnUntraced(function*({ sql }: Copy.Copy, ids: ReadonlyArray<string>) {
  const addressOf = yield* Files.Addresses
  if (ids.length === 0) return { addressOf, edges: [], posts: new Map<string, Search.Found>() }
  const edges = yield* exact(
    sql<Related>`SELECT e.from_id, e.kind, e.to_id, m.type, m.alt_text, m.width, m.height, f.content_type FROM edges e
      LEFT JOIN media m ON e.kind = 'media' AND m.media_key = e.to_id
      LEFT JOIN media_files f ON f.media_key = m.media_key AND f.sha256 IS NOT NULL
      WHERE e.kind IN ('media', 'quoted', 'reposted', 'replied_to') AND ${sql.in("e.from_id", ids)}`
  )
  const others = edges.flatMap(({ kind, to_id }) => kind === "media" ? [] : [to_id])
  const found = others.length === 0
    ? []
    : yield* exact(sql<Search.Found>`${sql.literal(Search.select("posts"))} WHERE ${sql.in("p.id", others)}`)
  return { addressOf, edges, posts: new Map(found.map((post) => [post.id, post])) }
})

type Relations = Effect.Success<ReturnType<typeof relatedOf>>

/** The author as a link. */
const author = ({ author_id, name, username }: Search.Found): Html =>
  html`<a class="author" href="/user/${author_id ?? ""}"><bdi>${name ?? username ?? author_id ?? ""}</bdi>${
    username === null ? nothing : html` <span class="soft">@${username}</span>`
  }</a>`

/** A text with links to addresses in it, and to users of the copy. */
const linked = (text: string): Html =>
  html`${
    text.split(/(https?:\/\/[^\s<>"]+|@\w{1,15})/).map((part, index) =>
      index % 2 === 0
        ? html`${part}`
        : part.startsWith("@")
        ? html`<a href="/${part}">${part}</a>`
        : html`<a href="${part}" rel="noreferrer noopener" target="_blank">${part}</a>`
    )
  }`

const textOf = ({ gone, text }: Search.Found): Html =>
  text === null
    ? html`<p class="soft">${gone === null ? "The copy does not have its text." : `No longer shown: ${gone}.`}</p>`
    : html`<p class="text" dir="auto">${linked(text)}</p>`

const medium = (
  { alt_text, content_type, height, to_id, type, width }: Related,
  addressOf: Relations["addressOf"]
): Html => {
  const size = width === null || height === null ? nothing : html` width="${width}" height="${height}"`
  const alt = alt_text ?? "No description"
  return html`<figure class="medium">${
    content_type === null
      ? nothing
      : content_type.startsWith("video/")
      ? html`<video controls preload="metadata" src="${addressOf(to_id)}" aria-label="${alt}"${size}></video>`
      : html`<img loading="lazy" src="${addressOf(to_id)}" alt="${alt}"${size}>`
  }<figcaption>${type ?? "media"}${width === null || height === null ? "" : `, ${width} × ${height}`}${
    alt_text === null ? "" : `: ${alt_text}`
  }</figcaption></figure>`
}

const kinds: Readonly<Record<string, string>> = { quoted: "Quotes", reposted: "Reposts" }

/** A post, with what it shows and refers to. */
const card = (post: Search.Found, { addressOf, edges, posts }: Relations, depth = 0, isChosen = false): Html => {
  const own = edges.filter(({ from_id }) => from_id === post.id)
  const parent = own.find(({ kind }) => kind === "replied_to")
  const { likes, replies, reposts } = post
  return html`<article id="p${post.id}" class="d${Math.min(depth, 5)}" tabindex="-1" aria-labelledby="a${post.id}"${
    isChosen ? html` aria-current="true"` : nothing
  }><header id="a${post.id}">${author(post)} <a class="permalink" href="/post/${post.id}">${
    time(post.created_at ?? "no time")
  }</a></header>${
    parent === undefined || depth > 0
      ? nothing
      : html`<p class="soft">Replies to <a href="/post/${parent.to_id}">@${
        posts.get(parent.to_id)?.username ?? "unknown"
      }</a></p>`
  }${textOf(post)}${own.filter(({ kind }) => kind === "media").map((one) => medium(one, addressOf))}${
    own.flatMap(({ kind, to_id }) => {
      const other = posts.get(to_id)
      return kinds[kind] === undefined || other === undefined ? [] : [
        html`<blockquote><p class="soft">${kinds[kind]} ${author(other)} <a href="/post/${to_id}">${
          time(other.created_at ?? "no time")
        }</a></p>${textOf(other)}</blockquote>`
      ]
    })
  }${figures({ Replies: replies, Reposts: reposts, Likes: likes })}</article>`
}

/** Posts or messages of some conditions, newest first. */
export const list = Effect.fnUntraced(function*(
  table: "posts" | "messages",
  query: URLSearchParams,
  from = query.get("from")?.trim() || undefined
): Effect.fn.Return<Html, SqlError, Copy.Current | Files.Addresses> {
  const copy = yield* Copy.Current
  const before = query.get("before") ?? ""
  const found = yield* Search.find({
    words: query.get("q") ?? "",
    in: table,
    from: from === undefined || /^(@|\d+$)/.test(from) ? from : `@${from}`,
    since: query.get("since") || undefined,
    before: /^\d{1,19}$/.test(before) ? before : undefined,
    limit
  })
  const related = yield* relatedOf(copy, found.map(({ id }) => id))
  const older = new URLSearchParams(query)
  older.set("before", found.at(-1)?.id ?? "")
  return html`${found.length === 0 ? html`<p>Nothing found.</p>` : found.map((post) => card(post, related))}${
    found.length < limit ? nothing : html`<p class="more"><a rel="next" href="?${String(older)}">Older</a></p>`
  }`
})

/** The conversation of a post, each reply below the post that it replies to. */
export const thread = Effect.fnUntraced(
  function*(id: string): Effect.fn.Return<View, SqlError, Copy.Current | Files.Addresses> {
    const copy = yield* Copy.Current
    const { sql } = copy
    const select = sql.literal(Search.select("posts"))
    const [post] = yield* exact(sql<Search.Found>`${select} WHERE p.id = ${id}`)
    if (post === undefined) return { title: "Post", body: html`<p>The copy does not have this post.</p>` }
    const all = yield* exact(
      sql<Search.Found>`${select} WHERE p.conversation_id = ${post.conversation_id} ORDER BY p.created_at LIMIT 500`
    )
    const posts = all.some((other) => other.id === id) ? all : [...all, post]
    const related = yield* relatedOf(copy, posts.map(({ id }) => id))
    const present = new Set(posts.map(({ id }) => id))
    const parents = new Map(
      related.edges.flatMap(({ from_id, kind, to_id }) =>
        kind === "replied_to" && present.has(to_id) ? [[from_id, to_id]] : []
      )
    )
    const below = Map.groupBy(posts, ({ id }) => parents.get(id))
    const tree = (parent: string | undefined, depth: number): ReadonlyArray<Html> =>
      (below.get(parent) ?? []).flatMap((one) => [card(one, related, depth, one.id === id), ...tree(one.id, depth + 1)])
    return {
      title: post.username === null ? "Thread" : `Thread with @${post.username}`,
      body: html`${tree(undefined, 0)}`
    }
  }
)

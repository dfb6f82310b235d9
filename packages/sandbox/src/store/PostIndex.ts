/** The full-text index of public posts. */
import type { Query } from "../search/Query.ts"
import type * as Entities from "../text/Entities.ts"
import * as Terms from "../text/Terms.ts"
import type { Database } from "./Database.ts"
import { type Cursor, type Page, type PageRequest, type Range } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Visibility from "./Visibility.ts"
import { rangeOf, type Window } from "./Window.ts"

export interface Search extends Window {
  readonly query: Query
  /** Posts of accounts that block the viewer are excluded. */
  readonly viewer?: Visibility.Viewer | undefined
}

export type PostIndex = ReturnType<typeof make>

/** The account fields that searches use. */
export interface Account {
  readonly id: string
  readonly username: string
  readonly verified: number
  readonly protected: number
}

/** A post and the objects that it refers to. */
export interface Indexed {
  readonly post: Post.NewPost
  readonly conversation: string
  readonly author: Account
  /** The author of the post that this one replies to. */
  readonly addressee: Account | undefined
  /** The author of the reposted post. */
  readonly repostee: Account | undefined
  readonly entities: Entities.Entities | undefined
}

export const make = (database: Database) => {
  const remove = database.command("DELETE FROM post_index WHERE rowid = :id")
  const latest = Post.pages(database, {
    from: "post_index JOIN posts p ON p.id = post_index.rowid",
    where: `post_index MATCH :match AND ${Visibility.unblocked("p")}`,
    key: "post_index.rowid"
  })

  const counts = database.query<{ readonly span: number; readonly found: number }>(`
    SELECT (rowid >> ${Snowflake.counterBits}) / :size AS span, count(*) AS found FROM post_index
    WHERE post_index MATCH :match AND rowid > :low AND rowid < :high AND rowid NOT IN (${Visibility.blocked})
    GROUP BY span`)

  // Sorting all matches of a common word is slow; the index returns each step in order of time.
  const byRelevancy = (
    query: Query,
    viewer: string | null,
    range: Range,
    { cursor, limit }: PageRequest
  ): Page<Post.Post> => {
    const [highest, before] = cursor?.key.split("-") ?? []
    const found: Array<readonly [step: number, post: Post.Post]> = []
    let position: Cursor | undefined = before === undefined ? undefined : { direction: "older", key: before }
    for (let step = Number(highest ?? impressionSteps.length); step >= 0 && found.length <= limit; step--) {
      const match = query.matchWith("seen", String(step))
      const page = latest({ match, viewer }, range, { limit: limit + 1 - found.length, cursor: position })
      for (const post of page.items) found.push([step, post])
      position = undefined
    }
    const last = found.length > limit ? found[limit - 1] : undefined
    return {
      items: found.slice(0, limit).map(([, post]) => post),
      next: last && { direction: "older", key: `${last[0]}-${last[1].id}` },
      previous: undefined
    }
  }

  return {
    add: (id: bigint, indexed: Indexed): void => {
      const { entities, post } = indexed
      database.insert("post_index", {
        rowid: id,
        text: Terms.words(post.text).join(" "),
        facts: factsOf(indexed).map(Terms.spell).join(" "),
        urls: linksOf(entities).join(" ")
      })
    },
    remove: (id: bigint): void => void remove({ id }),
    /**
     * Public posts that match a query, latest first; or by "relevancy": by descending order of magnitude of their
     * impressions, latest first within each. The latter has no cursor to previous pages.
     */
    search: ({ order, query, ...options }: Search & PageRequest & {
      readonly order?: "recency" | "relevancy" | undefined
    }): Page<Post.Post> => {
      const viewer = Visibility.valueOf(options.viewer)
      return order === "relevancy"
        ? byRelevancy(query, viewer, rangeOf(options), options)
        : latest({ match: query.match, viewer }, rangeOf(options), options)
    },
    /**
     * The number of matching posts, as `search` finds them for the same viewer, in each bucket of `size` milliseconds since
     * the epoch, by number of the bucket.
     */
    counts: ({ query, size, viewer, ...window }: Search & { readonly size: number }): ReadonlyMap<number, number> => {
      const values = { match: query.match, size: BigInt(size), viewer: Visibility.valueOf(viewer) }
      return new Map(counts.all({ ...values, ...rangeOf(window) }).map(({ found, span }) => [span, found] as const))
    }
  }
}

/** The lower bounds of the impression steps above the lowest one. Finer steps cost searches more than they are worth. */
const impressionSteps = [256, 4_096, 65_536, 1_048_576]

const stepOf = (impressions: number): number => impressionSteps.filter((least) => impressions >= least).length

export const factsOf = (indexed: Indexed): ReadonlyArray<Terms.Fact> => {
  const { addressee, author, conversation, entities, post, repostee } = indexed
  const facts: Array<Terms.Fact> = [
    ...contentOf(entities, post.mediaKeys),
    ["is", "post"],
    ["from", author.username],
    ["from", author.id],
    ["conversation", conversation],
    ["lang", post.lang ?? "und"],
    ["seen", String(stepOf(post.impressions ?? 0))]
  ]
  if (author.verified === 1) facts.push(["is", "verified"])
  if (addressee !== undefined) facts.push(["is", "reply"], ["to", addressee.username], ["to", addressee.id])
  if (post.inReplyToPostId !== undefined) facts.push(["answered", canonical(post.inReplyToPostId)])
  if (post.repostedPostId !== undefined) facts.push(["is", "repost"], ["reposted", canonical(post.repostedPostId)])
  if (repostee !== undefined) facts.push(["reposts", repostee.username], ["reposts", repostee.id])
  if (post.quotedPostId !== undefined) facts.push(["is", "quote"], ["quoted", canonical(post.quotedPostId)])
  if (post.placeId !== undefined) facts.push(["has", "geo"])
  return facts
}

/** The facts of a post's text and media, independent of author and context. */
export const contentOf = (
  entities: Entities.Entities | undefined,
  mediaKeys: ReadonlyArray<string> | undefined
): ReadonlyArray<Terms.Fact> => {
  const facts: Array<Terms.Fact> = []
  if (mediaKeys?.length) {
    facts.push(["has", "media"])
    // Media keys of photos start with 3_: see Attachments.
    if (mediaKeys.some((key) => key.startsWith("3_"))) facts.push(["has", "images"])
    if (mediaKeys.some((key) => !key.startsWith("3_"))) facts.push(["has", "videos"])
  }
  if (entities?.urls) facts.push(["has", "links"])
  if (entities?.hashtags) facts.push(["has", "hashtags"], ...entities.hashtags.map(({ tag }) => ["tag", tag] as const))
  if (entities?.cashtags) {
    facts.push(
      ["has", "cashtags"],
      ...entities.cashtags.map(({ tag }) => ["cashtag", tag] as const)
    )
  }
  if (entities?.mentions) {
    facts.push(["has", "mentions"], ...entities.mentions.map(({ username }) => ["mention", username] as const))
  }
  return facts
}

/** The words in the expanded URLs of links. */
export const linksOf = (entities: Entities.Entities | undefined): ReadonlyArray<string> =>
  entities?.urls?.flatMap((link) => Terms.words(link.expanded_url)) ?? []

/** Ids can be written with leading zeros. */
const canonical = (id: string): string => String(Snowflake.parse(id))

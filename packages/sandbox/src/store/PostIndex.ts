/** The full-text index of public posts. */
import * as Query from "../search/Query.ts"
import type * as Entities from "../text/Entities.ts"
import * as Terms from "../text/Terms.ts"
import type { Database } from "./Database.ts"
import { idList, inOrder } from "./Ids.ts"
import { type Page, type PageRequest, type Range } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Visibility from "./Visibility.ts"
import { rangeOf, type Window } from "./Window.ts"

export interface Search extends Window {
  readonly query: Query.Query
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

/** The lower bounds of the impression steps above the lowest one. Finer steps cost searches more than they are worth. */
const impressionSteps = [256, 4_096, 65_536, 1_048_576]

/** The step of a post in a row of the table, as `stepOf` computes it. */
const stepColumn = impressionSteps.map((least) => `(p.impression_count >= ${least})`).join(" + ")

/** The number of latest posts that tell how rare an expression is. */
const sampleSize = 32

/** The number of matches that are sorted as a whole. */
const gathered = 2_000

/** True if the wanted expressions may seldom meet. The order of two makes no difference to the index. */
const isNarrow = ({ wanted }: Pick<Query.Query, "wanted">): boolean => wanted.length > 2

/** A post and its step. */
type Placed = readonly [step: number, post: Post.Post]

/** The end of a page by relevancy, and the size of the next one. */
interface Position extends Pick<PageRequest, "limit" | "selection"> {
  readonly step: number
  readonly before: bigint
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

  const reach = database.query<{ readonly millis: number }>(`
    SELECT iif(count(*) < ${sampleSize}, :low, min(rowid)) >> ${Snowflake.counterBits} AS millis FROM (
      SELECT rowid FROM post_index WHERE post_index MATCH :match AND rowid > :low AND rowid < :high
      ORDER BY rowid DESC LIMIT ${sampleSize})`)

  /** The rarest wanted expressions first: those whose latest posts reach back the farthest. */
  const rarestFirst = <Q extends Pick<Query.Query, "wanted">>(query: Q, range: Range): Q => {
    if (!isNarrow(query)) return query
    const sampled = query.wanted.map((match) => ({ match, millis: reach.get({ match, ...range })?.millis ?? 0 }))
    return { ...query, wanted: sampled.sort((a, b) => a.millis - b.millis).map(({ match }) => match) }
  }

  const gather = database.query<{ readonly ids: string; readonly found: number }>(`
    SELECT json_group_array(rowid) AS ids, count(*) AS found FROM (
      SELECT rowid FROM post_index WHERE post_index MATCH :match AND rowid > :low AND rowid < :high
      ORDER BY rowid LIMIT ${gathered + 1})`)
  const sorted = database.query<{ readonly id: string; readonly step: number }>(`
    SELECT CAST(p.id AS TEXT) AS id, ${stepColumn} AS step FROM json_each(:ids) JOIN posts p ON p.id = value
    WHERE ${Visibility.unblocked("p")} AND (step, p.id) < (:step, :before) ORDER BY step DESC, p.id DESC LIMIT :limit`)
  const found = database.select(Post.shape, "FROM posts p WHERE p.id IN (SELECT value FROM json_each(:ids))")

  /** The posts of all matches, given as JSON, after a step and an id. */
  const sort = (
    ids: string,
    viewer: string | null,
    { before, limit, selection, step }: Position
  ): ReadonlyArray<Placed> => {
    const rows = sorted.all({ ids, viewer, step, before, limit })
    const inStep = rows.map(({ id }) => id)
    return inOrder(inStep, found.all({ ids: idList(inStep) }, selection), ({ id }) => id).map((
      post,
      i
    ) => [rows[i]!.step, post])
  }

  /** The posts by step, after a step and an id. */
  const steps = (
    { unwanted, wanted }: Query.Query,
    viewer: string | null,
    range: Range,
    { before, limit, selection, step: highest }: Position
  ): ReadonlyArray<Placed> => {
    const posts: Array<Placed> = []
    let high = before < range.high ? before : range.high
    for (let step = highest; step >= 0 && posts.length < limit; step--) {
      const seen = Query.having("seen", String(step))
      // Most posts are in the lowest step, few in the others.
      const match = Query.match({ unwanted, wanted: step === 0 ? [...wanted, seen] : [seen, ...wanted] })
      const page = latest({ match, viewer }, { ...range, high }, { limit: limit - posts.length, selection })
      for (const post of page.items) posts.push([step, post])
      high = range.high
    }
    return posts
  }

  const byRelevancy = (
    query: Query.Query,
    viewer: string | null,
    range: Range,
    { cursor, limit, selection }: PageRequest
  ): Page<Post.Post> => {
    const [step = impressionSteps.length, before = Snowflake.maximum] = cursor?.key.split("-") ?? []
    const after = { step: Number(step), before: BigInt(before), limit: limit + 1, selection }
    const ordered = rarestFirst(query, range)
    // Sorting all matches of a common word is slow; the index returns each step in order of time.
    const few = isNarrow(query) ? gather.get({ match: Query.match(ordered), ...range }) : undefined
    const posts = few !== undefined && few.found <= gathered
      ? sort(few.ids, viewer, after)
      : steps(ordered, viewer, range, after)
    const last = posts.length > limit ? posts[limit - 1] : undefined
    return {
      items: posts.slice(0, limit).map(([, post]) => post),
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
      const range = rangeOf(options)
      return order === "relevancy"
        ? byRelevancy(query, viewer, range, options)
        : latest({ match: Query.match(rarestFirst(query, range)), viewer }, range, options)
    },
    /**
     * The number of matching posts, as `search` finds them for the same viewer, in each bucket of `size` milliseconds since
     * the epoch, by number of the bucket.
     */
    counts: ({ query, size, viewer, ...window }: Search & { readonly size: number }): ReadonlyMap<number, number> => {
      const range = rangeOf(window)
      const match = Query.match(rarestFirst(query, range))
      const values = { match, size: BigInt(size), viewer: Visibility.valueOf(viewer) }
      return new Map(counts.all({ ...values, ...range }).map(({ found, span }) => [span, found] as const))
    }
  }
}

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

/** Timelines: posts by an author, mentions of a user, the home timeline of a user, posts of a list's members. */
import type { Database, Values } from "./Database.ts"
import { type PageRequest, unbounded } from "./Pages.ts"
import * as Post from "./Post.ts"
import * as Visibility from "./Visibility.ts"
import { type Reach, reach, type Window, within } from "./Window.ts"

/** Options of all timelines. `cap` limits them to the latest posts, counted before anything is filtered out. */
export interface Options extends Window, PageRequest {
  readonly cap?: number | undefined
  readonly viewer?: Visibility.Viewer | undefined
}

/** Posts to exclude. */
export interface Exclusions {
  readonly excludeReplies?: boolean | undefined
  readonly excludeReposts?: boolean | undefined
}

/** The timelines of a store, latest posts first. */
export const make = (database: Database) => {
  const skipAuthored = database.query<Id>(
    "SELECT CAST(p.id AS TEXT) AS id FROM posts p WHERE author_id = :author ORDER BY p.id DESC LIMIT 2 OFFSET :offset"
  )
  const authored = Post.pages(database, {
    from: "posts p",
    where: `p.author_id = :author AND ${wanted("p")} AND ${Visibility.post("p")}`,
    key: "p.id"
  })

  const skipMentions = database.query<Id>(`
    SELECT CAST(post_id AS TEXT) AS id FROM mentions WHERE user_id = :user ORDER BY post_id DESC
    LIMIT 2 OFFSET :offset`)
  const mentions = Post.pages(database, {
    from: "mentions m JOIN posts p ON p.id = m.post_id",
    where: `m.user_id = :user AND ${Visibility.post("p")}`,
    key: "m.post_id"
  })

  const countFollowed = database.query<{ readonly posts: number }>(
    `SELECT total(post_count) AS posts FROM users WHERE id IN (${followed})`
  )
  const skipHome = database.query<Id>(`
    SELECT CAST(value AS TEXT) AS id FROM ${latestOf(followed, "true", "DESC", ":offset + 2")}
    ORDER BY value DESC LIMIT 2 OFFSET :offset`)
  const home = merged(
    database,
    followed,
    `${wanted("q")} AND ${Visibility.audience("q")} AND (q.reposted_post_id IS NULL OR NOT EXISTS (
      SELECT 1 FROM posts o WHERE o.id = q.reposted_post_id AND (${unwanted("o.author_id")})))`
  )
  const ofList = merged(
    database,
    "SELECT user_id AS id FROM list_members WHERE list_id = :list",
    `q.unlisted = 0 AND ${Visibility.post("q")}`
  )

  const reachOf = ({ cap }: Options, skip: { readonly all: (values: Values) => ReadonlyArray<Id> }, values: Values) =>
    cap === undefined ? undefined : reach(cap, (offset) => skip.all({ ...values, offset }))

  const reachHome = (values: Values, options: Options): Reach | undefined => {
    // Finding the oldest of thousands takes longer than reading a page, and a first page never reaches that far.
    const { cap = Infinity, cursor, from, sinceId, until, untilId } = options
    const first = [cursor, from, sinceId, until, untilId].every((bound) => bound === undefined)
    return first || (countFollowed.get(values)?.posts ?? 0) <= cap ? undefined : reachOf(options, skipHome, values)
  }

  return {
    /** Posts by a user. */
    byAuthor: (options: Options & Exclusions & { readonly authorId: string }) => {
      const { authorId: author, viewer } = options
      return authored(
        { author, ...exclusions(options), viewer: Visibility.valueOf(viewer) },
        within(options, reachOf(options, skipAuthored, { author })),
        options
      )
    },
    /** Posts that mention a user, without reposts. */
    mentions: (options: Options & { readonly userId: string }) => {
      const { userId: user, viewer } = options
      return mentions(
        { user, viewer: Visibility.valueOf(viewer) },
        within(options, reachOf(options, skipMentions, { user })),
        options
      )
    },
    /** Posts by a user and the accounts that the user follows, without muted and blocked authors. */
    home: (options: Omit<Options, "viewer"> & Exclusions & { readonly userId: string }) => {
      const viewer = options.userId
      return home({ viewer, ...exclusions(options) }, within(options, reachHome({ viewer }, options)), options)
    },
    /** Posts by the members of a list. */
    ofList: (
      { listId: list, viewer, ...request }: PageRequest & Pick<Options, "viewer"> & { readonly listId: string }
    ) => ofList({ list, viewer: Visibility.valueOf(viewer) }, unbounded, request)
  }
}

interface Id {
  readonly id: string
}

const exclusions = ({ excludeReplies, excludeReposts }: Exclusions) => ({
  replies: Number(!excludeReplies),
  reposts: Number(!excludeReposts)
})

/** SQL condition: the post in this row is not excluded. */
const wanted = (row: string): string =>
  `${row}.unlisted = 0 AND (:replies OR ${row}.in_reply_to_user_id IS NULL) AND (:reposts OR ${row}.reposted_post_id IS NULL)`

const unwanted = (author: string): string =>
  ["blocks", "mutes"].map((table) => `${author} IN (SELECT target_id FROM ${table} WHERE source_id = :viewer)`)
    .join(" OR ")

/** The authors of a home timeline. */
const followed = `
  SELECT :viewer AS id UNION SELECT target_id FROM follows WHERE source_id = :viewer AND pending = 0
    AND NOT (${unwanted("target_id")})`

/** The latest `limit` posts of each of several authors as `value`, read from the index of each author. */
const latestOf = (authors: string, where: string, order: "ASC" | "DESC", limit: string): string => `
  (${authors}) a, json_each((SELECT json_group_array(id) FROM (
    SELECT q.id FROM posts q WHERE q.author_id = a.id AND ${where} ORDER BY q.id ${order} LIMIT ${limit})))`

const merged = (database: Database, authors: string, where: string) =>
  Post.pages(database, {
    from: (order) =>
      `(
      SELECT value AS id FROM ${latestOf(authors, `q.id > :low AND q.id < :high AND ${where}`, order, ":limit")}
      ORDER BY value ${order} LIMIT :limit) m JOIN posts p ON p.id = m.id`,
    where: "true",
    key: "m.id"
  })

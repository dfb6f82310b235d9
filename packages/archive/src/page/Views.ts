/** Users, charts, sources and runs as HTML. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Copy from "../copy/Copy.ts"
import * as Status from "../copy/Status.ts"
import { exact } from "../look/Rows.ts"
import * as Charts from "./Charts.ts"
import type * as Files from "./Files.ts"
import { figures, type Html, html, nothing, table, time } from "./Html.ts"
import * as Posts from "./Posts.ts"

interface User {
  readonly id: string
  readonly username: string | null
  readonly name: string | null
  readonly description: string | null
  readonly created_at: string | null
  readonly gone: string | null
  readonly followers: number | null
  readonly following: number | null
  readonly posts: number | null
}

const columns = `id, username, name, description, created_at, gone, public_metrics_followers_count AS followers,
  public_metrics_following_count AS following, public_metrics_post_count AS posts`

/** The users of one page. */
const limit = 100

/** Users with a name like this, those with most followers first. */
export const users = Effect.fnUntraced(function*(
  query: URLSearchParams
): Effect.fn.Return<Posts.View, SqlError, Copy.Current> {
  const { sql } = yield* Copy.Current
  const words = `%${(query.get("q") ?? "").toLowerCase()}%`
  const found = yield* exact(
    sql<User>`SELECT ${sql.literal(columns)} FROM users WHERE lower(username) LIKE ${words} OR lower(name) LIKE ${words}
      ORDER BY COALESCE(public_metrics_followers_count, -1) DESC, id LIMIT ${limit}`
  )
  return {
    title: "Users",
    body: html`${
      table(
        ["User", "Name", "Followers", "Following", "Posts"],
        found.map(({ followers, following, id, name, posts, username }) => [
          html`<a href="/user/${id}">${username === null ? id : `@${username}`}</a>`,
          html`<bdi>${name ?? ""}</bdi>`,
          followers,
          following,
          posts
        ])
      )
    }${found.length < limit ? nothing : html`<p class="soft">The first ${limit}. A search finds others.</p>`}`
  }
})

/** The followers of a user over time. */
const followers = Effect.fnUntraced(
  function*(id: string, title: string): Effect.fn.Return<Html, SqlError, Copy.Current> {
    const { sql } = yield* Copy.Current
    return Charts.line(
      title,
      yield* exact(sql<Charts.Point>`SELECT at, public_metrics_followers_count AS value FROM user_metrics
        WHERE id = ${id} AND public_metrics_followers_count IS NOT NULL ORDER BY at`)
    )
  }
)

/** A user, by id or by username with `@`, and their posts. */
export const user = Effect.fnUntraced(function*(
  which: string,
  query: URLSearchParams
): Effect.fn.Return<Posts.View, SqlError, Copy.Current | Files.Addresses> {
  const { sql } = yield* Copy.Current
  const condition = which.startsWith("@")
    ? sql`lower(username) = ${which.slice(1).toLowerCase()}`
    : sql`id = ${which}`
  const [found] = yield* exact(sql<User>`SELECT ${sql.literal(columns)} FROM users WHERE ${condition}`)
  const posts = yield* Posts.list("posts", query, found?.id ?? which)
  if (found === undefined) return { title: which, body: html`<p>The copy does not have this user.</p>${posts}` }
  const { created_at, description, following, gone, id, name, username } = found
  return {
    title: name ?? username ?? id,
    body: html`<p class="soft">@${username ?? ""}${gone === null ? "" : `, no longer shown: ${gone}`}${
      created_at === null ? nothing : html`, since ${time(created_at)}`
    }</p><p class="text" dir="auto">${description ?? ""}</p>${
      figures({ Followers: found.followers, Following: following, Posts: found.posts })
    }${yield* followers(id, "Followers")}${posts}`
  }
})

/** Posts by day and month, and the followers of the users that were read most often. */
export const charts: Effect.Effect<Posts.View, SqlError, Copy.Current> = Effect.gen(function*() {
  const { sql } = yield* Copy.Current
  const days = yield* exact(sql<Charts.Point>`SELECT substr(created_at, 1, 10) AS at, count(*) AS value FROM posts
    WHERE created_at IS NOT NULL GROUP BY 1 ORDER BY 1`)
  const months = Array.from(
    Map.groupBy(days, ({ at }) => at.slice(0, 7)),
    ([at, days]) => ({ at, value: days.reduce((sum, { value }) => sum + value, 0) })
  )
  const read = yield* sql<{ readonly id: string; readonly username: string | null }>`SELECT m.id, u.username
    FROM user_metrics m LEFT JOIN users u ON u.id = m.id GROUP BY m.id, u.username HAVING count(*) > 1
    ORDER BY count(*) DESC, m.id LIMIT 6`
  const lines = yield* Effect.forEach(read, ({ id, username }) => followers(id, `Followers of @${username ?? id}`))
  return {
    title: "Charts",
    body: html`${Charts.bars("Posts per day", Charts.filled(days).slice(-90))}${
      Charts.bars("Posts per month", Charts.filled(months))
    }${lines}${days.length === 0 ? html`<p>The copy has no posts yet.</p>` : nothing}`
  }
})

/** The rows of the copy, how far its sources are, and its last runs. */
export const sources: Effect.Effect<Posts.View, SqlError, Copy.Current> = Effect.map(
  Status.read,
  ({ gone, micros, progress, rows, runs }) => ({
    title: "Sources and runs",
    body: html`<h2>Rows</h2>${
      table(["Table", "Rows"], [
        ...Object.entries(rows),
        ...(["posts", "users"] as const).flatMap((name) =>
          Object.entries(gone[name]).map(([why, count]) => [`${name}: ${why}`, count] as const)
        )
      ])
    }<h2>Sources</h2>${
      table(
        ["Source", "Subject", "Read"],
        progress.map(({ source, state, subject }) => [source, subject, readAt(state)])
      )
    }
<h2>Last runs</h2>${
      table(
        ["Started", "Status", "Reason", "New rows", "Dollars", "Ended"],
        runs.map(({ added, ended_at, micros, reason, started_at, status }) => [
          time(started_at),
          status,
          reason,
          Number(added ?? 0),
          dollars(Number(micros ?? 0)),
          ended_at === null ? "" : time(ended_at)
        ])
      )
    }<p>${dollars(micros)} in all.</p>`
  })
)

const dollars = (micros: number): string => `$${(micros / 1e6).toFixed(3)}`

const readAt = (state: string): Html => {
  const { doneAt, window }: { readonly doneAt?: number; readonly window?: object } = JSON.parse(state)
  return html`${doneAt === undefined ? "never complete" : time(new Date(doneAt).toISOString())}${
    window === undefined ? "" : ", in progress"
  }`
}

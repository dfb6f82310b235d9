/**
 * Who sees what: protected posts are for followers, and nobody sees the posts of an account that blocks them, nor those of
 * one that is suspended. As conditions of SQL over `:viewer`.
 */
import * as Snowflake from "./Snowflake.ts"

/** Somebody who looks; without a user, the public. */
export interface Viewer {
  readonly userId: string | undefined
}

/** The value of `:viewer`. Where nobody in particular looks, nothing is hidden. */
export const valueOf = (viewer: Viewer | undefined): bigint | null =>
  viewer === undefined ? null : viewer.userId === undefined ? -1n : Snowflake.parse(viewer.userId)

/** Holds where the viewer may see the posts of the account with this id. */
export const account = (id: string): string => `
  (:viewer IS NULL OR ${id} = :viewer OR
    NOT EXISTS (SELECT 1 FROM blocks WHERE source_id = ${id} AND target_id = :viewer) AND
    (NOT EXISTS (SELECT 1 FROM users WHERE id = ${id} AND (protected = 1 OR suspended = 1)) OR
      EXISTS (SELECT 1 FROM follows WHERE source_id = :viewer AND target_id = ${id} AND pending = 0) AND
      NOT EXISTS (SELECT 1 FROM users WHERE id = ${id} AND suspended = 1)))`

/** Holds where the post in this row is for the viewer, too. */
export const audience = (row: string): string => `
  (${row}.audience = 'all' OR :viewer IS NULL OR ${row}.author_id = :viewer OR EXISTS (
    SELECT 1 FROM follows JOIN users ON users.id = source_id
    WHERE source_id = :viewer AND target_id = ${row}.author_id AND pending = 0
      AND (${row}.audience = 'followers' OR verified_type = 'blue')))`

/** Holds where the viewer may see the post in this row, and the post that it reposts. */
export const post = (row: string): string => `
  (${account(`${row}.author_id`)} AND ${audience(row)} AND (${row}.reposted_post_id IS NULL OR :viewer IS NULL OR
    EXISTS (SELECT 1 FROM posts o WHERE o.id = ${row}.reposted_post_id AND ${account("o.author_id")})))`

/** The accounts whose public posts the viewer does not see. */
const hidden =
  `SELECT source_id FROM blocks WHERE target_id = :viewer UNION ALL SELECT id FROM users WHERE suspended = 1`

/** Holds where the viewer sees the author of the public post in this row, and that of what it reposts. */
export const unblocked = (row: string): string => `
  (${row}.author_id NOT IN (${hidden}) AND
    (${row}.reposted_post_id IS NULL OR NOT EXISTS (SELECT 1 FROM posts o WHERE o.id = ${row}.reposted_post_id AND
      o.author_id IN (${hidden}))))`

/**
 * The ids of all posts for which `unblocked` does not hold. Whoever counts asks for these few once, and not for the row of
 * every post that is found.
 */
export const blocked = `
  SELECT id FROM posts WHERE author_id IN (${hidden})
  UNION ALL SELECT r.id FROM posts o JOIN posts r ON r.reposted_post_id = o.id
    WHERE o.author_id IN (${hidden})`

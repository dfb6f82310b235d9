/**
 * Visibility rules as SQL conditions over `:viewer`: protected posts are for followers, and posts of suspended accounts, or
 * of accounts that block the viewer, are hidden.
 */

/** A viewer; without a user id, the public. */
export interface Viewer {
  readonly userId: string | undefined
}

/** The value of `:viewer`. Without a viewer nothing is hidden. */
export const valueOf = (viewer: Viewer | undefined): string | null =>
  viewer === undefined ? null : viewer.userId ?? "-1"

/** True if the viewer may see the posts of the account with this id. */
export const account = (id: string): string => `
  (:viewer IS NULL OR ${id} = :viewer OR
    NOT EXISTS (SELECT 1 FROM blocks WHERE source_id = ${id} AND target_id = :viewer) AND
    (NOT EXISTS (SELECT 1 FROM users WHERE id = ${id} AND (protected = 1 OR suspended = 1)) OR
      EXISTS (SELECT 1 FROM follows WHERE source_id = :viewer AND target_id = ${id} AND pending = 0) AND
      NOT EXISTS (SELECT 1 FROM users WHERE id = ${id} AND suspended = 1)))`

/** True if the audience of the post in this row includes the viewer. */
export const audience = (row: string): string => `
  (${row}.audience = 'all' OR :viewer IS NULL OR ${row}.author_id = :viewer OR EXISTS (
    SELECT 1 FROM follows JOIN users ON users.id = source_id
    WHERE source_id = :viewer AND target_id = ${row}.author_id AND pending = 0
      AND (${row}.audience = 'followers' OR verified_type = 'blue')))`

/** True if the viewer may see the post in this row and the post that it reposts. */
export const post = (row: string): string => `
  (${account(`${row}.author_id`)} AND ${audience(row)} AND (${row}.reposted_post_id IS NULL OR :viewer IS NULL OR
    EXISTS (SELECT 1 FROM posts o WHERE o.id = ${row}.reposted_post_id AND ${account("o.author_id")})))`

/** The accounts whose public posts are hidden from the viewer. */
const hidden =
  `SELECT source_id FROM blocks WHERE target_id = :viewer UNION ALL SELECT id FROM users WHERE suspended = 1`

/** True if the viewer may see the authors of the public post in this row and of the post that it reposts. */
export const unblocked = (row: string): string => `
  (${row}.author_id NOT IN (${hidden}) AND
    (${row}.reposted_post_id IS NULL OR NOT EXISTS (SELECT 1 FROM posts o WHERE o.id = ${row}.reposted_post_id AND
      o.author_id IN (${hidden}))))`

/**
 * The ids of all posts for which `unblocked` is false. Counts exclude this small set instead of evaluating the condition
 * for every match.
 */
export const blocked = `
  SELECT id FROM posts WHERE author_id IN (${hidden})
  UNION ALL SELECT r.id FROM posts o JOIN posts r ON r.reposted_post_id = o.id
    WHERE o.author_id IN (${hidden})`

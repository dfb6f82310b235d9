/** The rules for editing posts. */
import type { Post } from "../store/Post.ts"
import * as Snowflake from "../store/Snowflake.ts"

/** The editing period after the first version, in milliseconds. */
const span = 3_600_000

const most = 5

/** The fields of a post that its `edit_controls` come from. */
export const fields = [
  "attachments",
  "author_id",
  "community_id",
  "edit_history_post_ids",
  "fixed",
  "id",
  "in_reply_to_user_id",
  "referenced_posts"
] as const

/** The `edit_controls` of a post. */
export const controlsOf = (
  { attachments, author_id, community_id, fixed, ...post }: Pick<Post, typeof fields[number]>
) => {
  const { edit_history_post_ids: [first = post.id, ...edits], in_reply_to_user_id, referenced_posts = [] } = post
  return {
    is_edit_eligible: attachments?.poll_ids === undefined && community_id === undefined && fixed !== true &&
      // Replies to others cannot be edited.
      referenced_posts.every(({ type }) =>
        type === "quoted" || (type === "replied_to" && in_reply_to_user_id === author_id)
      ),
    editable_until: new Date(Snowflake.toMillis(Snowflake.parse(first)) + span).toISOString(),
    edits_remaining: Math.max(0, most - edits.length)
  }
}

/** The reason why a post cannot be edited; undefined if it can. */
export const obstacle = (post: Post, now: number): string | undefined => {
  const { edits_remaining, editable_until, is_edit_eligible } = controlsOf(post)
  if (post.edit_history_post_ids.at(-1) !== post.id) return "This is not the latest version of the post."
  if (!is_edit_eligible) return "Posts of this kind can not be edited."
  if (now >= Date.parse(editable_until)) return "The time in which this post could be edited is over."
  return edits_remaining === 0 ? "This post was edited as often as it can be." : undefined
}

/** Reconstructs the search index input of a stored post, for matching rules. */
import type { Post } from "../store/Post.ts"
import type { Account, Indexed } from "../store/PostIndex.ts"
import type { Store } from "../store/Store.ts"

/** The size of the account cache. Most posts are by few accounts. */
const maxAccounts = 10_000

export const make = ({ posts, users }: Store["Service"]): (post: Post) => Indexed => {
  const accounts = new Map<string, Account>()
  const account = (id: string): Account => {
    const known = accounts.get(id)
    if (known !== undefined) return known
    const { protected: isProtected = false, username = "", verified = false } = users.byId(id) ?? {}
    const found = { id, username, verified: Number(verified), protected: Number(isProtected) }
    if (accounts.size >= maxAccounts) accounts.clear()
    accounts.set(id, found)
    return found
  }
  return (post) => {
    const { note_post, referenced_posts = [] } = post
    const referred = (type: string) => referenced_posts.find((reference) => reference.type === type)?.id
    const repostedPostId = referred("reposted")
    const reposted = repostedPostId === undefined ? undefined : posts.byId(repostedPostId)
    return {
      post: {
        authorId: post.author_id,
        text: note_post?.text ?? post.text,
        createdAt: Date.parse(post.created_at),
        inReplyToPostId: referred("replied_to"),
        quotedPostId: referred("quoted"),
        repostedPostId,
        mediaKeys: post.attachments?.media_keys,
        pollId: post.attachments?.poll_ids?.[0],
        placeId: post.geo?.place_id,
        coordinates: post.geo?.coordinates,
        lang: post.lang,
        source: post.source,
        withheld: post.withheld,
        communityId: post.community_id,
        cardUri: post.card_uri,
        possiblySensitive: post.possibly_sensitive,
        impressions: post.public_metrics.impression_count
      },
      conversation: post.conversation_id,
      author: account(post.author_id),
      addressee: post.in_reply_to_user_id === undefined ? undefined : account(post.in_reply_to_user_id),
      repostee: reposted && account(reposted.author_id),
      entities: note_post === undefined ? post.entities : note_post.entities
    }
  }
}

/** Programs for twitter-api-v2, which the codemod moves to the module beside this one. */
import { createClient, type PostwireClient } from "@postwire/node"

let client = createClient({
  wire: "x",
  consumerKey: "a",
  consumerSecret: "b",
  accessToken: "c",
  accessTokenSecret: "d"
})

export const use = (other: PostwireClient) => {
  client = other
}

/** The texts of a timeline, over all pages. */
export const timeline = async () => {
  const user = await client.getUser({
    username: "ada",
    user_fields: ["public_metrics", "pinned_post_id"],
    user_auth: true
  })
  const posts = client.getUsersPosts.items({
    id: user.data!.id,
    max_results: 20,
    post_fields: ["created_at"],
    user_auth: true
  })
  const texts: Array<string> = []
  for await (const post of posts) texts.push(`${post.created_at} ${post.text}`)
  return { texts, count: user.data!.public_metrics?.post_count, pinned: user.data!.pinned_post_id }
}

/** A search's first page with its authors. */
export const search = async () => {
  const found = await client.searchRecentPosts({
    query: "needle",
    expansions: ["author_id"],
    post_fields: ["referenced_posts"],
    user_auth: true
  })
  return (found.data ?? []).map((post) => [post.text, found.author(post)?.username, post.referenced_posts?.length])
}

/** All that a search finds, with the authors. */
export const authors = async () => {
  const found = client.searchRecentPosts.joined({
    query: "needle",
    max_results: 10,
    expansions: ["author_id"],
    user_auth: true
  })
  const names: Array<string | undefined> = []
  for await (const { author, item: post } of found) names.push(author?.username, post.text)
  return names
}

/** The names of followers, page by page. */
export const followers = async () => {
  const { data: me } = await client.getMe()
  const names: Array<string> = []
  const all = client.getUsersFollowers.items({ id: me!.id, max_results: 50, user_auth: true })
  for await (const user of all) names.push(user.username)
  return names
}

/** A post with a picture, and an answer to it, which are both deleted. */
export const post = async (picture: Buffer) => {
  const rw = client
  const media = (await rw.upload(picture)).id
  const { data: first } = await rw.createPost({ text: "With a picture", media_ids: [media] })
  const second = await rw.createPost({ text: "An answer", in_reply_to_post_id: first!.id })
  const read = await rw.getPost({ id: second.data!.id, post_fields: ["referenced_posts"], user_auth: true })
  const gone = [
    (await rw.deletePost({ id: first!.id })).data!.deleted,
    (await rw.deletePost({ id: second.data!.id })).data!.deleted
  ]
  return {
    answers: read.data!.referenced_posts?.map(({ type, id }) => [type, id === first!.id]),
    text: read.data!.text,
    gone
  }
}

/** Programs for twitter-api-v2, which the codemod moves to the module beside this one. */
import { TwitterApi } from "twitter-api-v2"

let client = new TwitterApi({ appKey: "a", appSecret: "b", accessToken: "c", accessSecret: "d" })

export const use = (other: TwitterApi) => {
  client = other
}

/** The texts of a timeline, over all pages. */
export const timeline = async () => {
  const user = await client.v2.userByUsername("ada", {
    "user.fields": "public_metrics,pinned_tweet_id"
  })
  const posts = await client.v2.userTimeline(user.data.id, { max_results: 20, "tweet.fields": ["created_at"] })
  const texts: Array<string> = []
  for await (const post of posts) texts.push(`${post.created_at} ${post.text}`)
  return { texts, count: user.data.public_metrics?.tweet_count, pinned: user.data.pinned_tweet_id }
}

/** A search's first page with its authors. */
export const search = async () => {
  const found = await client.v2.search("needle", { expansions: ["author_id"], "tweet.fields": ["referenced_tweets"] })
  return found.tweets.map((post) => [post.text, found.includes.author(post)?.username, post.referenced_tweets?.length])
}

/** All that a search finds, with the authors. */
export const authors = async () => {
  const found = await client.v2.search("needle", { max_results: 10, expansions: ["author_id"] })
  const names: Array<string | undefined> = []
  for await (const post of found) names.push(found.includes.author(post)?.username, post.text)
  return names
}

/** The names of followers, page by page. */
export const followers = async () => {
  const { data: me } = await client.readOnly.v2.me()
  const names: Array<string> = []
  const all = await client.v2.followers(me.id, { max_results: 50, asPaginator: true })
  for await (const user of all) names.push(user.username)
  return names
}

/** A post with a picture, and an answer to it, which are both deleted. */
export const post = async (picture: Buffer) => {
  const rw = client.readWrite.v2
  const media = await rw.uploadMedia(picture, { media_type: "image/png" })
  const { data: first } = await rw.tweet("With a picture", { media: { media_ids: [media] } })
  const second = await rw.reply("An answer", first.id)
  const read = await rw.singleTweet(second.data.id, { "tweet.fields": ["referenced_tweets"] })
  const gone = [(await rw.deleteTweet(first.id)).data.deleted, (await rw.deleteTweet(second.data.id)).data.deleted]
  return {
    answers: read.data.referenced_tweets?.map(({ type, id }) => [type, id === first.id]),
    text: read.data.text,
    gone
  }
}

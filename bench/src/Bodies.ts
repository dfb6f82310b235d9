/**
 * The server's responses: one post and a page of 100 with their authors, made up but of realistic size and shape.
 * Each exists in neutral names and in those of X.
 */
import type { WireName } from "@postwire/core/schema/WireName"

/** The response to one request. */
export const workloads = ["one post", "100 posts"] as const
export type Workload = typeof workloads[number]

/** The id of the one post, and what is searched for. */
export const id = "1790000000004268803"
export const query = "effect lang:en -is:repost"

/** The requested fields and expansions, in neutral names. */
export const postFields = [
  "author_id",
  "conversation_id",
  "created_at",
  "entities",
  "lang",
  "possibly_sensitive",
  "public_metrics",
  "referenced_posts",
  "reply_settings"
] as const
export const userFields = [
  "created_at",
  "description",
  "location",
  "public_metrics",
  "verified",
  "verified_type"
] as const

/** Path and query of a workload. */
export const target = (wire: WireName, workload: Workload): string => {
  const neutral = workload === "one post"
    ? `/2/posts/${id}?post.fields=author_id%2Ccreated_at`
    : `/2/posts/search/recent?query=${encodeURIComponent(query)}&max_results=100&expansions=author_id` +
      `&post.fields=${postFields.join("%2C")}&user.fields=${userFields.join("%2C")}`
  return wire === "x" ? toX(neutral) : neutral
}

/** The body of a workload as text. */
export const text = (wire: WireName, workload: Workload): string => {
  const neutral = JSON.stringify(workload === "one post" ? onePost() : page(100))
  return wire === "x" ? toX(neutral) : neutral
}

/** The parameters of a client for the same. */
export const parameters = {
  onePost: { id, post_fields: ["author_id", "created_at"] },
  page: { query, max_results: 100, expansions: ["author_id"], post_fields: postFields, user_fields: userFields }
} as const

/** A token of nobody. */
export const bearerToken = "A".repeat(112)

/** Every name that X has another word for. The client's own tables are not asked: this is what checks them. */
export const toX = (neutral: string): string =>
  neutral
    .replaceAll("edit_history_post_ids", "edit_history_tweet_ids")
    .replaceAll("referenced_posts", "referenced_tweets")
    .replaceAll("repost_count", "retweet_count")
    .replaceAll("post_count", "tweet_count")
    .replaceAll("post.fields", "tweet.fields")
    .replaceAll("/2/posts", "/2/tweets")

const onePost = () => ({
  data: {
    id,
    text: "Every error is in the signature, and the compiler reads it first. https://t.co/0aBcDeFgHi",
    edit_history_post_ids: [id],
    author_id: "2244994945",
    created_at: "2026-05-13T08:15:30.000Z"
  }
})

/** A page of so many posts with their authors. */
export const page = (size: number) => {
  const random = generator(7)
  const users = Array.from({ length: 52 }, (_, i) => user(random, i))
  const posts = Array.from({ length: size }, (_, i) => post(random, i, users[random(users.length)]!.id))
  const named = new Set(posts.map((post) => post.author_id))
  return {
    data: posts,
    includes: { users: users.filter((user) => named.has(user.id)) },
    meta: {
      newest_id: posts[0]!.id,
      oldest_id: posts.at(-1)!.id,
      result_count: posts.length,
      next_token: "b26v89c19zqg8o3fqk41c2n5r8x7w6v5u4t3s2r1q0p9o"
    }
  }
}

type Random = (below: number) => number

/** The same numbers in every run. */
const generator = (seed: number): Random => (below) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor(seed / 2 ** 32 * below)
}

const words = ("the service answers every request with a page of posts and the client verifies each field before a " +
  "program reads it so a name that changed is found at once").split(" ")

const sentence = (random: Random, length: number): string => {
  let text = words[random(words.length)]!
  while (text.length < length) text += ` ${words[random(words.length)]}`
  return text
}

const timestamp = (i: number) => `2026-05-13T${pad(23 - i % 24)}:${pad(59 - i % 60)}:${pad(i % 60)}.000Z`

const pad = (value: number) => String(value).padStart(2, "0")

const post = (random: Random, i: number, author: string) => {
  const id = String(1790000000004268803n - BigInt(i) * 7_654_321_987n)
  const link = `https://t.co/${sentence(random, 10).replaceAll(" ", "").slice(0, 10)}`
  // Every eighth text holds characters beyond Latin.
  const text = `${i % 8 === 0 ? "🚀 型と効果 " : ""}${sentence(random, 50 + random(100))} #effect ${link}`
  const hashtag = text.indexOf("#effect")
  const start = text.indexOf(link)
  return {
    id,
    text,
    edit_history_post_ids: [id],
    author_id: author,
    conversation_id: id,
    created_at: timestamp(i),
    entities: {
      hashtags: [{ start: hashtag, end: hashtag + 7, tag: "effect" }],
      urls: [{
        start,
        end: start + link.length,
        url: link,
        expanded_url: `https://example.com/articles/${i}?from=post`,
        display_url: `example.com/articles/${i}…`
      }]
    },
    lang: "en",
    possibly_sensitive: false,
    public_metrics: {
      repost_count: random(90),
      reply_count: random(40),
      like_count: random(900),
      quote_count: random(12),
      bookmark_count: random(60),
      impression_count: random(90_000)
    },
    ...(i % 3 === 0 ? { referenced_posts: [{ type: "quoted", id: String(1780000000000000000n + BigInt(i)) }] } : {}),
    reply_settings: "everyone"
  }
}

const user = (random: Random, i: number) => ({
  id: String(2244994945 + i * 104_729),
  name: sentence(random, 12),
  username: `reader_${1000 + i}`,
  created_at: timestamp(i).replace("2026", "2019"),
  description: sentence(random, 60 + random(60)),
  location: i % 2 === 0 ? "Berlin" : "Kyōto",
  public_metrics: {
    followers_count: random(90_000),
    following_count: random(2_000),
    post_count: random(40_000),
    listed_count: random(300),
    like_count: random(20_000)
  },
  verified: i % 5 === 0,
  verified_type: i % 5 === 0 ? "blue" : "none"
})

import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import * as Trends from "../projection/Trends.ts"
import type { PublicPost } from "../store/PublicPosts.ts"
import type { Call, Handlers } from "./Handler.ts"

const hour = 3_600_000

/** The oldest posts of a story, in milliseconds. */
const reach = 720 * hour

const disclaimer = "Written by the sandbox in place of a model. It may be wrong."

/** A story for each trend, of the posts that name it. Its id is that of the first of them. */
export const handlers = {
  searchNews: (call) => {
    const { max_age_hours = 168, max_results = 10, query } = call.parameters
    const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "")
    const data = storiesOf(call)
      .filter(({ text, updated_at }) =>
        Date.parse(updated_at) >= call.now - max_age_hours * hour && words.every((word) => text.includes(word))
      )
      .slice(0, max_results)
    return Effect.succeed({ ...data.length === 0 ? {} : { data }, meta: { result_count: data.length } })
  },

  getNewsStory: (call) => {
    const { id } = call.parameters
    const story = storiesOf(call).find((story) => story.id === id)
    return Effect.succeed(
      story === undefined ? { errors: [Problem.notFound({ kind: "news", id, parameter: "id" })] } : { data: story }
    )
  }
} satisfies Partial<Handlers>

const storiesOf = ({ now, store }: Pick<Call<unknown>, "now" | "store">) => {
  const posts = store.publicPosts({ from: now - reach, until: now + 1, limit: Trends.maxPosts })
  return Trends.of(posts).slice(0, maxStories).flatMap((trend) => {
    const key = trend.name.toLowerCase()
    const cluster = posts.filter(({ text }) => text.toLowerCase().includes(key))
    const [latest] = cluster
    return latest === undefined ? [] : [storyOf(trend, cluster, latest)]
  })
}

const maxStories = 100

/** The posts that a story shows. */
const maxCluster = 20

const storyOf = (
  { category = "Other", name }: Trends.Trend,
  cluster: ReadonlyArray<PublicPost>,
  latest: PublicPost
) => ({
  id: cluster.at(-1)?.id ?? latest.id,
  /** Not shown: the text that a query searches. */
  text: `${name} ${cluster.map(({ text }) => text).join(" ")}`.toLowerCase(),
  name: `${name}: ${cluster.length} post${cluster.length === 1 ? "" : "s"}`,
  category,
  hook: `People post about ${name}.`,
  summary: `${cluster.length} post${cluster.length === 1 ? " is" : "s are"} about ${name}. The latest: ${latest.text}`,
  disclaimer,
  contexts: { topics: [category], entities: { people: [], places: [], organizations: [], products: [], events: [] } },
  keywords: { names: [name] },
  cluster_posts_results: cluster.slice(0, maxCluster).map(({ id }) => ({ post_id: id })),
  updated_at: new Date(latest.at).toISOString()
})

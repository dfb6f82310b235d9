import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import * as Regions from "../projection/Regions.ts"
import * as Trends from "../projection/Trends.ts"
import type * as PublicPosts from "../store/PublicPosts.ts"
import * as Caller from "./Caller.ts"
import type { Call, Handlers } from "./Handler.ts"

/** The number of personalized trends. */
const mostPersonal = 10

const hour = 3_600_000

/** The response for users without Premium. */
const unknown = [{ category: "Unknown", post_count: "Unknown", trending_since: "" }]

/** Trends of the last day. */
export const handlers = {
  getTrends: (call) => {
    const { max_trends = 20, woeid } = call.parameters
    const region = Regions.byWoeid(woeid)
    if (region === undefined) {
      return Problem.missing(Problem.notFound({ kind: "place", id: String(woeid), parameter: "woeid" }))
    }
    return Effect.succeed({
      data: trendsOf(call, region).slice(0, max_trends).map(({ name, posts }) => ({
        trend_name: name,
        post_count: posts
      }))
    })
  },

  getPersonalizedTrends: Effect.fnUntraced(function*(call) {
    const { now, store } = call
    const { userId: followerId } = yield* Caller.user(call.caller)
    if (store.users.byId(followerId)?.verified_type !== "blue") return { data: unknown }
    return {
      data: trendsOf(call, { followerId }).slice(0, mostPersonal).map((
        { category = "Trending", name, posts, since }
      ) => ({
        category,
        post_count: inWords(posts),
        trend_name: name,
        trending_since: now - since < hour ? "Trending now" : ago(Math.floor((now - since) / hour))
      }))
    }
  })
} satisfies Partial<Handlers>

const trendsOf = ({ now, store }: Pick<Call<unknown>, "now" | "store">, of: Partial<PublicPosts.Options>) =>
  Trends.of(store.publicPosts({ ...of, from: now - Trends.span, until: now + 1, limit: Trends.maxPosts }))

const inWords = (posts: number): string =>
  posts < 1_000 ? `${posts} post${posts === 1 ? "" : "s"}` : `${Math.floor(posts / 100) / 10}K posts`

const ago = (hours: number): string => `${hours} hour${hours === 1 ? "" : "s"} ago`

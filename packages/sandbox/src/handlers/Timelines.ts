import * as Effect from "effect/Effect"
import { type Handlers, listedPosts } from "../Handler.ts"
import * as Problem from "../Problem.ts"

/** How many of a user's latest posts can be listed, and how many when replies are excluded. */
const cap = 3_200
const capWithoutReplies = 800

/** Timelines. */
export const handlers: Pick<Handlers, "getUsersPosts"> = {
  getUsersPosts: ({ cursor, parameters, store }) => {
    const { exclude = [], id, max_results: limit = 10 } = parameters
    if (store.users.byId(id) === undefined) {
      return Effect.succeed({ errors: [Problem.notFound({ kind: "user", id, parameter: "id" })] })
    }
    const excludeReplies = exclude.includes("replies")
    return Effect.succeed(listedPosts(store.posts.byAuthor({
      authorId: id,
      excludeReplies,
      excludeReposts: exclude.includes("retweets") || exclude.includes("reposts"),
      cap: excludeReplies ? capWithoutReplies : cap,
      sinceId: parameters.since_id,
      untilId: parameters.until_id,
      from: parameters.start_time,
      // Both ends are inclusive here, to the second.
      until: parameters.end_time === undefined ? undefined : parameters.end_time + 1_000,
      limit,
      cursor
    })))
  }
}

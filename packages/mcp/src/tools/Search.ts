import { getAllPostsCount, getRecentPostsCount } from "@postwire/core/operations/Counts"
import { searchAllPosts, searchRecentPosts } from "@postwire/core/operations/Search"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import * as Tool from "../session/Tool.ts"

/** `search`: posts that match a query, or how many there are. */
export const tool = Tool.make({
  name: "search",
  title: "Search posts",
  description:
    "Searches posts of the last 7 days. count returns how many match, cheaply: use it before reading much. Operators: from:ada, to:, @ada, #tag, \"phrase\", lang:en, has:links, -is:retweet, OR.",
  toolset: "posts",
  effect: "read",
  operations: [searchRecentPosts.definition],
  inputs: {
    query: Parameters.required(Parameters.recentQuery),
    archive: Parameters.boolean,
    count: Parameters.boolean,
    sort_order: Parameters.choice(["recency", "relevancy"]),
    start_time: Parameters.timestamp,
    end_time: Parameters.timestamp,
    ...Inputs.listing
  },
  hints: {
    archive: "All years, if the app has access",
    rows: "Above 100: written to a file"
  },
  run: ({ archive = false, count = false, detail, end_time, query, rows, sort_order, start_time }) =>
    count
      ? Page.read(
        (archive ? getAllPostsCount : getRecentPostsCount).definition,
        { query, granularity: "day", start_time, end_time },
        { detail }
      )
      : Page.read(
        (archive ? searchAllPosts : searchRecentPosts).definition,
        { query, sort_order, start_time, end_time },
        { detail, rows }
      )
})

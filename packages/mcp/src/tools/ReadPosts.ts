import { getLikingUsers } from "@postwire/core/operations/Likes"
import { getPosts } from "@postwire/core/operations/Posts"
import { getQuotePosts } from "@postwire/core/operations/QuotePosts"
import { getReposters } from "@postwire/core/operations/Reposts"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import * as Tool from "../session/Tool.ts"

const about = {
  quotes: getQuotePosts.definition,
  likers: getLikingUsers.definition,
  reposters: getReposters.definition
}

/** `read_posts`: posts by id, or the reactions to one. */
export const tool = Tool.make({
  name: "read_posts",
  title: "Read posts",
  description: "Reads up to 100 posts by id; with show, the reactions to the first of them.",
  toolset: "posts",
  effect: "read",
  operations: [getPosts.definition, ...Object.values(about)],
  inputs: {
    ids: Parameters.required(Parameters.ids(100)),
    show: Parameters.choice(["posts", "quotes", "likers", "reposters"]),
    ...Inputs.listing
  },
  run: ({ detail, ids, rows, show = "posts" }) =>
    show === "posts"
      ? Page.read(getPosts.definition, { ids }, { detail, rows: rows ?? 100 })
      : Page.read(about[show], { id: typeof ids === "string" ? ids.split(",")[0] : ids[0] }, { detail, rows })
})

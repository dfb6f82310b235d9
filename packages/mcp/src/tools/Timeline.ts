import { getHomeTimeline } from "@postwire/core/operations/Timelines"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import * as Tool from "../session/Tool.ts"

/** `timeline`: what the account sees at home. */
export const tool = Tool.make({
  name: "timeline",
  title: "Read the home timeline",
  description: "Reads the home timeline of the account: posts of those whom it follows, newest first.",
  toolset: "posts",
  effect: "read",
  operations: [getHomeTimeline.definition],
  inputs: {
    since_id: Parameters.id,
    exclude: Parameters.list(["replies", "retweets"]),
    ...Inputs.listing
  },
  run: ({ detail, exclude, rows, since_id }) =>
    Page.read(getHomeTimeline.definition, { exclude, since_id }, { detail, rows })
})

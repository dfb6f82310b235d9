import { getPersonalizedTrends, getTrends } from "@postwire/core/operations/Trends"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import * as Tool from "../session/Tool.ts"

/** `trends`: what many posts are about. */
export const tool = Tool.make({
  name: "trends",
  title: "Read trends",
  description: "Reads the trends of a place, or those picked for the account (personal).",
  toolset: "trends",
  effect: "read",
  operations: [getTrends.definition],
  inputs: {
    woeid: Parameters.integer({ minimum: 1, maximum: 999_999_999 }),
    personal: Parameters.boolean,
    ...Inputs.reading
  },
  hints: { woeid: "Where On Earth id; 1 (default) is the world" },
  run: ({ detail, personal = false, woeid = 1 }) =>
    personal
      ? Page.read(getPersonalizedTrends.definition, { personalized_trend_fields: ["category", "trend_name"] }, {
        detail
      })
      : Page.read(getTrends.definition, { woeid, trend_fields: ["post_count", "trend_name"] }, { detail, rows: 50 })
})

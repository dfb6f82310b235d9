import { getComplianceJobs } from "@postwire/core/operations/ComplianceJobs"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Effect from "effect/Effect"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import { Session } from "../session/Session.ts"
import * as Tool from "../session/Tool.ts"

/** `jobs`: files that this session has written, and compliance jobs of the app. */
export const tool = Tool.make({
  name: "jobs",
  title: "Show files and jobs",
  description: "Shows the files that this session has written, or the app's compliance jobs for posts or users.",
  toolset: "jobs",
  effect: "read",
  operations: [],
  inputs: { compliance: Parameters.choice(["posts", "users"]), ...Inputs.reading },
  run: ({ compliance, detail }) =>
    Effect.gen(function*() {
      if (compliance !== undefined) {
        return yield* Page.read(getComplianceJobs.definition, { type: compliance }, { detail })
      }
      const { written } = yield* Session
      return {
        lines: written.length === 0
          ? ["no files yet"]
          : written.map(({ operation, path, rows, status }) => `${operation}: ${rows} rows, ${status}, ${path}`)
      }
    })
})

/** The accepted deviations of the sandbox from recorded answers, with their reasons and the dates of the decisions. */
import { fits } from "../drift/Drift.ts"
import type { Parity } from "./Parity.ts"

/** An accepted deviation. In patterns `*` matches anything. */
export interface Accepted {
  readonly deviation: string
  /** The sources for which it is accepted. Default: all. */
  readonly from?: string
  /** The operations for which it is accepted. Default: all. */
  readonly operations?: ReadonlyArray<string>
  readonly reason: string
  readonly date: string
}

/** The result of a comparison with what is accepted. */
export interface Outcome {
  readonly equal: ReadonlyArray<Parity>
  readonly accepted: ReadonlyArray<Parity>
  /** Those with a deviation that is not accepted; `deviations` has only these. */
  readonly deviating: ReadonlyArray<Parity>
  /** The accepted deviations that do not exist. */
  readonly stale: ReadonlyArray<Accepted>
}

/** Sorts the results of exchanges whose operation the catalogue has. */
export const compare = (measured: ReadonlyArray<Parity>, accepted: ReadonlyArray<Accepted>): Outcome => {
  const used = new Set<Accepted>()
  const found = measured.filter(({ operation }) => operation !== undefined).map((parity) => {
    const open = parity.deviations.filter((deviation) => {
      const entry = accepted.find((entry) => matches(entry, parity, deviation))
      if (entry !== undefined) used.add(entry)
      return entry === undefined
    })
    return { parity, open }
  })
  return {
    equal: found.filter(({ parity }) => parity.deviations.length === 0).map(({ parity }) => parity),
    accepted: found.filter(({ open, parity }) => open.length === 0 && parity.deviations.length > 0)
      .map(({ parity }) => parity),
    deviating: found.filter(({ open }) => open.length > 0).map(({ open, parity }) => ({ ...parity, deviations: open })),
    stale: accepted.filter((entry) => !used.has(entry))
  }
}

const matches = ({ deviation, from = "*", operations = ["*"] }: Accepted, parity: Parity, found: string): boolean =>
  fits(deviation, found) && fits(from, parity.exchange.from) &&
  operations.some((pattern) => fits(pattern, parity.operation ?? ""))

const because = (
  reason: string,
  ...deviations: ReadonlyArray<string | Omit<Accepted, "reason" | "date">>
): ReadonlyArray<Omit<Accepted, "date">> =>
  deviations.map((entry) => ({ ...(typeof entry === "string" ? { deviation: entry } : entry), reason }))

const on = (date: string, ...groups: ReadonlyArray<ReadonlyArray<Omit<Accepted, "date">>>): ReadonlyArray<Accepted> =>
  groups.flat().map((entry) => ({ ...entry, date }))

/** All accepted deviations. Those that no longer exist are reported as stale. */
export const acceptedDeviations: ReadonlyArray<Accepted> = on(
  "2026-11-24",
  because(
    "Posts have it since they can be edited; the answer is older, or abridged.",
    "data*.edit_history_tweet_ids: not recorded"
  ),
  because(
    "Answers of 2020 lack it; newer documents have it.",
    { deviation: "errors[].resource_id: not recorded", from: "Postman*" },
    { deviation: "status: not recorded", from: "Postman*" },
    { deviation: "meta.result_count: not recorded", from: "Postman*", operations: ["getStreamRules"] }
  ),
  because(
    "In 2020 the refusal was a line of text; newer documents describe a problem.",
    ...["title", "detail", "type"].map((name) => ({
      deviation: `${name}: not recorded`,
      from: "Postman*",
      operations: ["getPost*", "getUser*"]
    }))
  ),
  because("The sandbox reads no pages: a link has no preview.", "*.entities.urls[].*: missing"),
  because("The service's models annotate posts; the sandbox has no such model.", "data*annotations: missing"),
  because(
    "The sandbox counts impressions of posts, and neither clicks nor how long media play.",
    "data.*_metrics.*: missing",
    "includes.media[].non_public_metrics: missing"
  ),
  because("The request as it was kept lacks the fields that it selected.", {
    deviation: "data.*: missing",
    from: "Postman: User by ID",
    operations: ["getUser"]
  }),
  because("The answer as it was kept lacks the pinned posts that it selected.", {
    deviation: "includes: not recorded",
    from: "Postman: Users by ID"
  }),
  because("The example has fields that its request does not select, and contexts of another story.", {
    deviation: "data.*: missing",
    operations: ["getNewsStory"]
  }),
  because("Apps of the sandbox are enrolled.", { deviation: "status 200, recorded 403", operations: ["*StreamRules"] }),
  because("The documents say 200.", { deviation: "status 200, recorded 201", operations: ["updateStreamRules"] }),
  because(
    "The refused rule is not kept, and the one that stands for it is valid.",
    { deviation: "errors: missing", operations: ["updateStreamRules"] },
    { deviation: "data: not recorded", operations: ["updateStreamRules"] }
  ),
  because(
    "The sandbox names the parameter of the body in which something is wrong.",
    { deviation: "errors[].parameters.*: missing", operations: ["updateStreamRules"] },
    { deviation: "errors[].parameters.add: not recorded", operations: ["updateStreamRules"] }
  ),
  because(
    "The example is abridged.",
    ...["meta: not recorded", "meta.newest_id: not recorded", "meta.oldest_id: not recorded", "errors: not recorded"]
      .map((deviation) => ({ deviation, from: "Documents*" })),
    { deviation: "data[].name: not recorded", from: "Documents: x-api/users/lookup/integrate" },
    { deviation: "data: not recorded", from: "Documents: x-api/users/lookup/quickstart/user-lookup" },
    { deviation: "errors[].*: not recorded", from: "Documents: x-api/users/lookup/*" },
    { deviation: "includes: not recorded", from: "Documents: x-api/posts/lookup/integrate" }
  ),
  because(
    "The OpenAPI document has it otherwise than the example.",
    { deviation: "data*: *", operations: ["createActivitySubscription", "updateActivitySubscription"] },
    { deviation: "meta: missing", operations: ["updateActivitySubscription"] },
    { deviation: "meta.*est_id: missing", operations: ["searchPostsEligibleForNotes"] },
    { deviation: "meta.result_count: *", operations: ["getActivitySubscriptions", "searchUsers"] },
    { deviation: "data.*: not recorded", operations: ["createComplianceJob"] },
    { deviation: "data[].*", operations: ["getPersonalizedTrends"] },
    { deviation: "data.id: not recorded", operations: ["createCommunityNote", "repost"] },
    { deviation: "data.note_id: missing", operations: ["createCommunityNote"] }
  ),
  because(
    "The example answers another request than the one above it.",
    { deviation: "data[].*", operations: ["getRecentPostsCount"] },
    { deviation: "meta.*", operations: ["getRecentPostsCount"] },
    { deviation: "*: missing", from: "Documents: x-api/fundamentals/data-dictionary/reference" }
  )
)

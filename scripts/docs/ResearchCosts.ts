/** The costs of researchers' common tasks, by the table of prices. */
import { catalogue } from "../../packages/core/src/Catalogue.ts"
import * as Prices from "../../packages/core/src/spend/Prices.ts"

type Name = keyof typeof catalogue

/** A task: the operation, its number of requests or items, and the items of a request. */
type Task = readonly [task: string, operation: Name, items: number, page: number]

const tasks: ReadonlyArray<Task> = [
  ["Count the posts of a query over a year", "getAllPostsCount", 12, 1],
  ["10,000 posts of a search of the archive", "searchAllPosts", 10_000, 500],
  ["1,000,000 posts of a search of the archive", "searchAllPosts", 1_000_000, 500],
  ["The last 3,200 posts of one user", "getUsersPosts", 3_200, 100],
  ["10,000 posts by their ids, from a data set", "getPosts", 10_000, 100],
  ["10,000 users by their ids or names", "getUsers", 10_000, 100],
  ["The followers of a user with 50,000", "getUsersFollowers", 50_000, 1_000],
  ["1,000,000 ids checked for deletions", "createComplianceJob", 1, 1]
]

const count = (value: number): string => value.toLocaleString("en-US")

/** A row for each task. */
export const table = (): string =>
  [
    "| Task | Operation | Requests | Dollars |",
    "|---|---|---|---|",
    ...tasks.map(([task, operation, items, page]) => {
      const { definition } = catalogue[operation]
      const micros = items *
        Prices.most(
          definition,
          definition.query && "max_results" in definition.query ? { max_results: 1 } : { ids: ["1"] }
        )
      const dollars = micros === 0 ? "0" : (micros / 1e6).toLocaleString("en-US", { minimumFractionDigits: 2 })
      return `| ${task} | [\`${operation}\`](reference/${operation}.md) | ${
        count(Math.ceil(items / page))
      } | ${dollars} |`
    })
  ].join("\n")

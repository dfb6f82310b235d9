/** Costs at the sizes of large installations: many credentials, parts, workers and posts. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exponentOf, type Growth } from "../../../bench/src/Model.ts"
import type { Claim, Outcome, Proof, Run } from "../Model.ts"
import * as Cluster from "../scale/Cluster.ts"
import * as Credentials from "../scale/Credentials.ts"
import * as Sandbox from "../scale/Sandbox.ts"

const number = (value: number): string => value.toLocaleString("en", { maximumSignificantDigits: 3 })

const growthOf = (name: string, metric: string, expected: number, points: Growth["points"]): Growth => ({
  name,
  metric,
  exponent: exponentOf(points),
  expected,
  points
})

/** A claim of each growth: noise of a machine that others use is allowed for. */
const claimOf = ({ expected, exponent, metric, name, points }: Growth): Claim => ({
  claim: `${name}: ${metric}`,
  goal: `an exponent of at most ${expected}`,
  measured: `${exponent.toFixed(2)}, from ${number(points[0]?.[0] ?? 0)} to ${number(points.at(-1)?.[0] ?? 0)}`,
  holds: exponent <= expected + 0.05
})

const credentials = async ({ say, seed, share }: Run): Promise<Outcome> => {
  const sizes = [10, 32, 100, 316, 1_000].filter((size) => share >= 0.01 || size <= 100)
  const days = Math.max(0.1, 30 * share)
  const months: Array<Credentials.Month> = []
  for (const [index, size] of sizes.entries()) {
    say(`${number(size)} credentials`, 0.4 * index / sizes.length)
    months.push(await Credentials.month(size, days, seed))
  }
  const last = months.at(-1)!
  const points = months.map(({ cost }, index) => [sizes[index] ?? 0, cost] as const)
  const of = `${number(sizes.at(-1) ?? 0)} credentials, ${number(last.calls)} calls in ${number(days)} days`
  return {
    growth: [growthOf("credentials of one process", "CPU of a call", 0.1, points)],
    claims: [
      {
        claim: "rate limits of many credentials",
        goal: "no request is refused",
        measured: `${number(last.refused)} refused; ${of}`,
        holds: months.every(({ refused }) => refused === 0)
      },
      {
        claim: "fairness among credentials",
        goal: "the slowest makes at least 99 % of the calls of the fastest, and none waits for two windows",
        measured: `${number(100 * last.fewest / last.most)} %; the longest wait was ${
          number(last.longest / 60_000)
        } min`,
        holds: months.every(({ fewest, longest, most }) => fewest >= 0.99 * most && longest < 1_800_000)
      }
    ]
  }
}

const cluster = async ({ say, share }: Run): Promise<Outcome> => {
  const sizes = [10, 32, 100, 316, 1_000].filter((size) => share >= 0.01 || size <= 32)
  const exports: Array<Cluster.Exported> = []
  for (const [index, size] of sizes.entries()) {
    say(`${number(size)} parts`, 0.4 + 0.2 * index / sizes.length)
    exports.push(await Cluster.exportParts(size))
  }
  const last = exports.at(-1)!
  const counts = [4, 8, 16, 32, 64]
  const divisions = await Promise.all(counts.map((count) => Cluster.divide(1_000, count)))
  const busiest = Math.max(...divisions.map(({ busiest }) => busiest))
  const moved = Math.max(...divisions.map(({ moved }) => moved))
  const idle = divisions.reduce((sum, { idle }) => sum + idle, 0)
  return {
    growth: [
      growthOf("an export on one worker, by parts", "CPU", 1, exports.map(({ cost }, i) => [sizes[i] ?? 0, cost])),
      growthOf(
        "an export on one worker, by parts",
        "messages",
        1,
        exports.map((each, i) => [sizes[i] ?? 0, each.messages])
      ),
      growthOf("1,000 parts, by workers", "busiest", 0.3, divisions.map((each, i) => [counts[i] ?? 0, each.busiest]))
    ],
    claims: [
      {
        claim: `an export of ${number(sizes.at(-1) ?? 0)} parts`,
        goal: "every row once; a message for each page, and one for each part",
        measured: `${number(last.rows)} rows of ${number(last.pages)} pages, ${number(last.messages)} messages`,
        holds: exports.every(({ messages, pages, rows }, i) =>
          rows === 10 * pages && messages <= pages + 2 * (sizes[i] ?? 0)
        )
      },
      {
        claim: "1,000 parts on up to 64 workers",
        goal: "the busiest has at most twice its part of the work, and none has nothing",
        measured: `${number(busiest)} times; ${idle} without work`,
        holds: busiest <= 2 && idle === 0
      },
      {
        claim: "a quarter of the workers is killed",
        goal: "at most a quarter of the parts of the others move",
        measured: `${number(100 * moved)} %`,
        holds: moved <= 0.25
      }
    ]
  }
}

/** The largest size, and the longest time in seconds that making it may take. */
const [largest, longestSeconds] = [10_000_000, 3_600]

const expectedOf: Readonly<Record<keyof Sandbox.Figures, number>> = {
  "making all posts": 1,
  "the file": 1,
  "a start with the file": 0.1,
  "a page of a search": 0.1,
  "a page of a rare conjunction": 0.5,
  "a timeline": 0.1,
  "a lookup": 0.1,
  "a write": 0.1
}

const names = (figures: Sandbox.Figures) =>
  Object.keys(figures).filter((name): name is keyof Sandbox.Figures => name in expectedOf)

const sandbox = async ({ say, share }: Run): Promise<Outcome> => {
  const sizes = [1_000, 10_000, 100_000, 1_000_000, largest].filter((size) => size <= Math.max(10_000, largest * share))
  const folder = mkdtempSync(join(tmpdir(), "postwire-scale-"))
  const measured: Array<readonly [size: number, figures: Sandbox.Figures]> = []
  try {
    for (const [index, size] of sizes.entries()) {
      const [before = 0, figures] = measured.at(-1) ?? []
      if (figures !== undefined && figures["making all posts"] * size / before > longestSeconds) break
      say(`${number(size)} posts`, 0.6 + 0.4 * index / sizes.length)
      measured.push([size, await Sandbox.measure(size, folder)])
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  const [size = 0, last] = measured.at(-1) ?? []
  const growth = names(last!).map((name) =>
    growthOf("the sandbox, by posts", name, expectedOf[name], measured.map(([size, figures]) => [size, figures[name]]))
  )
  return {
    growth,
    claims: [{
      claim: "posts of a sandbox",
      goal: `${number(sizes.at(-1) ?? 0)} made in an hour`,
      measured: `${number(size)} posts in ${number(last?.["making all posts"] ?? 0)} s, ${
        number((last?.["the file"] ?? 0) / size)
      } bytes each`,
      holds: size === sizes.at(-1)
    }]
  }
}

export const proof: Proof = {
  title: "Large numbers of credentials, parts, workers and posts",
  run: async (run) => {
    const outcomes = [await credentials(run), await cluster(run), await sandbox(run)]
    const growth = outcomes.flatMap(({ growth = [] }) => growth)
    // Too small sizes say nothing about growth.
    const judged = run.share < 0.01 ? [] : growth.map(claimOf)
    return { claims: [...outcomes.flatMap(({ claims }) => claims), ...judged], growth }
  }
}

/** How far an export of a cluster is, until it has ended, and why it does not get on. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import type { ExportStatus, Tables } from "@postwire/cluster/Tables"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as Effect from "effect/Effect"
import * as Progress from "../terminal/Progress.ts"
import * as Report from "../terminal/Report.ts"

/** Looks so often. */
const rhythm = 500
/** A worker has so many milliseconds to appear, and a page to come, before it is said that they do not. */
const patience = { worker: 3_000, page: 60_000 }
/** The same is not said again for so many milliseconds. */
const pause = 300_000

/** What is said where nobody is there to do it, and what to do. */
export const noWorker = (id: string): readonly [text: string, advice: string] => [
  `The export ${id} waits: there is no worker.`,
  "Run postwire worker on any machine that reaches the database."
]

/**
 * Shows how far the export is until it has ended, and says why where it does not get on. A database that is away is waited
 * for. `workers` are those that are there; where this process does the work by itself, there is nobody to look for.
 */
export const watch = Effect.fnUntraced(function*<E, R>(
  tables: Tables["Service"],
  id: string,
  workers: Effect.Effect<ReadonlyArray<string>, E, R> | undefined
) {
  const progress = yield* Progress.make({ elsewhere: "seldom" })
  const begun = yield* Monotonic.millis
  const isNews = Report.news(pause)
  const say = Effect.fnUntraced(function*(text: string, advice?: string) {
    if (isNews(text, yield* Monotonic.millis)) yield* Report.say(text, advice)
  })
  const away = (error: unknown) => {
    const { advice, reason } = DatabaseProblem.of(error) ??
      { reason: "The database does not answer", advice: undefined }
    return Effect.as(say(`${reason}; it is waited for.`, advice), [])
  }
  let before: number | undefined
  let last = { pages: 0, at: begun }
  while (true) {
    const [status]: ReadonlyArray<ExportStatus> = yield* Effect.catch(tables.status(id), away)
    const now = yield* Monotonic.millis
    if (status !== undefined) {
      before ??= status.items
      const planned = status.parts.reduce((sum, { partition }) => sum + (partition?.posts ?? 0), 0)
      yield* progress.update({
        done: planned === 0 ? undefined : Math.min(status.items / planned, 0.99),
        posts: status.items,
        noun: "items",
        before,
        pages: status.pages,
        remaining: undefined
      })
      if (status.state === "done" || status.state === "failed") {
        yield* progress.end
        return status
      }
      if (status.pages !== last.pages) last = { pages: status.pages, at: now }
      const problem = status.parts.find((part) => part.state !== "done" && part.problem !== undefined)?.problem
      if (problem !== undefined) yield* say(`It is tried again: ${problem}`)
    }
    if (workers !== undefined && status !== undefined && now - last.at >= patience.worker) {
      if ((yield* Effect.orElseSucceed(workers, () => ["nobody knows"])).length === 0) {
        yield* say(...noWorker(id))
      } else if (now - last.at >= patience.page) {
        yield* say(
          `No page of the export ${id} has come for a minute: the rate limit may be exhausted.`,
          "The workers say on their standard error what they wait for."
        )
      }
    }
    yield* Effect.sleep(rhythm)
  }
})

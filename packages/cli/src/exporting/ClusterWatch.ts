/** Shows the progress of an export on a cluster until it ends, and why it does not advance. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import type { ExportStatus, Tables } from "@postwire/cluster/Tables"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as Effect from "effect/Effect"
import * as Progress from "../terminal/Progress.ts"
import * as Report from "../terminal/Report.ts"

/** The interval of queries, in milliseconds. */
const rhythm = 500
/** How long to wait for a worker and for a page before a notice, in milliseconds. */
const patience = { worker: 3_000, page: 60_000 }
/** A notice is not repeated for this long, in milliseconds. */
const pause = 300_000

/** The notice if there is no worker, with advice. */
export const noWorker = (id: string): readonly [text: string, advice: string] => [
  `The export ${id} waits for a worker.`,
  "Run postwire worker on any machine with access to the database."
]

/**
 * Shows the progress of the export until it ends, and why it does not advance. Waits while the database is unavailable. `workers`
 * are the running workers; `undefined` if this process does the work itself.
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
    return Effect.as(say(`${reason}; waiting for it.`, advice), [])
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
      if (problem !== undefined) yield* say(`Retrying: ${problem}`)
    }
    if (workers !== undefined && status !== undefined && now - last.at >= patience.worker) {
      if ((yield* Effect.orElseSucceed(workers, () => ["nobody knows"])).length === 0) {
        yield* say(...noWorker(id))
      } else if (now - last.at >= patience.page) {
        yield* say(
          `The export ${id} got no page for a minute: the rate limit may be exhausted.`,
          "The workers' standard error shows what they wait for."
        )
      }
    }
    yield* Effect.sleep(rhythm)
  }
})

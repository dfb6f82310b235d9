import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as Partitions from "@postwire/export/Partitions"
import * as Plan from "@postwire/export/sources/Plan"
import * as Source from "@postwire/export/sources/Source"
import * as NodeClient from "@postwire/node/NodeClient"
import { Effect, ManagedRuntime } from "effect"

const posts = Source.make(searchRecentPosts, { query: "effect", max_results: 100 })

/** The data of a job: plain JSON, for any queue. */
interface Job {
  readonly partition: Partitions.Partition
  readonly cursor: Partitions.Cursor
}

const runtime = ManagedRuntime.make(NodeClient.layer({ ...NodeClient.fromEnvironment(), waitOnRateLimit: true }))

// Once: one job for each part of the search.
const { buckets } = await runtime.runPromise(Plan.estimate(posts))
const plan = Partitions.planPartitions(posts, buckets, 4)
if (plan instanceof Plan.NotPlannable) throw plan
const queue: Array<Job> = plan.map((partition) => ({ partition, cursor: Partitions.beginning }))

// In any number of workers: a page of the job's part, then a job for the page after it.
const written = new Map<string, ReadonlyArray<object>>()
const work = async ({ cursor, partition }: Job): Promise<Job | undefined> => {
  const next = await runtime.runPromise(Partitions.exportPartition(posts, partition, {
    cursor,
    // The same page has the same place, so a job that is done twice does no harm.
    write: ({ items }, place) => Effect.sync(() => written.set(`${place.partition}/${place.page}`, items))
  }))
  return next.complete ? undefined : { partition, cursor: next }
}

for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
  const next = await work(job)
  if (next !== undefined) queue.push(next)
}
console.log(`${[...written.values()].flat().length} posts in ${plan.length} parts`)
await runtime.dispose()

// An export driven by BullMQ: a job is a part of a search with its cursor. Run it on as many machines as you like, and
// again after a crash: node bullmq.ts <query> <folder>, with REDIS_URL and the settings of the client.
import { ClientConfig, RateLimit, Search } from "@postwire/core"
import { Partitions, Plan, Source } from "@postwire/export"
import * as RedisRateLimitStore from "@postwire/node/RedisRateLimitStore"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { createNodeRedisClient, Queue, Worker } from "bullmq"
import { Effect, Layer, ManagedRuntime } from "effect"
import { mkdir, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createClient } from "redis"

const [query = "effect", folder = "out"] = process.argv.slice(2)
const url = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379"

// All machines share the rate limits.
const client = ManagedRuntime.make(ClientConfig.layer.pipe(
  Layer.provide([UndiciHttpClient.layer(), RateLimit.layerWait()]),
  Layer.provide(RedisRateLimitStore.layerUrl({ url }))
))
const source = Source.make(Search.searchRecentPosts, { query, max_results: 100 })

// The same page has the same place, however often it is written.
const write = ({ items }: Source.Page, { page, partition }: Partitions.Place) =>
  Effect.promise(async () => {
    const file = join(folder, `${partition}-${page}.jsonl`)
    await writeFile(`${file}.${process.pid}`, items.map((item) => `${JSON.stringify(item)}\n`).join(""))
    await rename(`${file}.${process.pid}`, file)
  })

interface Part {
  readonly partition: Partitions.Partition
  readonly cursor: Partitions.Cursor
}

await mkdir(folder, { recursive: true })
const connections = [createClient({ url }), createClient({ url })] as const
const queue = new Queue<Part>("postwire", { connection: createNodeRedisClient(connections[0]) })
if ((await queue.getJobs()).length === 0) {
  const { buckets } = await client.runPromise(Plan.estimate(source))
  const partitions = Partitions.planPartitions(source, buckets, 8)
  if (partitions instanceof Error) throw partitions
  await queue.addBulk(partitions.map((partition) => ({
    name: query,
    data: { partition, cursor: Partitions.beginning },
    // A name of its own: another machine that plans at the same time adds nothing.
    opts: { jobId: `part-${partition.index}`, attempts: 10, backoff: { type: "exponential", delay: 1_000 } }
  })))
}

const worker = new Worker<Part>("postwire", async (job) => {
  const { partition } = job.data
  let { cursor } = job.data
  while (!cursor.complete) {
    cursor = await client.runPromise(Partitions.exportPartition(source, partition, { cursor, write }))
    await job.updateData({ partition, cursor })
  }
}, {
  connection: createNodeRedisClient(connections[1]),
  concurrency: 4,
  // A machine that is gone is missed after three seconds.
  lockDuration: 3_000,
  stalledInterval: 1_000,
  maxStalledCount: 100
})
worker.on("error", (error) => console.error(error.message))

let waiting = 1
while (waiting > 0) {
  await sleep(200)
  waiting = (await queue.getJobCountByTypes("waiting", "active", "delayed", "prioritized")) ?? 0
}
const cursors = (await queue.getJobs()).map(({ data }) => data.cursor)
console.log(`${cursors.reduce((sum, { items }) => sum + items, 0)} posts in ${folder}`)
await Promise.all([worker.close(), queue.close(), client.dispose()])
for (const connection of connections) connection.destroy()

/** The process of one contender: `node Process.ts <section> <name> <settings>`. It runs a batch on request, and says what it took. */
import { GCProfiler } from "node:v8"
import * as Child from "./Child.ts"
import type { Contenders, Reading, Task } from "./Rounds.ts"

const [section, name = "", settings = "{}"] = process.argv.slice(2)

const { contenders }: { readonly contenders: Contenders<Task> } = await import(`./sections/${section}.ts`)
const run = await contenders[name]?.(JSON.parse(settings))
if (run === undefined) throw new Error(`${section} has no ${name}`)

/** Bytes of the heap that `f` used: what every collection found, and what was left by the one before. */
const allocatedBy = async (f: () => Promise<void> | void): Promise<number> => {
  globalThis.gc?.()
  let before = process.memoryUsage().heapUsed
  const profiler = new GCProfiler()
  profiler.start()
  await f()
  const { statistics } = profiler.stop()
  let bytes = 0
  for (const { afterGC, beforeGC } of statistics) {
    bytes += beforeGC.heapStatistics.usedHeapSize - before
    before = afterGC.heapStatistics.usedHeapSize
  }
  return bytes + process.memoryUsage().heapUsed - before
}

Child.answer("ready", async (task: Task): Promise<Reading> => {
  const { count, measure } = task
  if (measure === "allocated") return { allocated: await allocatedBy(() => run(task)) / 1e3 / count }
  if (measure === "memory") globalThis.gc?.()
  const atStart = process.memoryUsage.rss()
  let most = atStart
  const see = () => void (most = Math.max(most, process.memoryUsage.rss()))
  const look = measure === "memory" ? setInterval(see, 5) : undefined
  const start = performance.now()
  const before = process.cpuUsage()
  await run(task)
  const { system, user } = process.cpuUsage(before)
  const time = performance.now() - start
  clearInterval(look)
  see()
  return {
    CPU: (user + system) / count,
    time: time * 1000 / count,
    ...(measure === "memory" ? { memory: (most - atStart) / 1e6 } : {})
  }
})

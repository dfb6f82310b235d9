// The heap that calls of one client take, as JSON: `node --expose-gc Allocation.ts <client> <url>`. The client is the module of
// a Promise client, or "undici". Without the optimizing compilers the figures are the same in every run.
import { GCProfiler } from "node:v8"
import { Agent, request } from "../../packages/node/node_modules/undici/index.js"
import type * as Clients from "../../packages/node/src/index.ts"

const [module = "", baseUrl = ""] = process.argv.slice(2)

const bare = () => {
  const dispatcher = new Agent({ allowH2: false, connections: 50 })
  return async (): Promise<unknown> => {
    const { body } = await request(`${baseUrl}/2/posts/1`, { dispatcher, headers: { authorization: "Bearer a" } })
    return JSON.parse(await body.text())
  }
}

const ours = async () => {
  const { createClient }: typeof Clients = await import(module)
  const client = createClient({ baseUrl, bearerToken: "a" })
  return (): Promise<unknown> => client.getPost({ id: "1" })
}

const call = module === "undici" ? bare() : await ours()

const run = async (count: number, inFlight: number): Promise<void> => {
  let left = count
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (left-- > 0) await call()
  }))
}

/** Bytes of the heap that `f` used: what every collection found, and what was left by the one before. */
const allocatedBy = async (f: () => Promise<void>): Promise<number> => {
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

const count = 400
const medians: Array<number> = []
for (const inFlight of [1, 50]) {
  await run(count, inFlight)
  const rounds: Array<number> = []
  for (let round = 0; round < 3; round++) rounds.push(await allocatedBy(() => run(count, inFlight)) / count)
  medians.push(rounds.sort((a, b) => a - b)[1]!)
}
console.log(JSON.stringify(medians))
process.exit()

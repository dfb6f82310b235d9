/** The process of one contender: `node Client.ts <name> <wire> <port> <checkout>`. It runs a batch on request. */
import type { WireName } from "@postwire/core/schema/WireName"
import { deepStrictEqual } from "node:assert/strict"
import { GCProfiler } from "node:v8"
import * as Bodies from "./Bodies.ts"
import * as Checkout from "./Checkout.ts"
import * as Child from "./Child.ts"
import { make, type ModuleName } from "./Contenders.ts"
import type { Answer, Question } from "./Measurement.ts"

// The parent writes nothing else.
const [name, wire, port, folder] = process.argv.slice(2) as [ModuleName, WireName, string, string]
const { body, run } = make[name](wire, `http://127.0.0.1:${port}`, await Checkout.load(folder))

const idsOf = (body: unknown): unknown => JSON.stringify(body).match(/"id":"\d+"/g)

for (const workload of Bodies.workloads) {
  // Postwire speaks neutral names on both wires, and the others those of the service.
  const expected: unknown = JSON.parse(Bodies.text(name.startsWith("postwire") ? "neutral" : wire, workload))
  const actual = await body(workload)
  if (name === "xdk") deepStrictEqual(idsOf(actual), idsOf(expected))
  else deepStrictEqual(actual, expected)
}

const microseconds = (since?: NodeJS.CpuUsage): number => {
  const { system, user } = process.cpuUsage(since)
  return user + system
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

Child.answer("ready", async (question: Question): Promise<Answer> => {
  if (question.kind === "usage") return microseconds()
  const { count, inFlight, workload } = question
  if (question.kind === "allocation") return await allocatedBy(() => run(workload, count, inFlight)) / count
  const start = performance.now()
  const before = process.cpuUsage()
  await run(workload, count, inFlight)
  const cpu = microseconds(before)
  const wall = performance.now() - start
  return { cpu: cpu / count, wall: wall * 1000 / count }
})

/** The process of one contender: `node Client.ts <name> <wire> <port>`. It runs a batch whenever it is asked. */
import type { Wire } from "@postwire/core/WireNames"
import { deepStrictEqual } from "node:assert/strict"
import * as Bodies from "./Bodies.ts"
import * as Child from "./Child.ts"
import { make, type Name } from "./Contenders.ts"
import type { Cost, Scenario } from "./Measurement.ts"

// The parent writes nothing else.
const [name, wire, port] = process.argv.slice(2) as [Name, Wire, string]
const { body, run } = make[name](wire, `http://127.0.0.1:${port}`)

for (const workload of Bodies.workloads) {
  // Postwire speaks neutral names on both wires, and the others those of the service.
  const expected = Bodies.text(name.startsWith("postwire") ? "neutral" : wire, workload)
  deepStrictEqual(await body(workload), JSON.parse(expected))
}

Child.answer("ready", async ({ count, inFlight, workload }: Scenario): Promise<Cost> => {
  const start = performance.now()
  const before = process.cpuUsage()
  await run(workload, count, inFlight)
  const { system, user } = process.cpuUsage(before)
  const wall = performance.now() - start
  return { cpu: (user + system) / count, wall: wall * 1000 / count }
})

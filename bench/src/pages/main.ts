/**
 * Measures reading of pages, in turns with a hand-written async generator over bare Undici:
 *
 *     pnpm bench:pages [--rounds <n>] [--items <n>] [--json <file>]
 */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as Child from "../Child.ts"
import { median } from "../Measurement.ts"
import type { Name, Reading, Task } from "./Reader.ts"

const megabyte = 1024 * 1024

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--"),
  options: {
    rounds: { type: "string", default: "3" },
    items: { type: "string", default: "1000000" },
    json: { type: "string" }
  }
})
const rounds = Number(values.rounds)
const items = Number(values.items)

const start = async (name: Name, port: unknown) => ({
  name,
  reader: await Child.start<Task, Reading>("pages/Reader.ts", name, String(port))
})

/** The largest deviation of resident memory from its median, once the code is compiled, in megabytes. */
const spread = (memory: ReadonlyArray<number>): number => {
  const warm = memory.slice(1)
  return Math.max(...warm.map((bytes) => Math.abs(bytes - median(warm)))) / megabyte
}

const lines: Array<string> = []
const line = (...cells: ReadonlyArray<string>) =>
  void lines.push(cells.map((cell, i) => i === 0 ? cell.padEnd(34) : cell.padStart(12)).join("").trimEnd())
const goal = (met: boolean, figure: number, text: string) =>
  void lines.push(`  ${met ? "met   " : "missed"} ${figure.toFixed(2)}  ${text}`)

const bulk = async () => {
  const server = await Child.start<never, never>("pages/Server.ts", "0")
  const readers = await Promise.all(
    (["generator", "promise", "stream"] as const).map((name) => start(name, server.hello))
  )
  const readings = new Map<Name, Array<Reading>>(readers.map(({ name }) => [name, []]))
  for (const { reader } of readers) await reader.ask({ items: 50_000, work: 0, prefetch: 0, memory: false })
  for (let round = 0; round < rounds; round++) {
    for (const { name, reader } of round % 2 === 0 ? readers : readers.toReversed()) {
      readings.get(name)!.push(await reader.ask({ items, work: 0, prefetch: 0, memory: false }))
    }
  }
  for (const { reader } of readers) reader.end()
  // A process keeps allocated memory for a while, so this uses new ones.
  const memories = new Map<Name, ReadonlyArray<number>>()
  for (const name of readings.keys()) {
    const { reader } = await start(name, server.hello)
    memories.set(name, (await reader.ask({ items, work: 0, prefetch: 0, memory: true })).memory)
    reader.end()
  }
  server.end()
  const baseline = readings.get("generator")!
  const ratio = (name: Name, of: "wall" | "cpu") =>
    median(readings.get(name)!.map((reading, round) => reading[of] / baseline[round]![of]))
  lines.push(`${items} posts in pages of 100, medians of ${rounds} rounds, ratios to the generator`, "")
  line("", "seconds", "time", "CPU", "memory MB", "+- MB")
  for (const [name, all] of readings) {
    line(
      name === "generator" ? "generator over bare Undici" : name === "promise" ? "Promise .items" : "Effect .items",
      (median(all.map(({ wall }) => wall)) / 1000).toFixed(2),
      ratio(name, "wall").toFixed(2),
      ratio(name, "cpu").toFixed(2),
      (Math.max(...memories.get(name)!) / megabyte).toFixed(0),
      spread(memories.get(name)!).toFixed(0)
    )
  }
  lines.push("")
  for (const name of ["promise", "stream"] as const) {
    goal(ratio(name, "wall") <= 1.1, ratio(name, "wall"), `time <= 1.1 generator: ${name}`)
    const flat = spread(memories.get(name)!)
    goal(flat <= 50, flat, `memory +- 50 MB: ${name}`)
  }
  return { readings: Object.fromEntries(readings), memories: Object.fromEntries(memories) }
}

const overlap = async () => {
  const [latency, work, pages] = [20, 15, 50]
  const task = { items: pages * 100, work, prefetch: 0, memory: false } as const
  const slow = await Child.start<never, never>("pages/Server.ts", String(latency))
  const fast = await Child.start<never, never>("pages/Server.ts", "0")
  const result: Record<string, unknown> = {}
  lines.push("", `${latency} ms of latency and ${work} ms of work for each of ${pages} pages, milliseconds`, "")
  line("", "latency", "work", "in turn", "prefetch", "to larger")
  const goals: Array<() => void> = []
  for (const name of ["stream", "promise", "blocking"] as const) {
    const far = (await start(name, slow.hello)).reader
    const near = (await start(name, fast.hello)).reader
    await near.ask({ ...task, items: 10_000, work: 0, prefetch: 1 })
    await far.ask({ ...task, items: 2_000, work: 0, prefetch: 1 })
    const measured = { latency: [], work: [], turn: [], prefetch: [] } as Record<string, Array<number>>
    for (let round = 0; round < rounds; round++) {
      measured["latency"]!.push((await far.ask({ ...task, work: 0 })).wall)
      measured["work"]!.push((await near.ask(task)).wall)
      measured["turn"]!.push((await far.ask(task)).wall)
      measured["prefetch"]!.push((await far.ask({ ...task, prefetch: 1 })).wall)
    }
    far.end()
    near.end()
    const of = (key: string) => median(measured[key]!)
    const larger = Math.max(of("latency"), of("work"))
    const figure = of("prefetch") / larger
    line(name, ...["latency", "work", "turn", "prefetch"].map((key) => of(key).toFixed(0)), figure.toFixed(2))
    goals.push(() => goal(figure <= 1.1, figure, `prefetch <= 1.1 of the larger: ${name}`))
    result[name] = measured
  }
  lines.push("")
  for (const report of goals) report()
  slow.end()
  fast.end()
  return result
}

const measured = { overlap: await overlap(), bulk: await bulk() }
console.log(lines.join("\n"))
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify({ rounds, items, ...measured }, undefined, 2)}\n`)
}

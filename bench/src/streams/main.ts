/**
 * Measures one line of a stream, from bytes to items, in turns with the loop that anybody would write over bare Undici: decode,
 * split, `JSON.parse`, and nothing is checked:
 *
 *     pnpm bench:stream [--rounds <n>] [--items <n>] [--only <wire>/<pieces>] [--json <file>]
 */
import type { WireName } from "@postwire/core/schema/WireName"
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as Child from "../Child.ts"
import { median, type Ratio, spread } from "../Measurement.ts"
import type { Name, Reading, Task } from "./Reader.ts"

const megabyte = 1024 * 1024

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--"),
  options: {
    rounds: { type: "string", default: "9" },
    items: { type: "string", default: "100000" },
    only: { type: "string" },
    json: { type: "string" }
  }
})
const rounds = Number(values.rounds)
const items = Number(values.items)

const names: ReadonlyArray<Name> = ["bare", "stream", "promise"]

const scenarios: ReadonlyArray<readonly [wire: WireName, pieces: "block" | "line"]> = [
  ["neutral", "block"],
  ["neutral", "line"],
  ["x", "block"],
  ["x-2026-02", "block"]
]

const lines: Array<string> = []
const line = (...cells: ReadonlyArray<string>) =>
  void lines.push(cells.map((cell, i) => i === 0 ? cell.padEnd(30) : cell.padStart(20)).join("").trimEnd())
const shown = ({ high, low, median }: Ratio) => `${median.toFixed(2)} ${low.toFixed(2)}-${high.toFixed(2)}`

/** The largest deviation of resident memory from its median, once the code is compiled, in megabytes. */
const drift = (memory: ReadonlyArray<number>): number => {
  const warm = memory.slice(2)
  return Math.max(...warm.map((bytes) => Math.abs(bytes - median(warm)))) / megabyte
}

const start = (name: Name, wire: WireName, port: unknown) =>
  Child.start<Task, Reading>("streams/Reader.ts", name, wire, String(port))

const measure = async (wire: WireName, pieces: "block" | "line") => {
  const server = await Child.start<never, never>("streams/Server.ts", wire, pieces)
  const readers = await Promise.all(
    names.map(async (name) => ({ name, reader: await start(name, wire, server.hello) }))
  )
  const readings = new Map<Name, Array<Reading>>(names.map((name) => [name, []]))
  for (const { reader } of readers) await reader.ask({ items, memory: false })
  for (let round = 0; round < rounds; round++) {
    for (const { name, reader } of round % 2 === 0 ? readers : readers.toReversed()) {
      readings.get(name)!.push(await reader.ask({ items, memory: false }))
    }
  }
  for (const { reader } of readers) reader.end()
  const bare = readings.get("bare")!
  const throughput = (name: Name, of: "wall" | "cpu") =>
    spread(readings.get(name)!.map((reading, round) => bare[round]![of] / reading[of]))
  lines.push(`${wire}, ${pieces === "block" ? "64 KiB of lines" : "a line at a time"}`, "")
  line("", "lines/s", "throughput", "by CPU time")
  for (const name of names) {
    const rate = median(readings.get(name)!.map(({ wall }) => items / wall)) * 1000
    line(`  ${name}`, rate.toFixed(0), shown(throughput(name, "wall")), shown(throughput(name, "cpu")))
  }
  const memories = new Map<Name, ReadonlyArray<number>>()
  if (wire === "neutral" && pieces === "block" && values.only === undefined) {
    line("", "memory MB", "+- MB")
    for (const name of names) {
      const reader = await start(name, wire, server.hello)
      const { memory } = await reader.ask({ items: items * 10, memory: true })
      reader.end()
      memories.set(name, memory)
      line(`  ${name}, ${items * 10} lines`, (Math.max(...memory) / megabyte).toFixed(0), drift(memory).toFixed(0))
    }
  }
  server.end()
  const met = throughput("stream", "wall").median >= 0.9
  lines.push(`  ${met ? "met   " : "missed"} throughput of stream >= 0.9 of bare`, "")
  return { wire, pieces, readings: Object.fromEntries(readings), memories: Object.fromEntries(memories) }
}

lines.push(`${items} lines in each of ${rounds} rounds, medians and quartiles of the ratios to bare within a round`, "")
const measured: Array<unknown> = []
for (const scenario of scenarios) {
  if (values.only === undefined || values.only === scenario.join("/")) measured.push(await measure(...scenario))
}
console.log(lines.join("\n"))
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify({ rounds, items, measured }, undefined, 2)}\n`)
}

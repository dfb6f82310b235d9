/** How busy the machine is with other programs. */
import { readdirSync, readFileSync } from "node:fs"
import { cpus } from "node:os"

/** Milliseconds of CPU time: of the machine, busy and in all, and of this process with all below it. */
export interface Usage {
  readonly busy: number
  readonly total: number
  readonly own: number | undefined
}

/** Milliseconds of a tick in /proc. */
const tick = 10

/** The CPU time of this process, of its descendants, and of those of them that have ended. Linux alone says that. */
const own = (): number | undefined => {
  const processes = new Map<number, { readonly parent: number; readonly millis: number }>()
  try {
    for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        // After the name in parentheses, which may hold anything: state, parent, ..., and four times.
        const fields = readFileSync(`/proc/${id}/stat`, "latin1").replace(/^.*\) /s, "").split(" ")
        const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
        processes.set(Number(id), { parent: Number(fields[1]), millis: ticks * tick })
      } catch {
        // It has ended meanwhile.
      }
    }
  } catch {
    return undefined
  }
  const isOwn = (id: number): boolean => {
    const found = processes.get(id)
    return id === process.pid || (found !== undefined && isOwn(found.parent))
  }
  return Array.from(processes).reduce((sum, [id, { millis }]) => isOwn(id) ? sum + millis : sum, 0)
}

export const usage = (): Usage => {
  let [busy, idle] = [0, 0]
  for (const { times } of cpus()) {
    busy += times.user + times.nice + times.sys + times.irq
    idle += times.idle
  }
  return { busy, total: busy + idle, own: own() }
}

/** The share of the machine's CPU time that other programs used between two moments. */
export const foreign = (from: Usage, to: Usage): number | undefined =>
  from.own === undefined || to.own === undefined
    ? undefined
    : Math.max(0, to.busy - from.busy - (to.own - from.own)) / (to.total - from.total)

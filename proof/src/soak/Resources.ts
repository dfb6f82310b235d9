/** The things that a process holds, counted when it is idle. */
import { Effect } from "effect"
import type { EventEmitter } from "node:events"
import { readdirSync } from "node:fs"
import { Socket } from "node:net"
import { queryObjects, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** Counts by name; memory in MB. */
export interface Resources {
  readonly memory: number
  readonly resident: number
  readonly fibers: number
  readonly sockets: number
  readonly timers: number
  readonly listeners: number
  readonly files: number
}

/** The kinds of things that are counted, and have to be as few as before. */
export const counted = ["fibers", "sockets", "timers", "listeners", "files"] as const

const Fiber = Effect.runFork(Effect.void).constructor

const live = (constructor: Function): number => queryObjects(constructor, { format: "count" })

const active = (name: string): number => process.getActiveResourcesInfo().filter((one) => one === name).length

const emitters = [process, process.stdin, process.stdout, process.stderr]

const listenersOf = (emitter: EventEmitter): number =>
  emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0)

/** Counts after a collection. */
export const take = async (): Promise<Resources> => {
  for (let i = 0; i < 3; i++) {
    // Weakly held objects go with the next turn.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  const { heapUsed, rss } = process.memoryUsage()
  return {
    memory: heapUsed / 1e6,
    resident: rss / 1e6,
    fibers: live(Fiber),
    sockets: live(Socket),
    timers: active("Timeout"),
    listeners: emitters.reduce((sum, emitter) => sum + listenersOf(emitter), 0) + live(AbortSignal),
    files: readdirSync("/proc/self/fd").length
  }
}

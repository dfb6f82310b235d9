/** Processes that spend from one account of a sandbox, are killed in the midst of it, and what is known of their calls then. */
import type * as Credentials from "@postwire/core/auth/Credentials"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Call, Scene } from "./PaidCalls.ts"

/** What a process is to do. */
export interface Order {
  readonly baseUrl: string
  readonly store: string
  readonly scene: Scene
  /** Who makes the calls, and who makes those of the owner of the app. */
  readonly own: Credentials.Settings
  readonly owner: Credentials.Settings
  readonly label: string
  readonly seed: number
  readonly calls: number
  readonly atOnce: number
  /** Dollars in a day. */
  readonly limit?: number | undefined
  /** Where it notes its calls. */
  readonly log: string
}

/** A call that is about to be made, or has ended: with `ok`, or the tag of an error. */
export type Noted =
  | { readonly id: number; readonly call: Call }
  | { readonly id: number; readonly ended: string }

/** A call, and how it ended: none of one that was under way when its process was killed. */
export interface Made {
  readonly call: Call
  readonly ended: string | undefined
}

/** A process. */
export interface Spender {
  readonly process: ChildProcess
  readonly ended: Promise<unknown>
  /** How many bytes it has noted. */
  readonly written: () => number
  /** Its calls. */
  readonly calls: () => ReadonlyArray<Made>
}

const program = fileURLToPath(new URL("spender.ts", import.meta.url))

/** Starts a process. */
export const start = (folder: string, order: Omit<Order, "log">): Spender => {
  const log = join(folder, `${order.label}.log`)
  const file = join(folder, `${order.label}.json`)
  writeFileSync(log, "")
  writeFileSync(file, JSON.stringify({ ...order, log }))
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, file], {
    stdio: ["ignore", "inherit", "inherit"]
  })
  return {
    process: child,
    ended: once(child, "exit"),
    written: () => statSync(log).size,
    calls: () => callsIn(readFileSync(log, "utf8"))
  }
}

const callsIn = (log: string): ReadonlyArray<Made> => {
  const calls = new Map<number, Made>()
  // The last line of a process that was killed may be cut.
  for (const line of log.slice(0, log.lastIndexOf("\n") + 1).split("\n").filter(Boolean)) {
    const noted: Noted = JSON.parse(line)
    if ("call" in noted) calls.set(noted.id, { call: noted.call, ended: undefined })
    else calls.set(noted.id, { ...calls.get(noted.id)!, ended: noted.ended })
  }
  return [...calls.values()]
}

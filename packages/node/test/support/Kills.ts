/** The service and the programs of `receiver.ts`: a burst of events, during which the programs are killed and replaced. */
import * as Signature from "@postwire/core/events/Signature"
import { Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import * as Http from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { bundled, withRedisClient } from "../../../core/test/support/ProgramFile.ts"

const secrets = "a secret of the app"

/** Programs that run beside each other. */
const mostPrograms = 2

const users = 200

/** How many deliveries are on their way. */
const workers = 32

export interface Outcome {
  readonly seconds: number
  readonly kills: number
  /** Deliveries that were not acknowledged, and sent again. */
  readonly retried: number
  /** Deliveries of events that were acknowledged before. */
  readonly duplicates: number
  /** Events in the database, in which an event is once. */
  readonly handled: number
  /** Those that are missing there. */
  readonly lost: ReadonlyArray<string>
  /** Users whose sum in the database is that of other events than theirs. */
  readonly wrongSums: number
  /** Events that were handled before an earlier one of their user. */
  readonly disordered: number
  /** Lines of events that the file has more than once. */
  readonly twice: number
  /** Events that were given up, and why. */
  readonly letters: ReadonlyArray<readonly [uuid: string, reason: string]>
}

/** An event that can be handled, or one that cannot. */
const bodyOf = (uuid: number, user: string, type: "dm.indicate_typing" | "dm.read") =>
  JSON.stringify({
    data: { event_uuid: String(uuid), filter: { user_id: user }, event_type: type, payload: { users: {} } }
  })

/** A program, and its port as soon as it has one. */
interface Program {
  readonly child: ChildProcess
  port: number | undefined
}

/** Sends events to programs that are killed at random, and compares what was sent with what was handled. */
export const prove = async (
  { events, hopeless, kills, storeIn }: {
    readonly events: number
    /** How many of them no program can handle. Each has a user of its own. */
    readonly hopeless: number
    readonly kills: number
    /** The store of the programs, given their folder. */
    readonly storeIn: (folder: string) => string
  }
): Promise<Outcome> => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-kills-"))
  const begun = performance.now()
  const programs = new Set<Program>()
  const agent = new Http.Agent({ keepAlive: true, maxSockets: workers })
  try {
    const program = await bundled(new URL("receiver.ts", import.meta.url), join(folder, "receiver.mjs"))
    let isOver = false
    const start = () => {
      const child = spawn(
        process.execPath,
        ["--no-warnings", program, secrets, storeIn(folder), folder],
        { stdio: ["ignore", "pipe", "inherit"], env: { ...withRedisClient, NODE_COMPILE_CACHE: join(folder, "cache") } }
      )
      const own: Program = { child, port: undefined }
      programs.add(own)
      createInterface({ input: child.stdout }).on("line", (line) => own.port = Number(line))
      child.on("exit", () => {
        programs.delete(own)
        if (!isOver) start()
      })
    }
    for (let i = 0; i < mostPrograms; i++) start()

    const ready = () => [...programs].filter(({ child, port }) => port !== undefined && !child.killed)
    const portOf = async (): Promise<number> => {
      for (;;) {
        const all = ready()
        const port = all[Math.floor(Math.random() * all.length)]?.port
        if (port !== undefined) return port
        await sleep(10)
      }
    }
    let retried = 0
    /** Sends an event until it is acknowledged, as the service does, though without its pauses. */
    const send = async (body: string): Promise<void> => {
      const signature = Signature.sign(Redacted.make(secrets), body)
      for (;; retried++) {
        if (await post(await portOf(), body, signature, agent) === 200) return
        await sleep(10)
      }
    }

    // The kills are spread over the burst.
    const killsAt = Array.from({ length: kills }, (_, kill) => Math.floor((kill + Math.random()) * events / kills))
    let killed = 0
    let acknowledged = 0
    const acknowledge = async () => {
      acknowledged++
      while (killed < kills && acknowledged > killsAt[killed]!) {
        killed++
        await sleep(Math.random() * 10)
        for (;;) {
          const all = ready()
          const victim = all[Math.floor(Math.random() * all.length)]
          if (victim?.child.kill("SIGKILL") === true) break
          await sleep(10)
        }
      }
    }
    let next = 0
    let duplicates = 0
    const sums = new Map<string, number>()
    const wanted: Array<string> = []
    const isHopeless = (uuid: number) => uuid % Math.ceil(events / 2 / hopeless) === 0 && uuid <= events / 2
    // A worker has users of its own, so that the events of one arrive in order.
    const work = async (worker: number) => {
      const sent: Array<string> = []
      while (next < events) {
        const uuid = ++next
        const isNone = isHopeless(uuid)
        const user = isNone ? `only ${uuid}` : String(worker + workers * Math.floor(Math.random() * users / workers))
        const body = bodyOf(uuid, user, isNone ? "dm.read" : "dm.indicate_typing")
        if (!isNone) {
          wanted.push(String(uuid))
          sums.set(user, (sums.get(user) ?? 0) + uuid)
        }
        await send(body)
        sent.push(body)
        if (Math.random() < 0.1) {
          duplicates++
          await send(sent[Math.floor(Math.random() * sent.length)]!)
        }
        await acknowledge()
      }
    }
    await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))

    const lettersOf = async (): Promise<Outcome["letters"]> => {
      const response = await fetch(`http://127.0.0.1:${await portOf()}/letters`).catch(() => undefined)
      return response === undefined ? [] : await response.json()
    }
    const ledger = new DatabaseSync(join(folder, "ledger.db"), { timeout: 5_000 })
    const count = ledger.prepare("SELECT count(*) AS count FROM handled")
    const isDone = async () =>
      Number(count.get()?.["count"]) + new Set((await lettersOf()).map(([uuid]) => uuid)).size >= events
    while (!await isDone()) await sleep(50)
    const letters = await lettersOf()
    isOver = true
    await Promise.all([...programs].map(({ child }) => {
      child.kill("SIGKILL")
      return once(child, "exit")
    }))
    const rows = ledger.prepare("SELECT event_uuid, user FROM handled ORDER BY at").all()
    const has = new Set(rows.map(({ event_uuid }) => String(event_uuid)))
    const last = new Map<unknown, number>()
    let disordered = 0
    for (const { event_uuid, user } of rows) {
      if (Number(event_uuid) < (last.get(user) ?? 0)) disordered++
      last.set(user, Number(event_uuid))
    }
    const kept = ledger.prepare("SELECT user, sum FROM sums").all()
    ledger.close()
    const lines = readFileSync(join(folder, "lines"), "utf8").trimEnd().split("\n")
    const given = new Set(letters.map(([uuid]) => uuid))
    for (const [user, sum] of kept.map(({ sum, user }) => [String(user), Number(sum)] as const)) {
      sums.set(user, (sums.get(user) ?? 0) - sum)
    }
    return {
      seconds: Math.round((performance.now() - begun) / 1000),
      kills: killed,
      retried,
      duplicates,
      handled: rows.length,
      lost: wanted.filter((uuid) => !has.has(uuid) && !given.has(uuid)),
      wrongSums: [...sums.values()].filter((rest) => rest !== 0).length,
      disordered,
      twice: lines.length - new Set(lines).size,
      letters
    }
  } finally {
    agent.destroy()
    for (const { child } of programs) {
      child.removeAllListeners("exit")
      child.kill("SIGKILL")
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The status of the answer; `undefined` if there is none. */
const post = (port: number, body: string, signature: string, agent: Http.Agent): Promise<number | undefined> =>
  new Promise((resolve) => {
    const request = Http.request({
      port,
      host: "127.0.0.1",
      method: "POST",
      agent,
      timeout: 5_000,
      headers: { [Signature.header]: signature, "content-length": Buffer.byteLength(body) }
    }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode)).on("error", () => resolve(undefined))
    })
    request.on("error", () => resolve(undefined)).on("timeout", () => request.destroy()).end(body)
  })

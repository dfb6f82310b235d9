/** Processes that share a stream, of which the one that holds the line is killed over and over while posts are made. */
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as timers from "node:timers/promises"
import { bundled, withRedisClient } from "../../../core/test/support/ProgramFile.ts"

/** What a process is told. */
export interface Told {
  readonly baseUrl: string
  readonly bearerToken: string
  /** The address of the log. */
  readonly log: string
  readonly consumer: string
  readonly tags: ReadonlyArray<string> | undefined
  /** Where it notes what it gets. */
  readonly file: string
}

/** What a consumer got. */
export interface Read {
  readonly consumer: string
  readonly got: ReadonlyArray<string>
  readonly wanted: ReadonlyArray<string>
}

/** What came of it. */
export interface Outcome {
  readonly reads: ReadonlyArray<Read>
  /** From each kill to the first post that a consumer got which was made after it, in milliseconds. */
  readonly takeOvers: ReadonlyArray<number>
  /** Gaps that were told, and not filled. */
  readonly gaps: number
  readonly connects: number
}

const consumers: ReadonlyArray<{ readonly name: string; readonly tags?: ReadonlyArray<string> }> = [
  { name: "all" },
  { name: "cats", tags: ["cats"] },
  { name: "dogs", tags: ["dogs"] }
]

const betweenPostsMillis = 25

/** Ends when something is so. */
const until = async (what: string, isSo: () => boolean, millis = 60_000): Promise<void> => {
  const end = performance.now() + millis
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`it took too long until ${what}`)
    await timers.setTimeout(10)
  }
}

/** Kills so many holders. */
export const run = async (log: string, kills: number): Promise<Outcome> => {
  const root = mkdtempSync(join(tmpdir(), "postwire-shared-"))
  await using sandbox = await Sandbox.start({ posts: 0 })
  const bearerToken = Redacted.value(sandbox.seeded.appBearerToken)
  const processes = new Map<string, ChildProcess>()
  let isOver = false
  let holder: string | undefined
  let gaps = 0
  let connects = 0
  const made = new Map<string, { readonly text: string; readonly time: number }>()
  const firsts: Array<{ readonly killed: number; first: number | undefined }> = []
  try {
    const response = await fetch(`${sandbox.baseUrl}/2/posts/search/stream/rules`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearerToken}`, "content-type": "application/json" },
      body: JSON.stringify({ add: [{ value: "cat", tag: "cats" }, { value: "dog", tag: "dogs" }] })
    })
    if (!response.ok) throw new Error(await response.text())
    const program = await bundled(new URL("sharer.ts", import.meta.url), join(root, "sharer.mjs"))
    const fileOf = (name: string) => join(root, name)

    const start = ({ name, tags }: (typeof consumers)[number]): void => {
      const told: Told = { baseUrl: sandbox.baseUrl, bearerToken, log, consumer: name, tags, file: fileOf(name) }
      const child = spawn(process.execPath, [program, JSON.stringify(told)], {
        env: withRedisClient,
        stdio: ["ignore", "pipe", "inherit"]
      })
      processes.set(name, child)
      createInterface({ input: child.stdout }).on("line", (line) => {
        const { _tag, filledBy, id, time } = JSON.parse(line)
        if (_tag === "Holding") holder = name
        if (_tag === "Connected") connects++
        if (_tag === "Gap" && filledBy === undefined) gaps++
        const last = firsts.at(-1)
        if (
          _tag === "Got" && last !== undefined && last.first === undefined && (made.get(id)?.time ?? 0) > last.killed
        ) {
          last.first = time
        }
      })
      child.once("exit", () => {
        if (!isOver) start({ name, ...(tags === undefined ? {} : { tags }) })
      })
    }
    for (const consumer of consumers) {
      writeFileSync(fileOf(consumer.name), "")
      start(consumer)
    }
    await until("there is a connection", () => connects > 0)
    const posting = setInterval(() => {
      const text = `${made.size % 3 === 0 ? "cat" : made.size % 3 === 1 ? "dog" : "cat and dog"} ${made.size}`
      const time = Date.now()
      // Without a time, one would come a while after the other.
      made.set(sandbox.ada.post({ text, at: new Date(time) }).id, { text, time })
    }, betweenPostsMillis)
    try {
      await timers.setTimeout(2_000)
      for (let kill = 0; kill < kills; kill++) {
        const child = processes.get(holder ?? "")
        if (child === undefined) throw new Error("nobody holds the line")
        const take: (typeof firsts)[number] = { killed: Date.now(), first: undefined }
        firsts.push(take)
        child.kill("SIGKILL")
        await until("another has taken over", () => take.first !== undefined)
        await timers.setTimeout(500 + Math.random() * 2_500)
      }
    } finally {
      clearInterval(posting)
    }
    const wanted = (tags: ReadonlyArray<string> | undefined) =>
      [...made].filter(([, { text }]) => tags === undefined || tags.some((tag) => text.includes(tag.slice(0, 3))))
        .map(([id]) => id)
    const got = (name: string) =>
      readFileSync(fileOf(name), "utf8").split("\n").filter((line) => line !== "").map((line) =>
        line.split(" ")[1] ?? ""
      )
    await until(
      "all is read",
      () => consumers.every(({ name, tags }) => got(name).length >= wanted(tags).length)
    ).catch(() => {})
    // What would come twice may come now.
    await timers.setTimeout(1_000)
    return {
      reads: consumers.map(({ name, tags }) => ({ consumer: name, got: got(name), wanted: wanted(tags) })),
      takeOvers: firsts.map(({ first, killed }) => (first ?? Infinity) - killed),
      gaps,
      connects
    }
  } finally {
    isOver = true
    await Promise.all([...processes.values()].map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill("SIGKILL")
      await once(child, "exit")
    }))
    rmSync(root, { recursive: true, force: true })
  }
}

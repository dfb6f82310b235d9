/** Publishers of threads that are killed over and over, on a service where much goes wrong. All of it is drawn from a seed. */
import { createClient } from "@postwire/node"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { concat, png } from "../../../core/test/support/MediaBytes.ts"
import { bundled } from "../../../core/test/support/ProgramFile.ts"
import { make as random, type Random } from "../../../sandbox/src/text/random.ts"

/** What a process is told. */
export interface Told {
  readonly baseUrl: string
  readonly bearerToken: string
  /** Of the journal. */
  readonly folder: string
  readonly key: string
  readonly parts: ReadonlyArray<Part>
}

/** A part of a thread. A photo is in Base64. */
interface Part {
  readonly text: string
  readonly photo?: string
}

/** A post as the service shows it. */
interface Shown {
  readonly text: string
  readonly id: string
  readonly referenced_posts?: ReadonlyArray<{ readonly type: string; readonly id: string }>
  readonly attachments?: { readonly media_keys?: ReadonlyArray<string> }
}

/** A thread as it stands on the service. */
export interface Standing {
  readonly texts: ReadonlyArray<string>
  /** Whether each part replies to the one before. */
  readonly isChain: boolean
  /** Parts with a photo that show it. */
  readonly photos: number
}

/** What came of it. */
export interface Outcome {
  readonly kills: number
  /** By what a process was doing when it was killed. */
  readonly killedAt: Readonly<Record<string, number>>
  /** Runs that ended by themselves: how often, and with what. */
  readonly ends: Readonly<Record<string, number>>
  /** How often it was looked for a part, and how often one was sent. */
  readonly looks: number
  readonly sends: number
  readonly threads: ReadonlyArray<{ readonly parts: ReadonlyArray<Part>; readonly stands: Standing }>
  readonly seconds: number
}

const partsPerThread = 6

/** So many threads at a time. */
const concurrency = 3

const partsOf = (thread: number, draw: Random): ReadonlyArray<Part> =>
  Array.from({ length: partsPerThread }, (_, i) => ({
    text: `Part ${i + 1} of thread ${thread} & <more>: https://example.com/${thread}?part=${i + 1}`,
    ...(draw.chance(0.2)
      ? { photo: Buffer.from(concat(png(), new Uint8Array(draw.below(5_000)))).toString("base64") }
      : {})
  }))

/** Publishes threads until so many processes were killed, and then what is left of them. */
export const run = async (wanted: number, seed: number): Promise<Outcome> => {
  const begun = performance.now()
  const root = mkdtempSync(join(tmpdir(), "postwire-threads-"))
  await using sandbox = await Sandbox.start({ posts: 0, seed })
  const clearing = setInterval(() => sandbox.budget.clear(), 200)
  try {
    const program = await bundled(new URL("threader.ts", import.meta.url), join(root, "publisher.mjs"))
    const bearerToken = Redacted.value(sandbox.seeded.userBearerToken)
    sandbox.faults.add({
      operation: "createPost",
      probability: 0.3,
      oneOf: [
        { reset: "after" },
        { reset: "before" },
        { status: 503, after: true },
        { status: 500 },
        { truncate: true },
        { body: "html" },
        { delay: 40 },
        { status: 429 }
      ]
    })
    sandbox.faults.add({ operation: "getUsersPosts", probability: 0.05, oneOf: [{ status: 503 }, { reset: "after" }] })
    sandbox.faults.add({ operation: "finalizeMediaUpload", probability: 0.2, oneOf: [{ reset: "after" }] })

    let [kills, looks, sends] = [0, 0, 0]
    const killedAt: Record<string, number> = {}
    const ends: Record<string, number> = {}

    /** Runs a publisher. It is killed soon after one of its next steps, unless it is to live, or is done before. */
    const attempt = async (told: Told, draw: Random, kill: boolean): Promise<string> => {
      const child = spawn(
        process.execPath,
        ["--disable-warning=ExperimentalWarning", program, JSON.stringify(told)],
        { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_COMPILE_CACHE: join(root, "cache") } }
      )
      let steps = kill ? draw.below(6) : -1
      const isOfUpload = draw.chance(0.15)
      let last = "begin"
      const kills: Array<Promise<void>> = []
      const killSoon = () => kills.push(delay(draw.next() * 12).then(() => void child.kill("SIGKILL")))
      if (steps === 0) kills.push(delay(40 + draw.next() * 150).then(() => void child.kill("SIGKILL")))
      createInterface({ input: child.stdout }).on("line", (line) => {
        last = line
        looks += Number(line === "looking")
        sends += Number(line === "sending")
        if (isOfUpload || !/^(?:upload|processing)$/.test(line)) { if (--steps === 0) killSoon() }
      })
      const [code, signal] = await once(child, "close")
      await Promise.all(kills)
      if (signal === "SIGKILL") {
        const [step = ""] = last.split(" ")
        killedAt[step] = (killedAt[step] ?? 0) + 1
        return "killed"
      }
      const end = code === 0 ? "done" : last.split(" ").slice(0, 2).join(" ")
      ends[end] = (ends[end] ?? 0) + 1
      return end
    }

    let names = 0
    const threads: Array<{ readonly told: Told }> = []
    const publish = async () => {
      while (kills < wanted) {
        const name = ++names
        const draw = random(seed, `thread ${name}`)
        const told = {
          baseUrl: sandbox.baseUrl,
          bearerToken,
          folder: join(root, "journal"),
          key: `thread ${name}`,
          parts: partsOf(name, draw)
        }
        threads.push({ told })
        for (let end = "begin"; end !== "done";) {
          // Sometimes there are two of them.
          const all = draw.chance(0.15) ? [true, false] : [kills < wanted]
          const reached = await Promise.all(all.map((kill) => attempt(told, draw, kill)))
          kills += reached.filter((end) => end === "killed").length
          end = reached.includes("done") ? "done" : reached[0] ?? ""
        }
      }
    }
    await Promise.all(Array.from({ length: concurrency }, publish))
    sandbox.faults.clear()
    await using client = createClient({ baseUrl: sandbox.baseUrl, bearerToken })
    const posts: Array<Shown> = []
    const ofAuthor = { id: sandbox.seeded.ada.id, max_results: 100 }
    for await (
      const post of client.getUsersPosts.items({ ...ofAuthor, post_fields: ["referenced_posts", "attachments"] })
    ) posts.unshift(post)
    return {
      kills,
      killedAt,
      ends,
      looks,
      sends,
      threads: threads.map(({ told: { parts } }, i) => {
        const own = posts.filter(({ text }) => text.includes(`of thread ${i + 1} &`))
        return {
          parts,
          stands: {
            texts: own.map(({ text }) => text),
            isChain: own.every(({ referenced_posts: references = [] }, at) =>
              references.find(({ type }) => type === "replied_to")?.id === own[at - 1]?.id
            ),
            photos: own.filter(({ attachments }) => attachments?.media_keys?.length === 1).length
          }
        }
      }),
      seconds: (performance.now() - begun) / 1000
    }
  } finally {
    clearInterval(clearing)
    rmSync(root, { recursive: true, force: true })
  }
}

/** A stream on which everything goes wrong, and what its followers have of it in the end. */
import { Clock, Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { bundled } from "../../../../core/test/support/ProgramFile.ts"
import type { Rule } from "../../../src/faults/Faults.ts"
import * as Sandbox from "../../../src/Sandbox.ts"
import type { Line, Told } from "./Followed.ts"
import * as Pace from "./Pace.ts"

/** Who follows. */
export const followers = ["postwire", "twitter-api-v2", "tweepy"] as const

/** What is proved. */
export interface Options {
  readonly follower: typeof followers[number]
  readonly seed: number
  /** How many posts are made, */
  readonly posts: number
  /** how many a second, by the clock of the service, */
  readonly perSecond: number
  /** of which so many seconds pass in one. */
  readonly pace: number
  readonly recover: Told["recover"]
  /** Which interpreter has tweepy. */
  readonly python?: string | undefined
}

/** What one consumer has. */
export interface Consumer {
  /** How many posts its rules match. */
  readonly matched: number
  readonly received: number
  /** In no gap that was told. */
  readonly lost: ReadonlyArray<string>
  /** In a gap that was told as not filled. */
  readonly missing: number
  /** How often something came that had come before. */
  readonly duplicated: number
  /** What came that its rules do not match. */
  readonly foreign: number
  readonly gaps: number
  readonly unfilled: ReadonlyArray<string>
}

/** What came of it. */
export interface Outcome {
  readonly posts: number
  /** By the clock of the service. */
  readonly minutes: number
  readonly seconds: number
  readonly connections: number
  /** Requests for a connection, refused ones too: in all, and in the 15 minutes in which there were most. */
  readonly connects: number
  readonly mostConnects: number
  /** Why connections ended. */
  readonly ends: Readonly<Record<string, number>>
  readonly faults: Readonly<Record<string, number>>
  readonly consumers: Readonly<Record<string, Consumer>>
  readonly events: Readonly<Record<string, number>>
  /** The most memory, in MiB: in the second tenth of the run, and in the last. */
  readonly memory: { readonly early: number; readonly late: number }
}

/** What happens to connections: it is drawn for each. */
const disturbances: NonNullable<Rule["oneOf"]> = [
  { stream: { kind: "cut", at: "10 seconds" } },
  { stream: { kind: "cut", at: "30 seconds" } },
  { stream: { kind: "cut", at: "50 seconds" } },
  { stream: { kind: "cut-in-character", after: 500, within: 2_000 } },
  { stream: { kind: "cut-in-character", after: 2_000, within: 2_000 } },
  { stream: { kind: "stall", after: 500, within: 3_000 } },
  { stream: { kind: "stall", after: 1_000, within: 2_000, for: "10 seconds" } },
  { stream: { kind: "slow", after: 500, within: 2_000, pause: 200 } },
  { stream: { kind: "error", after: 500, within: 3_000 } },
  { stream: { kind: "error", after: 100, within: 5_000, disconnectType: "UpstreamOperationalDisconnect" } },
  { stream: { kind: "duplicate", every: 50 } },
  { stream: { kind: "out-of-order", every: 50 } },
  { stream: { kind: "garbage", after: 10, every: 3_000 } },
  { stream: { kind: "no-rules" } },
  { stream: { kind: "too-many-connections" } },
  { status: 503 },
  { reset: "before" }
]

/** The service ends connections that have lived so long, in milliseconds. */
const oldest = 60_000

const rules = [
  { value: "lang:de (ich OR wir OR die OR der)", tag: "german" },
  { value: "sourdough OR weekend OR debugging", tag: "words" },
  { value: "evenings lang:en", tag: "words" },
  { value: "#opensource OR has:hashtags team", tag: "tags" }
]

/** Makes posts while a follower follows, and compares what was made with what it has. */
export const prove = async (options: Options): Promise<Outcome> => {
  const { pace, perSecond, posts, recover, seed } = options
  const folder = mkdtempSync(join(tmpdir(), "postwire-streams-"))
  const shared: Pace.Pace = { origin: Date.now(), pace }
  const clock = Pace.clock(shared)
  const now = () => clock.currentTimeMillisUnsafe()
  const scope = Scope.makeUnsafe()
  try {
    const sandbox = Context.get(
      await Layer.buildWithScope(Sandbox.layerServer({ posts: 200, seed, postCap: 1_000_000_000 }), scope).pipe(
        Effect.provideService(Clock.Clock, clock),
        Effect.runPromise
      ),
      Sandbox.Sandbox
    )
    const bearerToken = Redacted.value(sandbox.seeded.appBearerToken)
    const answer = await fetch(`${sandbox.baseUrl}/2/posts/search/stream/rules`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearerToken}`, "content-type": "application/json" },
      body: JSON.stringify({ add: rules })
    })
    const added: { readonly data: ReadonlyArray<{ readonly id: string; readonly tag: string }> } = await answer.json()
    const tagOf = new Map(added.data.map(({ id, tag }) => [id, tag]))
    const tags = [...new Set(tagOf.values())]
    const told: Told = { ...shared, baseUrl: sandbox.baseUrl, bearerToken, tags, recover }
    const child = await start(options, folder, told)
    const received = new Map<string, Array<string>>()
    const gaps: Array<Extract<Line, { readonly _tag: "Gap" }>> = []
    const events: Record<string, number> = {}
    const memory: Array<number> = []
    const marks = new Map<string, number>()
    let heardAt = now()
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line: Line = JSON.parse(text)
      switch (line._tag) {
        case "Items": {
          heardAt = now()
          const known = received.get(line.consumer)
          if (known === undefined) received.set(line.consumer, [...line.ids])
          else for (const id of line.ids) known.push(id)
          return
        }
        case "Gap":
          return gaps.push(line)
        case "Watermark":
          return marks.set(line.consumer, line.until)
        case "Event":
          return events[line.name] = (events[line.name] ?? 0) + 1
        case "Memory":
          return memory.push(line.rss / 2 ** 20)
      }
    })
    const wait = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000 / pace))
    while (!sandbox.streams.connections().some(({ closedAt }) => closedAt === undefined)) await wait(1)
    await wait(5)
    sandbox.streams.record()
    const connectsAt: Array<number> = []
    const faults: Record<string, number> = {}
    let journaled = sandbox.journal.entries().at(-1)?.id ?? 0
    const take = () => {
      for (const { at, fault, id, operation } of sandbox.journal.entries(journaled)) {
        journaled = id
        if (operation !== "streamPosts") continue
        connectsAt.push(at)
        const kind = fault?.stream?.kind ??
          (fault?.status !== undefined ? String(fault.status) : fault?.reset && "reset")
        if (kind !== undefined) faults[kind] = (faults[kind] ?? 0) + 1
      }
    }
    const begun = now()
    const realBegun = performance.now()
    let storms = 0
    let rule = 0
    const disturb = () => rule = sandbox.faults.add({ operation: "streamPosts", times: "always", oneOf: disturbances })
    disturb()
    const loading = sandbox.load({ perSecond, posts, seed })
    while (!loading.isOver()) {
      await wait(5)
      take()
      // The first one has no fault, and some do not end theirs.
      for (const { closedAt, id, openedAt } of sandbox.streams.connections()) {
        if (closedAt === undefined && openedAt < now() - oldest) sandbox.streams.disconnect(id, "OperationalDisconnect")
      }
      // Every ten minutes the service is away for a few requests.
      if ((now() - begun) / 600_000 > storms + 0.5) {
        storms++
        sandbox.faults.remove(rule)
        sandbox.faults.add({ operation: "streamPosts", status: 503, times: 4 })
        disturb()
      }
    }
    const ended = now()
    sandbox.faults.clear()
    // A connection whose fault is yet to come is ended; then what is left may come.
    for (const { closedAt, id } of sandbox.streams.connections()) {
      if (closedAt === undefined) sandbox.streams.disconnect(id)
    }
    const isConnected = () => sandbox.streams.connections().some(({ closedAt }) => closedAt === undefined)
    // Who says until when all is there is waited for; of others, until nothing comes any more.
    const isBehind = () =>
      marks.size > 0
        ? [...received.keys()].some((consumer) => (marks.get(consumer) ?? 0) <= ended)
        : !isConnected() || now() - heardAt < 60_000
    for (let waited = 0; waited < 1_800 && (waited < 120 || isBehind()); waited += 10) await wait(10)
    take()
    const seconds = (performance.now() - realBegun) / 1_000
    child.stdin.end()
    await once(child, "close")
    const { made } = sandbox.streams.ledger()
    const consumers: Record<string, Consumer> = {}
    // A seed may have no post for a rule.
    for (const consumer of ["all", ...tags]) {
      const ids = received.get(consumer) ?? []
      const wanted = new Map(
        made.filter(({ rules }) => consumer === "all" || rules.some((rule) => tagOf.get(rule) === consumer))
          .map(({ at, id }) => [id, at])
      )
      const own = gaps.filter((gap) => gap.consumer === consumer)
      const unfilled = own.filter(({ filledBy }) => filledBy === undefined)
      const has = new Set(ids)
      const absent = [...wanted].filter(([id]) => !has.has(id))
      const lost = absent.filter(([, at]) => !unfilled.some(({ from, to }) => at >= from && at <= to))
      consumers[consumer] = {
        matched: wanted.size,
        received: has.size,
        lost: lost.map(([id]) => id),
        missing: absent.length - lost.length,
        duplicated: ids.length - has.size,
        foreign: [...has].filter((id) => !wanted.has(id)).length,
        gaps: own.length,
        unfilled: unfilled.map(({ why = "" }) => why)
      }
    }
    const all = sandbox.streams.connections()
    const ends: Record<string, number> = {}
    for (const { reason = "open" } of all) ends[reason] = (ends[reason] ?? 0) + 1
    const tenth = Math.ceil(memory.length / 10)
    return {
      posts: loading.made(),
      minutes: Math.round((ended - begun) / 6_000) / 10,
      seconds: Math.round(seconds),
      connections: all.length,
      connects: connectsAt.length,
      mostConnects: Math.max(
        0,
        ...connectsAt.map((from) => connectsAt.filter((at) => at >= from && at < from + 900_000).length)
      ),
      ends,
      faults,
      consumers,
      events,
      memory: {
        early: Math.round(Math.max(...memory.slice(tenth, 2 * tenth))),
        late: Math.round(Math.max(...memory.slice(-tenth)))
      }
    }
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(folder, { recursive: true, force: true })
  }
}

const start = async ({ follower, python = "python3" }: Options, folder: string, told: Told) => {
  const argument = JSON.stringify(told)
  const stdio = ["pipe", "pipe", "inherit"] as const
  if (follower === "tweepy") {
    return spawn(python, [fileURLToPath(new URL("follower_tweepy.py", import.meta.url)), argument], {
      stdio: [...stdio]
    })
  }
  const source = follower === "postwire" ? "follower.ts" : "follower-twitter-api-v2.ts"
  const program = await bundled(new URL(source, import.meta.url), join(folder, "follower.mjs"))
  return spawn(process.execPath, [program, argument], { stdio: [...stdio] })
}

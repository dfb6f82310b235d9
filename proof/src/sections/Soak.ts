/** Hours of work with faults, after which the process holds no more than before, and is as fast. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Chart, Claim, Outcome, Proof, Run } from "../Model.ts"
import * as Resources from "../soak/Resources.ts"
import type { Ready, Request } from "../soak/Server.ts"
import * as Work from "../soak/Work.ts"

const hours = 4

const units = ["calls", "export", "sync"] as const

/** A pause of the work: what the process holds, and CPU milliseconds of the same pieces of work without faults. */
interface Sample {
  readonly minutes: number
  readonly held: Resources.Resources
  readonly cpu: Readonly<Record<typeof units[number] | "control", number>>
}

const page = JSON.stringify(Array.from({ length: 1_000 }, (_, id) => ({ id, text: "a".repeat(200), at: new Date(id) })))

/** Work that has nothing to do with the clients. Its CPU time grows when other programs use the machine. */
const control = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) JSON.stringify(JSON.parse(page))
}

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** The CPU time of a piece of work: the least of three, as other programs only add to it. */
const cpuOf = async (unit: () => Promise<void>): Promise<number> => {
  const times: Array<number> = []
  for (let i = 0; i < 3; i++) {
    const before = process.cpuUsage()
    await unit()
    const { system, user } = process.cpuUsage(before)
    times.push((user + system) / 1_000)
  }
  return Math.min(...times)
}

const measure = async ({ units }: Work.Work, begun: number): Promise<Sample> => {
  const held = await Resources.take()
  const cpu = {
    control: await cpuOf(control),
    calls: await cpuOf(units.calls),
    export: await cpuOf(units.export),
    sync: await cpuOf(units.sync)
  }
  return { minutes: (performance.now() - begun) / 60_000, held, cpu }
}

/** Repeats each kind of work beside the others, with pauses, until the time is over and the last piece has ended. */
const disturbed = async ({ resync, units: { calls, export: exported } }: Work.Work, millis: number): Promise<void> => {
  const end = performance.now() + millis
  const repeat = async (unit: () => Promise<void>, pause: number) => {
    while (performance.now() < end) {
      await unit()
      await sleep(Math.min(pause, Math.max(0, end - performance.now())))
    }
  }
  await Promise.all([repeat(calls, 2_000), repeat(exported, 5_000), repeat(resync, 10_000)])
}

const serve = async (seed: number) => {
  const server = fork(fileURLToPath(new URL("../soak/Server.ts", import.meta.url)), [String(seed)])
  const [ready]: [Ready] = await once(server, "message") as [Ready]
  return {
    ready,
    tell: (request: Request) => server.send(request),
    stop: async () => {
      server.disconnect()
      await once(server, "exit")
    }
  }
}

const soak = async ({ say, seed, share }: Run): Promise<Outcome> => {
  const total = hours * 3_600_000 * share
  const cycle = Math.min(120_000, total / 20)
  const folder = mkdtempSync(join(tmpdir(), "postwire-soak-"))
  const warnings: Array<string> = []
  const warn = ({ message, name }: Error) => {
    if (name !== "ExperimentalWarning") warnings.push(`${name}: ${message}`)
  }
  process.on("warning", warn)
  const server = await serve(seed)
  try {
    const live = async (millis: number) => {
      const work = Work.open(server.ready, folder)
      const following = work.follow()
      const begun = performance.now()
      const samples: Array<Sample> = []
      do {
        server.tell("disturb")
        await disturbed(work, Math.min(cycle, millis))
        server.tell("spare")
        samples.push(await measure(work, begun))
        say(`${samples.at(-1)!.minutes.toFixed(1)} min`, (performance.now() - begun) / total)
      } while (performance.now() - begun < millis)
      await work.streamed()
      await work.close()
      await following
      // Sockets close a little later.
      await sleep(1_000)
      return { samples, counts: work.counts, held: await Resources.take() }
    }
    // Modules are loaded, code is compiled and caches are filled once.
    const before = await live(total / 20)
    const after = await live(total)
    return outcomeOf(before.held, after.held, after.samples, after.counts, warnings)
  } finally {
    await server.stop()
    process.off("warning", warn)
    rmSync(folder, { recursive: true, force: true })
  }
}

const list = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts).map(([name, count]) => `${count.toLocaleString("en")} ${name}`).sort().join(", ") || "none"

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, one) => all + one, 0)

/** The claims about the work, and about what the process holds before and after it. */
const heldClaims = (
  before: Resources.Resources,
  after: Resources.Resources,
  { done, failed }: Work.Counts
): ReadonlyArray<Claim> => [
  {
    claim: "work under faults",
    goal: "each kind goes through, and the stream delivers in the end",
    measured: list(done),
    holds: ["search", "write", "post", "user", "export", "sync", "stream"].every((name) => (done[name] ?? 0) > 0) &&
      failed["stream: silent"] === undefined
  },
  {
    claim: "failures that the client could not mend",
    goal: "typed, under 2 %",
    measured: list(failed),
    holds: sum(failed) < sum(done) / 50
  },
  {
    claim: "heap after the end, beside that before the beginning",
    goal: "at most 2 MB more",
    measured: `${before.memory.toFixed(1)} and ${after.memory.toFixed(1)} MB`,
    holds: after.memory - before.memory <= 2
  },
  ...Resources.counted.map((kind): Claim => ({
    claim: `${kind} after the end, beside before the beginning`,
    goal: "no more",
    measured: `${before[kind]} and ${after[kind]}`,
    holds: after[kind] <= before[kind]
  }))
]

const outcomeOf = (
  before: Resources.Resources,
  after: Resources.Resources,
  samples: ReadonlyArray<Sample>,
  counts: Work.Counts,
  warnings: ReadonlyArray<string>
): Outcome => {
  // The first pauses see code that is not compiled yet.
  const warm = samples.slice(Math.ceil(samples.length / 10))
  const fifth = Math.ceil(warm.length / 5)
  const slower = (unit: typeof units[number]) => {
    const least = (some: ReadonlyArray<Sample>, name: typeof unit | "control") =>
      Math.min(...some.map(({ cpu }) => cpu[name]))
    const of = (some: ReadonlyArray<Sample>) => least(some, unit) / least(some, "control")
    return of(warm.slice(-fifth)) / of(warm.slice(0, fifth))
  }
  const claims: ReadonlyArray<Claim> = [
    ...heldClaims(before, after, counts),
    ...units.map((unit): Claim => ({
      claim: `CPU time of ${unit}, in that of a control, in the last fifth beside the first`,
      goal: "at most 1.05",
      measured: slower(unit).toFixed(2),
      holds: slower(unit) <= 1.05
    })),
    { claim: "warnings of Node", goal: "none", measured: warnings.join("; ") || "none", holds: warnings.length === 0 }
  ]
  const chart = <Name extends string>(
    words: Pick<Chart, "title" | "y">,
    names: ReadonlyArray<Name>,
    of: (sample: Sample) => Readonly<Record<Name, number>>
  ): Chart => ({
    ...words,
    x: "minutes",
    series: names.map((name) => ({
      name,
      points: samples.map((sample) => [sample.minutes, of(sample)[name]] as const)
    }))
  })
  const charts = [
    chart(
      { title: "Memory in the pauses", y: "MB" },
      ["resident", "heap"],
      ({ held: { memory: heap, resident } }) => ({ heap, resident })
    ),
    chart({ title: "CPU time of the same work", y: "ms" }, ["control", ...units], ({ cpu }) => cpu),
    chart({ title: "Things held in the pauses", y: "count" }, ["fibers", "sockets", "listeners"], ({ held }) => held)
  ]
  return { claims, charts }
}

export const proof: Proof = { title: "Hours of work with faults", run: soak }

/**
 * A loop that mutates inputs and keeps those that reach new blocks of the modules under test, by V8's own count of blocks. A fuzzer
 * that instruments sources would have to parse TypeScript.
 */
import { Session } from "node:inspector/promises"
import { type Random, random } from "../../../packages/sandbox/test/support/Fuzz.ts"

/** A kind of input, and the check of its reader. */
export interface Domain {
  readonly name: string
  /** The properties that hold for every input. */
  readonly holds: string
  readonly cases: number
  /** The modules whose blocks are counted, by their addresses. */
  readonly modules: RegExp
  readonly seeds: ReadonlyArray<string>
  readonly mutate: (input: string, random: Random, corpus: ReadonlyArray<string>) => string
  /** Throws where a property does not hold. */
  readonly run: (input: string) => void | Promise<void>
}

/** The results of a run. */
export interface Ran {
  /** Inputs, each with the first line of what is wrong and where. */
  readonly failures: ReadonlyArray<string>
  readonly slowest: { readonly millis: number; readonly length: number }
  /** The blocks reached after so many cases. */
  readonly growth: ReadonlyArray<readonly [cases: number, blocks: number]>
}

/** Reading the coverage takes as long as a thousand cases, so that it pays only in long runs, and less often the less is new. */
const [fewestGuided, smallestBatch, largestBatch] = [10_000, 125, 8_000]

/** The longest CPU time of a case: a fixed part, and one for each thousand characters. */
const budgetMillis = (length: number): number => 25 + length / 1_000 * 5

/**
 * Reports the blocks that were reached since it was last read. V8 reports the functions that ran, with the blocks in them that did not;
 * a block is known once it was reported so.
 */
const makeCoverage = async (modules: RegExp) => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: false, detailed: true })
  const known = new Map<string, Map<string, Range>>()
  const blocksOf = (name: string, ranges: ReadonlyArray<Range>): ReadonlyArray<string> => {
    if (ranges[0] === undefined || ranges[0].count === 0) return []
    const missed = ranges.filter(({ count }) => count === 0)
    const blocks = known.get(name) ?? new Map<string, Range>()
    known.set(name, blocks)
    for (const range of missed) blocks.set(`${name}:${range.startOffset}-${range.endOffset}`, range)
    const isMissed = (block: Range) =>
      missed.some(({ endOffset, startOffset }) => startOffset <= block.startOffset && block.endOffset <= endOffset)
    return [name, ...Array.from(blocks).flatMap(([name, block]) => isMissed(block) ? [] : [name])]
  }
  return {
    take: async (): Promise<ReadonlyArray<string>> => {
      const { result } = await session.post("Profiler.takePreciseCoverage")
      return result.filter(({ url }) => modules.test(url)).flatMap(({ functions, scriptId }) =>
        functions.flatMap(({ ranges }) => blocksOf(`${scriptId}:${ranges[0]?.startOffset}`, ranges))
      )
    },
    end: async (): Promise<void> => {
      await session.post("Profiler.stopPreciseCoverage")
      session.disconnect()
    }
  }
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

const none: Awaited<ReturnType<typeof makeCoverage>> = { take: async () => [], end: async () => {} }

const cpuMillis = (): number => process.cpuUsage().user / 1_000

/** Runs a domain. Inputs that fail are kept, one for each message. */
export const run = async (
  { modules, mutate, run, seeds }: Domain,
  cases: number,
  seed: number,
  say: (done: number) => void
): Promise<Ran> => {
  const choices = random(seed)
  const corpus = [...seeds]
  const reached = new Set<string>()
  const failures = new Map<string, string>()
  const growth: Array<readonly [number, number]> = []
  let slowest = { millis: 0, length: 0 }
  const coverage = cases < fewestGuided ? none : await makeCoverage(modules)

  const attempt = async (input: string): Promise<void> => {
    try {
      const running = run(input)
      if (running !== undefined) await running
    } catch (error) {
      const message = String(error instanceof Error ? error.stack : error).slice(0, 1_500)
      if (failures.size < 20) {
        failures.set(message.split("\n", 1)[0]!.slice(0, 80), `${input.slice(0, 2_000)}\n${message}`)
      }
    }
  }

  /** The time of a case is the shortest of several, since the machine has other work. */
  const timed = async (input: string): Promise<void> => {
    const begun = performance.now()
    await attempt(input)
    let millis = performance.now() - begun
    for (let i = 0; i < 3 && millis > slowest.millis; i++) {
      const before = cpuMillis()
      await attempt(input)
      millis = Math.min(millis, cpuMillis() - before)
    }
    if (millis <= slowest.millis) return
    slowest = { millis, length: input.length }
    if (millis > budgetMillis(input.length)) failures.set("takes too long", `${input.slice(0, 2_000)}\n${millis} ms`)
  }

  const reaches = async (batch: ReadonlyArray<string>): Promise<boolean> => {
    for (const input of batch) await attempt(input)
    return (await coverage.take()).some((block) => !reached.has(block))
  }

  /** Keeps an input of a batch that reached new blocks, which it finds by halves. */
  const keep = async (batch: ReadonlyArray<string>): Promise<boolean> => {
    const blocks = await coverage.take()
    if (blocks.every((block) => reached.has(block))) return false
    let rest = batch
    while (rest.length > 1) {
      const half = rest.slice(0, rest.length >> 1)
      rest = await reaches(half) ? half : rest.slice(half.length)
    }
    corpus.push(...rest)
    for (const block of blocks) reached.add(block)
    return true
  }

  try {
    for (const input of seeds) await timed(input)
    for (const block of await coverage.take()) reached.add(block)
    growth.push([0, reached.size])
    let size = smallestBatch
    for (let done = 0; done < cases;) {
      const batch = Array.from({ length: Math.min(size, cases - done) }, () => {
        // Those that were found last lead on more often.
        const at = choices.chance(0.5) ? corpus.length - 1 - choices.below(Math.min(20, corpus.length)) : undefined
        return mutate(at === undefined ? choices.pick(corpus) : corpus[at]!, choices, corpus)
      })
      for (const input of batch) await timed(input)
      size = await keep(batch) ? Math.max(smallestBatch, size >> 1) : Math.min(largestBatch, size << 1)
      done += batch.length
      growth.push([done, reached.size])
      say(done / cases)
    }
  } finally {
    await coverage.end()
  }
  return {
    failures: [...failures.values()],
    slowest,
    growth
  }
}

/** What a program that follows a stream tells whoever compares it with what was made. */
import { writeSync } from "node:fs"
import type { Pace } from "./Pace.ts"

/** What it is told. */
export interface Told extends Pace {
  readonly baseUrl: string
  readonly bearerToken: string
  /** Tags of consumers; none for one of everything. */
  readonly tags: ReadonlyArray<string>
  readonly recover: "none" | "search" | "recovery"
}

/** What it tells, a line of JSON each. */
export type Line =
  | { readonly _tag: "Items"; readonly consumer: string; readonly ids: ReadonlyArray<string> }
  | {
    readonly _tag: "Gap"
    readonly consumer: string
    /** Milliseconds. */
    readonly from: number
    readonly to: number
    readonly filledBy: string | undefined
    readonly why: string | undefined
  }
  /** Until then all has come, or is in a gap; milliseconds. */
  | { readonly _tag: "Watermark"; readonly consumer: string; readonly until: number }
  | { readonly _tag: "Event"; readonly consumer: string; readonly name: string }
  | { readonly _tag: "Memory"; readonly rss: number; readonly heap: number }

/** Tells it at once: whoever reads is never far behind. */
export const tell = (line: Line): void => {
  let rest = Buffer.from(`${JSON.stringify(line)}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error
    }
  }
}

/** Tells of the memory from now on. */
export const weigh = (): void => {
  setInterval(() => {
    const { heapUsed: heap, rss } = process.memoryUsage()
    tell({ _tag: "Memory", rss, heap })
  }, 1_000).unref()
}

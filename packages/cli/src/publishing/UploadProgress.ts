/** The progress of uploads: bytes sent, then processing by the service. */
import type { Progress } from "@postwire/core/media/Upload"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ProgressBar from "../terminal/ProgressBar.ts"
import * as Text from "../terminal/Text.ts"

interface State {
  readonly files: ReadonlyArray<Progress>
  /** Bytes per second. */
  readonly rate: number
}

/** The length of `100%  512.0 MB of 512.0 MB  12.3 MB/s  12 min 03 s to go`. */
const usualLength = 58

/** Shows concurrent uploads: as a bar on a terminal, elsewhere as a line after a minute and then at increasing intervals. */
export const make = Effect.gen(function*() {
  const clock = yield* Clock.Clock
  const bar = yield* ProgressBar.make<State>({ elsewhere: "seldom", show, usualLength })
  const files = new Map<string, Progress>()
  const begun = Monotonic.millisUnsafe(clock)
  // Bytes of an earlier run do not count for the rate.
  let before = 0
  return {
    /** `file` distinguishes concurrent uploads. */
    update: (progress: Progress, file = ""): void => {
      if (!files.has(file)) before += progress.sentBytes
      files.set(file, progress)
      const seconds = Math.max(Monotonic.millisUnsafe(clock) - begun, 1) / 1000
      bar.update({ files: [...files.values()], rate: (sum([...files.values()], "sentBytes") - before) / seconds })
    },
    end: bar.end
  }
})

const sum = (files: ReadonlyArray<Progress>, member: "fraction" | "sentBytes" | "totalBytes"): number =>
  files.reduce((sum, file) => sum + file[member], 0)

const show = ({ files, rate }: State): ProgressBar.Shown => {
  const sent = sum(files, "sentBytes")
  const total = sum(files, "totalBytes")
  const processed = files.filter(({ phase }) => phase === "processing")
  if (processed.length === files.length) {
    const done = sum(files, "fraction") / files.length
    return { done, step: total + done, facts: ["processed by the service"] }
  }
  return {
    done: sent / total,
    step: sent,
    facts: [
      `${Text.size(sent)} of ${Text.size(total)}`,
      ...(rate > 0 ? [`${Text.size(Math.round(rate))}/s`] : []),
      ...(rate > 0 && sent < total ? [`${Text.duration((total - sent) / rate)} to go`] : [])
    ]
  }
}

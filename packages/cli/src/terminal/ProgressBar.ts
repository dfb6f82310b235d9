/** Progress on standard error: a bar on a terminal, elsewhere a line now and then. */
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Palette from "./Palette.ts"
import * as Report from "./Report.ts"
import { Terminal } from "./Terminal.ts"

export interface Shown {
  /** The share that is done, 0 to 1, if known. */
  readonly done: number | undefined
  readonly facts: ReadonlyArray<string>
  /** Changes when there is progress: without a terminal, an unchanged line is not repeated. */
  readonly step: number
  /** True to draw it even directly after another one. */
  readonly isUrgent?: boolean
}

export interface Options<State> {
  /** Without a terminal: often for a watched command, seldom for one whose messages are kept, every minute for one that runs on. */
  readonly elsewhere: "often" | "seldom" | "every minute"
  /** The line of a state after some seconds. */
  readonly show: (state: State, seconds: number) => Shown
  /** The usual length of the facts, so that the bar does not shrink while numbers grow. */
  readonly usualLength: number
}

/** The pause between two drawings, in milliseconds. */
const onTerminal = 80
const elsewhere = 2_000
/** Without a viewer: the first pause, which doubles with every line, and the longest, in milliseconds. */
const seldom = { first: 60_000, longest: 600_000 }

/** The line of a bar, at most `columns` wide. */
export const line = ({ done, facts }: Pick<Shown, "done" | "facts">, usualLength: number, columns: number): string => {
  const share = done === undefined ? undefined : shareOf(done)
  const width = Math.max(0, Math.min(columns - usualLength - 3, 30))
  const filled = Math.round(width * (share ?? 0))
  const bar = share === undefined || width < 4 ? "" : `${"█".repeat(filled)}${"░".repeat(width - filled)}  `
  return `${bar}${withShare(share, facts).join("  ")}`.slice(0, Math.max(columns - 1, 0))
}

const shareOf = (done: number): number => Math.max(0, Math.min(done, 1)) || 0

const withShare = (share: number | undefined, facts: ReadonlyArray<string>): ReadonlyArray<string> =>
  share === undefined ? facts : [`${String(Math.floor(share * 100)).padStart(3)}%`, ...facts]

/** Shows progress. `end` follows the last `update`; the command itself reports the result. */
export const make = Effect.fnUntraced(function*<State>(options: Options<State>) {
  const { errors: screen, isQuiet = false } = yield* Terminal
  if (isQuiet) return { update: () => {}, end: () => {} }
  const clock = yield* Clock.Clock
  const start = Monotonic.millisUnsafe(clock)
  if (!screen.isTerminal && options.elsewhere !== "often") return yield* makeSeldom(options, clock)
  const pause = screen.isTerminal ? onTerminal : elsewhere
  let drawnAt = start
  let last: State | undefined
  const draw = (shown: Shown, now: number) => {
    const text = line(shown, options.usualLength, screen.columns)
    screen.write(
      screen.isTerminal ? `\r${text.replace(/█+/, (bar) => Palette.paint(screen, "good", bar))}\u001b[K` : `${text}\n`
    )
    drawnAt = now
  }
  return {
    update: (state: State): void => {
      last = state
      const now = Monotonic.millisUnsafe(clock)
      const shown = options.show(state, (now - start) / 1000)
      if (now - drawnAt >= pause || shown.isUrgent === true) draw(shown, now)
    },
    end: (): void => {
      if (last === undefined) return
      const now = Monotonic.millisUnsafe(clock)
      draw(options.show(last, (now - start) / 1000), now)
      last = undefined
      if (screen.isTerminal) screen.write("\n")
    }
  }
})

const makeSeldom = Effect.fnUntraced(function*<State>({ elsewhere, show }: Options<State>, clock: Clock.Clock) {
  const speak = yield* Report.speaker
  const start = Monotonic.millisUnsafe(clock)
  let pause = seldom.first
  let told = { at: start, step: 0 }
  return {
    update: (state: State): void => {
      const now = Monotonic.millisUnsafe(clock)
      if (now - told.at < pause) return
      const { done, facts, step } = show(state, (now - start) / 1000)
      if (step === told.step) return
      speak(withShare(done === undefined ? undefined : shareOf(done), facts).join(", "))
      told = { at: now, step }
      if (elsewhere === "seldom") pause = Math.min(2 * pause, seldom.longest)
    },
    end: () => {}
  }
})

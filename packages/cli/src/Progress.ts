/** A progress bar on standard error: drawn in place on a terminal, a line now and then elsewhere. */
import * as Monotonic from "@postwire/core/Monotonic"
import * as Effect from "effect/Effect"
import { Terminal } from "./Terminal.ts"
import * as Text from "./Text.ts"

/** What an export knows of itself. */
export interface State {
  /** How much is done, 0 to 1, where one can tell. */
  readonly done: number | undefined
  readonly posts: number
  /** What they are. Default `posts`. */
  readonly noun?: string
  /** Those that came before this run, which tell nothing of its rate. */
  readonly before?: number
  readonly pages: number
  readonly requests?: number
  /** Requests left in the current window, where the service announced it. */
  readonly remaining: number | undefined
  /** Seconds that are left, where one can tell. */
  readonly toGo?: number | undefined
  /** Until when the next request has to wait, in milliseconds since the epoch. */
  readonly waitingUntil?: number | undefined
}

/** The pause between two drawings, in milliseconds. */
const onTerminal = 80
const elsewhere = 2_000

/** The characters that facts take as a rule: seven digits of posts, four of pages. */
const usualLength = 69

/** The line that shows a state after some seconds, at most `columns` wide. */
export const line = (state: State, seconds: number, columns: number): string => {
  const { before = 0, noun = "posts", posts, remaining, toGo, waitingUntil } = state
  const done = state.done === undefined ? undefined : Math.max(0, Math.min(state.done, 1)) || 0
  const facts = [
    ...(done === undefined ? [] : [`${String(Math.floor(done * 100)).padStart(3)}%`]),
    Text.quantity(posts, noun),
    Text.quantity(state.pages, "pages"),
    ...(state.requests === undefined ? [] : [Text.quantity(state.requests, "requests")]),
    `${Text.count((posts - before) / Math.max(seconds, 0.001))} ${noun}/s`,
    ...(remaining === undefined ? [] : [`${Text.count(remaining)} left`]),
    ...(waitingUntil !== undefined
      ? [`waiting until ${Text.clock(waitingUntil)}`]
      : toGo === undefined
      ? []
      : [`${Text.duration(toGo)} to go`])
  ].join("  ")
  // The same width all the time, or the bar would shrink while the numbers grow.
  const width = Math.max(0, Math.min(columns - usualLength - 3, 30))
  const filled = Math.round(width * (done ?? 0))
  const bar = done === undefined || width < 4 ? "" : `${"█".repeat(filled)}${"░".repeat(width - filled)}  `
  return `${bar}${facts}`.slice(0, Math.max(columns - 1, 0))
}

/** Draws an export: where no terminal is, in lines now and then, or not at all. The last `update` is followed by `end`. */
export const make = Effect.fnUntraced(function*(options: { readonly elsewhere: "lines" | "nothing" }) {
  const { errors: screen } = yield* Terminal
  const quiet = !screen.isTerminal && options.elsewhere === "nothing"
  const start = yield* Monotonic.millis
  const pause = screen.isTerminal ? onTerminal : elsewhere
  let drawnAt = start
  let last: State | undefined
  const draw = (state: State, now: number) => {
    if (quiet) return
    const text = line(state, (now - start) / 1000, screen.columns)
    screen.write(screen.isTerminal ? `\r${text}\u001b[K` : `${text}\n`)
    drawnAt = now
  }
  return {
    update: (state: State) =>
      Effect.map(Monotonic.millis, (now) => {
        last = state
        if (now - drawnAt >= pause || state.waitingUntil !== undefined) draw(state, now)
      }),
    end: Effect.map(Monotonic.millis, (now) => {
      if (last !== undefined) draw(last, now)
      if (screen.isTerminal && last !== undefined && !quiet) screen.write("\n")
    })
  }
})

/** A progress bar on standard error: drawn in place on a terminal, a line now and then elsewhere. */
import * as Monotonic from "@postwire/core/Monotonic"
import * as Effect from "effect/Effect"

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

/** Where the bar is drawn. */
export interface Screen {
  readonly isTerminal: boolean
  readonly columns: number
  readonly write: (text: string) => void
}

/** Standard error of this process. */
export const standardError: Screen = {
  get isTerminal() {
    return process.stderr.isTTY === true
  },
  get columns() {
    return process.stderr.columns ?? 80
  },
  write: (text) => void process.stderr.write(text)
}

/** The pause between two drawings, in milliseconds. */
const onTerminal = 80
const elsewhere = 2_000

/** The characters that facts take as a rule: seven digits of posts, four of pages. */
const usualLength = 69

/** Thousands apart: 20,107. */
export const count = (value: number): string => Math.round(value).toLocaleString("en-US")

/** The line that shows a state after some seconds, at most `columns` wide. */
export const line = (state: State, seconds: number, columns: number): string => {
  const { before = 0, noun = "posts", posts, remaining, toGo, waitingUntil } = state
  const done = state.done === undefined ? undefined : Math.max(0, Math.min(state.done, 1)) || 0
  const facts = [
    ...(done === undefined ? [] : [`${String(Math.floor(done * 100)).padStart(3)}%`]),
    `${count(posts)} ${noun}`,
    `${count(state.pages)} pages`,
    ...(state.requests === undefined ? [] : [`${count(state.requests)} requests`]),
    `${count((posts - before) / Math.max(seconds, 0.001))} ${noun}/s`,
    ...(remaining === undefined ? [] : [`${count(remaining)} left`]),
    ...(waitingUntil !== undefined
      ? [`waiting until ${clock(waitingUntil)}`]
      : toGo === undefined
      ? []
      : [`${duration(toGo)} to go`])
  ].join("  ")
  // The same width all the time, or the bar would shrink while the numbers grow.
  const width = Math.max(0, Math.min(columns - usualLength - 3, 30))
  const filled = Math.round(width * (done ?? 0))
  const bar = done === undefined || width < 4 ? "" : `${"█".repeat(filled)}${"░".repeat(width - filled)}  `
  return `${bar}${facts}`.slice(0, Math.max(columns - 1, 0))
}

/** A span of time in words: `12 s`, `3 min 20 s`, `5 h 02 min`, `3 d 4 h`. */
export const duration = (seconds: number): string => {
  const s = Math.max(0, Math.round(seconds))
  if (s < 60) return `${s} s`
  if (s < 3_600) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`
  if (s < 86_400) return `${Math.floor(s / 3_600)} h ${String(Math.floor(s / 60) % 60).padStart(2, "0")} min`
  return `${count(Math.floor(s / 86_400))} d ${Math.floor(s / 3_600) % 24} h`
}

/** A time of day, in the reader's own zone. */
export const clock = (millis: number): string => new Date(millis).toTimeString().slice(0, 8)

/** Draws an export, unless it is to be quiet; the last call of `update` should be followed by `end`. */
export const make = Effect.fnUntraced(function*(screen: Screen = standardError, quiet = false) {
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

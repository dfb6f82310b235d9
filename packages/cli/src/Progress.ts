/** A progress bar on standard error: drawn in place on a terminal, a line now and then elsewhere. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** What an export knows of itself. */
export interface State {
  /** How much is done, 0 to 1, as far as one can tell. */
  readonly done: number
  readonly posts: number
  readonly pages: number
  readonly requests: number
  /** Requests left in the current window, where the service announced it. */
  readonly remaining: number | undefined
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
  const done = Math.max(0, Math.min(state.done, 1)) || 0
  const facts = [
    `${String(Math.floor(done * 100)).padStart(3)}%`,
    `${count(state.posts)} posts`,
    `${count(state.pages)} pages`,
    `${count(state.requests)} requests`,
    `${count(state.posts / Math.max(seconds, 0.001))} posts/s`,
    ...(state.remaining === undefined ? [] : [`${count(state.remaining)} left`])
  ].join("  ")
  // The same width all the time, or the bar would shrink while the numbers grow.
  const width = Math.max(0, Math.min(columns - usualLength - 3, 30))
  const filled = Math.round(width * done)
  const bar = width < 4 ? "" : `${"█".repeat(filled)}${"░".repeat(width - filled)}  `
  return `${bar}${facts}`.slice(0, Math.max(columns - 1, 0))
}

/** Draws an export; the last call of `update` should be followed by `end`. */
export const make = Effect.fnUntraced(function*(screen: Screen = standardError) {
  const start = yield* Clock.currentTimeMillis
  const pause = screen.isTerminal ? onTerminal : elsewhere
  let drawnAt = start
  let last: State | undefined
  const draw = (state: State, now: number) => {
    const text = line(state, (now - start) / 1000, screen.columns)
    screen.write(screen.isTerminal ? `\r${text}\u001b[K` : `${text}\n`)
    drawnAt = now
  }
  return {
    update: (state: State) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        last = state
        if (now - drawnAt >= pause) draw(state, now)
      }),
    end: Effect.map(Clock.currentTimeMillis, (now) => {
      if (last !== undefined) draw(last, now)
      if (screen.isTerminal) screen.write("\n")
    })
  }
})

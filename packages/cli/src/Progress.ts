/** A progress bar on standard error: drawn in place on a terminal, a line now and then elsewhere. */
import * as Monotonic from "@postwire/core/Monotonic"
import * as Effect from "effect/Effect"
import * as Report from "./Report.ts"
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
/** Where nobody may be looking: the first one, which doubles with every line, and the longest. */
const seldom = { first: 60_000, longest: 600_000 }

/** The characters that facts take as a rule: seven digits of posts, four of pages. */
const usualLength = 69

/** The line that shows a state after some seconds, at most `columns` wide. */
export const line = (state: State, seconds: number, columns: number): string => {
  const done = doneOf(state)
  // The same width all the time, or the bar would shrink while the numbers grow.
  const width = Math.max(0, Math.min(columns - usualLength - 3, 30))
  const filled = Math.round(width * (done ?? 0))
  const bar = done === undefined || width < 4 ? "" : `${"█".repeat(filled)}${"░".repeat(width - filled)}  `
  return `${bar}${facts(state, seconds).join("  ")}`.slice(0, Math.max(columns - 1, 0))
}

const doneOf = ({ done }: State): number | undefined =>
  done === undefined ? undefined : Math.max(0, Math.min(done, 1)) || 0

const facts = (state: State, seconds: number): ReadonlyArray<string> => {
  const { before = 0, noun = "posts", posts, remaining, toGo, waitingUntil } = state
  const done = doneOf(state)
  return [
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
  ]
}

/**
 * Draws an export. Where no terminal is, in lines: often, for a command that is watched, or seldom, for one whose messages
 * are kept, and only when a page has come. The last `update` is followed by `end`.
 */
export const make = Effect.fnUntraced(function*(options: { readonly elsewhere: "often" | "seldom" }) {
  const { errors: screen } = yield* Terminal
  const start = yield* Monotonic.millis
  if (!screen.isTerminal && options.elsewhere === "seldom") return yield* makeSeldom(start)
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
      Effect.map(Monotonic.millis, (now) => {
        last = state
        if (now - drawnAt >= pause || state.waitingUntil !== undefined) draw(state, now)
      }),
    end: Effect.map(Monotonic.millis, (now) => {
      if (last !== undefined) draw(last, now)
      if (screen.isTerminal && last !== undefined) screen.write("\n")
    })
  }
})

/** How it has ended is told by the command itself, and waits are told as they begin. */
const makeSeldom = Effect.fnUntraced(function*(start: number) {
  const speak = yield* Report.speaker
  let pause = seldom.first
  let told = { at: start, pages: 0 }
  return {
    update: (state: State) =>
      Effect.map(Monotonic.millis, (now) => {
        if (now - told.at < pause || state.pages === told.pages) return
        speak(facts(state, (now - start) / 1000).join(", "))
        told = { at: now, pages: state.pages }
        pause = Math.min(2 * pause, seldom.longest)
      }),
    end: Effect.void
  }
})

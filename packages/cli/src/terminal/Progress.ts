/** How far an export is: items and pages, and what is left of the rate limit. */
import * as Effect from "effect/Effect"
import * as ProgressBar from "./ProgressBar.ts"
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

/** The characters that facts take as a rule: seven digits of posts, four of pages. */
const usualLength = 69

/** The line that shows a state after some seconds, at most `columns` wide. */
export const line = (state: State, seconds: number, columns: number): string =>
  ProgressBar.line(show(state, seconds), usualLength, columns)

const show = (state: State, seconds: number): ProgressBar.Shown => {
  const { before = 0, done, noun = "posts", pages, posts, remaining, toGo, waitingUntil } = state
  return {
    done,
    step: pages,
    isUrgent: waitingUntil !== undefined,
    facts: [
      Text.quantity(posts, noun),
      Text.quantity(pages, "pages"),
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
}

/**
 * Draws an export. Where no terminal is, in lines: often, for a command that is watched, or seldom, for one whose messages
 * are kept, and only when a page has come. The last `update` is followed by `end`.
 */
export const make = Effect.fnUntraced(function*({ elsewhere }: Pick<ProgressBar.Options<State>, "elsewhere">) {
  const bar = yield* ProgressBar.make<State>({ elsewhere, show, usualLength })
  return { update: (state: State) => Effect.sync(() => bar.update(state)), end: Effect.sync(bar.end) }
})

/** The progress of an export: items, pages, and requests remaining. */
import * as Effect from "effect/Effect"
import * as ProgressBar from "./ProgressBar.ts"
import * as Text from "./Text.ts"

export interface State {
  /** The share that is done, 0 to 1, if known. */
  readonly done: number | undefined
  readonly posts: number
  /** The plural of the items. Default `posts`. */
  readonly noun?: string
  /** Items of earlier runs, which do not count for the rate. */
  readonly before?: number
  readonly pages: number
  readonly requests?: number
  /** Requests remaining in the current window, where the service announced it. */
  readonly remaining: number | undefined
  /** Seconds remaining, if known. */
  readonly toGo?: number | undefined
  /** When the next request can be sent, in milliseconds since the epoch. */
  readonly waitingUntil?: number | undefined
}

/** The usual length of the facts: seven digits of posts, four of pages. */
const usualLength = 69

/** The line for a state after some seconds, at most `columns` wide. */
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
 * Shows the progress of an export: as a bar on a terminal, elsewhere as lines after pages, often for a watched command, seldom for
 * one whose messages are kept. `end` follows the last `update`.
 */
export const make = Effect.fnUntraced(function*({ elsewhere }: Pick<ProgressBar.Options<State>, "elsewhere">) {
  const bar = yield* ProgressBar.make<State>({ elsewhere, show, usualLength })
  return { update: (state: State) => Effect.sync(() => bar.update(state)), end: Effect.sync(bar.end) }
})

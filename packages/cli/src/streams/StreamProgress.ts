/** How a stream is shown: a line that goes on, what happens to the connection, and what there is at the end. */
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import type { AnyItem } from "@postwire/core/schema/StreamItem"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import type * as Follow from "@postwire/export/Follow"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ProgressBar from "../terminal/ProgressBar.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"

/** What is known of a stream. */
export interface State {
  /** What it brings, in the plural. */
  readonly noun: string
  /** How many items this run has brought. */
  readonly items: number
  /** Items per second, of late. */
  readonly rate: number
  /** From when an item was made until it came, in milliseconds. */
  readonly lag: number | undefined
  /** How many items wait to be written. */
  readonly waiting: number
  /** How many spans of time are missing, or a part of them. */
  readonly gaps: number
  /** Since when there is no connection, in milliseconds. */
  readonly downSince: number | undefined
}

/** The characters that facts take as a rule. */
const usualLength = 60

/** The line that shows a state, at most `columns` wide. */
export const line = (state: State, columns: number): string => ProgressBar.line(shown(state, 0), usualLength, columns)

const shown = (state: State, seconds: number): ProgressBar.Shown => {
  const { downSince, gaps, items, lag, noun, rate, waiting } = state
  return {
    done: undefined,
    step: Math.floor(seconds),
    facts: [
      Text.quantity(items, noun),
      `${rate < 10 ? rate.toFixed(1) : Text.count(rate)}/s`,
      ...lag === undefined ? [] : [`lag ${lag < 60_000 ? `${(lag / 1000).toFixed(1)} s` : Text.duration(lag / 1000)}`],
      Text.quantity(gaps, "gaps"),
      ...waiting === 0 ? [] : [`${Text.count(waiting)} waiting`],
      ...downSince === undefined ? [] : [`no connection since ${Text.clock(downSince)}`]
    ]
  }
}

/** The rate is that of so many milliseconds. */
const window = 10_000

/** A line is drawn so often, in milliseconds. */
const pause = 500

/** The same is said again after so many milliseconds. */
const repeated = 60_000

/**
 * Shows a stream until the scope ends. Where what it brings goes to the terminal itself, there is no line: only what happens
 * is told.
 */
export const make = Effect.fnUntraced(function*(noun: string, isDrawn: boolean) {
  const bar = yield* ProgressBar.make<State>({
    elsewhere: "every minute",
    usualLength,
    show: shown
  })
  const speak = yield* Report.speaker
  const clock = yield* Clock.Clock
  const isNews = Report.news(repeated)
  const now = () => Monotonic.millisUnsafe(clock)
  let [items, gaps, waiting] = [0, 0, 0]
  let lag: number | undefined
  let downSince: number | undefined
  let counts: Array<readonly [at: number, items: number]> = [[now(), 0]]
  const tell = (text: string) => {
    if (isNews(text, now())) speak(text)
  }
  const draw = Effect.sync(() => {
    const at = now()
    counts = [...counts.filter((count, i) => i === counts.length - 1 || at - count[0] <= window), [at, items]]
    const [since, before] = counts[0] ?? [at, items]
    bar.update({
      noun,
      items,
      gaps,
      lag,
      waiting,
      downSince,
      rate: (items - before) * 1000 / Math.max(at - since, pause)
    })
  })
  if (isDrawn) {
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(pause), draw)))
    yield* Effect.addFinalizer(() => Effect.andThen(draw, Effect.sync(bar.end)))
  }
  return (event: StreamEvent<AnyItem>): void => {
    switch (event._tag) {
      case "Delivered":
        items++
        return
      case "Connected":
        tell(
          downSince === undefined
            ? "Connected."
            : `Connected again after ${Text.duration(millisTo(event.at, downSince))}.`
        )
        downSince = undefined
        return
      case "Reconnecting":
        downSince ??= event.at.getTime()
        return tell(
          `${sentence(event.why)}; it is tried again ${
            event.wait < 1_000 ? "at once" : `in ${Text.duration(event.wait / 1000)}`
          }.`
        )
      case "Lag":
        lag = event.millis
        waiting = event.buffered
        return
      case "Gap":
        if (event.filledBy !== undefined) {
          return speak(`What came ${spanOf(event)} was fetched by ${howFilled[event.filledBy]}.`)
        }
        gaps++
        return speak(`What came ${spanOf(event)} is missing, or a part of it${whyOf(event.why)}.`)
      case "Dropped":
        return tell(`${Text.quantity(event.count, noun)} were left out: they are not written as fast as they come.`)
      case "Unreadable":
        return tell(`A line cannot be read, and is left out${whyOf(event.reason)}.`)
      case "Trouble":
        for (const { detail, title } of event.problems) tell(`The service says: ${detail ?? title ?? "a problem"}`)
    }
  }
})

const millisTo = (at: Date, since: number): number => (at.getTime() - since) / 1000

const howFilled = { backfill: "backfill", recovery: "recovery", search: "a search" } as const

const spanOf = ({ from, to }: { readonly from: Date; readonly to: Date }): string => {
  const [first, last] = [from, to].map((time) => time.toISOString().replace(/\.\d+/, "").replace("T", " "))
  return `from ${first} to ${last?.slice(first?.slice(0, 10) === last.slice(0, 10) ? 11 : 0)}`
}

const sentence = (text: string): string => {
  const plain = Text.oneLine(text).replace(/\.$/, "")
  return plain.slice(0, 1).toUpperCase() + plain.slice(1)
}

const whyOf = (why: string | undefined): string => why === undefined ? "" : `: ${Text.oneLine(why).replace(/\.$/, "")}`

/** So many files are named. */
const named = 10

/** What there is now. */
export const told = (
  { files, items, progress, status }: Follow.Summary,
  { noun, out, seconds }: { readonly noun: string; readonly out: string; readonly seconds: number }
): ReadonlyArray<string> => {
  const last = files.slice(-named)
  const width = Math.max(0, ...last.map(({ name }) => name.length))
  return [
    `${status}: ${Text.quantity(items, noun)} in ${Text.duration(seconds)}${
      progress.items === items ? "" : `, ${Text.count(progress.items)} in all`
    }`,
    ...last.length === files.length
      ? []
      : [`  ${Text.quantity(files.length - last.length, "files")} before these: ${out}.postwire/files.jsonl`],
    ...last.map(({ bytes, name, rows }) =>
      `  ${name.padEnd(width)}  ${Text.size(bytes).padStart(8)}  ${Text.quantity(rows, noun)}`
    ),
    ...missing(progress, out)
  ]
}

/** What is missing, of all runs. */
const missing = ({ gaps, lost }: Follow.Progress, out: string): ReadonlyArray<string> => {
  const facts = [
    ...gaps === 0 ? [] : [Text.quantity(gaps, "gaps")],
    ...lost === 0 ? [] : [`${Text.quantity(lost, "lines")} lost`]
  ]
  return facts.length === 0 ? [] : [`${facts.join(", ")}${out === "-" ? "" : `: see ${out}.postwire/gaps.jsonl`}`]
}

/** The display of a stream: a progress line, notices about the connection, and the summary. */
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import type { AnyItem } from "@postwire/core/schema/StreamItem"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import type * as Follow from "@postwire/export/Follow"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ProgressBar from "../terminal/ProgressBar.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"

export interface State {
  /** The plural of the items. */
  readonly noun: string
  /** The items of this run. */
  readonly items: number
  /** Items per second, recently. */
  readonly rate: number
  /** The age of an item when it comes, in milliseconds. */
  readonly lag: number | undefined
  /** The items that wait to be written. */
  readonly waiting: number
  /** The gaps that were not filled, or only partly. */
  readonly gaps: number
  /** When the connection was lost, in milliseconds. */
  readonly downSince: number | undefined
}

/** The usual length of the facts. */
const usualLength = 60

/** The line of a state, at most `columns` wide. */
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

/** The span of the rate, in milliseconds. */
const window = 10_000

/** The interval of drawings, in milliseconds. */
const pause = 500

/** A notice is not repeated for this long, in milliseconds. */
const repeated = 60_000

/** Shows a stream until the scope ends. Without `isDrawn`, because items go to the terminal, only notices are shown. */
export const make = Effect.fnUntraced(function*(noun: string, isDrawn: boolean) {
  const bar = yield* ProgressBar.make<State>({ elsewhere: "every minute", usualLength, show: shown })
  const display = new Display(noun, yield* Report.speaker, yield* Clock.Clock)
  const draw = Effect.sync(() => bar.update(display.state()))
  if (isDrawn) {
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(pause), draw)))
    yield* Effect.addFinalizer(() => Effect.andThen(draw, Effect.sync(bar.end)))
  }
  return (event: StreamEvent<AnyItem>): void => display.receive(event)
})

/** The state of a stream, and the notices about it. */
class Display {
  readonly #noun: string
  readonly #speak: (text: string) => void
  readonly #now: () => number
  readonly #isNews = Report.news(repeated)
  #items = 0
  #gaps = 0
  #waiting = 0
  #lag: number | undefined
  #downSince: number | undefined
  #counts: Array<readonly [at: number, items: number]>

  constructor(noun: string, speak: (text: string) => void, clock: Clock.Clock) {
    this.#noun = noun
    this.#speak = speak
    this.#now = () => Monotonic.millisUnsafe(clock)
    this.#counts = [[this.#now(), 0]]
  }

  /** The state to draw, with the rate over the last `window` milliseconds. */
  state(): State {
    const at = this.#now()
    const last = this.#counts.length - 1
    this.#counts = [...this.#counts.filter(([time], i) => i === last || at - time <= window), [at, this.#items]]
    const [since, before] = this.#counts[0] ?? [at, this.#items]
    return {
      noun: this.#noun,
      items: this.#items,
      gaps: this.#gaps,
      lag: this.#lag,
      waiting: this.#waiting,
      downSince: this.#downSince,
      rate: (this.#items - before) * 1000 / Math.max(at - since, pause)
    }
  }

  receive(event: StreamEvent<AnyItem>): void {
    switch (event._tag) {
      case "Delivered":
        this.#items++
        return
      case "Connected":
        this.#notify(
          this.#downSince === undefined
            ? "Connected."
            : `Connected again after ${Text.duration((event.at.getTime() - this.#downSince) / 1000)}.`
        )
        this.#downSince = undefined
        return
      case "Reconnecting": {
        this.#downSince ??= event.at.getTime()
        const when = event.wait < 1_000 ? "immediately" : `in ${Text.duration(event.wait / 1000)}`
        return this.#notify(`${sentence(event.why)}; retrying ${when}.`)
      }
      case "Lag":
        this.#lag = event.millis
        this.#waiting = event.buffered
        return
      case "Gap":
        if (event.filledBy === undefined) this.#gaps++
        return this.#speak(
          event.filledBy === undefined
            ? `Items ${spanOf(event)} are missing, at least in part${whyOf(event.why)}.`
            : `Items ${spanOf(event)} were fetched by ${howFilled[event.filledBy]}.`
        )
      case "Dropped":
        return this.#notify(
          `${Text.quantity(event.count, this.#noun)} were dropped: they come faster than they can be written.`
        )
      case "Unreadable":
        return this.#notify(`A line was skipped: it cannot be read${whyOf(event.reason)}.`)
      case "Trouble":
        for (const { detail, title } of event.problems) {
          this.#notify(`The service reports: ${detail ?? title ?? "a problem"}`)
        }
    }
  }

  /** Shows a notice unless the same one was shown recently. */
  #notify(text: string): void {
    if (this.#isNews(text, this.#now())) this.#speak(text)
  }
}

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

/** The most files listed. */
const named = 10

export const summaryLines = (
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

/** The gaps and lost lines of all runs. */
const missing = ({ gaps, lost }: Follow.Progress, out: string): ReadonlyArray<string> => {
  const facts = [
    ...gaps === 0 ? [] : [Text.quantity(gaps, "gaps")],
    ...lost === 0 ? [] : [`${Text.quantity(lost, "lines")} lost`]
  ]
  return facts.length === 0 ? [] : [`${facts.join(", ")}${out === "-" ? "" : `: see ${out}.postwire/gaps.jsonl`}`]
}

/** Divides a span into replay jobs of a webhook, and submits one after the other. */
import { UnexpectedStatus } from "@postwire/core/errors/Errors"
import { replayWebhook } from "@postwire/core/operations/Webhooks"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"

/** A span in milliseconds. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** The jobs of a span, and the part of it that is lost or cannot be replayed yet. */
export interface Jobs {
  readonly spans: ReadonlyArray<Span>
  readonly lost?: Span | undefined
  readonly later?: Span | undefined
}

const minute = 60_000
const hour = 60 * minute

/** The service has the events of a day, of which a minute passes before the first job is there. */
const oldest = 24 * hour - minute

/** A job ends at least so long ago. */
const youngest = 10 * minute

/** A job begins at least so long ago. */
const latestBegin = 31 * minute

/** The longest job that the service advises. */
const longest = 2 * hour

/** The jobs of a span at a time, of equal length: the last one would otherwise begin too late. */
export const jobsOf = ({ from, to }: Span, now: number): Jobs => {
  const begin = Math.ceil(Math.max(from, now - oldest) / minute)
  const end = Math.floor(Math.min(to, now - youngest) / minute)
  const count = Math.max(0, Math.ceil((end - begin) * minute / longest))
  const at = (i: number) => (begin + Math.round((end - begin) * i / count)) * minute
  return {
    // The documents disagree whether the end is inclusive, so that each job begins with the end of the one before.
    spans: begin * minute > now - latestBegin
      ? []
      : Array.from({ length: count }, (_, i) => ({ from: at(i), to: at(i + 1) })),
    ...from < now - oldest && { lost: { from, to: Math.min(to, begin * minute) } },
    ...to > now - youngest && { later: { from: Math.max(from, end * minute), to } }
  }
}

/** A pause while the service has a job of the webhook, and the longest time of it, in milliseconds. */
const pauseMillis = 30_000
const maxWaitMillis = 2 * hour

/** Submits a job; waits while the service has another one. */
export const submit = Effect.fnUntraced(function*(webhook_id: string, { from, to }: Span) {
  const begun = yield* Clock.currentTimeMillis
  const job = replayWebhook({ webhook_id, from_date: new Date(from), to_date: new Date(to) })
  for (let isFirst = true;; isFirst = false) {
    const result = yield* Effect.result(job)
    if (result._tag === "Success") return result.success.data?.job_id
    const error = result.failure
    const isConflict = error instanceof UnexpectedStatus && error.status === 409
    if (!isConflict || (yield* Clock.currentTimeMillis) - begun >= maxWaitMillis) return yield* error
    if (isFirst) yield* Report.say("The service still runs a replay of this webhook; waiting for its end.")
    yield* Effect.sleep(pauseMillis)
  }
})

/** A span in words, in UTC. */
export const shown = ({ from, to }: Span): string => `${timeOf(from)} to ${timeOf(to)} UTC`

export const timeOf = (millis: number): string => Text.minute(new Date(millis).toISOString())

/** The time of a flag, with its offset from UTC. */
export const parse = (flag: string, text: string) => {
  const millis = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(millis)
    ? ErrorReport.refuse(
      `--${flag} must be a time such as 2026-11-02T08:00Z. Got ${text}.`,
      "Correct it; nothing was sent."
    )
    : Effect.succeed(millis)
}

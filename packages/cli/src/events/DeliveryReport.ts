/** The output about deliveries of events: a line for each attempt, another one about its failure, and a summary. */
import * as Delivery from "@postwire/core/events/Delivery"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Palette from "../terminal/Palette.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import type { EventDelivery } from "./EventDelivery.ts"
import type { Attempt, Challenged } from "./Forwarder.ts"

export const flags = {
  print: Args.toggle("print", "Show the JSON of each event, too"),
  json: Args.toggle("json", "Print a line of JSON for each attempt")
}

interface Flags {
  readonly print: boolean
  readonly json: boolean
}

/** The outcomes of deliveries. */
export interface Counts {
  events: number
  delivered: number
}

/** Prints an attempt. */
export const attempted = Effect.fnUntraced(function*(
  { delivery, millis, number, problem, status, wait }: Attempt,
  flags: Flags,
  attempts: number = Delivery.retryMillis.length + 1
) {
  const at = yield* Clock.currentTimeMillis
  const { output } = yield* Terminal
  const entry = {
    at: new Date(at).toISOString(),
    ...factsOf(delivery, flags),
    status,
    duration: millis,
    attempt: number,
    problem,
    nextIn: wait
  }
  const next = wait === undefined ? "the last" : `the next in ${wait / 1000} s`
  const turn = attempts === 1 ? "" : `attempt ${number} of ${attempts}, ${next}: `
  const lines = [
    `${Text.clock(at)} ${titleOf(delivery)} → ${status ?? "none"} in ${Text.count(millis)} ms`,
    ...problem === undefined ? [] : [`${" ".repeat(9)}${turn}${Text.oneLine(problem)}`]
  ].map((line) => Text.cut(line, output.columns))
  yield* Report.part(
    flags.json,
    entry,
    [...lines, ...flags.print && number === 1 ? [bodyOf(delivery)] : []],
    (text, screen) =>
      text.replace(/→ \w+/, (answer) => Palette.paint(screen, problem === undefined ? "good" : "bad", answer))
  )
})

/** Prints an event that was made, and how many subscriptions got it. */
export const made = (delivery: EventDelivery, subscriptions: number, flags: Flags): Effect.Effect<void> =>
  Report.part(flags.json, { ...factsOf(delivery, flags), subscriptions }, [
    `${titleOf(delivery)} → ${Text.quantity(subscriptions, "subscriptions")}`,
    ...flags.print ? [bodyOf(delivery)] : []
  ])

const titleOf = ({ about, type }: EventDelivery): string =>
  `${Text.pad(Text.oneLine(type), 19)} ${Text.pad(Text.oneLine(about), 10)}`

const bodyOf = ({ body }: EventDelivery): string => JSON.stringify(JSON.parse(body), null, 2)

const factsOf = ({ about, body, type }: EventDelivery, { print }: Flags) => {
  const { data: { event_uuid: uuid } } = JSON.parse(body)
  return { event_type: type, event_uuid: uuid, about, ...print && { body: JSON.parse(body) } }
}

/** The notice about a challenge. */
export const challenged = ({ millis, problem, signsDeliveries, status }: Challenged): Effect.Effect<void> =>
  signsDeliveries
    ? Report.say(
      "The program passes the service's challenge, but signs any crc_token, so that anyone can have it sign forged events.",
      "Sign only tokens of 16 to 128 letters, digits and +/=_-, as webhook() of Postwire does."
    )
    : problem === undefined
    ? Report.say(`The program passes the service's challenge, in ${Text.count(millis)} ms.`)
    : Report.say(
      `The program fails the service's challenge (GET with crc_token): ${
        status === undefined ? "" : `${status}, `
      }${problem}.`,
      "The service would not register it as a webhook. Events are forwarded all the same."
    )

export const summaryOf = ({ delivered, events }: Counts): string =>
  `${Text.quantity(events, "events")}: ${Text.count(delivered)} delivered, ${Text.count(events - delivered)} failed`

/** Some of the events were not delivered. */
export class Undelivered extends Schema.TaggedError<Undelivered>()("Undelivered", {
  events: Schema.Int,
  failed: Schema.Int
}) {
  override readonly [Runtime.errorExitCode] = ErrorReport.incomplete
  override get message(): string {
    return `${this.failed} of ${Text.quantity(this.events, "events")} failed`
  }
  get advice(): string {
    return "The lines above show why."
  }
}

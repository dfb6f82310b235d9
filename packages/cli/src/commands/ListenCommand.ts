/** `postwire listen`: takes events from the stream of activity and forwards them to a program on this machine. */
import { Client } from "@postwire/core/client/Client"
import * as Streaming from "@postwire/core/streams/Streaming"
import * as Command from "effect/cli/Command"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Connection from "../connection/Connection.ts"
import * as DeliveryReport from "../events/DeliveryReport.ts"
import * as EventDelivery from "../events/EventDelivery.ts"
import * as EventTypes from "../events/EventTypes.ts"
import * as Forwarder from "../events/Forwarder.ts"
import * as Subscriptions from "../events/Subscriptions.ts"
import * as StreamProgress from "../streams/StreamProgress.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as GracefulStop from "../terminal/GracefulStop.ts"
import * as OutputFile from "../terminal/OutputFile.ts"
import * as Report from "../terminal/Report.ts"
import { lines } from "./Lines.ts"

const flags = {
  forwardTo: Forwarder.flag,
  events: EventTypes.flag,
  subscribe: Subscriptions.flag,
  record: Args.text("record", "Add each event to this file, for postwire replay", "FILE"),
  ...DeliveryReport.flags,
  wire: Connection.wire,
  ...Connection.flags
}

type Flags = Command.Command.Config.Infer<typeof flags>

export const command = Command.make("listen", flags, (given) => run(given)).pipe(
  Args.help(
    "Forward events to a program on this machine: from the stream of activity, so without a tunnel, signed and retried as the " +
      "service does. It needs the app's bearer token and its consumer secret, and runs until Ctrl-C. Nothing is " +
      "changed unless --subscribe is given.",
    lines.listen,
    {
      "postwire listen --forward-to http://localhost:3000/hook": "The events of all subscriptions of the app",
      "postwire listen --forward-to http://localhost:3000/hook --subscribe dm.received":
        "The messages to you, with a subscription for as long as the command runs",
      "postwire listen --forward-to http://localhost:3000/hook --events 'post.*' --record events.jsonl":
        "Some types, and a file of them for postwire replay"
    }
  )
)

const run = Effect.fnUntraced(function*(flags: Flags) {
  const counts: DeliveryReport.Counts = { events: 0, delivered: 0 }
  yield* GracefulStop.run((stop) => listen(flags, counts, stop), {
    finishing: "Ending; Ctrl-C again stops immediately.",
    stopped: () => Report.say(`${DeliveryReport.summaryOf(counts)}.`)
  })
})

const listen = (flags: Flags, counts: DeliveryReport.Counts, stop: Effect.Effect<void>) =>
  Connection.use(flags, flags.wire, ({ consumerSecret, userAuth }) =>
    Effect.gen(function*() {
      const isSelected = yield* EventTypes.selector(flags.events)
      const forwarder = yield* Forwarder.make(flags.forwardTo, consumerSecret)
      const record = (text: string) =>
        Option.isNone(flags.record) ? Effect.void : OutputFile.append(flags.record.value, text)
      if (Option.isSome(flags.record)) yield* OutputFile.openLines(flags.record.value)
      const { live: { wire } } = yield* Client
      const notify = yield* StreamProgress.make("events", false)
      yield* Subscriptions.open(flags.subscribe, userAuth)
      yield* DeliveryReport.challenged(yield* forwarder.challenge)
      const deliver = Effect.fnUntraced(function*(delivery: EventDelivery.EventDelivery) {
        counts.events++
        const attempted = (attempt: Forwarder.Attempt) => DeliveryReport.attempted(attempt, flags)
        if (yield* Forwarder.deliver(forwarder, delivery, attempted)) counts.delivered++
      })
      yield* Streaming.run(EventDelivery.arriving, {}, { slowConsumer: "dropOldest" }).pipe(
        Stream.map((event) => {
          notify(event)
          return event._tag === "Delivered" ? EventDelivery.ofItem(event.item, wire.name) : undefined
        }),
        Stream.filter((delivery): delivery is EventDelivery.EventDelivery =>
          delivery !== undefined && isSelected(delivery.type)
        ),
        Stream.tap((delivery) =>
          Effect.flatMap(Clock.currentTimeMillis, (at) => record(EventDelivery.lineOf(delivery, new Date(at))))
        ),
        Stream.mapEffect(deliver, { concurrency: mostUnderWay, unordered: true }),
        Stream.runDrain,
        Effect.raceFirst(stop)
      )
    }).pipe(Effect.scoped, Effect.provide(Forwarder.layer), ErrorReport.within({ resumable: false })))

/** Later events wait for one of so many. */
const mostUnderWay = 1_000

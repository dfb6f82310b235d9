/** `postwire replay FILE`: forwards recorded events to a program on this machine again. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Connection from "../connection/Connection.ts"
import * as DeliveryReport from "../events/DeliveryReport.ts"
import * as EventDelivery from "../events/EventDelivery.ts"
import * as EventTypes from "../events/EventTypes.ts"
import * as Forwarder from "../events/Forwarder.ts"
import * as Args from "../terminal/Args.ts"
import * as Report from "../terminal/Report.ts"
import * as TextFile from "../terminal/TextFile.ts"
import { lines } from "./Lines.ts"

const flags = {
  file: Argument.String("file").pipe(
    Argument.withDescription("The file of postwire listen --record; - is standard input")
  ),
  forwardTo: Forwarder.flag,
  events: EventTypes.flag,
  ...DeliveryReport.flags,
  ...Connection.flags
}

type Flags = Command.Command.Config.Infer<typeof flags>

export const command = Command.make("replay", flags, (given) => run(given)).pipe(
  Args.help(
    "Forward recorded events to a program on this machine again: in order, one after the other, signed anew, each once.",
    lines.replay,
    {
      "postwire replay events.jsonl --forward-to http://localhost:3000/hook": "All events of a file",
      "postwire replay events.jsonl --forward-to http://localhost:3000/hook --events 'dm.*'": "The messages of a file"
    }
  )
)

const run = Effect.fnUntraced(
  function*(flags: Flags) {
    const isSelected = yield* EventTypes.selector(flags.events)
    const { consumerSecret } = yield* Connection.speaker(flags)
    const { post } = yield* Forwarder.make(flags.forwardTo, consumerSecret)
    const text = yield* TextFile.read(flags.file, "a file of postwire listen --record")
    const counts: DeliveryReport.Counts = { events: 0, delivered: 0 }
    for (const delivery of yield* EventDelivery.parse(flags.file, text)) {
      if (!isSelected(delivery.type)) continue
      const attempt = yield* post(delivery)
      counts.events++
      if (attempt.problem === undefined) counts.delivered++
      yield* DeliveryReport.attempted(attempt, flags, 1)
    }
    yield* Report.say(`${DeliveryReport.summaryOf(counts)}.`)
    const { delivered, events } = counts
    if (delivered < events) return yield* new DeliveryReport.Undelivered({ events, failed: events - delivered })
  },
  Effect.provide(Forwarder.layer),
  Effect.scoped
)

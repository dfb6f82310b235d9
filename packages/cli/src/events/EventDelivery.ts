/** An event as the service delivers it, and the files of recorded ones. */
import * as Delivery from "@postwire/core/events/Delivery"
import * as Response from "@postwire/core/schema/Response"
import type { WireName } from "@postwire/core/schema/WireName"
import { streamActivity } from "@postwire/core/streams/operations/ActivityStreams"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as ErrorReport from "../terminal/ErrorReport.ts"

/** An event as the service delivers it. */
export interface EventDelivery {
  readonly type: string
  /** The user or the keyword of the subscription. */
  readonly about: string
  /** The JSON of the delivery. */
  readonly body: string
}

/** Reads a parsed delivery; `undefined` if it is not one of an event. */
export const read = (body: unknown): EventDelivery | undefined => {
  if (!Predicate.hasProperty(body, "data") || !Predicate.isObject(body.data)) return undefined
  const { event_type: type, filter } = body.data
  if (typeof type !== "string") return undefined
  const { keyword, user_id: user }: Readonly<Record<string, unknown>> = Predicate.isObject(filter) ? { ...filter } : {}
  return { type, about: String(user ?? keyword ?? ""), body: JSON.stringify(body) }
}

/** The stream of activity with unchanged bodies: other streams bring events to the names of the library. */
export const arriving = {
  ...streamActivity.definition,
  result: Response.value(
    Schema.Struct({ event_uuid: Schema.String, event_type: Schema.String, body: Schema.String }),
    (line) => {
      if (!Predicate.hasProperty(line, "data") || !Predicate.isObject(line.data)) return
      line.data["body"] = JSON.stringify(line)
    }
  )
}

/** The delivery of an item of that stream. A service with neutral names is a sandbox: its events get the names of the service. */
export const ofItem = (item: object, wire: WireName): EventDelivery | undefined => {
  if (!("event" in item) || !Predicate.hasProperty(item.event, "body")) return undefined
  const body: { readonly data: object } = JSON.parse(String(item.event.body))
  return read(wire === "neutral" ? Delivery.spell(body.data) : body)
}

/** The line of a delivery in a file. */
export const lineOf = ({ body }: EventDelivery, at: Date): string =>
  `${beginning}${at.toISOString()}","body":${body}}\n`

const beginning = `{"at":"`

/** The deliveries in the lines of a file. */
export const parse = (file: string, text: string): Effect.Effect<ReadonlyArray<EventDelivery>, ErrorReport.Failure> => {
  const found: Array<EventDelivery> = []
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue
    const delivery = recorded(line)
    if (delivery === undefined) {
      if (isTorn(line)) continue
      return ErrorReport.refuse(
        `${file}, line ${index + 1}: this is not a recorded event`,
        "Name a file of postwire listen --record; nothing was sent."
      )
    }
    found.push(delivery)
  }
  return Effect.succeed(found)
}

/** Checks whether a line is the beginning of one, which a kill or a full disk has left. */
const isTorn = (line: string): boolean => {
  try {
    JSON.parse(line)
    return false
  } catch {
    return line.startsWith(beginning) || beginning.startsWith(line)
  }
}

const recorded = (line: string): EventDelivery | undefined => {
  try {
    const entry: unknown = JSON.parse(line)
    return Predicate.hasProperty(entry, "body") ? read(entry.body) : undefined
  } catch {
    return undefined
  }
}

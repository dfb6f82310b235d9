/** Types of events on the command line: names, and patterns with `*`. */
import { type EventType, eventTypes, isEventType } from "@postwire/core/schema/models/Activity"
import * as Effect from "effect/Effect"
import { closestMatch } from "leven"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"

export const flag = Args.many(
  "events",
  "TYPES",
  "Only these types, separated by commas; * is any text: dm.*,post.mention.create"
)

/** A known type of event. */
export const known = (name: string): Effect.Effect<EventType, ErrorReport.Failure> =>
  isEventType(name) ? Effect.succeed(name) : unknown("type of event", name)

/** The test of the types that a flag selects; without patterns, of all. */
export const selector = Effect.fnUntraced(function*(given: ReadonlyArray<string>) {
  const patterns = given.flatMap((list) => list.split(",").map((pattern) => pattern.trim()))
  const tests = patterns.map((pattern) => {
    const expression = new RegExp(`^${pattern.replace(/[^\w*]/g, "\\$&").replace(/\*+/g, ".*")}$`)
    return (type: string): boolean => expression.test(type)
  })
  for (const [index, test] of tests.entries()) {
    if (!eventTypes.some(test)) return yield* unknown("type of event like", patterns[index] ?? "")
  }
  return (type: string): boolean => tests.length === 0 || tests.some((test) => test(type))
})

/** Suggests the nearest type, or those of the same family. */
const unknown = (what: string, name: string): Effect.Effect<never, ErrorReport.Failure> => {
  const [family = ""] = name.split(".")
  const near = closestMatch(name, [...eventTypes], { maxDistance: 4 })
  const meant = near === undefined ? eventTypes.filter((type) => type.startsWith(`${family}.`)) : [near]
  const families = new Set(eventTypes.map((type) => `${type.split(".")[0]}.*`))
  return ErrorReport.refuse(
    `There is no ${what} "${name}"`,
    meant.length === 0 ? `There are ${[...families].join(", ")}.` : `Did you mean ${meant.join(", ")}?`
  )
}

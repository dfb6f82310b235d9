/** The body of a delivered event. */
import { catalogue } from "@postwire/core/Catalogue"
import type { WireName } from "@postwire/core/schema/WireName"
import { envelope } from "@postwire/core/wire/ResponseDecoder"
import * as Wire from "@postwire/core/wire/Wire"
import * as Predicate from "effect/Predicate"

// The service still speaks the words of February in events, and says every number as text, too.
const february = Wire.x202602.fromNeutral(envelope(catalogue.streamActivity.definition.result))

/** The body of an event in the words of a wire. */
export const spelled = (wire: WireName, body: object): unknown => wire === "neutral" ? body : withTwins(february(body))

const withTwins = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withTwins)
    : Predicate.isObject(value)
    ? Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) =>
        typeof inner === "number" ? [[name, inner], [`${name}_str`, String(inner)]] : [[name, withTwins(inner)]]
      )
    )
    : value

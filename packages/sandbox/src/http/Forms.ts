/** Converts responses whose structure, not only their names, differs between wires. */
import type { Name } from "@postwire/core/Catalogue"
import type { WireName } from "@postwire/core/schema/WireName"
import * as Predicate from "effect/Predicate"

/** The data of an operation in the structure of a wire. */
export const dataOf = (wire: WireName, operation: string, data: unknown): unknown => {
  const change = changeOf[wire].get(operation)
  return change === undefined ? data : Array.isArray(data) ? data.map(change) : change(data)
}

type Change = (data: unknown) => unknown

type Changes = { readonly [N in Name]?: Change }

const february = {
  createMediaSubtitles: (data) =>
    Predicate.hasProperty(data, "associated_subtitles")
      ? { ...data, associated_subtitles: [data.associated_subtitles] }
      : data,
  createPost: (data) => without(data, "edit_history_post_ids"),
  getDirectMessageEvent: (event) => beside(event),
  getDirectMessageEvents: (event) => beside(event),
  repost: (data) => Predicate.hasProperty(data, "rest_id") ? { ...without(data, "rest_id"), id: data.rest_id } : data
} satisfies Changes

const august = {
  getStreamRuleCounts: (counts) =>
    Predicate.isObject(counts)
      ? Object.fromEntries(
        Object.entries(counts).map(([name, count]) => [name, typeof count === "number" ? String(count) : count])
      )
      : counts
} satisfies Changes

/** Moves the entities of a message next to its text. */
const beside: Change = (event) =>
  Predicate.hasProperty(event, "entities") && Predicate.isObject(event.entities)
    ? { ...without(event, "entities"), ...event.entities }
    : event

const changeOf: { readonly [W in WireName]: ReadonlyMap<string, Change> } = {
  neutral: new Map(),
  x: new Map<string, Change>(Object.entries(august)),
  "x-2026-02": new Map<string, Change>(Object.entries(february))
}

const without = (data: unknown, member: string): object => {
  const copy: Record<string, unknown> = Predicate.isObject(data) ? { ...data } : {}
  delete copy[member]
  return copy
}

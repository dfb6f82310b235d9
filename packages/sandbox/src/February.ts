/** What answers have elsewhere, or do not have yet, in the words of February 2026. */
import type { Name } from "@postwire/core/Catalogue"
import * as Predicate from "effect/Predicate"

/** Data as it is answered today in the form that it had then. */
export const dataOf = (operation: string, data: unknown): unknown => {
  const change = changeOf.get(operation)
  return change === undefined ? data : Array.isArray(data) ? data.map(change) : change(data)
}

type Change = (data: unknown) => unknown

const changes = {
  createPost: (data) => without(data, "edit_history_post_ids"),
  getDirectMessageEvent: (event) => beside(event),
  getDirectMessageEvents: (event) => beside(event),
  repost: (data) => Predicate.hasProperty(data, "rest_id") ? { ...without(data, "rest_id"), id: data.rest_id } : data
} satisfies { readonly [N in Name]?: Change }

/** The tags, mentions and links of a message stood beside its text. */
const beside: Change = (event) =>
  Predicate.hasProperty(event, "entities") && Predicate.isObject(event.entities)
    ? { ...without(event, "entities"), ...event.entities }
    : event

const changeOf = new Map<string, Change>(Object.entries(changes))

const without = (data: unknown, member: string): object => {
  const copy: Record<string, unknown> = Predicate.isObject(data) ? { ...data } : {}
  delete copy[member]
  return copy
}

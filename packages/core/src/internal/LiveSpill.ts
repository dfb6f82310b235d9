/** Items and events as texts, while they wait outside of memory. */
import type { LiveHappening } from "../LiveEvents.ts"
import * as LiveItem from "../LiveItem.ts"

type Entry = LiveItem.AnyItem | LiveHappening

/** One line of JSON. */
export const encode = (entry: Entry): string => {
  if ("_tag" in entry) return `e${JSON.stringify(entry)}`
  const kind = "post" in entry ? "p" : "v"
  return entry.anomalies.length === 0
    ? kind + JSON.stringify(entry.body)
    : kind.toUpperCase() + JSON.stringify([entry.body, entry.anomalies])
}

/** What was encoded. */
export const decode = (text: string): Entry => {
  const kind = text[0] ?? ""
  const json = text.slice(1)
  if (kind === "e") return JSON.parse(json, revive)
  const isPost = kind === "p" || kind === "P"
  if (kind === "p" || kind === "v") return LiveItem.make(isPost, JSON.parse(json))
  const [body, anomalies] = JSON.parse(json)
  return LiveItem.make(isPost, body, anomalies)
}

const dates: ReadonlySet<string> = new Set(["at", "from", "to", "until"])

const revive = (name: string, value: unknown): unknown =>
  dates.has(name) && typeof value === "string" ? new Date(value) : value

/** Items and events as texts, while they wait outside of memory. */
import * as StreamItem from "../../schema/StreamItem.ts"
import type { StreamNotice, Unreadable } from "../StreamEvents.ts"

type Entry = StreamItem.AnyItem | StreamNotice

/** Lines of JSON. An item that is nested too deep becomes an event of this time. */
export const encode = (entries: ReadonlyArray<Entry>, at: number): ReadonlyArray<string> =>
  entries.map((entry) => {
    try {
      return lineOf(entry)
    } catch {
      return lineOf(tooDeep(new Date(at)))
    }
  })

/** In place of an item that cannot be kept. `JSON.parse` reads any depth, `JSON.stringify` does not write it. */
export const tooDeep = (at: Date): Unreadable => ({
  _tag: "Unreadable",
  at,
  reason: "the item is nested too deep to be kept outside of memory"
})

const lineOf = (entry: Entry): string => {
  if ("_tag" in entry) return `e${JSON.stringify(entry)}`
  const kind = "post" in entry ? "p" : "v"
  return entry.anomalies.length === 0
    ? kind + JSON.stringify(entry.body)
    : kind.toUpperCase() + JSON.stringify([entry.body, entry.anomalies])
}

/** The entries of lines; `undefined` where the lines are damaged. */
export const decode = (lines: ReadonlyArray<string>): ReadonlyArray<Entry> | undefined => {
  try {
    return lines.map(entryOf)
  } catch {
    return undefined
  }
}

const entryOf = (text: string): Entry => {
  const kind = text[0] ?? ""
  const json = text.slice(1)
  if (kind === "e") return JSON.parse(json, revive)
  const isPost = kind === "p" || kind === "P"
  if (kind === "p" || kind === "v") return StreamItem.make(isPost, JSON.parse(json))
  const [body, anomalies] = JSON.parse(json)
  return StreamItem.make(isPost, body, anomalies)
}

const dates: ReadonlySet<string> = new Set(["at", "from", "to", "until"])

const revive = (name: string, value: unknown): unknown =>
  dates.has(name) && typeof value === "string" ? new Date(value) : value

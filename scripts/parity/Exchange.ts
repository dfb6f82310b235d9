/** One exchange with the service as facts: what was sent, the status, and the members of the answer with their types. */
import { readFileSync } from "node:fs"

/** In a request, `{}` is something that exists, `{missing}`, `{protected}` and `{suspended}` are what they say. */
export interface Exchange {
  readonly from: string
  readonly method: string
  /** `/2/tweets/{}`. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Absent where the source does not say; then it is a success. */
  readonly status?: number
  /** The types of members by their place: `data[].id`. */
  readonly members: Readonly<Record<string, string>>
}

/** The types of all members of a body by their place; of a member of several items, those of any. */
export const membersOf = (body: unknown): Readonly<Record<string, string>> => {
  const found = new Map<string, Set<string>>()
  const walk = (value: unknown, place: string): void => {
    if (place !== "") found.set(place, (found.get(place) ?? new Set()).add(typeOf(value)))
    if (Array.isArray(value)) { for (const item of value) walk(item, `${place}[]`) }
    else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) walk(member, place === "" ? name : `${place}.${name}`)
    }
  }
  walk(body, "")
  return Object.fromEntries([...found].map(([place, types]) => [place, [...types].sort().join(" | ")]))
}

const typeOf = (value: unknown): string => value === null ? "null" : Array.isArray(value) ? "array" : typeof value

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The text of a file of exchanges, one a line. */
export const write = (exchanges: ReadonlyArray<Exchange>): string =>
  `[\n${exchanges.map((exchange) => JSON.stringify(exchange)).join(",\n")}\n]\n`

/** The exchanges in the file of the project. */
export const read = (): ReadonlyArray<Exchange> => JSON.parse(readFileSync(file, "utf8"))

const file = new URL("../fixtures/exchanges.json", import.meta.url)

/** What was asked and answered, to look at and to assert on. Credentials are not in it. */
import type { Name } from "@postwire/core/Catalogue"
import type * as Authentication from "./Authentication.ts"
import type { Behaviour } from "./Faults.ts"

/** One request. */
export interface Entry {
  /** Counts up from 1. */
  readonly id: number
  /** When it came, by the service's clock, in milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** As it was sent, without the query. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** In lower case; what would let another sign in is left out. */
  readonly headers: Readonly<Record<string, string>>
  /** The JSON of the body, where the operation has one that could be read; one of more than 64 KiB is only named. */
  readonly body: unknown
  /** None when the route is of no operation. */
  readonly operation: Name | undefined
  /** Who asked; nobody when the credential was not valid. */
  readonly caller: Pick<Authentication.Caller, "form" | "appId" | "userId"> | undefined
  /** None when there was no answer: the connection was broken, by a fault or by the client. */
  readonly status: number | undefined
  /** The title of the problem document. */
  readonly problem: string | undefined
  readonly fault: Behaviour | undefined
  /** How long the answer took, in milliseconds of the service's clock. */
  readonly millis: number
}

/** The journal of one service. */
export interface Journal {
  /** The latest requests, oldest first; those after the entry `after` when it is given. */
  readonly entries: (after?: number) => ReadonlyArray<Entry>
  /** The id of the oldest entry that is kept, or of the next one when none is. */
  readonly oldest: () => number
  readonly add: (entry: Omit<Entry, "id">) => void
  readonly clear: () => void
}

/** Keeps the latest `capacity` requests. */
export const make = (capacity = 10_000): Journal => {
  let entries: Array<Entry> = []
  let last = 0
  return {
    entries: (after = 0) => entries.slice(-capacity).filter(({ id }) => id > after),
    oldest: () => entries.at(-Math.min(capacity, entries.length))?.id ?? last + 1,
    add: (entry) => {
      entries.push({ ...entry, body: isLarge(entry.body) ? large : entry.body, id: ++last })
      if (entries.length >= 2 * capacity) entries = entries.slice(-capacity)
    },
    clear: () => void (entries = [])
  }
}

/** The journal stays small, however large bodies are. */
const isLarge = (body: unknown): boolean => body !== undefined && JSON.stringify(body).length > 65_536

const large = "<more than 64 KiB>"

/** Headers without what would let another sign in. */
export const redacted = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      name === "authorization" ? authorization(value) : secret.test(name) ? hidden : value
    ])
  )

/** Names of what lets somebody sign in. */
const secret = /cookie|auth|bearer|token|secret|password|signature|key/i

const hidden = "<redacted>"

/** The scheme; of a signature also its nonce and timestamp, which are of use to nobody a second time. */
const authorization = (value: string): string => {
  const scheme = /^(bearer|oauth|basic) /i.exec(value)?.[1]
  if (scheme === undefined) return hidden
  const once = [...value.matchAll(/oauth_(?:nonce|timestamp)="[^"]{0,100}"/g)].map(([text]) => text)
  return scheme.toLowerCase() === "oauth" ? `${scheme} ${[...once, hidden].join(", ")}` : `${scheme} ${hidden}`
}

/** The query as it was sent; a credential that strayed into it is not shown. */
export const queryOf = (query: URLSearchParams): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...query].map(([key, value]) => [
      key,
      secret.test(key) && !/^(next|previous|pagination)_token$/.test(key) ? hidden : value
    ])
  )

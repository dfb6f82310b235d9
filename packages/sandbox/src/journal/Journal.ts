/** What was asked and answered, to look at and to assert on. Credentials are not in it. */
import type * as Authentication from "../auth/Authentication.ts"
import * as Secrets from "../auth/Secrets.ts"
import type { Behaviour } from "../faults/Faults.ts"
import type { RequestName } from "../http/Names.ts"

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
  /** The JSON or the form of the body, where one could be read; one of more than 64 KiB is only named. */
  readonly body: unknown
  /** An operation, or an endpoint of the authorization server. None when the route is of neither. */
  readonly operation: RequestName | undefined
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

/** What is learned of a request on its way. */
export interface Trace {
  operation?: RequestName
  caller?: Authentication.Caller
  /** What its body held, or that it was large. */
  body?: unknown
  /** Values that it held under the names of secrets. */
  secrets?: ReadonlyArray<string>
  problem?: string
  fault?: Behaviour
}

/** The journal of one service. */
export interface Journal {
  /** Those after the entry `after` when it is given, of these the latest `latest`; oldest first. */
  readonly entries: (after?: number, latest?: number) => ReadonlyArray<Entry>
  readonly entry: (id: number) => Entry | undefined
  /** The JSON of those after an entry. */
  readonly json: (after: number) => string
  /** The id of the oldest entry that is kept, or of the next one when none is. */
  readonly oldest: () => number
  /**
   * Begins a request. The function returned keeps it without the credentials that `hide` finds in it, unless the
   * journal has been cleared since.
   */
  readonly begin: () => (entry: Omit<Entry, "id">, hide: Secrets.Hide) => void
  readonly clear: () => void
}

/** How much is kept. */
export interface Bounds {
  readonly requests: number
  readonly bytes: number
}

/**
 * Keeps the latest requests as JSON, which is as long as it looks: parsed, a body of many empty objects takes twenty
 * times the room.
 */
export const make = (bounds: Bounds = { requests: 10_000, bytes: 16 * 1024 * 1024 }): Journal => {
  let texts: Array<Buffer> = []
  /** How many at the beginning of `texts` are gone, and how many bytes the others have. */
  let gone = 0
  let bytes = 0
  let last = 0
  let cleared = 0
  const oldest = (): number => last - (texts.length - gone) + 1
  const from = (after: number, latest = Infinity): ReadonlyArray<Buffer> =>
    texts.slice(Math.max(gone, gone + after + 1 - oldest(), texts.length - latest))
  const drop = (): void => {
    bytes -= texts[gone]!.length + entryOverheadBytes
    // Its place goes with the next thousand.
    texts[gone++] = nothing
    if (gone >= 1_000) [texts, gone] = [texts.slice(gone), 0]
  }
  return {
    entries: (after = 0, latest) => from(after, latest).map(revived),
    entry: (id) => id >= oldest() && id <= last ? revived(from(id - 1)[0]!) : undefined,
    json: (after) => `[${from(after).join()}]`,
    oldest,
    begin: () => {
      const begun = cleared
      return (entry, hide) => {
        if (begun !== cleared) return
        const text = Buffer.from(JSON.stringify({ id: ++last, ...within(entry, hide) }))
        texts.push(text)
        bytes += text.length + entryOverheadBytes
        while (bytes > bounds.bytes || texts.length - gone > bounds.requests) drop()
      }
    },
    clear: () => {
      cleared++
      texts = []
      gone = bytes = 0
    }
  }
}

/** What an entry takes besides its text. */
const entryOverheadBytes = 200

const nothing = Buffer.alloc(0)

/** An entry as it came, with every key: JSON leaves out what is undefined. */
const revived = (text: Buffer): Entry => ({ ...absent, ...JSON.parse(text.toString()) })

const absent = {
  body: undefined,
  operation: undefined,
  caller: undefined,
  status: undefined,
  problem: undefined,
  fault: undefined
}

/** An entry without credentials, and without a body that is too large. */
const within = (entry: Omit<Entry, "id">, hide: Secrets.Hide): Omit<Entry, "id"> => {
  const { body, fault, headers, method, path, query } = entry
  return {
    ...entry,
    method: hide(method),
    path: hide(path),
    query: queryOf(query, hide),
    headers: headersOf(headers, hide),
    body: without(body, hide),
    fault: without(fault, hide)
  }
}

/** A body of more bytes than this is only named: the journal stays small, however large bodies are. */
export const maxBodyBytes = 65_536

/** What stands for a large body. */
export const large = "<more than 64 KiB>"

/** A value without the credentials in its texts and names, or under the name of one. */
const without = <A>(value: A, hide: Secrets.Hide): A => {
  const clean = (value: unknown): unknown =>
    typeof value === "string"
      ? hide(value)
      : Array.isArray(value)
      ? value.map(clean)
      : typeof value === "object" && value !== null
      ? Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [
          hide(name),
          typeof inner === "string" && Secrets.isSecretName(name) ? Secrets.hidden : clean(inner)
        ])
      )
      : value
  // Texts become texts, and everything else stays what it is.
  return clean(value) as A
}

/** Headers without what would let another sign in. */
const headersOf = (headers: Entry["headers"], hide: Secrets.Hide): Entry["headers"] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      hide(name),
      name === "authorization" ? authorization(value, hide) : Secrets.isSecretName(name) ? Secrets.hidden : hide(value)
    ])
  )

/** The scheme; of a signature also its nonce and timestamp, which are of use to nobody a second time. */
const authorization = (value: string, hide: Secrets.Hide): string => {
  const scheme = /^(bearer|oauth|basic) /i.exec(value)?.[1]
  if (scheme === undefined) return Secrets.hidden
  const once = [...value.matchAll(/oauth_(?:nonce|timestamp)="[^"]{0,100}"/g)].map(([text]) => hide(text))
  return scheme.toLowerCase() === "oauth"
    ? `${scheme} ${[...once, Secrets.hidden].join(", ")}`
    : `${scheme} ${Secrets.hidden}`
}

/** The query as it was sent; a credential that strayed into it is not shown. */
const queryOf = (query: Entry["query"], hide: Secrets.Hide): Entry["query"] =>
  Object.fromEntries(
    Object.entries(query).map(([key, value]) => [
      hide(key),
      Secrets.isSecretName(key) && !/^(next|previous|pagination)_token$/.test(key) ? Secrets.hidden : hide(value)
    ])
  )

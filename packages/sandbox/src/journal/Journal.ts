/** The journal of requests and responses, without credentials. */
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Authentication from "../auth/Authentication.ts"
import * as Secrets from "../auth/Secrets.ts"
import type { Behaviour } from "../faults/Faults.ts"
import type { RequestName } from "../http/Names.ts"
import * as Responses from "./Responses.ts"

/** One request. */
export interface Entry {
  /** Counts up from 1. */
  readonly id: number
  /** The time of arrival by the service's clock, in milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** The path as sent, without the query. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Names in lower case; credentials are redacted. */
  readonly headers: Readonly<Record<string, string>>
  /** The parsed JSON or form; a placeholder for bodies of more than 64 KiB. */
  readonly body: unknown
  /** An operation or an authorization endpoint; undefined if the route is neither. */
  readonly operation: RequestName | undefined
  /** The caller; undefined if the credential was not valid. */
  readonly caller: Pick<Authentication.Caller, "form" | "appId" | "userId"> | undefined
  /** Undefined if a fault or the client broke the connection before the response. */
  readonly status: number | undefined
  /** The title of the problem document. */
  readonly problem: string | undefined
  readonly fault: Behaviour | undefined
  /** The duration in milliseconds of the service's clock. */
  readonly millis: number
}

/** Details recorded while a request is processed. */
export interface Trace {
  operation?: RequestName
  caller?: Authentication.Caller
  /** The parsed body, or the placeholder of a large one. */
  body?: unknown
  /** Values sent under names of credentials. */
  secrets?: ReadonlyArray<string>
  problem?: string
  fault?: Behaviour
}

export type Journal = ReturnType<typeof make>

/** The capacity of a journal. */
export interface Bounds {
  readonly requests: number
  readonly bytes: number
}

/**
 * Keeps the latest requests as JSON, whose size is predictable: parsed, a body of many empty objects takes twenty times the
 * memory.
 */
export const make = (bounds: Bounds = { requests: 10_000, bytes: 16 * 1024 * 1024 }) => {
  const responses = Responses.make(bounds.bytes, headersOf)
  let texts: Array<Buffer> = []
  /** The number of dropped entries at the beginning of `texts`. */
  let gone = 0
  let bytes = 0
  let last = 0
  let cleared = 0
  const oldest = (): number => last - (texts.length - gone) + 1
  const from = (after: number, latest = Infinity): ReadonlyArray<Buffer> =>
    texts.slice(Math.max(gone, gone + after + 1 - oldest(), texts.length - latest))
  const drop = (): void => {
    bytes -= texts[gone]!.length + entryOverheadBytes
    // The array is shortened in batches.
    texts[gone++] = nothing
    if (gone >= 1_000) [texts, gone] = [texts.slice(gone), 0]
  }
  return {
    /** The entries after `after` (default: all), limited to the `latest`; oldest first. */
    entries: (after = 0, latest?: number): ReadonlyArray<Entry> => from(after, latest).map(revived),
    entry: (id: number): Entry | undefined => id >= oldest() && id <= last ? revived(from(id - 1)[0]!) : undefined,
    /** The response to a request; undefined if there was none, or if it is no longer kept. */
    response: responses.get,
    /** The JSON of the entries after `after`. */
    json: (after: number): string => `[${from(after).join()}]`,
    /** The id of the oldest entry, or of the next one if the journal is empty. */
    oldest,
    /**
     * Starts a request. The returned function stores its entry, redacted by `hide`, unless the journal has been cleared
     * since.
     */
    begin: () => {
      const begun = cleared
      return (
        entry: Omit<Entry, "id">,
        hide: Secrets.Hide,
        response?: HttpServerResponse.HttpServerResponse
      ): void => {
        if (begun !== cleared) return
        const text = Buffer.from(JSON.stringify({ id: ++last, ...within(entry, hide) }))
        texts.push(text)
        bytes += text.length + entryOverheadBytes
        if (response !== undefined) responses.add(last, response, hide)
        while (bytes > bounds.bytes || texts.length - gone > bounds.requests) drop()
      }
    },
    clear: (): void => {
      cleared++
      responses.clear()
      texts = []
      gone = bytes = 0
    }
  }
}

/** The memory of an entry besides its text. */
const entryOverheadBytes = 200

const nothing = Buffer.alloc(0)

/** Parses an entry and restores the undefined keys that JSON omits. */
const revived = (text: Buffer): Entry => ({ ...absent, ...JSON.parse(text.toString()) })

const absent = {
  body: undefined,
  operation: undefined,
  caller: undefined,
  status: undefined,
  problem: undefined,
  fault: undefined
}

/** Redacts an entry. */
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

/** Larger bodies are replaced by a placeholder. */
export const maxBodyBytes = 65_536

/** The placeholder of a large body. */
export const large = "<more than 64 KiB>"

/** Redacts credentials in texts and names, and values under names of credentials. */
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
  // Redaction keeps the type of every value.
  return clean(value) as A
}

/** Redacts headers. */
const headersOf = (headers: Entry["headers"], hide: Secrets.Hide): Entry["headers"] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      hide(name),
      name === "authorization" ? authorization(value, hide) : Secrets.isSecretName(name) ? Secrets.hidden : hide(value)
    ])
  )

/** Keeps the scheme and, of a signature, nonce and timestamp, which cannot be used again. */
const authorization = (value: string, hide: Secrets.Hide): string => {
  const scheme = /^(bearer|oauth|basic) /i.exec(value)?.[1]
  if (scheme === undefined) return Secrets.hidden
  const once = [...value.matchAll(/oauth_(?:nonce|timestamp)="[^"]{0,100}"/g)].map(([text]) => hide(text))
  return scheme.toLowerCase() === "oauth"
    ? `${scheme} ${[...once, Secrets.hidden].join(", ")}`
    : `${scheme} ${Secrets.hidden}`
}

/** Redacts credentials in the query. */
const queryOf = (query: Entry["query"], hide: Secrets.Hide): Entry["query"] =>
  Object.fromEntries(
    Object.entries(query).map(([key, value]) => [
      hide(key),
      Secrets.isSecretName(key) && !/^(next|previous|pagination)_token$/.test(key) ? Secrets.hidden : hide(value)
    ])
  )

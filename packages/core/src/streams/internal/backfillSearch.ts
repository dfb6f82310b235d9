/** Finds posts that match the rules of the filtered stream by a search for each rule, each post once with all its rules. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Client } from "../../client/Client.ts"
import type { AnyError } from "../../errors/Errors.ts"
import { getStreamRules } from "../../operations/Rules.ts"
import { searchRecentPosts } from "../../operations/Search.ts"
import * as Query from "../../query/Query.ts"
import type { Definition } from "../../schema/Definition.ts"
import { Includes } from "../../schema/models/Includes.ts"
import { StreamRule } from "../../schema/models/StreamRule.ts"
import type { Response } from "../../schema/Response.ts"
import * as StreamItem from "../../schema/StreamItem.ts"
import { verdictOf } from "../StreamFailure.ts"

/** A rule whose query a search accepts. */
export interface Searchable extends StreamItem.MatchingRule {
  readonly query: string
}

/** The rules of the app, and why searches do not accept some of them. */
export interface Rules {
  readonly searchable: ReadonlyArray<Searchable>
  readonly refused: ReadonlyArray<string>
}

/** Reads all rules with these tags. */
export const rulesOf = (tags: ReadonlySet<string> | undefined): Effect.Effect<Rules, AnyError, Client> =>
  Effect.gen(function*() {
    const searchable: Array<Searchable> = []
    const refused: Array<string> = []
    let token: string | undefined
    do {
      const { data, meta } = yield* call(getStreamRules, token === undefined ? {} : { pagination_token: token })
      for (const { id, tag, value } of Array.isArray(data) ? data.filter(isRule) : []) {
        if (id === undefined || (tags !== undefined && (tag === undefined || !tags.has(tag)))) continue
        const read = Query.check(value, { dialect: "search" })
        if (Result.isSuccess(read)) searchable.push({ id, query: value, ...(tag === undefined ? {} : { tag }) })
        else refused.push(refusal({ id, tag }, read.failure))
      }
      token = meta.next_token
    } while (token !== undefined && token !== "")
    return { searchable, refused }
  })

const refusal = ({ id, tag }: { readonly id: string; readonly tag?: string | undefined }, { message }: Error): string =>
  `${tag ?? `rule ${id}`}: ${message}`

/** True if an error concerns one query and not the others. */
const isOfQuery = (error: AnyError): boolean =>
  error._tag === "BadRequest" || error._tag === "InvalidParameters" ||
  (error._tag === "UnexpectedStatus" && error.status >= 400)

/** After this many refusals and no success, the cause is in the common parameters. */
const mostRefusals = 10

/** After this many failures of one query in a row, another query is tried. */
const mostFailures = 3

/** Failures in a row of each remaining query after which they are given up, after ten minutes or more. */
const mostLastFailures = 8

/** Requests and decodes one response of an operation. */
const call = (
  { definition }: { readonly definition: Definition },
  parameters: object
): Effect.Effect<Response<unknown, unknown>, AnyError, Client> =>
  Effect.flatMap(
    Client,
    (client) => Effect.flatMap(client.request(definition, parameters), (answer) => client.read(definition, answer))
  )

/** The parameters of a stream that a search accepts too: fields and expansions. */
export const selectionOf = (parameters: object): object =>
  Object.fromEntries(
    Object.entries(parameters).filter(([name]) =>
      searchRecentPosts.definition.query?.[name] !== undefined && !times.has(name)
    )
  )

const times: ReadonlySet<string> = new Set(["start_time", "end_time"])

interface Source {
  readonly rule: Searchable
  /** The token of the next page; `undefined` before the first page. */
  token: string | undefined
  isDone: boolean
  /** The id of the oldest post so far. */
  oldest: bigint | undefined
  /** The number of failures in a row. */
  failures: number
  /** The number of successes of the whole search at the last failure. */
  failedAt: number
}

interface Found {
  readonly id: bigint
  readonly body: StreamItem.Body
  readonly rules: Array<StreamItem.MatchingRule>
}

/** Runs the searches side by side, from the newest post to the oldest. At most one page of each rule is in memory. */
export class RuleSearch {
  /** Why the service cannot search for some of the rules. */
  readonly refused: Array<string> = []
  readonly #sources: ReadonlyArray<Source>
  readonly #parameters: object
  readonly #found = new Map<string, Found>()
  #answers = 0

  /** `parameters` are common to all searches. */
  constructor(rules: ReadonlyArray<Searchable>, parameters: object) {
    this.#sources = rules.map((rule) => ({
      rule,
      token: undefined,
      isDone: false,
      oldest: undefined,
      failures: 0,
      failedAt: 0
    }))
    this.#parameters = parameters
  }

  get isDone(): boolean {
    return this.#sources.every(({ isDone }) => isDone)
  }

  /**
   * Requests one page, and returns the posts to which no further page can add a rule, oldest first. A call that failed can be
   * repeated. A rule is dropped if its query is refused, or fails while others succeed.
   */
  next(): Effect.Effect<ReadonlyArray<StreamItem.AnyItem>, AnyError, Client> {
    return Effect.suspend(() => {
      const source = this.#due()
      if (source === undefined) return Effect.succeed([])
      const { rule: { query }, token } = source
      const parameters = { ...this.#parameters, query, ...(token === undefined ? {} : { next_token: token }) }
      const isRefusal = (error: AnyError) =>
        isOfQuery(error) ? this.#answers > 0 || this.refused.length < mostRefusals : this.#failsAlone(source, error)
      const page = Effect.catchIf(call(searchRecentPosts, parameters), isRefusal, Effect.succeed)
      return Effect.map(page, (answer) => {
        if (answer instanceof Error) {
          source.isDone = true
          this.refused.push(refusal(source.rule, answer))
        } else this.#add(source, answer)
        return this.#settled()
      })
    })
  }

  /** The source to request: the one that is least far back, unless it keeps failing and no other has succeeded since. */
  #due(): Source | undefined {
    const newest = this.#newest()
    if (newest === undefined || newest.failures < mostFailures || newest.failedAt < this.#answers) return newest
    return this.#open().reduce((fewest, source) => source.failures < fewest.failures ? source : fewest)
  }

  #open(): ReadonlyArray<Source> {
    return this.#sources.filter(({ isDone }) => !isDone)
  }

  /** Counts a failure, and returns true if it is due to this query and not the service. */
  #failsAlone(source: Source, error: AnyError): boolean {
    const verdict = verdictOf(error, true)
    if (verdict._tag !== "Again" || verdict.fault === "limit") return false
    const isOthersAnswered = this.#answers > source.failedAt
    source.failures++
    source.failedAt = this.#answers
    return (isOthersAnswered && source.failures > mostFailures) ||
      (this.#answers > 0 && this.#open().every(({ failures }) => failures >= mostLastFailures))
  }

  /** The source that is least far back. */
  #newest(): Source | undefined {
    let newest: Source | undefined
    for (const source of this.#sources) {
      if (source.isDone) continue
      if (source.oldest === undefined) return source
      if (newest?.oldest === undefined || source.oldest > newest.oldest) newest = source
    }
    return newest
  }

  #add(source: Source, { data, includes, meta }: Response<unknown, unknown>): void {
    this.#answers++
    source.failures = 0
    const { query: _, ...rule } = source.rule
    for (const post of Array.isArray(data) ? data : []) {
      if (!isPost(post)) continue
      const id = BigInt(post.id)
      if (source.oldest === undefined || id < source.oldest) source.oldest = id
      const known = this.#found.get(post.id)
      if (known === undefined) {
        const body = { data: post, ...includedIn(post, includes) }
        this.#found.set(post.id, { id, body, rules: [rule] })
      } else if (!known.rules.some(({ id }) => id === rule.id)) {
        known.rules.push(rule)
      }
    }
    const token = meta.next_token === "" ? undefined : meta.next_token
    source.isDone = token === undefined || token === source.token
    source.token = token
    // An empty page reaches less far back than any post.
    source.oldest ??= farthest
  }

  /** The posts that were found but not returned yet, after a failure. */
  rest(): ReadonlyArray<StreamItem.AnyItem> {
    return this.#settled(0n)
  }

  /** The posts that are not older than the oldest post of the source that is least far back. */
  #settled(oldest = this.isDone ? 0n : this.#newest()?.oldest): ReadonlyArray<StreamItem.AnyItem> {
    if (oldest === undefined) return []
    const settled: Array<Found> = []
    for (const [key, found] of this.#found) {
      if (found.id < oldest) continue
      settled.push(found)
      this.#found.delete(key)
    }
    settled.sort((one, other) => one.id < other.id ? -1 : 1)
    return settled.map(({ body, rules }) => StreamItem.make(true, { ...body, matching_rules: rules }))
  }
}

/** Above every id. */
const farthest = 2n ** 64n

const isPost = /*#__PURE__*/ Schema.is(
  /*#__PURE__*/ Schema.Struct({ id: /*#__PURE__*/ Schema.String.check(/*#__PURE__*/ Schema.isPattern(/^\d{1,19}$/)) })
)

const isRule = /*#__PURE__*/ Schema.is(StreamRule)

const areIncludes = /*#__PURE__*/ Schema.is(Includes)

/** The includes of a page that a post refers to, directly or through a referenced post. */
const includedIn = (post: object, includes: unknown): Pick<StreamItem.Body, "includes"> => {
  if (!areIncludes(includes) || Object.keys(includes).length === 0) return {}
  const keys = new Set<string>()
  collect(post, keys)
  for (const other of includes.posts ?? []) if (keys.has(other.id)) collect(other, keys)
  const own = Object.entries(includes).flatMap(([bucket, members]) => {
    const kept = members.filter((member) => keys.has("media_key" in member ? member.media_key : member.id))
    return kept.length === 0 ? [] : [[bucket, kept]]
  })
  return own.length === 0 ? {} : { includes: Object.fromEntries(own) }
}

/** Collects every string in a value, among them ids. */
const collect = (value: unknown, texts: Set<string>): void => {
  if (typeof value === "string") texts.add(value)
  else if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) collect(member, texts)
  }
}

/** What rules of the filtered stream match, found by searches: one for each rule, newest first, and each post once with all its rules. */
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

/** A rule that a search can look for. */
export interface Searchable extends StreamItem.MatchingRule {
  readonly query: string
}

/** The rules of the app, and why a search cannot look for some of them. */
export interface Rules {
  readonly searchable: ReadonlyArray<Searchable>
  readonly refused: ReadonlyArray<string>
}

/** Reads every rule, but for those with other tags than the ones that are wanted. */
export const rulesOf = (
  page: (parameters: object) => Effect.Effect<Response<unknown, unknown>, AnyError, Client>,
  tags: ReadonlySet<string> | undefined
): Effect.Effect<Rules, AnyError, Client> =>
  Effect.gen(function*() {
    const searchable: Array<Searchable> = []
    const refused: Array<string> = []
    let token: string | undefined
    do {
      const { data, meta } = yield* page(token === undefined ? {} : { pagination_token: token })
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

/** A refusal of one query, which says nothing of the others. */
const isOfQuery = (error: AnyError): boolean =>
  error._tag === "BadRequest" || error._tag === "InvalidParameters" ||
  (error._tag === "UnexpectedStatus" && error.status >= 400)

/** After so many refusals and no answer, the cause is what the queries have in common. */
const mostRefusals = 10

/** After so many failures in a row of one query, another one shows whether the service answers. */
const mostFailures = 3

/** Failures in a row of each query that is left, after which they are given up: for ten minutes at least. */
const mostLastFailures = 8

/** One request of an operation, whose answer is read. */
export const call = (
  { definition }: { readonly definition: Definition }
) =>
(parameters: object): Effect.Effect<Response<unknown, unknown>, AnyError, Client> =>
  Effect.flatMap(
    Client,
    (client) => Effect.flatMap(client.request(definition, parameters), (answer) => client.read(definition, answer))
  )

/** Requests a page of rules. */
export const rulesPage = call(getStreamRules)

/** Requests a page of posts. */
export const postsPage = call(searchRecentPosts)

/** What a stream is asked for that a search can be asked for too: fields and expansions. */
export const selectionOf = (parameters: object): object =>
  Object.fromEntries(
    Object.entries(parameters).filter(([name]) =>
      searchRecentPosts.definition.query?.[name] !== undefined && !times.has(name)
    )
  )

const times: ReadonlySet<string> = new Set(["start_time", "end_time"])

interface Source {
  readonly rule: Searchable
  /** Where the next page is; none before the first one. */
  token: string | undefined
  isDone: boolean
  /** The oldest post that was found. */
  oldest: bigint | undefined
  /** How often in a row its request has failed. */
  failures: number
  /** The number of answers of the whole search at the last failure. */
  failedAt: number
}

interface Found {
  readonly id: bigint
  readonly body: StreamItem.Body
  readonly rules: Array<StreamItem.MatchingRule>
}

/** Goes through the searches side by side, from the newest post to the oldest. At most a page of each rule is in memory. */
export class RuleSearch {
  /** Why the service cannot look for some of the rules. */
  readonly refused: Array<string> = []
  readonly #sources: ReadonlyArray<Source>
  readonly #parameters: object
  readonly #found = new Map<string, Found>()
  #answers = 0

  /** `parameters` are those that the searches have in common. */
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

  /** Whether everything was found. */
  get isDone(): boolean {
    return this.#sources.every(({ isDone }) => isDone)
  }

  /**
   * Requests one page, and gives what no further page can add a rule to, oldest first. A request that failed can be repeated;
   * a rule is left out when its query is refused, or fails while others are answered.
   */
  next(
    page: (parameters: object) => Effect.Effect<Response<unknown, unknown>, AnyError, Client>
  ): Effect.Effect<ReadonlyArray<StreamItem.AnyItem>, AnyError, Client> {
    return Effect.suspend(() => {
      const source = this.#due()
      if (source === undefined) return Effect.succeed([])
      const { rule: { query }, token } = source
      const parameters = { ...this.#parameters, query, ...(token === undefined ? {} : { next_token: token }) }
      const isRefusal = (error: AnyError) =>
        isOfQuery(error) ? this.#answers > 0 || this.refused.length < mostRefusals : this.#failsAlone(source, error)
      return Effect.map(Effect.catchIf(page(parameters), isRefusal, Effect.succeed), (answer) => {
        if (answer instanceof Error) {
          source.isDone = true
          this.refused.push(refusal(source.rule, answer))
        } else this.#add(source, answer)
        return this.#settled()
      })
    })
  }

  /** The one to request: the one that is least far back, unless it keeps failing and no other was answered since. */
  #due(): Source | undefined {
    const newest = this.#newest()
    if (newest === undefined || newest.failures < mostFailures || newest.failedAt < this.#answers) return newest
    return this.#open().reduce((fewest, source) => source.failures < fewest.failures ? source : fewest)
  }

  #open(): ReadonlyArray<Source> {
    return this.#sources.filter(({ isDone }) => !isDone)
  }

  /** Counts a failure. True if it is one of this query rather than of the service. */
  #failsAlone(source: Source, error: AnyError): boolean {
    const verdict = verdictOf(error, true)
    if (verdict._tag !== "Again" || verdict.fault === "limit") return false
    const isOthersAnswered = this.#answers > source.failedAt
    source.failures++
    source.failedAt = this.#answers
    return (isOthersAnswered && source.failures > mostFailures) ||
      (this.#answers > 0 && this.#open().every(({ failures }) => failures >= mostLastFailures))
  }

  /** The one that is least far back. */
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
    // A page without posts is further back than none.
    source.oldest ??= farthest
  }

  /** What was found and not given, when it does not go on. */
  rest(): ReadonlyArray<StreamItem.AnyItem> {
    return this.#settled(0n)
  }

  /** What is not older than the page that reaches the least far back: the others have been there. */
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

/** Of what a page includes, what one post of it refers to, by way of posts that it refers to as well. */
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

/** Every text in a value: ids are among them. */
const collect = (value: unknown, texts: Set<string>): void => {
  if (typeof value === "string") texts.add(value)
  else if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) collect(member, texts)
  }
}

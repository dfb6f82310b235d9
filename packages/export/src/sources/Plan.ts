/**
 * Estimates the cost of an export before it starts: searches are counted by the count operations, other lists by the figures of
 * profiles, posts and lists. The counts also serve to split a long search into spans of time.
 */
import { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import { getAllPostsCount, getRecentPostsCount } from "@postwire/core/operations/Counts"
import { getList } from "@postwire/core/operations/Lists"
import { getPost } from "@postwire/core/operations/Posts"
import { getUser } from "@postwire/core/operations/Users"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import { bearerOf, type Total } from "@postwire/core/schema/Definition"
import type { CountBucket } from "@postwire/core/schema/models/CountBucket"
import * as RequestLimits from "@postwire/core/schema/Quota"
import * as RateLimitHeaders from "@postwire/core/schema/RateLimitHeaders"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Source } from "./Source.ts"

/** The length of the list is unknown, or the search cannot be split. Nothing was exported; counts may have been requested. */
export class NotPlannable extends Schema.TaggedError<NotPlannable>()("NotPlannable", {
  operation: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.operation}: ${this.reason}`
  }
  get advice(): string {
    return "Export it without an estimate: the requests remaining are shown while it runs."
  }
}

/** The rate limit of an operation. */
export interface Limits {
  /** Requests per window of 15 minutes. */
  readonly requests: number
  /** The origin of that figure: `announced` by the service, `usual`, or `given`. */
  readonly from: "announced" | "usual" | "given"
  /** The shortest time between requests, in milliseconds. Default 0. */
  readonly pace?: number | undefined
}

/** The cost of an export. */
export interface Estimate {
  readonly operation: string
  readonly items: number
  /** The counted items. */
  readonly of: "posts" | "users"
  readonly pageSize: number
  /** At least this many: pages may be less than full. */
  readonly requests: number
  /** The least duration, in milliseconds. */
  readonly duration: number
  readonly limits: Limits
  /** True if the posts count towards the project's monthly cap. */
  readonly capped: boolean
  /** Newest first; empty for a list without times. */
  readonly buckets: ReadonlyArray<CountBucket>
}

/** The lowest known rate limit of a list. */
const fewestRequestsPerWindow = 15

/** How to estimate. */
export interface EstimateOptions {
  /** Requests per window, instead of the known figure. */
  readonly requests?: number | undefined
  /** Sends one request of the operation, which costs no posts, to learn the announced rate limit. Default false. */
  readonly probe?: boolean | undefined
}

/** Estimates an export with one request; for the archive, with one per 31 days. */
export const estimate = Effect.fnUntraced(function*(
  source: Source,
  options: EstimateOptions = {}
): Effect.fn.Return<Estimate, AnyError | NotPlannable, Client> {
  const { definition, parameters } = source
  const { buckets, total } = yield* count(source)
  const limits: Limits = {
    ...yield* windowOf(source, buckets, options),
    ...(definition.pace === undefined ? {} : { pace: definition.pace })
  }
  const size = definition.query?.["max_results"]
  const pageSize = Number(parameters["max_results"] ?? size?.default ?? 100)
  const requests = Math.max(1, Math.ceil(total / pageSize))
  return {
    operation: definition.name,
    items: total,
    of: definition.result._tag === "Many" && definition.result.kind === "user" ? "users" : "posts",
    pageSize,
    requests,
    duration: durationOf(requests, limits, 0),
    limits,
    capped: definition.postCap === true,
    buckets
  }
})

const windowOf = Effect.fnUntraced(function*(
  source: Source,
  buckets: Estimate["buckets"],
  { probe, requests }: EstimateOptions
): Effect.fn.Return<Pick<Limits, "requests" | "from">, never, Client> {
  if (requests !== undefined) return { requests, from: "given" }
  const announced = probe === true ? yield* announcedFor(source, buckets) : undefined
  return announced === undefined
    ? { requests: usualRequests(source), from: "usual" }
    : { requests: announced, from: "announced" }
})

/** The declared requests per window. */
export const usualRequests = ({ definition, parameters }: Pick<Source, "definition" | "parameters">): number => {
  const isSigned = (parameters["user_auth"] ?? definition.userAuth) === true
  const holder = isSigned || bearerOf(definition) === "user" ? "user" : "app"
  return RequestLimits.of(definition.limits, holder).perWindow ?? fewestRequestsPerWindow
}

/** The rate limit that the service announces for the operation, if it responds soon. */
const announcedFor = Effect.fnUntraced(function*({ definition, parameters }: Source, buckets: Estimate["buckets"]) {
  const probe = probeOf({ definition, parameters }, buckets)
  if (probe === undefined) return undefined
  const client = yield* Client
  const answer = yield* client.request(definition, probe, { retries: 0 }).pipe(
    Effect.map(({ headers }) => RateLimitHeaders.rateLimitOf(headers)?.limit),
    Effect.catch((error) => Effect.succeed("rateLimit" in error ? error.rateLimit?.limit : undefined)),
    Effect.timeoutOption("5 seconds")
  )
  if (answer._tag === "Some" && answer.value !== undefined) return answer.value
  // A client that waits for the reset has also read the rate limit.
  return (yield* RateLimit.snapshot).find(({ operation }) => operation === definition.name)?.limit
})

/** A second with few posts of a user, and none before it that an export could want. */
const early = { start_time: "2010-11-06T00:00:00Z", end_time: "2010-11-06T00:00:01Z" }

/** The parameters of a request that costs no posts. Quotes have none: they can be limited neither in time nor to users. */
const probeOf = (
  { definition, parameters }: Pick<Source, "definition" | "parameters">,
  buckets: Estimate["buckets"]
): object | undefined => {
  const size = definition.query?.["max_results"]?.bounds
  const smallest = size?.of === "value" ? { max_results: size.minimum } : {}
  const { id, query, user_auth } = parameters
  const auth = user_auth === undefined ? {} : { user_auth }
  if (definition.postCap !== true) return { id, ...auth, ...smallest }
  if (query === undefined) {
    return "start_time" in (definition.query ?? {})
      ? { id, ...auth, ...smallest, ...early }
      : undefined
  }
  // A second of the bucket with the fewest posts; not the oldest one, which may leave the window of the search meanwhile.
  const [emptiest] = (buckets.length > 1 ? buckets.slice(0, -1) : buckets).toSorted((a, b) =>
    a.post_count - b.post_count
  )
  if (emptiest === undefined) return undefined
  const start = Math.ceil(Date.parse(emptiest.start) / 1000) * 1000
  return {
    query,
    ...auth,
    ...smallest,
    start_time: new Date(start),
    end_time: new Date(start + 1000)
  }
}

/** The least time for a number of requests, each of which takes `latency` milliseconds. */
export const durationOf = (requests: number, limits: Pick<Limits, "requests" | "pace">, latency: number): number => {
  const spent = Math.floor((requests - 1) / limits.requests)
  const each = Math.max(limits.pace ?? 0, latency)
  // A window starts with its first request, and the next one after its reset.
  return spent * Math.max(RequestLimits.windowMillis, limits.requests * each) +
    (requests - 1 - spent * limits.requests) * each +
    latency
}

/** A count. */
export interface Count {
  readonly total: number
  /** The requests that counting took. */
  readonly requests: number
  readonly buckets: ReadonlyArray<CountBucket>
}

/** Counts the items of a source. */
export const count = ({ definition, parameters }: Source): Effect.Effect<Count, AnyError | NotPlannable, Client> => {
  const { name, total } = definition
  if (total !== undefined) {
    if (!("countedBy" in total)) return shown(name, parameters, total)
    const counter = counters.find(({ counts }) => counts === total.countedBy)
    if (counter !== undefined) return counter.count(countable(parameters))
  }
  return Effect.fail(new NotPlannable({ operation: name, reason: "the service has no count for it" }))
}

/** The operations that count. Not read from the catalogue, so that bundles contain only what an export uses. */
const counters = [
  {
    counts: getRecentPostsCount.definition.name,
    count: (parameters: Countable) => Effect.map(getRecentPostsCount(parameters), ({ data = [] }) => countOf([data]))
  },
  {
    counts: getAllPostsCount.definition.name,
    count: (parameters: Countable) =>
      Effect.map(
        Stream.runCollect(getAllPostsCount.pages({ ...parameters, granularity: "day" })),
        (pages) => countOf(pages.map(({ data = [] }) => data))
      )
  }
]

type Countable = ReturnType<typeof countable>

/** The parameters of a search that a count accepts. They are checked when they are sent. */
const countable = (parameters: Source["parameters"]) => {
  const { end_time, query, since_id, start_time, until_id } = parameters as Parameters<typeof getAllPostsCount>[0]
  return { query, start_time, end_time, since_id, until_id }
}

/** Pages of counts come newest first, the buckets within a page oldest first. */
const countOf = (pages: ReadonlyArray<ReadonlyArray<CountBucket>>): Count => {
  const buckets = pages.flatMap((page) => page.toReversed())
  return { buckets, total: buckets.reduce((sum, { post_count }) => sum + post_count, 0), requests: pages.length }
}

type Shown = Exclude<Total, { readonly countedBy: string }>

/** The figure of a profile, a post or a list. */
const shown = (
  operation: string,
  { id }: Source["parameters"],
  total: Shown
): Effect.Effect<Count, AnyError | NotPlannable, Client> =>
  Effect.flatMap(
    figure(String(id), total),
    (found) => numbered(operation, found === undefined ? undefined : Math.min(found, total.most ?? Infinity))
  )

const figure = (id: string, { metric, of }: Shown): Effect.Effect<number | undefined, AnyError, Client> => {
  switch (of) {
    case "list":
      return Effect.map(
        getList({ id, list_fields: ["follower_count", "member_count"] }),
        ({ data }) => data && (data[metric] ?? 0)
      )
    case "post":
      return Effect.map(getPost({ id, post_fields: ["public_metrics"] }), metricOf(metric))
    case "user":
      return Effect.map(getUser({ id, user_fields: ["public_metrics"] }), metricOf(metric))
  }
}

interface Metrics {
  readonly public_metrics: { readonly [metric: string]: number | undefined }
}

const metricOf = (metric: string) => ({ data }: { readonly data?: Metrics | undefined }): number | undefined =>
  data && (data.public_metrics[metric] ?? 0)

const numbered = (operation: string, total: number | undefined): Effect.Effect<Count, NotPlannable> =>
  total === undefined
    ? Effect.fail(new NotPlannable({ operation, reason: "the service does not know this id" }))
    : Effect.succeed({ total, requests: 1, buckets: [] })

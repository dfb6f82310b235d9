/**
 * Listings that reach back a number of days from each request: what was there at the first page may be gone at the last. So the
 * bounds of a listing are those of its first page: they are kept in the cursor, and anything out of reach is reported as a
 * partial error.
 */
import type { Client } from "@postwire/core/client/Client"
import * as Pagination from "@postwire/core/client/Pagination"
import { type AnyError, type BadRequest, PaginationStuck } from "@postwire/core/errors/Errors"
import * as Anomaly from "@postwire/core/schema/Anomaly"
import type { Definition, Reach } from "@postwire/core/schema/Definition"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { emptyPage, type Page, type PageOptions } from "../rows/Page.ts"

type Parameters = Readonly<Record<string, unknown>>

type Pages = Stream.Stream<Page, AnyError, Client>

const day = 86_400_000

/** The reach of a listing whose start depends on the time of the request; other listings lose nothing by waiting. */
const reachOf = ({ reach }: Definition, parameters: Parameters): Reach | undefined => {
  const isSet = (parameter: string) => parameters[parameter] !== undefined && parameters[parameter] !== null
  if (reach === undefined || reach.unless?.some(isSet) === true) return undefined
  // Older items are requested from the second page on, newest first.
  return reach.isDefault === true && !isNewestFirst(parameters) ? undefined : reach
}

const isNewestFirst = (parameters: Parameters): boolean => (parameters["sort_order"] ?? "recency") === "recency"

/** The progress of a listing: the cursor, as JSON. */
const Place = Schema.Struct({
  /** Leads to the next page within these bounds; absent at the beginning. */
  token: Schema.optionalKey(Schema.String),
  /** The bounds that replace those of the search, once set. */
  bounds: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** The start of the listing, and the time of its first page, in milliseconds since the epoch. */
  since: Schema.Finite,
  asOf: Schema.Finite,
  items: Schema.Int,
  /** The oldest item so far. */
  last: Schema.optionalKey(Schema.String)
})

interface Place extends Schema.Schema.Type<typeof Place> {}

const decodePlace = Schema.decodeUnknownOption(Schema.fromJsonString(Place))

/** The pages of an operation from a cursor. `since` is the planned start, which may be long ago. */
export const pages = (
  definition: Definition,
  parameters: Parameters,
  cursor: string | undefined,
  options: PageOptions | undefined,
  since: string | undefined
): Pages => {
  const reach = reachOf(definition, parameters)
  const place = cursor === undefined ? undefined : Option.getOrUndefined(decodePlace(cursor))
  if (reach === undefined || (cursor !== undefined && place === undefined)) {
    return Stream.map(list(definition, at(definition, parameters, cursor), options), ({ page }) => page)
  }
  return reach.isDefault === true
    ? extended(definition, parameters, reach, place, options)
    : reaching(definition, parameters, reach, place, options, since)
}

/** Parameters with the token of a page. */
const at = ({ paging }: Definition, parameters: Parameters, token: string | undefined): Parameters =>
  token === undefined || paging === undefined ? parameters : { ...parameters, [paging.token]: token }

interface Listed {
  readonly page: Page
  /** The time of the response, by the service's clock. */
  readonly served: number
  /** True if this page contains the last wanted item. */
  readonly isEnough: boolean
}

const list = (
  definition: Definition,
  parameters: Parameters,
  options: PageOptions | undefined
): Stream.Stream<Listed, AnyError, Client> =>
  Pagination.stream(definition, parameters, options, ({ position, raw, response }) => {
    const items = Pagination.itemsAt(position, response) as ReadonlyArray<object>
    return [{
      page: {
        items,
        includes: response.includes as Page["includes"],
        errors: response.errors,
        // Most pages have none.
        ...(response.anomalies.length === 0
          ? {}
          : { anomalies: Object.fromEntries(Anomaly.countsOf(response.anomalies)) }),
        next: response.meta.next_token || undefined,
        rateLimit: response.rateLimit
      },
      served: Date.parse(raw.headers["date"] ?? ""),
      token: position.token,
      isEnough: items.length >= position.left
    }]
  }).pipe(
    Stream.mapEffect(({ token, ...listed }): Effect.Effect<Listed, PaginationStuck> =>
      // Without a prefetched page there is no other way to detect a loop.
      token !== undefined && listed.page.next === token
        ? Effect.fail(new PaginationStuck({ operation: definition.name, token }))
        : Number.isNaN(listed.served)
        ? Effect.map(Clock.currentTimeMillis, (served) => ({ ...listed, served }))
        : Effect.succeed(listed)
    )
  )

/** The progress after a page. */
const after = (place: Place, { items, next }: Page): Place => {
  const last = items.at(-1)
  const { token: _, ...rest } = place
  return {
    ...rest,
    ...(next === undefined ? {} : { token: next }),
    items: place.items + items.length,
    ...(last !== undefined && "id" in last ? { last: String(last.id) } : {})
  }
}

/** A search of the archive without a start: from the second page on, the start of the first page is requested. */
const extended = (
  definition: Definition,
  parameters: Parameters,
  reach: Reach,
  place: Place | undefined,
  options: PageOptions | undefined
): Pages => {
  if (place !== undefined) {
    const bounded = at(definition, { ...parameters, ...place.bounds }, place.token)
    return Stream.map(
      list(definition, bounded, options),
      ({ page }) => page.next === undefined ? page : { ...page, next: JSON.stringify(after(place, page)) }
    )
  }
  let rest: Pages = Stream.empty
  const first = list(definition, parameters, { ...options, prefetch: 0 }).pipe(
    Stream.take(1),
    Stream.map(({ page, served }): Page => {
      if (page.next === undefined) return page
      // The service excludes the latest 30 seconds.
      const end = served - 30_000
      const { last, token: _, ...standing } = after({ since: end - reach.days * day, asOf: served, items: 0 }, page)
      const bounds = {
        start_time: seconds(standing.since),
        ...(last === undefined ? { end_time: seconds(end) } : { until_id: last })
      }
      const next: Place = { ...standing, bounds }
      const limit = options?.limit === undefined ? {} : { limit: options.limit - page.items.length }
      if (limit.limit !== 0) {
        rest = extended(definition, parameters, reach, next, { ...options, ...limit })
      }
      return { ...page, next: JSON.stringify(next) }
    })
  )
  return Stream.concat(first, Stream.suspend(() => rest))
}

/** A listing whose oldest part goes out of reach while it is read. */
const reaching = (
  definition: Definition,
  parameters: Parameters,
  reach: Reach,
  before: Place | undefined,
  options: PageOptions | undefined,
  planned: string | undefined
): Pages => {
  const given = parameters["since_id"] === undefined ? timeOf(planned ?? parameters["start_time"]) : undefined
  let place = before
  let left = options?.limit ?? Infinity
  const read = (bounded: Parameters, bounds?: Place["bounds"]): Pages =>
    list(definition, at(definition, bounded, place?.token), { ...options, limit: left }).pipe(
      Stream.map(({ isEnough, page, served }): Page => {
        const known = place ?? { since: given ?? served - reach.days * day, asOf: served, items: 0 }
        place = { ...after(known, page), ...(bounds === undefined ? {} : { bounds }) }
        left -= page.items.length
        if (page.next !== undefined) return { ...page, next: JSON.stringify(place) }
        const floor = served - reach.days * day
        // Every request reaches a moment less far than the one before. That is reported only if the service has refused the
        // beginning, or an item was probably there.
        const until = Math.min(known.asOf, timeOf(parameters["end_time"]) ?? Infinity)
        const isMissed = floor > known.since &&
          (bounds !== undefined || (floor - known.since) * (place.items + 1) >= until - floor)
        return isEnough || !isMissed ? page : { ...page, errors: [...page.errors, lost(known.since, floor)] }
      })
    )
  /** Continues below the last item, as far back as the service reaches now; the token cannot be used for that. */
  const relisted = Stream.suspend((): Pages => {
    const { since_id: _since, start_time: _start, ...open } = parameters
    const bounds: Record<string, string> = place?.last === undefined ? {} : { until_id: place.last }
    if (place !== undefined) {
      const { token: _, ...rest } = place
      place = rest
    }
    return read({ ...open, ...bounds }, bounds)
  })
  const gone = Stream.fromEffect(Effect.map(Clock.currentTimeMillis, (now): Page => {
    const since = place?.since ?? given ?? now - reach.days * day
    const until = timeOf(parameters["end_time"]) ?? now
    return { ...emptyPage, errors: [lost(since, until)] }
  }))
  const hasBegun = () => isNewestFirst(parameters) && (place !== undefined || planned !== undefined)
  const bounds = before?.bounds
  const { since_id: _since, start_time: _start, ...open } = parameters
  return (bounds === undefined
    ? Stream.catchIf(read(parameters), (error) => hasBegun() && isOutOfReach(error), () => relisted)
    : read({ ...open, ...bounds }, bounds)).pipe(
      Stream.catchIf((error) => hasBegun() && isOutOfReach(error), () => gone)
    )
}

/** Checks whether the service refuses a bound that it accepted before: it has gone out of reach. */
const isOutOfReach = (error: AnyError): error is BadRequest =>
  error._tag === "BadRequest" && /\b(start_time|end_time|since_id|until_id)\b/.test(JSON.stringify(error.problems))

/** A span that has gone out of reach, as a partial error. */
const Lost = Schema.Struct({
  type: Schema.Literal("postwire:out-of-reach"),
  title: Schema.String,
  detail: Schema.String,
  from: Schema.String,
  to: Schema.String
})

/** Checks whether a partial error reports a span out of reach. */
export const isLost = Schema.is(Lost)

const lost = (from: number, to: number): typeof Lost.Type => ({
  type: "postwire:out-of-reach",
  title: "Out of reach",
  detail: `What was created from ${seconds(from)} to ${
    seconds(to)
  } had left the window of the service before it was fetched.`,
  from: seconds(from),
  to: seconds(to)
})

const seconds = (millis: number): string => `${new Date(millis).toISOString().slice(0, 19)}Z`

const timeOf = (time: unknown): number | undefined => {
  if (time === undefined || time === null) return undefined
  const millis = DateTime.isDateTime(time) ? DateTime.toEpochMillis(time) : new Date(time as string | Date).getTime()
  return Number.isNaN(millis) ? undefined : millis
}

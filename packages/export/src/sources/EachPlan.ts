/** Estimates the cost of an operation for each row of a file. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import { getList } from "@postwire/core/operations/Lists"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Hydrate from "@postwire/core/workflows/Hydrate"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { lookUp } from "../rows/LookUp.ts"
import type * as Rows from "../rows/Rows.ts"
import * as Each from "./Each.ts"
import * as Plan from "./Plan.ts"
import * as Source from "./Source.ts"

/** The operation and its rows, as for `Each.fromDefinition`. */
export interface Job {
  readonly definition: Definition
  readonly rows: Rows.Rows
  readonly parameters: Readonly<Record<string, unknown>>
  readonly limitEach?: number | undefined
}

/** An estimate, or an upper bound from `limitEach` or the service's own limit. */
export interface Estimate extends Omit<Plan.Estimate, "buckets" | "capped"> {
  readonly rows: number
  /** Names to look up, which the service charges as well; 0 if counting has looked them up. */
  readonly names: number
  readonly isBound: boolean
}

/** The cost of counting. */
export interface Asking {
  /** The operation to call: a count, or one that returns users, posts or lists with their figures. */
  readonly by: string
  readonly requests: number
}

/** The requests needed to count the results of the rows; `undefined` if nothing counts them. */
export const asking = ({ definition, rows }: Job): Asking | undefined => {
  const { total } = definition
  if (total === undefined) return undefined
  if ("countedBy" in total) return { by: total.countedBy, requests: rows.count }
  const { of } = total
  return of === "list"
    ? { by: getList.definition.name, requests: rows.count }
    : {
      by: Hydrate.lookups[`${of}s` as const].definition.name,
      requests: Math.ceil(rows.count / Hydrate.idsPerRequest)
    }
}

/** The upper bound, without a request; `undefined` if there is none. */
export const bound = (job: Job): Estimate | undefined => {
  const { total } = job.definition
  const most = Math.min(
    job.limitEach ?? Infinity,
    total === undefined || "countedBy" in total ? Infinity : total.most ?? Infinity
  )
  return most === Infinity ? undefined : estimateOf(job, Array.from({ length: job.rows.count }, () => most), true)
}

/** Counts the results of every row, as `asking` describes. Unknown users and refused queries count as 0. */
export const count = Effect.fnUntraced(function*(
  job: Job
): Effect.fn.Return<Estimate, AnyError | Rows.RowsUnusable | Plan.NotPlannable, Client> {
  const totals = yield* Stream.runCollect(totalsOf(job))
  return estimateOf(job, totals, false)
})

const estimateOf = (job: Job, totals: ReadonlyArray<number>, isBound: boolean): Estimate => {
  const { definition, limitEach = Infinity, parameters, rows } = job
  const source = Source.fromDefinition(definition, parameters)
  const size = definition.query?.["max_results"]
  const pageSize = Number(source.parameters["max_results"] ?? size?.default ?? 100)
  const wanted = totals.map((total) => Math.min(total, limitEach))
  const lookUps = Math.min(rows.names, Math.ceil(rows.count / Hydrate.idsPerRequest))
  const requests = wanted.reduce((sum, total) => sum + Math.max(1, Math.ceil(total / pageSize)), 0)
  const limits: Plan.Limits = {
    requests: Plan.usualRequests(source),
    from: "usual",
    ...(definition.pace === undefined ? {} : { pace: definition.pace })
  }
  return {
    operation: definition.name,
    rows: rows.count,
    names: isBound ? rows.names : 0,
    items: wanted.reduce((sum, total) => sum + total, 0),
    of: definition.result._tag === "Many" && definition.result.kind === "user" ? "users" : "posts",
    pageSize,
    requests: requests + lookUps,
    duration: requests === 0 ? 0 : Plan.durationOf(requests, limits, 0),
    limits,
    isBound
  }
}

const totalsOf = (
  job: Job
): Stream.Stream<number, AnyError | Rows.RowsUnusable | Plan.NotPlannable, Client> => {
  const { definition, parameters, rows } = job
  const { name, total } = definition
  const target = Each.targetOf(definition)
  if (total === undefined || target === undefined) {
    return Stream.fail(new Plan.NotPlannable({ operation: name, reason: "the service has no count for it" }))
  }
  const batches = rows.batches(Hydrate.idsPerRequest)
  if ("countedBy" in total || total.of === "list") {
    return Stream.flattenIterable(batches).pipe(
      Stream.mapEffect((row) => {
        const own = { ...Each.ownOf(definition, target, row), [target.parameter]: row.value }
        return Plan.count(Source.fromDefinition(definition, { ...parameters, ...own })).pipe(
          Effect.map(({ total }) => total),
          Effect.catchTags({
            BadRequest: () => nothing,
            InvalidParameters: () => nothing,
            NotFound: () => nothing,
            NotPlannable: () => nothing
          })
        )
      }, { concurrency: 4 })
    )
  }
  const { metric, most = Infinity } = total
  const of = `${total.of}s` as const
  const asked = { user_auth: parameters["user_auth"], [Hydrate.lookups[of].fields]: ["public_metrics"] }
  return batches.pipe(
    Stream.mapEffect((batch) => lookUp(of, batch, asked, {})),
    Stream.map(({ results }) =>
      results.map(({ data }) => {
        const metrics = Predicate.hasProperty(data, "public_metrics") ? data.public_metrics : undefined
        return Predicate.hasProperty(metrics, metric) ? Math.min(Number(metrics[metric]), most) : 0
      })
    ),
    Stream.flattenIterable
  )
}

const nothing = Effect.succeed(0)

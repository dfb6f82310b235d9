/** What an export is, and how it is split into parts that run by themselves. */
import { catalogue } from "@postwire/core/Catalogue"
import { type ConflictingIdentifiers, InvalidParameters } from "@postwire/core/Errors"
import * as Executor from "@postwire/core/Executor"
import type { Definition } from "@postwire/core/Operation"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"

/** What is asked for. */
export const Query = Schema.Struct({
  /** The name of an operation that pages. */
  operation: Schema.String,
  parameters: Schema.Record(Schema.String, Schema.Json),
  /** The name under which workers keep the credentials. Never the credentials. */
  credentials: Schema.String,
  /** Tells apart exports of the same query. */
  label: Schema.String
})

/** What is asked for. */
export interface Query extends Schema.Schema.Type<typeof Query> {}

/** A part of an export: the parameters that set it apart from the others. */
export interface Part {
  readonly start?: string | undefined
  readonly end?: string | undefined
}

/** The declaration of an operation that pages. */
export const definitionOf = (operation: string): Effect.Effect<Definition, InvalidParameters> => {
  const definition: Definition | undefined = Object.hasOwn(catalogue, operation)
    ? catalogue[operation as keyof typeof catalogue].definition
    : undefined
  return definition?.paging === undefined
    ? Effect.fail(
      new InvalidParameters({
        operation,
        parameter: "operation",
        rule: "must be the name of an operation that pages",
        value: operation
      })
    )
    : Effect.succeed(definition)
}

/** Checks a query. Pages are of the largest size unless it says otherwise. */
export const check = (
  definition: Definition,
  query: Query
): Effect.Effect<Query, InvalidParameters | ConflictingIdentifiers> => {
  const size = definition.query?.["max_results"]?.bounds
  const parameters = size?.of === "value" ? { max_results: size.maximum, ...query.parameters } : query.parameters
  const prepared = Executor.prepare(definition, parameters, "neutral", { checks: "spec" })
  return prepared instanceof Error ? Effect.fail(prepared) : Effect.succeed({ ...query, parameters })
}

/** The name of an export: the same for the same query, whatever the order of its parameters. */
export const fingerprint = (query: Query): string =>
  createHash("sha256").update(canonical(query)).digest("hex").slice(0, 16)

const canonical = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(canonical).join()}]`
    : typeof value === "object" && value !== null
    ? `{${
      Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([name, inner]) =>
        `${JSON.stringify(name)}:${canonical(inner)}`
      ).join()
    }}`
    : JSON.stringify(value)

/** Milliseconds. */
const second = 1_000
const week = 7 * 86_400_000

/**
 * Splits a search into spans of time of the same length, the most recent first, that leave nothing out and share nothing.
 * Other operations are one part. `now` is in milliseconds.
 */
export const split = (
  definition: Definition,
  { operation, parameters }: Query,
  options: { readonly parts: number; readonly now: number }
): Effect.Effect<ReadonlyArray<Part>, InvalidParameters> => {
  const { now, parts } = options
  const invalid = (parameter: string, rule: string) =>
    Effect.fail(new InvalidParameters({ operation, parameter, rule, value: undefined }))
  if (!/^search(Recent|All)Posts$/.test(definition.name)) {
    return parts === 1 ? Effect.succeed([{}]) : invalid("partitions", "must be 1: only searches are split")
  }
  const timeOf = (parameter: string): number | undefined => {
    const value = parameters[parameter]
    return typeof value === "string" ? Date.parse(value) : undefined
  }
  // An open end would move while the export runs.
  const end = timeOf("end_time") ?? floor(now - 30 * second)
  const given = timeOf("start_time")
  const start = given ?? (definition.name === "searchRecentPosts" ? now - week : undefined)
  if (parts > 1 && start === undefined) return invalid("start_time", "is needed to split the search")
  if (parts > 1 && "since_id" in parameters) return invalid("since_id", "does not go with several partitions")
  const length = end - (start ?? end)
  if (parts > 1 && length < parts * second) return invalid("partitions", "must be fewer: they take a second at least")
  const edge = (i: number) => new Date(floor(end - length * i / parts)).toISOString()
  return Effect.succeed(Array.from({ length: parts }, (_, i): Part => ({
    end: i === 0 ? new Date(end).toISOString() : edge(i),
    // The service lets old posts go while the export waits: what was the oldest moment may soon be too old to ask for.
    start: i < parts - 1 ? edge(i + 1) : given === undefined ? undefined : new Date(given).toISOString()
  })))
}

const floor = (millis: number): number => Math.floor(millis / second) * second

/** The parameters of one part. */
export const parametersOf = ({ parameters }: Query, { end, start }: Part): Readonly<Record<string, unknown>> => ({
  ...parameters,
  ...(start === undefined ? {} : { start_time: start }),
  ...(end === undefined ? {} : { end_time: end })
})

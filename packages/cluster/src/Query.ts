/** The stored query of an export: an operation with its parameters, and the name of the credentials. */
import { type Catalogue, catalogue } from "@postwire/core/Catalogue"
import { type ConflictingIdentifiers, InvalidParameters, type InvalidSettings } from "@postwire/core/errors/Errors"
import type { Definition } from "@postwire/core/schema/Definition"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Wire from "@postwire/core/wire/Wire"
import * as Source from "@postwire/export/sources/Source"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { checkName } from "./Clients.ts"

/** The query of an export. */
export const Query = Schema.Struct({
  /** The name of an operation that pages. */
  operation: Schema.String,
  parameters: Schema.Record(Schema.String, Schema.Json),
  /** The name of the credentials on the workers. Never the credentials themselves. */
  credentials: Schema.String,
  /** Distinguishes exports of the same query; usually empty. */
  label: Schema.String
})

/** The query of an export. */
export interface Query extends Schema.Schema.Type<typeof Query> {}

const isName = (operation: string): operation is keyof Catalogue => Object.hasOwn(catalogue, operation)

/** The declaration of an operation that pages. */
const definitionOf = (operation: string): Effect.Effect<Definition, InvalidParameters> => {
  const definition: Definition | undefined = isName(operation) ? catalogue[operation].definition : undefined
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

/** The pages of a query. */
export const sourceOf = ({ operation, parameters }: Query): Effect.Effect<Source.Source, InvalidParameters> =>
  Effect.map(definitionOf(operation), (definition) => Source.fromDefinition(definition, parameters))

/** Refuses a query that the service would refuse, before it is stored. Replaces an alias by the name of the operation. */
export const check = (
  query: Query
): Effect.Effect<Query, InvalidParameters | ConflictingIdentifiers | InvalidSettings> =>
  Effect.gen(function*() {
    const { definition, parameters } = yield* sourceOf(query)
    const prepared = RequestEncoder.encode(definition, parameters, Wire.neutral, { checks: "spec" })
    if (prepared instanceof Error) return yield* prepared
    yield* checkName(query.credentials)
    return { ...query, operation: definition.name }
  })

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

/** The declaration of a parameter in terms of JSON Schema. */
import * as Predicate from "effect/Predicate"
import * as SchemaAST from "effect/SchemaAST"
import * as Parameters from "../../packages/core/src/schema/Parameters.ts"
import type { Bounds } from "./ServiceFacts.ts"

type AnySchema = { readonly ast: SchemaAST.AST }

/** The bounds of a parameter; those of times have no term. */
export const boundsOf = ({ bounds }: Parameters.AnyParameter): Bounds => {
  if (bounds === undefined || bounds.of === "time") return {}
  const { maximum, minimum, of } = bounds
  switch (of) {
    case "value":
      return { minimum, maximum }
    case "items":
      return { minItems: minimum, maxItems: maximum }
    case "characters":
      return { minLength: minimum, maxLength: maximum }
  }
}

/** The bounds of the items of a list. */
export const itemBoundsOf = ({ bounds }: Parameters.AnyParameter): Bounds =>
  bounds?.of !== "items" || bounds.each === undefined ? {} : { minLength: 1, maxLength: bounds.each }

/** The schema of the items of a list with a known rule. */
export const itemOf = ({ rule }: Parameters.AnyParameter): AnySchema | undefined => items.get(rule)

// The check of a comma-separated list is a function, so the schema of its items follows from its rule.
const items: ReadonlyMap<string, AnySchema> = new Map([
  [Parameters.ids(1).rule, Parameters.id.schema],
  [Parameters.idArray(undefined, 0).rule, Parameters.id.schema],
  [Parameters.idArray().rule, Parameters.id.schema],
  [Parameters.mediaKeys(1).rule, Parameters.mediaKey.schema],
  [Parameters.segments(1).rule, Parameters.segment.schema],
  [Parameters.usernames(1).rule, Parameters.username.schema]
])

/** A parameter as a member of a body, where a list may be sent as one text with commas. */
export const inBody = (parameter: Parameters.AnyParameter): Parameters.AnyParameter =>
  parameter.kind === "list" && SchemaAST.toEncoded(parameter.schema.ast)._tag === "String"
    ? { ...Parameters.text(), required: parameter.required }
    : parameter

/** The pattern of a text. Effect omits patterns without the `u` flag from its JSON Schema. */
export const patternOf = ({ ast }: AnySchema): string | undefined => {
  const payload = SchemaAST.toEncoded(ast).checks
    ?.map(({ annotations }) => annotations?.["representation"])
    .map((check) => Predicate.hasProperty(check, "payload") ? check.payload : undefined)
    .find((payload) => Predicate.hasProperty(payload, "source"))
  return typeof payload?.source === "string" ? payload.source : undefined
}

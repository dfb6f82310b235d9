/** The inputs of tools: declared as the parameters of operations are, so that the same rules and messages apply. */
import type { ParametersOf } from "@postwire/core/client/Operation"
import type { ConflictingIdentifiers, InvalidParameters } from "@postwire/core/errors/Errors"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Response from "@postwire/core/schema/Response"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Wire from "@postwire/core/wire/Wire"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"

/** The values of inputs. */
export type Values<P extends Parameters.Parameters> = ParametersOf<{ readonly query: P }>

/** Inputs of every tool that sends requests. */
export const common = {
  dry_run: Parameters.boolean
}

/** Inputs of every tool that reads. */
export const reading = {
  ...common,
  detail: Parameters.choice(["low", "normal", "full"]),
  max_tokens: Parameters.integer({ minimum: 100, maximum: 20_000 }),
  cursor: Parameters.token
}

/** Inputs of every tool that lists. */
export const listing = {
  rows: Parameters.integer({ minimum: 1, maximum: 1_000_000 }),
  ...reading
}

/** Checks the values of a call: the error names the input and its rule. */
export const check = <P extends Parameters.Parameters>(
  tool: string,
  inputs: P
): (given: unknown) => Effect.Effect<Values<P>, InvalidParameters | ConflictingIdentifiers> => {
  const definition: Definition = {
    name: tool,
    summary: tool,
    route: "GET /2/",
    query: inputs,
    result: Response.bytes,
    scopes: [],
    limits: {},
    price: "free",
    effect: "read"
  }
  return (given) => {
    const encoded = RequestEncoder.encode(definition, given ?? {}, Wire.neutral)
    return encoded instanceof Error
      ? Effect.fail(encoded)
      // oxlint-disable-next-line postwire/no-blind-assertion -- `encode` has checked each value by the schema of its parameter.
      : Effect.succeed((given ?? {}) as never)
  }
}

/** The JSON Schema of inputs, with hints where a name does not say enough. */
export const jsonSchema = (
  inputs: Parameters.Parameters,
  hints: Readonly<Record<string, string>>
): McpSchema.ToolJson => {
  const required = Object.keys(inputs).filter((name) => inputs[name]?.required)
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(inputs).map(([name, parameter]) => [
        name,
        { ...typeOf(parameter), ...hints[name] !== undefined && { description: hints[name] } }
      ])
    ),
    ...required.length > 0 && { required }
  }
}

const typeOf = ({ bounds, kind, values }: Parameters.AnyParameter): { readonly [x: string]: unknown } => {
  switch (kind) {
    case "integer":
      return bounds?.of === "value"
        ? { type: "integer", minimum: bounds.minimum, maximum: bounds.maximum }
        : { type: "integer" }
    case "boolean":
      return { type: "boolean" }
    case "list":
      return { type: "array", items: { type: "string" } }
    case "choice":
      return { enum: values }
    case "json":
      return { type: "object" }
    default:
      return { type: "string" }
  }
}

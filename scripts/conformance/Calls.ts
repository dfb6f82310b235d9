/** Random valid calls of an operation, from its declaration. */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { type Definition, parametersOf } from "../../packages/core/src/schema/Definition.ts"
import * as Parameters from "../../packages/core/src/schema/Parameters.ts"
import type { Random } from "../../packages/sandbox/src/text/random.ts"

/** The parameters of a call that takes one of the routes of an operation. */
export const callOf = (
  definition: Definition,
  selectedBy: string,
  random: Random
): Readonly<Record<string, unknown>> => {
  const declared = parametersOf(definition)
  const { alternatives, rules = [] } = definition
  const chosen = new Set(
    Object.entries(declared).filter(([name, { required }]) =>
      alternatives?.of.includes(name) ? name === selectedBy : required || random.chance(0.5)
    ).map(([name]) => name)
  )
  for (const rule of rules) {
    if (rule._tag === "AtLeastOne" && !rule.of.some((name) => chosen.has(name))) chosen.add(rule.of[0] ?? "")
  }
  // What is needed may need something itself.
  for (let i = 0; i < rules.length; i++) {
    for (const rule of rules) if (rule._tag === "Requires" && chosen.has(rule.parameter)) chosen.add(rule.needs)
  }
  for (const rule of rules) if (rule._tag === "Excludes" && chosen.has(rule.other)) chosen.delete(rule.parameter)
  return Object.fromEntries(
    Object.entries(declared).filter(([name]) => chosen.has(name)).map(([name, parameter]) =>
      [name, valueOf(parameter, random)] as const
    )
  )
}

const samples = new Map<Parameters.AnyParameter, ReadonlyArray<unknown>>()

/** Values of a schema. Where it describes nothing that is in them, no document does either. */
const samplesOf = (parameter: Parameters.AnyParameter): ReadonlyArray<unknown> => {
  if (parameter.rule === Parameters.objectArray.rule) return [[{}]]
  if (parameter.rule === Parameters.object.rule) return [{}]
  const encode = Schema.encodeUnknownResult(parameter.schema)
  const known = samples.get(parameter) ?? Effect.runSync(
    Arbitrary.sampleEffect(Arbitrary.schema(parameter.schema), { count: 50, seed: parameter.rule })
  ).filter((value) => Result.isSuccess(encode(value)))
  samples.set(parameter, known)
  return known
}

const valueOf = (parameter: Parameters.AnyParameter, { below, chance, pick }: Random): unknown => {
  const { bounds, kind, rule, values } = parameter
  const between = (minimum: number, maximum: number): number => minimum + below(maximum - minimum + 1)
  const [minimum, maximum] = bounds === undefined || bounds.of === "time" ? [1, 5] : [bounds.minimum, bounds.maximum]
  const number = (): string => String(between(1, 10)) + String(below(1e9))
  const id = (): string => rule.includes("media key") ? `3_${number()}` : number()
  switch (kind) {
    case "boolean":
      return SchemaAST.isLiteral(parameter.schema.ast) || chance(0.5)
    case "integer":
      return between(minimum, maximum)
    case "choice":
      return values && pick(values)
    case "timestamp":
      return bounds?.of === "time" ? bounds.earliest : "2026-01-31T12:00:00Z"
    case "list":
      return values === undefined
        ? Array.from(
          { length: between(minimum, Math.min(maximum, 5)) },
          () => rule.includes("handle") ? `ada${below(100)}` : id()
        )
        : chance(0.2)
        ? values
        : values.filter(() => chance(0.3))
    case "id":
      return id()
    case "text":
      return rule === Parameters.username.rule
        ? `ada_${below(1000)}`
        : rule === Parameters.language.rule
        ? pick(["EN", "DE"])
        : rule === Parameters.linked(1).rule
        ? "Look: https://example.com"
        : "x".repeat(between(minimum, Math.min(maximum, 200)))
    case "bytes":
      return new Uint8Array(between(1, 100))
    case "json":
      if (rule === Parameters.streamRules.rule) {
        return [{ value: `cat${below(100)}`, ...(chance(0.5) ? { tag: "a" } : {}) }]
      }
      return pick(samplesOf(parameter))
    case "token":
      return `7140dibdnow9c7btw${below(1e6)}`
  }
}

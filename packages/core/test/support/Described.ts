/** What tests know of an operation that the specification does not have: its declaration, and its example. */
import { Option, Schema, type SchemaAST } from "effect"
import { parameters as examples } from "../../../../examples/reference/parameters.ts"
import { type Definition, routesOf } from "../../src/schema/Definition.ts"
import { knownValues } from "../../src/schema/Model.ts"
import * as Parameters from "../../src/schema/Parameters.ts"
import { envelope } from "../../src/wire/ResponseDecoder.ts"
import { positionOf, x202602 } from "../../src/wire/Wire.ts"
import type { Row, RowParameter, Sample } from "./Row.ts"

/** A row as the specification would have it. */
export const describe = (definition: Definition): Row => {
  const {
    alternatives,
    constants,
    encoding,
    identity,
    name,
    paging,
    postCap = false,
    queryConstants,
    rules = [],
    userAuth
  } = definition
  const routes = routesOf(definition)
  const example: Readonly<Record<string, unknown>> = {
    ...Object.entries(examples).find(([of]) => of === name)?.[1]
  }
  return {
    name,
    specName: name,
    aliases: [],
    deprecated: [],
    method: routes[0]![1].split(" ")[0]!,
    routes: Object.fromEntries(routes.map(([selectedBy, route]) => {
      const neutral = route.split(" ")[1]!
      return [selectedBy, { neutral, x: x202602.path(neutral) }]
    })),
    identity: identity ?? null,
    userAuth: userAuth ?? null,
    lookup: identity === undefined ? null : userAuth === undefined ? "always" : "pkce",
    needsToken: identity !== undefined,
    paging: paging ?? null,
    postCap,
    kind: "",
    ...(constants === undefined ? {} : { constants }),
    ...(queryConstants === undefined ? {} : { queryConstants }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(alternatives === undefined ? {} : { alternatives }),
    rules: rules.flatMap((rule) =>
      rule._tag === "Excludes" ? [{ rule: "excludes" as const, param: rule.parameter, other: rule.other }] : []
    ),
    params: (["path", "query", "body"] as const).flatMap((place) =>
      Object.entries(definition[place] ?? {}).map(([name, parameter]): RowParameter => {
        const neutral = place === "query"
          ? Parameters.queryKey(name)
          : place === "body"
          ? definition.at?.[name] ?? name
          : name
        return {
          name,
          in: place,
          neutral,
          x: place === "query"
            ? x202602.queryKey(definition, neutral)
            : place === "body"
            ? positionOf(x202602, definition, name)
            : x202602.bodyKey(neutral),
          type: parameter.kind,
          required: parameter.required,
          sample: sampleOf(definition, name, parameter, example[name])
        }
      })
    ),
    example,
    answers: answersOf(definition)
  }
}

const values: { readonly [K in Parameters.Kind]: ReadonlyArray<unknown> } = {
  id: [9007199254740993n, "1DXxyRYNejbKM"],
  text: ["a b+c/%2F!*'(),tweets:é😀", "Ada_1"],
  token: ["7140w"],
  integer: [60, 10, 1],
  boolean: [false],
  timestamp: [new Date("2026-01-31T12:00:00.987Z")],
  list: [["abc", "de"], [1, 2n, "3"], ["abc"], [1]],
  choice: ["a"],
  json: [
    { a: 1 },
    [{ a: 1 }],
    { media_id: "1", media_category: "tweet_image" },
    { frequency: "Weekly", repeats: 2 }
  ],
  bytes: [new Uint8Array([104, 105, 33])]
}

/** The value of the example, or another one that the parameter takes. */
const sampleOf = (
  definition: Definition,
  name: string,
  parameter: Parameters.AnyParameter,
  example: unknown
): Sample => {
  const encode = Schema.encodeUnknownOption(parameter.schema)
  const candidates = [...(example === undefined ? [] : [example]), ...parameter.values ?? [], ...values[parameter.kind]]
  for (const given of candidates) {
    const sent = encode(given)
    if (Option.isNone(sent) || !Parameters.isWithinBounds(parameter, sent.value)) continue
    if (Parameters.isSelector(name) && x202602.selector(definition, name)?.(String(sent.value)).isUnavailable) continue
    return Parameters.isSelector(name)
      ? { given, sent: sent.value, sentOnX: saidOf(definition, name, String(sent.value)) }
      : { given, sent: sent.value, sentOnX: inWords(parameter, sent.value) }
  }
  throw new Error(`No value is known that ${name} takes: give it one in the example of its operation`)
}

/** A value, or how the wire says it where it is one of those that are known. */
const inWords = ({ values }: Parameters.AnyParameter, value: Parameters.EncodedValue) =>
  typeof value === "string" && values?.includes(value) === true ? x202602.value(value) : value

const saidOf = (definition: Definition, name: string, list: string): string => {
  const said = x202602.selector(definition, name)?.(list)
  return [...said?.names ?? [], ...said?.expansions ?? []].join(",")
}

/** What the operation could answer, as each wire has it. */
const answersOf = ({ result }: Definition): NonNullable<Row["answers"]> => {
  // Of a file and of a document, the tests have their own.
  if (result._tag === "Bytes" || result._tag === "Document") return { neutral: {}, x: {} }
  const item = result._tag === "Value" ? valueOf(result.schema.ast) : { [result.model.identifier]: "1" }
  const neutral = { data: result._tag === "Many" ? [item] : item }
  return { neutral, x: x202602.fromNeutral(envelope(result))(neutral) }
}

const valueOf = (ast: SchemaAST.AST): unknown => {
  switch (ast._tag) {
    case "Objects":
      return Object.fromEntries(ast.propertySignatures.map(({ name, type }) => [name, valueOf(type)]))
    case "Arrays":
      return [...ast.elements, ...ast.rest].map(valueOf)
    case "Union":
      return valueOf(ast.types[0]!)
    case "Literal":
      return ast.literal
    case "Boolean":
      return true
    case "Number":
      return 1
    default:
      return knownValues(ast)?.[0] ?? "1"
  }
}

/** Writes the declarations of a document's operations, for review: what a document does not say is marked as unknown. */
import { existsSync, readFileSync } from "node:fs"
import { onWire, scopes } from "../../packages/core/src/schema/Scopes.ts"
import type { Wire } from "../../packages/core/src/wire/Wire.ts"
import { documentFacts, resources } from "./DocumentFacts.ts"
import { type JsonSchema, nameOf } from "./JsonSchema.ts"
import type { DocumentOperation, OpenApiDocument } from "./OpenApiDocument.ts"
import { type Credential, keyOf } from "./ServiceFacts.ts"

/** A module of declarations, as text. It is to be formatted. */
export const moduleOf = (
  document: OpenApiDocument,
  operations: ReadonlyArray<DocumentOperation>,
  wire: Wire
): string => {
  const credentials = new Map(documentFacts(document).routes.map(({ credentials, key }) => [key, credentials ?? []]))
  const text = operations.map((operation) =>
    declarationOf(document, operation, credentials.get(keyOf(operation)) ?? [], wire)
  ).join("\n\n")
  const models = [...new Set([...text.matchAll(/Response\.(?:one|many)\((\w+)\)/g)].map(([, name = ""]) => name))]
    .sort()
  const imports = [
    ...(text.includes("Schema.") ? [`import * as Schema from "effect/Schema"`] : []),
    `import * as Operation from "../client/Operation.ts"`,
    ...models.map((model) => `import { ${model} } from "../schema/models/${model}.ts"`),
    ...(text.includes("Parameters.") ? [`import * as Parameters from "../schema/Parameters.ts"`] : []),
    `import * as Response from "../schema/Response.ts"`
  ]
  return `/** Operations that a document of the service describes. Their prices and limits are unknown. */\n${
    imports.join("\n")
  }\n\n${text}\n`
}

const declarationOf = (
  document: OpenApiDocument,
  operation: DocumentOperation,
  credentials: ReadonlyArray<Credential>,
  wire: Wire
): string => {
  const { bodyTypes, id, method, path, security, successStatuses } = operation
  const name = neutral(id).replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase())
  const given = givenTo(document, operation)
  const result = resultOf(document, operation)
  const token = given.map(({ name }) => name).find((name) => /^(pagination|next)_token$/.test(name))
  const isPaged = token !== undefined && /Response\.many|Schema\.Array/.test(result)
  const effect = method === "GET" ? "read" : method === "POST" ? "create" : "toggle"
  const holder = credentials.includes("app") ? credentials.includes("user") ? undefined : "app" : "user"
  const granted = security.find(({ scopes }) => scopes.length > 0)?.scopes ?? []
  const fixed = given.filter(({ called, name, place }) => place === "body" && wire.bodyKey(name) !== called)
  const needed = given.filter(({ required }) => required).map(({ name, value }) => `${name}: ${value}`)
  const members = [
    `name: "${name}"`,
    `summary: "Calls ${method} ${neutral(path)}."`,
    `route: "${method} ${neutral(path).replaceAll(/\{(\w+)\}/g, ":$1")}"`,
    ...places.flatMap((place) => {
      const all = given.filter((parameter) => parameter.place === place).map(({ call, name, required }) =>
        `${name}: ${required ? `/*#__PURE__*/ Parameters.required(${call})` : call}`
      )
      return all.length === 0 ? [] : [`${place}: {\n${all.join(",\n")}\n}`]
    }),
    ...fixed.length === 0 ? [] : [`fixed: [${fixed.map(({ name }) => JSON.stringify(name)).join(", ")}]`],
    ...bodyTypes.includes("multipart/form-data") ? [`encoding: "multipart"`] : [],
    `result: ${result}`,
    ...credentials.includes("oauth1")
      ? [`userAuth: ${holder === "user"}`]
      : holder === undefined
      ? []
      : [`bearer: "${holder}"`],
    `scopes: [${granted.map((scope) => literal(scopeOf(scope, wire))).sort().join(", ")}]`,
    "limits: {}",
    `price: "unknown"`,
    ...isPaged ? [`paging: { token: "${token}", directions: "${directionsOf(document, operation)}" }`] : [],
    `effect: "${effect}"`,
    ...effect === "create" && successStatuses[0] === "200" ? ["status: 200"] : []
  ]
  return `/**
 * Calls \`${method} ${neutral(path)}\`. Credential: ${credentials.join(", ")}.
 *
 * \`\`\`ts
 * const result = yield* ${name}(${needed.length === 0 ? "" : `{ ${needed.join(", ")} }`})
 * \`\`\`
 */
export const ${name} = /*#__PURE__*/ Operation.${isPaged ? "makePaged" : "make"}({\n${members.join(",\n")}\n})`
}

const places = ["path", "query", "body"] as const

type Place = (typeof places)[number]

/** The parameters of an operation. `called` is the name that the document has. */
const givenTo = (document: OpenApiDocument, { body, parameters }: DocumentOperation) => {
  const view = body && document.view(body)
  const all = [
    ...parameters.map(({ in: place, name, required, schema }) => ({
      place,
      called: name,
      required: required || place === "path",
      schema
    })),
    ...[...view?.properties ?? []].map(([called, schema]) => ({
      place: "body",
      called,
      required: view?.required.has(called) === true,
      schema
    }))
  ]
  return places.flatMap((place) =>
    all.filter((given) => given.place === place).map(({ called, schema, ...given }) => ({
      ...given,
      called,
      name: key(place === "query" ? called.replace(".", "_") : called),
      ...parameterOf(document, called, schema, place)
    }))
  )
}

const scopeOf = (scope: string, wire: Wire): string =>
  scopes.find((known) => onWire(wire.name, known) === scope) ?? scope

/** A text as code, also within a comment. */
const literal = (text: string): string => JSON.stringify(text).replaceAll("/", "\\/")

/** The neutral spelling of a name or a path. They become code, so that nothing else may be in them. */
const neutral = (name: string): string => {
  if (!/^[\w/{}.-]+$/.test(name)) throw new Error(`The document has a name that cannot be declared: ${name}`)
  return name.replaceAll("retweet", "repost").replaceAll("tweet", "post").replaceAll("Retweet", "Repost")
    .replaceAll("Tweet", "Post")
}

/** The name of a member as code. */
const key = (name: string): string =>
  /^[A-Za-z_]\w*$/.test(neutral(name)) ? neutral(name) : JSON.stringify(neutral(name))

/** A parameter as a call, and a value that it accepts. */
const parameterOf = (
  document: OpenApiDocument,
  name: string,
  schema: JsonSchema,
  place: Place
): { readonly call: string; readonly value: string } => {
  const view = document.view(schema)
  const { maxItems, maxLength, maximum, minimum } = view.bounds
  const item = view.items && document.view(view.items)
  const { bounds: { pattern = "" }, types, values = [] } = item ?? view
  const isKey = pattern.includes("_([0-9]")
  const isId = pattern.startsWith("^[0-9]{1,") || /(^|_)ids?$/.test(name) && pattern === "" && !types.has("integer")
  const id = isKey
    ? `"3_1460323737035677698"`
    : isId
    ? `"${name.includes("user") ? "2244994945" : "1460323737035677698"}"`
    : `"text"`
  const known = values.map(literal)
  const [first = id] = known
  if (/(^|_)token$/.test(name)) return { call: "Parameters.token", value: `"7140dibdnow9c7btw"` }
  if (item !== undefined) {
    const maximum = maxItems ?? 100
    const call = place === "body"
      ? types.has("object")
        ? "Parameters.objectArray"
        : `/*#__PURE__*/ Parameters.${isId ? `idArray(${maxItems ?? ""})` : "textArray()"}`
      : `/*#__PURE__*/ Parameters.${
        known.length > 0
          ? `list([${known.join(", ")}])`
          : isKey
          ? `mediaKeys(${maximum})`
          : isId
          ? `ids(${maximum})`
          : `segments(${maximum})`
      }`
    return { call, value: types.has("object") ? "[{}]" : `[${first}]` }
  }
  if (known.length > 0) return { call: `/*#__PURE__*/ Parameters.openChoice([${known.join(", ")}])`, value: first }
  switch ([...types][0]) {
    case "boolean":
      return { call: "Parameters.boolean", value: "true" }
    case "integer":
    case "number": {
      const bounds = [
        minimum === undefined ? [] : [`minimum: ${minimum}`],
        maximum === undefined ? [] : [`maximum: ${maximum}`]
      ]
      return { call: `/*#__PURE__*/ Parameters.integer({ ${bounds.flat().join(", ")} })`, value: String(minimum ?? 1) }
    }
    case "object":
      return { call: "Parameters.object", value: "{}" }
    default: {
      const { format } = document.resolve(schema)
      if (format === "date-time") return { call: "Parameters.timestamp", value: `"2026-01-31T12:00:00Z"` }
      if (format === "binary") return { call: "Parameters.bytes", value: "new Uint8Array([1])" }
      const call = isKey
        ? "Parameters.mediaKey"
        : isId
        ? "Parameters.id"
        : place === "path"
        ? "Parameters.segment"
        : `/*#__PURE__*/ Parameters.text(${maxLength ?? ""})`
      return { call, value: id }
    }
  }
}

const resultOf = (document: OpenApiDocument, { success, successTypes }: DocumentOperation): string => {
  if (success === undefined) return successTypes.length > 0 ? "Response.bytes" : value("Schema.Unknown")
  const data = document.view(success).properties.get("data")
  if (data === undefined) return "Response.document"
  const { items } = document.view(data)
  const model = modelOf(items ?? data)
  if (model !== undefined) return `/*#__PURE__*/ Response.${items === undefined ? "one" : "many"}(${model})`
  return value(codecOf(document, data, 0))
}

const value = (codec: string): string => `/*#__PURE__*/ Response.value(${codec})`

/** The module of the resource that a schema refers to. */
const modelOf = ({ $ref }: JsonSchema): string | undefined => {
  const kind = $ref && resources.get(nameOf($ref))
  if (kind === undefined || kind === "problem") return undefined
  const name = kind === "dm_event" ? "direct_message_event" : kind
  const model = name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
  const file = new URL(`../../packages/core/src/schema/models/${model}.ts`, import.meta.url)
  return existsSync(file) && readFileSync(file, "utf8").includes(`export const ${model} =`) ? model : undefined
}

const codecOf = (document: OpenApiDocument, schema: JsonSchema, depth: number): string => {
  const { items, properties, required, types } = document.view(schema)
  if (depth > 4 || types.size > 1) return "Schema.Unknown"
  if (items !== undefined) return `/*#__PURE__*/ Schema.Array(${codecOf(document, items, depth + 1)})`
  switch ([...types][0]) {
    case "boolean":
      return "Schema.Boolean"
    case "integer":
    case "number":
      return "Schema.Number"
    case "string":
      return "Schema.String"
    case "object":
      return properties.size === 0 ?
        "Schema.Unknown" :
        `/*#__PURE__*/ Schema.Struct({\n${
          [...properties].map(([name, member]) => {
            const codec = codecOf(document, member, depth + 1)
            return `${key(name)}: ${required.has(name) ? codec : `/*#__PURE__*/ Schema.optionalKey(${codec})`}`
          }).join(",\n")
        }\n})`
    default:
      return "Schema.Unknown"
  }
}

const directionsOf = (document: OpenApiDocument, { success = {} }: DocumentOperation): "both" | "forward" => {
  const meta = document.view(success).properties.get("meta")
  return meta !== undefined && document.view(meta).properties.has("previous_token") ? "both" : "forward"
}

/** The files of the project that change when it has a module of operations, by their path. */
export const changesOf = (module: string, textOf: (path: string) => string): ReadonlyMap<string, string> => {
  const names = [...module.matchAll(/^export const (\w+)/gm)].map(([, name]) => name)
  const besideMutes = (line: string) => line + line.replaceAll("Mutes", "New")
  const handlers = names.map((name) => `,\n  ${name}: Shape.handle`).join("")
  const others = names.map((name) => `,\n  ${name}: []`).join("")
  return new Map([
    ["packages/core/src/operations/New.ts", module],
    ...["packages/core/src/Catalogue.ts", "packages/core/src/index.ts"].map((path) =>
      [path, textOf(path).replaceAll(/^.*\bMutes\b.*\n/gm, besideMutes)] as const
    ),
    [
      handlersPath,
      (textOf(handlersPath).includes(shape) ? "" : `${shape}\n`) +
      textOf(handlersPath).replace(/\n}\n$/, `${handlers}\n}\n`)
    ],
    [othersPath, textOf(othersPath).replace(/(: \[\])(\n})/, `$1${others}$2`)]
  ])
}

const shape = `import * as Shape from "./Shape.ts"`

const handlersPath = "packages/sandbox/src/handlers/index.ts"

/** Which operation of other clients does what one of ours does. */
const othersPath = "scripts/docs/Moving.ts"

/** The reference: an index, a page per operation, and one for the resources that operations return. */
import * as SchemaAST from "effect/SchemaAST"
import { readdirSync } from "node:fs"
import type { AnyError, OperationError } from "../../packages/core/src/errors/Errors.ts"
import * as Errors from "../../packages/core/src/errors/Errors.ts"
import {
  bearerOf,
  type Definition,
  parametersOf,
  routesOf,
  successStatus
} from "../../packages/core/src/schema/Definition.ts"
import type { AnyModel, Kind } from "../../packages/core/src/schema/Model.ts"
import { ActivityEvent, eventPrices, eventTypes } from "../../packages/core/src/schema/models/Activity.ts"
import * as ParameterRule from "../../packages/core/src/schema/ParameterRule.ts"
import * as Parameters from "../../packages/core/src/schema/Parameters.ts"
import * as Quota from "../../packages/core/src/schema/Quota.ts"
import * as Scopes from "../../packages/core/src/schema/Scopes.ts"
import * as Prices from "../../packages/core/src/spend/Prices.ts"
import { august, february } from "../../packages/core/src/wire/NameTables.ts"
import * as Wire from "../../packages/core/src/wire/Wire.ts"
import * as WireNames from "../../packages/core/src/wire/WireNames.ts"
import { clients, example, memberOf } from "./Examples.ts"
import { layersPage, settingsPage } from "./Interfaces.ts"
import { table } from "./Members.ts"
import { rulesOf } from "./ParameterRules.ts"
import { members, models, structures, typeOf, typeOfParameter, typeStructure } from "./Schemas.ts"
import { type Alias, areas, docstrings, type Documented, documented, notice } from "./Source.ts"

/** The pages by the names of their files. */
export const pages = (): Readonly<Record<string, string>> => ({
  "README.md": page(index()),
  "resources.md": page(resources()),
  "settings.md": page(settingsPage()),
  "layers.md": page(layersPage()),
  ...Object.fromEntries(
    documented.map((operation) => [`${operation.definition.name}.md`, page(operationPage(operation))])
  )
})

const page = (sections: ReadonlyArray<string>): string =>
  `<!-- ${notice} -->\n\n${sections.filter((section) => section !== "").join("\n\n")}\n`

const index = (): ReadonlyArray<string> => [
  "# Operations",
  `${documented.length} operations, each an Effect, a Promise method and a blocking method of the same name. ` +
  "[Resources](resources.md) lists the fields of what they return; [neutral.json](../openapi/neutral.json), " +
  "[x.json](../openapi/x.json) and [x-2026-02.json](../openapi/x-2026-02.json) describe the wires as OpenAPI documents. " +
  "[Settings](settings.md) and [Layers](layers.md) describe the parts of a client; the guides explain what " +
  "[comes back](../client.md), what the [errors](../errors.md) mean and how [pages](../pages.md) work.",
  "Every operation returns `{ data, includes, errors, anomalies, meta, rateLimit, requestId, body }`, but for streams, which " +
  "bring one `{ post, matchingRules, includes, errors, anomalies, body }` after the other, or `event` in place of `post`. " +
  "`data` is `undefined` on an empty page and where the service reports only `errors`. Fields named by no selector are not " +
  "there, and not in the type.",
  ...areas.flatMap(({ operations, title }) => [
    `## ${title}`,
    table(
      ["Operation", "Route", "Credential", "Limit", "Pages"],
      operations.map(({ aliases, definition }) => [
        [link(definition), ...aliases.map(aliasText)].join("<br>"),
        routesOf(definition).map(([, route]) => code(route)).join("<br>"),
        shortCredential(definition),
        Quota.format(definition.limits) ?? "",
        definition.live !== undefined
          ? "stream"
          : definition.paging === undefined
          ? ""
          : definition.paging.directions === "both"
          ? "both ways"
          : "forward"
      ])
    )
  ])
]

const link = ({ name }: Definition): string => `[\`${name}\`](${name}.md)`

const aliasText = ({ deprecated, name }: Alias): string => deprecated ? `~~\`${name}\`~~ (deprecated)` : `\`${name}\``

const bearerTexts = {
  any: "bearer token",
  app: "bearer token of an app",
  none: "none",
  user: "bearer token of a user"
}

const shortCredential = (definition: Definition): string => {
  const bearer = bearerTexts[bearerOf(definition)]
  return definition.userAuth === undefined
    ? bearer
    : definition.userAuth
    ? `OAuth 1.0a, or ${bearer}`
    : `${bearer}, or OAuth 1.0a`
}

const operationPage = (operation: Documented): ReadonlyArray<string> => {
  const { aliases, area, definition, prose } = operation
  return [
    `[Operations](README.md) › ${area}`,
    `# ${definition.name}`,
    prose,
    aliases.length === 0 ? "" : `Also called ${aliases.map(aliasText).join(", ")}.`,
    box(definition),
    ...clients.map((style) => `${style.title}:\n\n\`\`\`ts\n${example(style, operation)}\n\`\`\``),
    ...parameters(definition),
    "## Request",
    routes(definition),
    list(facts(definition)),
    "## Result",
    list(result(definition)),
    ...(isActivity(definition) ? ["## Events", events()] : []),
    ..."model" in definition.result ? [fields(definition.result.model)] : [],
    "## Errors",
    table(["Tag", "When"], errorsOf(definition).map((tag) => [`[${code(tag)}](../errors/${tag}.md)`, errorText(tag)]))
  ]
}

/** What a caller needs to know first, as a table whose first row is the route. */
const box = (definition: Definition): string => {
  const { limits, live, price, scopes } = definition
  return table(
    ["Route", routesOf(definition).map(([, route]) => code(route)).join("<br>")],
    [
      ["Credential", `${credential(definition)}${definition.effect === "read" ? "" : "; needs write permission"}`],
      ...(bearerOf(definition) === "app" || scopes.length === 0
        ? []
        : [["Scopes", `${scopes.map(scopeText).join(", ")}, of a user's bearer token`]]),
      [
        "Limit",
        Quota.format(limits) === undefined
          ? "unknown, until the service announces one"
          : `${Quota.format(limits)}, unless the service announces another`
      ],
      ...(definition.selfServe === undefined ? [] : [["Plan", planText(definition.selfServe)]]),
      ["Price", `${priceText(price, live)}; [our reading](../spend.md#prices) of X's list`],
      ["Returns", returns(definition)]
    ]
  )
}

const planText = (selfServe: NonNullable<Definition["selfServe"]>): string =>
  selfServe === "none"
    ? "[Enterprise only](../plans.md)"
    : `[rules of self-serve plans](../plans.md#rules-of-self-serve-plans) for ${
      Object.keys(selfServe).map(code).join(", ")
    }`

/** Returns true if an operation brings the events that an app has subscribed to. */
const isActivity = ({ result }: Pick<Definition, "result">): boolean =>
  result._tag === "Value" && result.schema.ast === ActivityEvent.ast

const returns = ({ live, result }: Definition): string =>
  result._tag === "Bytes"
    ? "the bytes of a file"
    : result._tag === "Document"
    ? "a JSON object"
    : isActivity({ result })
    ? "a stream of [events](#events)"
    : result._tag === "Value"
    ? code(typeOfValue(result.schema.ast))
    : `${live === undefined ? result._tag === "One" ? "" : "a list of " : "a stream of "}${
      resource(result.kind)
    }, with [these fields](#result)`

const parameters = (definition: Definition): ReadonlyArray<string> => {
  const all = parametersOf(definition)
  const { alternatives, rules = [], userAuth } = definition
  const rows = Object.entries(all).map(([name, parameter]) => [
    parameter.required ? `${code(name)} (required)` : code(name),
    code(typeOfParameter(parameter)),
    ruleOf(name, parameter),
    travels(definition, name)
  ])
  if (userAuth !== undefined) {
    rows.push([
      "`user_auth`",
      "`boolean`",
      `\`true\`: OAuth 1.0a, \`false\`: a bearer token; default \`${userAuth}\``,
      "header `Authorization`"
    ])
  }
  return rows.length === 0 ? [] : [
    "## Parameters",
    table(["Name", "Type", "Rule", "Travels as"], rows),
    list(
      [...(alternatives === undefined ? [] : [alternatives]), ...rules].map((rule) =>
        codeNames(ParameterRule.format(rule), all)
      )
    )
  ]
}

/** The types of event with their prices and the structures that have their payloads. */
const events = (): string =>
  table(
    ["Event", "Price", "Structure"],
    (SchemaAST.isUnion(ActivityEvent.ast) ? ActivityEvent.ast.types : []).filter(SchemaAST.isObjects).flatMap((ast) => {
      const type = ast.propertySignatures.find(({ name }) => name === "event_type")?.type
      const listed = eventTypes.filter((event) => type !== undefined && typeOf(type).includes(`"${event}"`))
      return listed.length === 0
        ? [["any other", dollars(Prices.current.read.post), structure(typeOf(ast))]]
        : listed.map((event) => [code(event), eventPrice(eventPrices[event]), structure(typeOf(ast))])
    })
  )

const eventPrice = (row: (typeof eventPrices)[keyof typeof eventPrices]): string =>
  row === "free" ? row : dollars(Prices.current.read[row])

const codeNames = (text: string, names: object): string =>
  text.replace(/\w+/g, (word) => Object.hasOwn(names, word) ? code(word) : word)

const ruleOf = (name: string, parameter: Parameters.AnyParameter): string =>
  Parameters.isSelector(name) && parameter.values !== undefined
    ? selectorRule(name, parameter)
    : parameter.values === eventTypes
    ? "one of the [types of event](streamActivity.md#events)"
    : rulesOf(parameter, code).join("; ")

const selectorRule = (name: string, { values = [] }: Parameters.AnyParameter): string => {
  const chosen = Object.values(models).filter(({ expansions, selector }) => {
    const own = Object.keys(expansions)
    return name === "expansions"
      ? own.length > 0 && own.every((expansion) => values.includes(expansion))
      : selector === name
  })
  return `${name === "expansions" ? name : "fields"} of ${chosen.map(({ kind }) => resource(kind)).join(" and ")}`
}

/** The place of a parameter in the request, with its key on the wire x if that differs. */
const travels = (definition: Definition, name: string): string => {
  const [place, key] = name in (definition.path ?? {})
    ? ["path", `:${name}`]
    : name in (definition.query ?? {})
    ? ["query", Parameters.queryKey(name)]
    : ["body", definition.at?.[name] ?? name]
  const x = place === "path"
    ? Wire.x.path(key)
    : place === "query"
    ? Wire.x.queryKey(definition, key)
    : Wire.positionOf(Wire.x, definition, name)
  return `${place} ${code(key)}${x === key ? "" : `, x: ${code(x)}`}`
}

const routes = (definition: Definition): string => {
  const all = routesOf(definition)
  return table(
    [...(all.length === 1 ? [] : ["Given"]), "Neutral wire", "X wire"],
    all.map(([selectedBy, route]) => [
      ...(all.length === 1 ? [] : [selectedBy === "none" ? "neither" : code(selectedBy)]),
      code(route),
      code(Wire.x.path(route))
    ])
  )
}

const facts = (definition: Definition): ReadonlyArray<string> => [
  ...(definition.access === undefined ? [] : [`Needs a project with ${definition.access} access.`]),
  ...conditionalFacts(definition)
]

const credential = (definition: Definition): string => {
  if (bearerOf(definition) === "none") return "none"
  const bearer = `a ${bearerTexts[bearerOf(definition)]}`
  return definition.userAuth === undefined
    ? `${bearer}; there is no \`user_auth\``
    : definition.userAuth
    ? `OAuth 1.0a; with \`user_auth: false\` ${bearer}`
    : `${bearer}; with \`user_auth: true\` OAuth 1.0a`
}

const scopeText = (scope: Scopes.Scope): string => {
  const x = Scopes.onWire("x", scope)
  return code(scope) + (x === scope ? "" : ` (x: ${code(x)})`)
}

const dollars = (micros: number): string => `$${Prices.dollarsOf(micros).toFixed(3)}`

const priceText = (price: Definition["price"], live: Definition["live"]): string => {
  if (price === "free") return "free, as it has no row"
  if (price === "unknown") return "unknown: no row fits, and nothing is counted"
  const { ownedRead, read, request } = Prices.current
  if ("request" in price) {
    const link = price.withUrl === undefined
      ? ""
      : `; with a link ${dollars(request[price.withUrl])} (${code(price.withUrl)})`
    return `${dollars(request[price.request])} for each request (${code(price.request)})${link}`
  }
  if ("event" in price) return "for each event, once a day, by its [type](#events)"
  const owned = price.owned === true ? `; ${dollars(ownedRead)} where the owner of the app reads their own` : ""
  const where = live === undefined ? "for each resource in `data`" : "for each that comes"
  return `${dollars(read[price.read])} ${where}, once a day (${code(price.read)})${owned}`
}

const conditionalFacts = (
  { constants, encoding, identity, live, pace, paging, postCap = false, queryConstants, userAuth }: Definition
): ReadonlyArray<string> => [
  ...(identity === undefined ? [] : [
    `${code(`:${identity}`)} is the authenticated user: ${
      userAuth === undefined ? "" : "read from the access token of OAuth 1.0a, or "
    }looked up once per client and bearer token (one more request).`
  ]),
  ...(constants === undefined ? [] : [
    `Every body holds ${
      Object.entries(constants).map(([key, value]) => code(`"${key}": ${JSON.stringify(value)}`)).join(", ")
    }.`
  ]),
  ...(queryConstants === undefined ? [] : [
    `Every query holds ${Object.entries(queryConstants).map(([key, value]) => code(`${key}=${value}`)).join(", ")}.`
  ]),
  ...(encoding === undefined ? [] : [
    "The body is `multipart/form-data` with raw bytes: a `Blob` is read while it is sent, and bytes in " +
    "memory must not change before the call ends."
  ]),
  ...(paging === undefined ? [] : [
    `Pages: ${code(paging.token)} takes \`meta.next_token\`${
      paging.directions === "both" ? " or, to go back, `meta.previous_token`" : "; pages go forward only"
    }. \`.pages\`, \`.items\` and \`.joined\` follow it to the end.`
  ]),
  ...(live === undefined ? [] : [
    `A stream: it stays open until you end it. Among the connections of the app it is ${code(live.endpoint)}.${
      live.recovery ? "" : " What it has delivered cannot be fetched again."
    }`
  ]),
  ...(postCap ? ["Counts towards the project-level post cap."] : []),
  ...(pace === undefined ? [] : [
    `Takes one request per ${pace === 1_000 ? "second" : `${pace / 1_000} seconds`} and credential, which no header ` +
    "announces. With `waitOnRateLimit`, calls and pages keep to it; without, what comes sooner is `RateLimited`."
  ])
]

const result = (definition: Definition): ReadonlyArray<string> => {
  const { live, query = {}, result } = definition
  const selectors = Object.keys(query).filter((name) => name.endsWith("_fields"))
  const data = live === undefined ? "`data`" : code(memberOf(definition))
  return [
    live === undefined
      ? `Status ${successStatus(definition)}.`
      : "A stream; its options are those of [streams](settings.md#options-of-a-stream).",
    result._tag === "Bytes"
      ? "`data`: the bytes of the file, a `Uint8Array`."
      : result._tag === "Document"
      ? "`data`: the JSON object."
      : isActivity(definition)
      ? `${data}: one of the [events](#events).`
      : result._tag === "Value"
      ? `${data}: ${code(typeOfValue(result.schema.ast))}.${namedIn(typeOfValue(result.schema.ast))}`
      : `${data}: ${result._tag === "One" ? "" : "a list of "}${resource(result.kind)} with ${
        result.model.defaults.map(code).join(", ")
      }${
        selectors.includes(String(result.model.selector)) ? `; more with ${code(String(result.model.selector))}` : ""
      }.`,
    ...(live?.rules === true
      ? ["`matchingRules`: the rules that the post matches, each with its `id` and its `tag`."]
      : []),
    ...("expansions" in query
      ? [`\`includes\`: what \`expansions\` bring; more with ${selectors.map(code).join(", ")}.`]
      : [])
  ]
}

// An item that has a name is spelled out: it has no page of its own to look at.
const typeOfValue = (ast: SchemaAST.AST): string =>
  ast._tag === "Arrays" ? `Array<${ast.rest.map(typeStructure).join()}>` : typeStructure(ast)

/** The errors that not every operation has, and which operations have them. */
export const conditional = {
  ConflictingIdentifiers: ({ alternatives }) => alternatives !== undefined,
  OutcomeUnknown: ({ effect }) => effect === "create",
  PaginationStuck: ({ paging }) => paging !== undefined
} satisfies { readonly [T in Exclude<AnyError["_tag"], OperationError["_tag"]>]: (definition: Definition) => boolean }

/** Returns true if only some operations have an error. */
export const isConditional = (tag: string): tag is keyof typeof conditional => tag in conditional

const errorsOf = (definition: Definition): ReadonlyArray<string> => [
  ...tags.filter((tag) => !isConditional(tag) || conditional[tag](definition)),
  ...(definition.live === undefined ? [] : ofStreams)
]

const errorsOfSignIns = "packages/core/src/errors/SignInErrors.ts"

const errorsOfPublishing = [
  "packages/core/src/errors/UploadErrors.ts",
  "packages/core/src/errors/ThreadErrors.ts",
  "packages/core/src/errors/ArticleErrors.ts"
]

const errorsOfCompliance = "packages/core/src/errors/ComplianceErrors.ts"

const errorsOfStreams = "packages/core/src/errors/StreamErrors.ts"

const errorsOfRules = "packages/core/src/errors/StreamRuleErrors.ts"

const errorsOfWebhooks = "packages/core/src/errors/WebhookErrors.ts"

/** The module of the error classes. */
export const errorModules = [
  "packages/core/src/errors/Errors.ts",
  "packages/core/src/errors/AccountErrors.ts",
  "packages/core/src/errors/StorageErrors.ts",
  errorsOfSignIns,
  ...errorsOfPublishing,
  errorsOfCompliance,
  errorsOfStreams,
  errorsOfRules,
  errorsOfWebhooks
]

/** The docstring of each error. */
export const errorDocstrings = new Map(errorModules.flatMap((file) => [...docstrings(file)]))

/** The errors of sign-ins alone. */
export const ofSignIns: ReadonlyArray<string> = [...docstrings(errorsOfSignIns).keys()]

/** The errors of uploads and threads alone. */
export const ofPublishing: ReadonlyArray<string> = errorsOfPublishing.flatMap((file) => [...docstrings(file).keys()])

/** The errors of compliance checks alone. */
export const ofCompliance: ReadonlyArray<string> = [...docstrings(errorsOfCompliance).keys()]

/** The errors of streams alone. */
export const ofStreams: ReadonlyArray<string> = [...docstrings(errorsOfStreams).keys()]

/** The errors of changes of stream rules alone. */
export const ofRules: ReadonlyArray<string> = [...docstrings(errorsOfRules).keys()]

/** The errors of keeping a webhook alone. */
export const ofWebhooks: ReadonlyArray<string> = [...docstrings(errorsOfWebhooks).keys()]

/** The errors that no call fails with. */
const ofNoCall: ReadonlyArray<string> = [
  ...ofSignIns,
  ...ofPublishing,
  ...ofCompliance,
  ...ofStreams,
  ...ofRules,
  ...ofWebhooks,
  "InvalidSettings"
]

/** The errors of operations, in the order of their module. */
const tags = Array.from(errorDocstrings.keys()).filter((name) =>
  !ofNoCall.includes(name) && Reflect.get(Errors, name)?.prototype instanceof Error
)

const errorText = (tag: string): string => {
  const said = errorDocstrings.get(tag)!.replaceAll("\n", " ")
  return tag === "PaginationStuck" ? `${said} Only where pages are followed.` : said
}

const modelFolder = "packages/core/src/schema/models/"

const modelDocstrings = new Map(
  readdirSync(new URL(`../../${modelFolder}`, import.meta.url)).flatMap((file) => [...docstrings(modelFolder + file)])
)

const resources = (): ReadonlyArray<string> => [
  "# Resources",
  "A field comes always, or when its selector names it; one that ends in `?` may be missing even then. The words of the " +
  "x wire are given where they differ; programs use those on the left on all. What a wire has no words for cannot be asked " +
  "for there, and the call is refused before it is sent; where a response has it all the same, it is read.",
  ...Object.entries(models).flatMap(([name, model]) => [
    `## ${model.kind}`,
    modelDocstrings.get(name)!,
    fields(model),
    ...(Object.keys(model.expansions).length === 0 ? [] : [expansions(model)])
  ]),
  "## Structures",
  ...Object.entries(structures).flatMap(([name, { ast }]) => [
    `### ${name}`,
    list((SchemaAST.isObjects(ast) ? members(ast) : []).map(code))
  ])
]

const fields = ({ defaults, fields, selectable, selector }: AnyModel): string =>
  table(
    ["Field", "Type", "Comes"],
    Object.entries(fields).map(([name, { ast }]) => [
      code(`${name}${SchemaAST.isOptional(ast) ? "?" : ""}`) + onX(name),
      code(typeOf(ast)),
      defaults.includes(name)
        ? "always"
        : selector !== undefined && selectable.includes(name)
        ? `with ${code(selector)}`
        : "along with others"
    ])
  )

const expansions = (model: AnyModel): string =>
  table(
    ["Expansion", "Brings"],
    Object.entries(model.expansions).map(([name, kind]: readonly [string, Kind]) => [
      code(name) + onX(name),
      resource(kind)
    ])
  )

const onX = (name: string): string => {
  const x = WireNames.expansion(august, name)
  const dates = [[august, Wire.x], [february, Wire.x202602]] as const
  return (x === name ? "" : ` (x: ${code(x)})`) +
    dates.filter(([{ unavailable }]) => unavailable.has(name)).map(([, wire]) => ` (not on ${wire.name})`).join("")
}

const resource = (kind: Kind): string => `[${kind}](resources.md#${kind})`

const structure = (name: string): string => `[${name}](resources.md#${name.toLowerCase()})`

/** Links to the structures that a type names. */
const namedIn = (type: string): string => {
  const named = Object.keys(structures).filter((name) => new RegExp(`\\b${name}\\b`).test(type))
  return named.length === 0 ? "" : ` See ${named.map(structure).join(", ")}.`
}

const code = (text: string): string => `\`${text}\``

const list = (items: ReadonlyArray<string>): string => items.map((item) => `- ${item}`).join("\n")

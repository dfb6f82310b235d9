/** Compares the facts of the catalogue with those of a document. */
import {
  boundNames,
  type Bounds,
  type Fact,
  type Facts,
  pathOf,
  type RouteFacts,
  type ServiceFacts
} from "./ServiceFacts.ts"

/** One difference between the catalogue and a document. */
export interface Difference {
  readonly aspect:
    | "route"
    | "server"
    | "path"
    | "query"
    | "header"
    | "body"
    | "body type"
    | "status"
    | "result"
    | "result type"
    | "credential"
    | "scope"
  /** The differing fact: `max_results maximum`, `post.fields=author_id`. */
  readonly name: string
  /** `gone`: only the catalogue has it. `new`: only the document has it. `differs`: both have it, with different values. */
  readonly change: "gone" | "new" | "differs"
  /**
   * `refused`: the service may refuse calls. `misread`: responses may not match their types. `missed`: the service offers more than
   * the client.
   */
  readonly effect: "refused" | "misread" | "missed"
  /** The value in the document, if both have one. */
  readonly document?: string
  /** The value in the catalogue, if both have one. */
  readonly catalogue?: string
}

/** A difference and its operations, or the kind of resource that it is in. */
export interface Drift extends Difference {
  readonly operations: ReadonlyArray<string>
}

/** An accepted difference with its reason. In patterns `*` matches anything. */
export interface Accepted {
  /** Aspect and name: `query post.fields=*`. */
  readonly difference: string
  readonly change?: Difference["change"]
  /** The operations or resources for which it is accepted. Default: all. */
  readonly operations?: ReadonlyArray<string>
  /** The wire on which it is accepted. Default: all. */
  readonly wire?: string
  readonly reason: string
}

/** The result of a comparison. */
export interface Outcome {
  /** The differences that are not accepted, most severe first. */
  readonly drifts: ReadonlyArray<Drift>
  readonly accepted: ReadonlyArray<Drift & { readonly reason: string }>
  /** The accepted differences that do not exist. */
  readonly stale: ReadonlyArray<Accepted>
}

/** Compares the facts of the catalogue on a wire with those of a document. */
export const compare = (
  catalogue: ServiceFacts,
  document: ServiceFacts,
  wire: string,
  accepted: ReadonlyArray<Accepted> = []
): Outcome => {
  const documented = new Map(document.routes.map((route) => [route.key, route]))
  const keys = new Set(catalogue.routes.map(({ key }) => key))
  const paths = new Set(catalogue.routes.map(({ key }) => pathOf(key)))
  const relevant = accepted.filter((entry) => entry.wire === undefined || entry.wire === wire)
  const used = new Set<Accepted>()
  const found = [
    ...catalogue.routes.flatMap((route) =>
      ofRoute(route, documented.get(route.key)).map((difference) => [route.name, difference] as const)
    ),
    ...document.routes.filter(({ key }) => !keys.has(key) && paths.has(pathOf(key))).map(({ key, name }) =>
      [name, { aspect: "route", name: key, change: "new", effect: "missed" } satisfies Difference] as const
    ),
    ...Object.entries(catalogue.resources).flatMap(([kind, facts]) =>
      ofResult(`${kind}.`, facts, document.resources[kind] ?? facts).map((difference) => [kind, difference] as const)
    )
  ].map(([operation, difference]) => {
    const entry = relevant.find((entry) => matches(entry, operation, difference))
    if (entry !== undefined) used.add(entry)
    return { operation, difference, reason: entry?.reason }
  })
  return {
    drifts: grouped(found.filter(({ reason }) => reason === undefined)),
    accepted: grouped(found.filter(({ reason }) => reason !== undefined)).map((drift) => ({
      ...drift,
      reason: drift.reason ?? ""
    })),
    stale: relevant.filter((entry) => !used.has(entry))
  }
}

const matches = ({ change, difference, operations }: Accepted, operation: string, found: Difference): boolean =>
  (change === undefined || change === found.change) &&
  fits(difference, `${found.aspect} ${found.name}`) &&
  (operations === undefined || operations.some((pattern) => fits(pattern, operation)))

/** Checks whether a text is of a pattern, in which `*` matches anything. */
export const fits = (pattern: string, text: string): boolean =>
  RegExp(`^${pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`).test(text)

interface Found {
  readonly operation: string
  readonly difference: Difference
  readonly reason: string | undefined
}

const effects: ReadonlyArray<Difference["effect"]> = ["refused", "misread", "missed"]

/** Groups the operations of each difference. */
const grouped = (found: ReadonlyArray<Found>): ReadonlyArray<Drift & { readonly reason?: string }> =>
  [...Map.groupBy(found, ({ difference, reason }) => JSON.stringify([difference, reason])).values()]
    .flatMap((group) => {
      const operations = [...new Set(group.map(({ operation }) => operation))]
      return group.slice(0, 1).map(({ difference, reason }) => ({
        ...difference,
        ...(reason === undefined ? {} : { reason }),
        operations
      }))
    })
    .sort((a, b) => effects.indexOf(a.effect) - effects.indexOf(b.effect) || textOf(a).localeCompare(textOf(b)))

const textOf = ({ aspect, name }: Difference): string => `${aspect} ${name}`

const ofRoute = (catalogue: RouteFacts, document: RouteFacts | undefined): ReadonlyArray<Difference> => {
  if (document === undefined) return [{ aspect: "route", name: catalogue.key, change: "gone", effect: "refused" }]
  return [
    ...ofNames("server", catalogue.servers, document.servers, { gone: "refused", new: "missed" }),
    ...catalogue.path.flatMap((fact, i) => {
      const other = document.path[i]
      const name = `segment ${i + 1}`
      return other === undefined
        ? []
        : [
          ...ofType("path", name, fact, other, "refused"),
          ...ofValues("path", name, fact, other, "refused"),
          ...ofStyle("path", name, fact, other),
          ...ofBounds("path", name, fact, other)
        ]
    }),
    ...ofRequest("query", catalogue.query, document.query),
    ...ofRequest("header", catalogue.headers, document.headers),
    ...ofRequest("body", catalogue.body, document.body),
    ...ofNames("body type", catalogue.bodyTypes, document.bodyTypes, { gone: "refused", new: "missed" }),
    ...ofNames("status", catalogue.statuses, document.statuses, { gone: "misread", new: "misread" }),
    ...ofResult("", known(catalogue, document), document.result),
    ...ofNames("result type", catalogue.resultTypes, document.resultTypes, { gone: "misread", new: "missed" }),
    ...ofNames("credential", catalogue.credentials, document.credentials, { gone: "refused", new: "missed" }),
    ...ofNames("scope", catalogue.scopes, document.scopes, { gone: "missed", new: "refused" })
  ]
}

/** The members of the envelope that this operation can return: the envelope is declared once for all. */
const known = ({ promised, result }: RouteFacts, document: RouteFacts): Facts =>
  Object.fromEntries(
    Object.entries(result).filter(([name]) =>
      Object.hasOwn(document.result, name) || name.startsWith("data.") || promised.includes(name)
    )
  )

const ofNames = (
  aspect: Difference["aspect"],
  catalogue: ReadonlyArray<string> | undefined,
  document: ReadonlyArray<string> | undefined,
  effect: { readonly gone: Difference["effect"]; readonly new: Difference["effect"] }
): ReadonlyArray<Difference> =>
  // Unknown facts are not compared.
  catalogue === undefined || document === undefined ? [] : [
    ...catalogue.filter((name) => !document.includes(name))
      .map((name): Difference => ({ aspect, name, change: "gone", effect: effect.gone })),
    ...document.filter((name) => !catalogue.includes(name))
      .map((name): Difference => ({ aspect, name, change: "new", effect: effect.new }))
  ]

const ofRequest = (
  aspect: "query" | "header" | "body",
  catalogue: Facts,
  document: Facts
): ReadonlyArray<Difference> => [
  ...Object.entries(catalogue).flatMap(([name, fact]): ReadonlyArray<Difference> => {
    const other = document[name]
    if (other === undefined) {
      return aspect !== "body" || isInside(name, document) ? [{ aspect, name, change: "gone", effect: "refused" }] : []
    }
    const required = (other.required ?? false) !== (fact.required ?? false)
    return [
      ...ofType(aspect, name, fact, other, "refused"),
      ...(required
        ? [differs(aspect, `${name} required`, fact.required, other.required, other.required ? "refused" : "missed")]
        : []),
      ...ofValues(aspect, name, fact, other, "refused"),
      ...ofStyle(aspect, name, fact, other),
      ...ofBounds(aspect, name, fact, other)
    ]
  }),
  ...(aspect !== "body"
    ? Object.keys(document).filter((name) => !Object.hasOwn(catalogue, name))
    : onlyIn(document, catalogue))
    .map(
      (name): Difference => ({
        aspect,
        name,
        change: "new",
        effect: document[name]?.required === true && (aspect !== "body" || !name.includes(".")) ? "refused" : "missed"
      })
    )
]

const ofResult = (place: string, catalogue: Facts, document: Facts): ReadonlyArray<Difference> => [
  ...Object.entries(catalogue).flatMap(([member, fact]): ReadonlyArray<Difference> => {
    const name = `${place}${member}`
    const other = document[member]
    if (other === undefined) {
      return isInside(member, document) ? [{ aspect: "result", name, change: "gone", effect: "misread" }] : []
    }
    return [
      ...ofType("result", name, fact, other, "misread"),
      ...(fact.required === true && other.required !== true
        ? [differs("result", `${name} required`, true, undefined, "misread")]
        : []),
      ...ofValues("result", name, fact, other, "missed")
    ]
  }),
  ...onlyIn(document, catalogue).map((name): Difference => ({
    aspect: "result",
    name: `${place}${name}`,
    change: "new",
    effect: "missed"
  }))
]

const ofType = (
  aspect: Difference["aspect"],
  name: string,
  fact: Fact,
  other: Fact,
  effect: Difference["effect"]
): ReadonlyArray<Difference> => {
  const types = [fact.type, other.type]
  const isSame = fact.type === other.type || types.includes("any") ||
    (types.includes("array of any") && types.every((type) => type.startsWith("array of "))) ||
    // Every integer is a number.
    (fact.type === "number" && other.type === "integer")
  return isSame
    ? []
    : [{ aspect, name: `${name} type`, change: "differs", effect, document: other.type, catalogue: fact.type }]
}

const ofValues = (
  aspect: Difference["aspect"],
  name: string,
  fact: Fact,
  other: Fact,
  effect: Difference["effect"]
): ReadonlyArray<Difference> =>
  ofNames(aspect, fact.values, other.values, { gone: effect, new: "missed" })
    .map((difference) => ({ ...difference, name: `${name}=${difference.name}` }))

const ofStyle = (aspect: Difference["aspect"], name: string, fact: Fact, other: Fact): ReadonlyArray<Difference> =>
  fact.style === other.style ? [] : [differs(aspect, `${name} style`, fact.style, other.style, "refused")]

const ofBounds = (aspect: Difference["aspect"], name: string, fact: Fact, other: Fact): ReadonlyArray<Difference> =>
  boundNames.flatMap((bound): ReadonlyArray<Difference> => {
    const ours = boundOf(fact, bound)
    const theirs = boundOf(other, bound)
    // A listed value needs no pattern.
    if (ours === theirs || (bound === "pattern" && (ours ?? theirs) === undefined)) return []
    const isNarrower = theirs === undefined ||
      (typeof ours === "number" && typeof theirs === "number" &&
        (bound.startsWith("max") ? ours < theirs : ours > theirs))
    return [differs(aspect, `${name} ${bound}`, ours, theirs, isNarrower ? "missed" : "refused")]
  })

/** The bound of a fact. A minimum of one is ignored: empty texts and lists are never sent. */
const boundOf = ({ bounds = {} }: Fact, name: keyof Bounds): string | number | undefined =>
  (name === "minLength" || name === "minItems") && (bounds[name] ?? 0) < 2 ? undefined : bounds[name]

const differs = (
  aspect: Difference["aspect"],
  name: string,
  catalogue: unknown,
  document: unknown,
  effect: Difference["effect"]
): Difference => ({
  aspect,
  name,
  change: "differs",
  effect,
  document: String(document ?? "none"),
  catalogue: String(catalogue ?? "none")
})

/** The names in one and not in the other, except those inside a new object or one with any members. */
const onlyIn = (one: Facts, other: Facts): ReadonlyArray<string> =>
  Object.keys(one).filter((name) =>
    !Object.hasOwn(other, name) && isInside(name, other) && !isFree(parentOf(name), other)
  )

/** Checks whether the parent of a member exists. */
const isInside = (name: string, facts: Facts): boolean => {
  const parent = parentOf(name)
  return parent === undefined || Object.hasOwn(facts, parent)
}

/** `a.b` of `a.b[].c`. */
const parentOf = (name: string): string | undefined =>
  name.includes(".") ? name.replace(/(\[\])?\.[^.]*$/, "") : undefined

/** Checks whether an object is declared without its members. */
const isFree = (name: string | undefined, facts: Facts): boolean =>
  name !== undefined && !Object.keys(facts).some((other) => parentOf(other) === name)

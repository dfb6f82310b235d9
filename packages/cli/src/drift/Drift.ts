/** Holds the facts of the catalogue against those of a document: what one of them has and the other lacks. */
import { boundNames, type Bounds, type Fact, type Facts, type RouteFacts, type ServiceFacts } from "./ServiceFacts.ts"

/** One difference between the catalogue and a document. */
export interface Difference {
  readonly aspect: "route" | "path" | "query" | "body" | "result" | "credential" | "scope"
  /** What differs: `max_results maximum`, `post.fields=author_id`. */
  readonly name: string
  /** `gone`: only the catalogue has it. `new`: only the document has it. `differs`: they say different things of it. */
  readonly change: "gone" | "new" | "differs"
  /**
   * `refused`: the service may refuse calls. `misread`: answers may not be what types promise. `missed`: the service
   * offers more than the client.
   */
  readonly effect: "refused" | "misread" | "missed"
  /** What the document says, where both say something. */
  readonly document?: string
  /** What the catalogue says, where both say something. */
  readonly catalogue?: string
}

/** A difference, and the operations that have it; the kind of the resource where it is in one. */
export interface Drift extends Difference {
  readonly operations: ReadonlyArray<string>
}

/** A difference that is known and stays, with its reason. In patterns `*` stands for anything. */
export interface Accepted {
  /** Aspect and name: `query post.fields=*`. */
  readonly difference: string
  readonly change?: Difference["change"]
  /** The operations or resources for which it is accepted; every one when left out. */
  readonly operations?: ReadonlyArray<string>
  /** The wire on which it is accepted; every one when left out. */
  readonly wire?: string
  readonly reason: string
}

/** What was found. */
export interface Outcome {
  /** What nobody has accepted, the gravest first. */
  readonly drifts: ReadonlyArray<Drift>
  readonly accepted: ReadonlyArray<Drift & { readonly reason: string }>
  /** What was accepted and is not there. */
  readonly stale: ReadonlyArray<Accepted>
}

/** Compares the facts of the catalogue with those of a document on the wire of this name. */
export const compare = (
  catalogue: ServiceFacts,
  document: ServiceFacts,
  wire: string,
  accepted: ReadonlyArray<Accepted> = []
): Outcome => {
  const documented = new Map(document.routes.map((route) => [route.key, route]))
  const relevant = accepted.filter((entry) => entry.wire === undefined || entry.wire === wire)
  const used = new Set<Accepted>()
  const found = [
    ...catalogue.routes.flatMap((route) =>
      ofRoute(route, documented.get(route.key)).map((difference) => [route.name, difference] as const)
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

const fits = (pattern: string, text: string): boolean =>
  RegExp(`^${pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`).test(text)

interface Found {
  readonly operation: string
  readonly difference: Difference
  readonly reason: string | undefined
}

const effects: ReadonlyArray<Difference["effect"]> = ["refused", "misread", "missed"]

/** The same difference once, with its operations. */
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
    ...catalogue.path.flatMap((fact, i) => {
      const other = document.path[i]
      return other === undefined ? [] : ofBounds("path", `segment ${i + 1}`, fact, other)
    }),
    ...ofRequest("query", catalogue.query, document.query),
    ...ofRequest("body", catalogue.body, document.body),
    ...ofResult("", onlyShared(catalogue.result, document.result), document.result),
    ...ofNames("credential", catalogue.credentials, document.credentials, { gone: "refused", new: "missed" }),
    ...ofNames("scope", catalogue.scopes, document.scopes, { gone: "missed", new: "refused" })
  ]
}

/** The envelope is one for all operations, and only in `data` something is promised. */
const onlyShared = (catalogue: Facts, document: Facts): Facts =>
  Object.fromEntries(Object.entries(catalogue).filter(([name]) => name in document || name.startsWith("data.")))

const ofNames = (
  aspect: Difference["aspect"],
  catalogue: ReadonlyArray<string> | undefined,
  document: ReadonlyArray<string> | undefined,
  effect: { readonly gone: Difference["effect"]; readonly new: Difference["effect"] }
): ReadonlyArray<Difference> =>
  // Where one of them says nothing there is nothing to compare.
  catalogue === undefined || document === undefined ? [] : [
    ...catalogue.filter((name) => !document.includes(name))
      .map((name): Difference => ({ aspect, name, change: "gone", effect: effect.gone })),
    ...document.filter((name) => !catalogue.includes(name))
      .map((name): Difference => ({ aspect, name, change: "new", effect: effect.new }))
  ]

const ofRequest = (aspect: "query" | "body", catalogue: Facts, document: Facts): ReadonlyArray<Difference> => [
  ...Object.entries(catalogue).flatMap(([name, fact]): ReadonlyArray<Difference> => {
    const other = document[name]
    if (other === undefined) {
      return aspect === "query" || isInside(name, document) ? [{ aspect, name, change: "gone", effect: "refused" }] : []
    }
    const required = (other.required ?? false) !== (fact.required ?? false)
    return [
      ...ofType(aspect, name, fact, other, "refused"),
      ...(required
        ? [differs(aspect, `${name} required`, fact.required, other.required, other.required ? "refused" : "missed")]
        : []),
      ...ofValues(aspect, name, fact, other, "refused"),
      ...ofBounds(aspect, name, fact, other)
    ]
  }),
  ...(aspect === "query" ? Object.keys(document).filter((name) => !(name in catalogue)) : onlyIn(document, catalogue))
    .map(
      (name): Difference => ({
        aspect,
        name,
        change: "new",
        effect: document[name]?.required === true && (aspect === "query" || !name.includes(".")) ? "refused" : "missed"
      })
    )
]

const ofResult = (place: string, catalogue: Facts, document: Facts): ReadonlyArray<Difference> => [
  ...Object.entries(catalogue).flatMap(([member, fact]): ReadonlyArray<Difference> => {
    const name = `${place}${member}`
    const other = document[member]
    if (other === undefined) {
      if (!isInside(member, document)) return []
      return isFree(parentOf(member), document)
        // An object of which the document says nothing may lack it.
        ? fact.required === true ? [differs("result", `${name} required`, true, undefined, "misread")] : []
        : [{ aspect: "result", name, change: "gone", effect: "misread" }]
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
  const isSame = fact.type === other.type || [fact.type, other.type].some((type) => /^(array of )?any$/.test(type)) ||
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

const ofBounds = (aspect: Difference["aspect"], name: string, fact: Fact, other: Fact): ReadonlyArray<Difference> =>
  boundNames.flatMap((bound): ReadonlyArray<Difference> => {
    const ours = boundOf(fact, bound)
    const theirs = boundOf(other, bound)
    // What has listed values needs no pattern.
    if (ours === theirs || (bound === "pattern" && (ours ?? theirs) === undefined)) return []
    const isNarrower = theirs === undefined ||
      (typeof ours === "number" && typeof theirs === "number" &&
        (bound.startsWith("max") ? ours < theirs : ours > theirs))
    return [differs(aspect, `${name} ${bound}`, ours, theirs, isNarrower ? "missed" : "refused")]
  })

/** An empty text or list is never sent, so that one at least is needed says nothing. */
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

/** The names in the one and not in the other; what is inside a new one, or an object of any members, is not told. */
const onlyIn = (one: Facts, other: Facts): ReadonlyArray<string> =>
  Object.keys(one).filter((name) => !(name in other) && isInside(name, other) && !isFree(parentOf(name), other))

/** Whether what holds a member is there. */
const isInside = (name: string, facts: Facts): boolean => {
  const parent = parentOf(name)
  return parent === undefined || parent in facts
}

/** `a.b` of `a.b[].c`. */
const parentOf = (name: string): string | undefined =>
  name.includes(".") ? name.replace(/(\[\])?\.[^.]*$/, "") : undefined

/** Whether an object is declared without saying what is in it. */
const isFree = (name: string | undefined, facts: Facts): boolean =>
  name !== undefined && !Object.keys(facts).some((other) => parentOf(other) === name)

/** Compares the catalogue with an OpenAPI document and reports the differences, as lines or as data. */
import * as Result from "effect/Result"
import * as Text from "../../packages/cli/src/terminal/Text.ts"
import { named, type Wire } from "../../packages/core/src/wire/Wire.ts"
import { acceptedDrift } from "./AcceptedDrift.ts"
import { catalogueFacts } from "./CatalogueFacts.ts"
import { documentFacts } from "./DocumentFacts.ts"
import * as Drift from "./Drift.ts"
import * as OpenApiDocument from "./OpenApiDocument.ts"
import { keyOf, pathOf, type ServiceFacts } from "./ServiceFacts.ts"

/** The result of comparing a document. */
export interface DriftReport extends Drift.Outcome {
  readonly version: string | undefined
  /** The wire on which names were compared. */
  readonly wire: string
  /** Operations of the catalogue that were compared. */
  readonly compared: number
  /** Operations of the document. */
  readonly documented: number
  /** Routes that only the document has: method and path. */
  readonly unknown: ReadonlyArray<string>
}

/** Compares the catalogue with a parsed document, on the named wire or on the one nearest to the document. */
export const make = (json: unknown, wireName?: string): Result.Result<DriftReport, string> =>
  Result.flatMap(OpenApiDocument.read(json), (document) => {
    const wires: { readonly [name: string]: Wire | undefined } = named
    const wire = wireName === undefined ? wireOf(documentFacts(document)) : wires[wireName]
    return wire === undefined
      ? Result.fail(`there is no wire ${wireName}; there are ${Object.keys(wires).join(", ")}`)
      : Result.succeed(hold(catalogueFacts(wire), document, wire.name, acceptedDrift))
  })

/** The wire nearest to a service: the one of which the service knows most routes, and then most other names. */
export const wireOf = (service: ServiceFacts): Wire => {
  const unknown = (wire: Wire): number =>
    Drift.compare(catalogueFacts(wire), service, wire.name).drifts
      .filter(({ aspect, change }) => change === "gone" && ["body", "query", "route"].includes(aspect))
      // A missing route hides all other differences of it.
      .reduce((sum, { aspect, operations }) => sum + operations.length * (aspect === "route" ? 1_000 : 1), 0)
  return Object.values(named).map((wire) => ({ wire, unknown: unknown(wire) }))
    .reduce((best, other) => other.unknown < best.unknown ? other : best).wire
}

/** Compares the facts of the catalogue on a wire with a document. */
export const hold = (
  catalogue: ServiceFacts,
  document: OpenApiDocument.OpenApiDocument,
  wire: string,
  accepted: ReadonlyArray<Drift.Accepted>
): DriftReport => {
  const keys = new Set(catalogue.routes.map(({ key }) => key))
  const paths = new Set([...keys].map(pathOf))
  return {
    version: document.version,
    wire,
    compared: new Set(catalogue.routes.map(({ name }) => name)).size,
    documented: document.operations.length,
    unknown: document.operations.filter((operation) => !keys.has(keyOf(operation)))
      .map(({ method, path }) => `${method} ${path}`),
    ...Drift.compare(catalogue, documentFacts(document, (key) => paths.has(pathOf(key))), wire, accepted)
  }
}

/** A report in lines of 80 columns. Accepted differences, and operations that only the document has, are counted or listed. */
export const lines = (report: DriftReport, all = false): ReadonlyArray<string> => {
  const { accepted, compared, documented, drifts, unknown, version, wire } = report
  const told = [
    `${Text.quantity(compared, "operations")} compared with the document${
      version === undefined ? "" : ` (${version})`
    } on wire ${wire}`,
    `${documented - unknown.length} of ${documented} operations of the document are declared`,
    ...effects.flatMap(({ effect, heading }) => {
      const some = drifts.filter((drift) => drift.effect === effect)
      return some.length === 0 ? [] : ["", `${heading} (${some.length})`, ...some.flatMap(linesOf)]
    }),
    "",
    `Not accepted: ${Text.quantity(drifts.length, "differences")}`,
    ...listed("Accepted", "differences", accepted, all ? reasonsOf(accepted) : undefined),
    ...listed("Only in the document", "operations", unknown, all ? unknown.map((route) => `  ${route}`) : undefined)
  ]
  return told.flatMap((line) => {
    const indent = line.length - line.trimStart().length
    return Text.wrap(line.trim(), 80 - indent, 2).map((part) => " ".repeat(indent) + part)
  })
}

/** The stale entries of the accepted differences, to be deleted. */
export const staleLines = ({ stale }: DriftReport): ReadonlyArray<string> =>
  stale.map(({ difference, operations }) =>
    `Accepted, but not there (stale): ${difference}${operations === undefined ? "" : ` (${operations.join(", ")})`}`
  )

const listed = (
  heading: string,
  nouns: string,
  counted: ReadonlyArray<unknown>,
  lines: ReadonlyArray<string> | undefined
): ReadonlyArray<string> =>
  counted.length === 0
    ? []
    : [
      `${heading}: ${Text.quantity(counted.length, nouns)}${lines === undefined ? " (see --all)" : ""}`,
      ...lines ?? []
    ]

const effects: ReadonlyArray<{ readonly effect: Drift.Difference["effect"]; readonly heading: string }> = [
  { effect: "refused", heading: "The service may refuse calls" },
  { effect: "misread", heading: "Answers may not be what types promise" },
  { effect: "missed", heading: "The service offers more than the client" }
]

const linesOf = (drift: Drift.Drift): ReadonlyArray<string> => [`  ${sentence(drift)}`, `    ${namesOf(drift)}`]

const namesOf = ({ operations }: Drift.Drift): string =>
  `${operations.slice(0, 3).join(", ")}${operations.length > 3 ? ` and ${operations.length - 3} more` : ""}`

const sentence = ({ aspect, catalogue, change, document, name }: Drift.Drift): string => {
  const what = `${aspect} ${name}`
  switch (change) {
    case "gone":
      return `${what}: not in the document`
    case "new":
      return `${what}: only in the document`
    case "differs":
      return `${what}: ${document} in the document, ${catalogue} here`
  }
}

/** Each reason once, with its differences. */
const reasonsOf = (accepted: DriftReport["accepted"]): ReadonlyArray<string> =>
  [...Map.groupBy(accepted, ({ reason }) => reason)].flatMap(([reason, drifts]) => [
    `  ${reason}`,
    ...drifts.map((drift) => `    ${sentence(drift)} (${namesOf(drift)})`)
  ])

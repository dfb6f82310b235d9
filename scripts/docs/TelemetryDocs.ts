/** The metrics and attributes for the guide, from their definitions. */
import * as Metrics from "../../packages/core/src/runtime/Metrics.ts"
import * as Members from "./Members.ts"

const code = (text: string) => `\`${text}\``

/** A row for each metric. */
export const metrics = (): string =>
  Members.table(
    ["Metric", "Kind, unit", "Attributes", "Meaning"],
    Metrics.all.map(({ attributes, description, kind, name, unit }) => [
      code(name),
      `${kind}, ${code(unit)}`,
      attributes.map(code).join(", "),
      description
    ])
  )

/** A row for each attribute. */
export const attributes = (): string => {
  const spans: ReadonlyArray<string> = Metrics.spanAttributes
  return Members.table(
    ["Attribute", "Spans", "Meaning"],
    Object.entries(Metrics.attributes).map((
      [name, meaning]
    ) => [code(name), spans.includes(name) ? "yes" : "", meaning])
  )
}

/** Which findings follow from differences that are accepted (scripts/drift/AcceptedDrift.ts). */
import type { DriftReport } from "../drift/DriftReport.ts"
import type { Endpoint } from "../drift/Endpoint.ts"

/** Tests whether an accepted difference of an operation explains a finding. */
export type Explains = (definition: Endpoint["definition"], finding: string) => boolean

/** The explanations that accepted differences give. */
export const explanations = (accepted: DriftReport["accepted"]): Explains => ({ name, result }, finding) => {
  const kind = "kind" in result ? result.kind : undefined
  // A loss is reported by its place; a refusal or an anomaly has an expectation after it.
  const place = /^(?:refused|lost|anomaly): ([\w.[\]]+)/.exec(finding)?.[1]
  const within = finding.includes("neither data nor errors") ? "data" : place
  return accepted.some(({ aspect, name: difference, operations }) => {
    if (aspect === "result") {
      const [member = ""] = difference.split(" ")
      return operations.includes(name)
        ? within !== undefined && areRelated(within, member)
        : operations.some((of) => place?.replace(/^(data|includes\.\w+)(\[\])?\./, `${of}.`).startsWith(member)) &&
          (kind === undefined || place?.startsWith("includes") === true || operations.includes(kind))
    }
    const said = `${aspect} ${difference}`
    return operations.includes(name) &&
      (finding === said || finding === said.replace(/ required$/, " is missing") ||
        (finding === "the route" && aspect === "route") ||
        finding.startsWith(`${said.replace(/ type$/, "")}=`))
  })
}

const areRelated = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one)

/** The texts of a parameter, wherever it is documented. */
import * as Parameters from "../../packages/core/src/schema/Parameters.ts"

/** Its rule, its known values and its default, in words; `code` marks literals. */
export const rulesOf = (
  parameter: Parameters.AnyParameter,
  code: (text: string) => string = (text) => text
): ReadonlyArray<string> => {
  const { bounds, default: fallback, kind, open, values = [] } = parameter
  return [
    Parameters.describe(parameter).replace(/^must be /, ""),
    ...(bounds !== undefined && bounds.of !== "time" && bounds.standard !== undefined
      ? [`at most ${bounds.standard} ${bounds.of} with standard access`]
      : []),
    ...(open === true && kind === "list" ? [`known are ${values.map(code).join(", ")}`] : []),
    ...(fallback === undefined ? [] : [`default ${code(String(fallback))}`])
  ]
}

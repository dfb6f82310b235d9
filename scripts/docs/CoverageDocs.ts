/** How the sandbox answers each operation, from its handlers. */
import { handlers } from "../../packages/sandbox/src/handlers/index.ts"
import * as Shape from "../../packages/sandbox/src/handlers/Shape.ts"
import * as Members from "./Members.ts"
import { areas, type Documented, documented } from "./Source.ts"

/** `refused`: there is no handler, and the sandbox answers 404. */
export type Coverage = "rules" | "shape" | "refused"

/** How the sandbox answers an operation. */
export const coverageOf = ({ definition: { live, name } }: Pick<Documented, "definition">): Coverage => {
  // Streams are answered by the sandbox's hub.
  if (live !== undefined) return "rules"
  const handler: unknown = Reflect.get(handlers, name)
  if (typeof handler !== "function") return "refused"
  return Shape.shaped.has(handler) ? "shape" : "rules"
}

const all = ["rules", "shape", "refused"] as const

/** The number of operations that are answered in each way. */
export const counts = (): string =>
  Members.table(
    ["Answered", "Operations"],
    all.map((coverage) => [
      coverage,
      String(documented.filter((operation) => coverageOf(operation) === coverage).length)
    ])
  )

/** Every operation by area. */
export const table = (): string =>
  Members.table(
    ["Area", "By rules", "By shape", "Refused"],
    areas.map(({ operations, title }) => [
      title,
      ...all.map((coverage) =>
        operations.filter((operation) => coverageOf(operation) === coverage).map(({ definition: { name } }) =>
          `[\`${name}\`](reference/${name}.md)`
        ).join(", ")
      )
    ])
  )

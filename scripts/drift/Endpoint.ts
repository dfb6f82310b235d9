/** The operations of the catalogue as endpoints on a wire, for comparison with documents. */
import { aliases, catalogue } from "../../packages/core/src/Catalogue.ts"
import { type Definition, partsOf, routesOf } from "../../packages/core/src/schema/Definition.ts"
import type { Wire } from "../../packages/core/src/wire/Wire.ts"

/** One route of an operation. */
export interface Endpoint {
  readonly definition: Definition
  /** The parameter that selects this route among several, `none`, or `""` for the only one. */
  readonly selectedBy: string
  readonly method: string
  /** On the wire, with the names of its parameters: `/2/tweets/:id`. */
  readonly path: string
}

/** The routes of operations on a wire. */
export const endpointsOf = (
  operations: ReadonlyArray<{ readonly definition: Definition }>,
  wire: Wire
): ReadonlyArray<Endpoint> =>
  operations.flatMap(({ definition }) =>
    routesOf(definition).map(([selectedBy, route]) => {
      const [method, template] = partsOf(route)
      return { definition, selectedBy, method, path: wire.path(template) }
    })
  )

/** Every route of the catalogue on a wire, without aliases. */
export const endpoints = (wire: Wire): ReadonlyArray<Endpoint> =>
  endpointsOf(
    Object.entries(catalogue).filter(([name]) => !Object.hasOwn(aliases, name)).map(([, operation]) => operation),
    wire
  )

/** The operations that a model can find and call: all that answer once, with JSON. */
import { catalogue } from "@postwire/core/Catalogue"
import { type Definition, parametersOf } from "@postwire/core/schema/Definition"

/** Every callable operation, without aliases. */
export const callable: ReadonlyArray<Definition> = [
  ...new Set(Object.values(catalogue).map(({ definition }): Definition => definition))
].filter((definition) =>
  definition.live === undefined && definition.result._tag !== "Bytes" &&
  !Object.values(parametersOf(definition)).some(({ kind }) => kind === "bytes")
)

/** Finds an operation by its name. */
export const named = (name: string): Definition | undefined => callable.find((definition) => definition.name === name)

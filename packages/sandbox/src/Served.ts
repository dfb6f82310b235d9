/** The operations that are served: those of the catalogue, and those that are to be in it. */
import { type aliases, catalogue as listed } from "@postwire/core/Catalogue"
import * as Media from "@postwire/core/operations/Media"

/** Every operation by name, the aliases included. */
export const catalogue = { ...listed, ...Media }

/** The type of `catalogue`. */
export type Catalogue = typeof catalogue

/** The name of an operation, aliases left out. */
export type Name = Exclude<keyof Catalogue, keyof typeof aliases>

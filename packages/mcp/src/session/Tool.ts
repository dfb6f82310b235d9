/** A tool as data: the server checks its inputs, runs it behind the gate, and fits its lines into an answer. */
import type { Definition } from "@postwire/core/schema/Definition"
import type { Parameters } from "@postwire/core/schema/Parameters"
import * as Effect from "effect/Effect"
import * as Inputs from "./Inputs.ts"
import type { Failure, Listing, Needs, Toolset } from "./Session.ts"

export type { Failure, Link, Listing, Needs } from "./Session.ts"

/** A declaration of a tool. */
export interface Declaration<P extends Parameters> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** `undefined` for tools that are always offered. */
  readonly toolset: Toolset | undefined
  /** `read` changes nothing; `add` only adds; `change` may remove or replace. */
  readonly effect: "read" | "add" | "change"
  /** False if nothing but this server answers. Default true. */
  readonly openWorld?: boolean | undefined
  /** The operations that it may call. It is offered if the account has the scopes of one. */
  readonly operations: ReadonlyArray<Definition>
  readonly inputs: P
  readonly hints?: Readonly<Record<string, string>> | undefined
  readonly run: (values: Inputs.Values<P>) => Effect.Effect<Listing, Failure, Needs>
}

/** A tool whose inputs are unknown values. */
export interface Tool extends Omit<Declaration<Parameters>, "run"> {
  readonly run: (given: unknown) => Effect.Effect<Listing, Failure, Needs>
}

/** Makes a tool of a declaration. */
export const make = <const P extends Parameters>(declaration: Declaration<P>): Tool => {
  const check = Inputs.check(declaration.name, declaration.inputs)
  return { ...declaration, run: (given) => Effect.flatMap(check(given), declaration.run) }
}

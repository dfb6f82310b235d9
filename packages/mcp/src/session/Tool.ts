/** A tool as data: the server checks its inputs, runs it behind the gate, and fits its lines into an answer. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import type { UploadError } from "@postwire/core/media/UploadOptions"
import type { Definition } from "@postwire/core/schema/Definition"
import type { Parameters } from "@postwire/core/schema/Parameters"
import type { Journal } from "@postwire/core/storage/Journal"
import type { ExportError } from "@postwire/export/files/ExportErrors"
import type { InputRequired, McpRequestContext } from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import type { DryRun, Gate } from "../money/Gate.ts"
import type { Ledger } from "../money/Ledger.ts"
import type { Refused } from "../money/Refused.ts"
import * as Inputs from "./Inputs.ts"
import type { Session } from "./Session.ts"
import type { Toolset } from "./Toolset.ts"

/** Why a tool fails. `InputRequired` is no failure: the host asks its user, and calls again. */
export type Failure = AnyError | UploadError | ExportError | Refused | DryRun | InputRequired

/** The services that tools use. */
export type Needs = Client | Journal | Session | Ledger | Gate | McpRequestContext

/** A file that holds a large result. */
export interface Link {
  readonly uri: string
  readonly name: string
  readonly mimeType: string
  readonly size: number
}

/** The result of a tool. */
export interface Listing {
  readonly lines: ReadonlyArray<string>
  /** The most lines in one answer. */
  readonly rows?: number | undefined
  /** Requests the lines that follow. */
  readonly next?: Effect.Effect<Listing, Failure, Needs> | undefined
  readonly link?: Link | undefined
  /** True if there are texts of strangers in it. */
  readonly hasStrangers?: boolean | undefined
}

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

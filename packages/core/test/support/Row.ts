/** The rows of the specification, with the bounds of the service where it has none; by them operations are tested. */
import type { Definition } from "../../src/schema/Definition.ts"

/** What is known of an operation. */
export interface Row {
  readonly name: string
  /** The name in the specification. */
  readonly specName: string
  readonly aliases: ReadonlyArray<string>
  /** Those of the aliases that are. */
  readonly deprecated: ReadonlyArray<string>
  readonly method: string
  /** By the alternative that selects it; a single route is under `""`. */
  readonly routes: Readonly<Record<string, { readonly neutral: string; readonly x: string }>>
  readonly identity: string | null
  /** `null` where there is no such parameter. */
  readonly userAuth: boolean | null
  readonly lookup: string | null
  readonly needsToken: boolean
  readonly paging: Definition["paging"] | null
  readonly postCap: boolean
  readonly kind: string
  readonly constants?: Readonly<Record<string, unknown>>
  readonly queryConstants?: Readonly<Record<string, string>>
  readonly encoding?: "multipart"
  readonly alternatives?: { readonly of: readonly [string, string]; readonly none: boolean }
  readonly rules?: ReadonlyArray<RowRule>
  readonly params: ReadonlyArray<RowParameter>
  /** Of what the specification does not have: the parameters of its example, and what it could answer. */
  readonly example?: Readonly<Record<string, unknown>>
  readonly answers?: { readonly neutral: unknown; readonly x: unknown }
}

export type RowRule =
  | { readonly rule: "requiredUnless"; readonly param: string; readonly unless: string }
  | { readonly rule: "requires"; readonly param: string; readonly needs: string }
  | { readonly rule: "atLeastOne"; readonly params: ReadonlyArray<string> }
  | { readonly rule: "excludes"; readonly param: string; readonly other: string }

export interface RowParameter {
  readonly name: string
  readonly in: "path" | "query" | "body"
  readonly neutral: string
  readonly x: string
  readonly type: string
  readonly required: boolean
  readonly min?: number | string
  readonly max?: number
  /** Of texts in a list: how long each may be. */
  readonly each?: number
  /** For a project with standard access. */
  readonly standardMax?: number
  readonly default?: number | string
  readonly enum?: ReadonlyArray<string>
  /** Whether other values than those of `enum` are let through. */
  readonly open?: boolean
  /** A value to call with, where the type does not tell one. */
  readonly sample?: Sample
}

/** A value to call with. */
export interface Sample {
  readonly given: unknown
  /** As it travels: text in a path or a query, JSON in a body. */
  readonly sent: unknown
  readonly sentOnX?: unknown
}

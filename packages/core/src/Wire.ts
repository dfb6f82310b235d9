/**
 * The words in which a service speaks, as values: a program holds the tables of those that it names. User code is the same
 * with all of them.
 */
import { identity } from "effect/Function"
import type { Schema } from "effect/Schema"
import * as WireNames from "./WireNames.ts"

/** The words of a service: from the names of this library to its own, and back in what it answers. */
export interface Wire {
  readonly name: WireNames.Wire
  /** Where the service is, unless a setting says otherwise. */
  readonly baseUrl: string | undefined
  /** A route template. */
  readonly path: (template: string) => string
  /** The key of a query parameter. */
  readonly queryKey: (key: string) => string
  /** A field or expansion, or a comma-separated list of them. */
  readonly selectorValue: (value: string) => string
  /** A key of a request body, or a dotted path of keys. */
  readonly bodyKey: (key: string) => string
  /** Compiled once for each schema. */
  readonly toNeutral: (schema: Pick<Schema<unknown>, "ast">) => (value: unknown) => unknown
  /** A problem document, or the `errors` of any body. */
  readonly problemToNeutral: (document: unknown) => unknown
}

/** The words of this library (`posts`). */
export const neutral: Wire = {
  name: "neutral",
  baseUrl: undefined,
  path: identity,
  queryKey: identity,
  selectorValue: identity,
  bodyKey: identity,
  toNeutral: () => identity,
  problemToNeutral: identity
}

/** The words of X (`tweets`). */
export const x: Wire = {
  name: "x",
  baseUrl: "https://api.x.com",
  path: WireNames.path,
  queryKey: WireNames.queryKey,
  selectorValue: WireNames.selectorValue,
  bodyKey: WireNames.bodyKey,
  toNeutral: WireNames.toNeutral,
  problemToNeutral: WireNames.problemToNeutral
}

/** All of them by name, for settings that are text. */
export const named: { readonly [Name in WireNames.Wire]: Wire } = { neutral, x }

/**
 * The name sets of a service, as values: a program bundles only the tables that it uses. User code is the same with all of
 * them.
 */
import { identity } from "effect/Function"
import type { Schema } from "effect/Schema"
import type { Definition } from "../schema/Definition.ts"
import type { WireName } from "../schema/WireName.ts"
import * as NameTables from "./NameTables.ts"
import * as WireNames from "./WireNames.ts"

/** A name set: translates from the neutral names of this library to the service's own, and back. */
export interface Wire {
  readonly name: WireName
  /** The default address of the service. */
  readonly baseUrl: string | undefined
  /** A route template. */
  readonly path: (template: string) => string
  /** The key of a query parameter of an operation. */
  readonly queryKey: (definition: Pick<Definition, "live">, key: string) => string
  /** The translation of an operation's expansions or fields; `undefined` if they need none. */
  readonly selector: (
    definition: Pick<Definition, "live" | "name" | "result">,
    parameter: string
  ) => WireNames.Selector | undefined
  /** A member of an enumeration in a request. */
  readonly value: (name: string) => string
  /** A key of a request body, or a dotted path of keys. */
  readonly bodyKey: (key: string) => string
  /** Tests whether the text of a body may contain names to translate. */
  readonly isForeign: (text: string) => boolean
  /** Translates responses to neutral names, from any name set. Compiled once per schema. */
  readonly toNeutral: (schema: Pick<Schema<unknown>, "ast">) => (value: unknown) => unknown
  /** The inverse, for servers. */
  readonly fromNeutral: (schema: Pick<Schema<unknown>, "ast">) => (value: unknown) => unknown
  /** A problem document, or the `errors` of any body. */
  readonly problemToNeutral: (document: unknown) => unknown
  /** The inverse. */
  readonly problemFromNeutral: (document: unknown) => unknown
  /** The other name set of the same service, and a test whether it has another name for one. */
  readonly elsewhere:
    | { readonly name: WireName; readonly isNamedDifferently: (word: string) => boolean }
    | undefined
}

/** The position of a body parameter of an operation. */
export const positionOf = (
  wire: Wire,
  { at = {}, fixed = [] }: Pick<Definition, "at" | "fixed">,
  name: string
): string => fixed.includes(name) ? at[name] ?? name : wire.bodyKey(at[name] ?? name)

/** The names of this library (`posts`). */
export const neutral: Wire = {
  name: "neutral",
  baseUrl: undefined,
  path: identity,
  queryKey: (_, key) => key,
  selector: () => undefined,
  value: identity,
  bodyKey: identity,
  isForeign: () => false,
  toNeutral: () => identity,
  fromNeutral: () => identity,
  problemToNeutral: identity,
  problemFromNeutral: identity,
  elsewhere: undefined
}

const wireOf = (
  name: WireName,
  words: NameTables.Vocabulary,
  elsewhere: { readonly name: WireName; readonly words: NameTables.Vocabulary },
  streams: NameTables.Vocabulary = words
): Wire => ({
  name,
  baseUrl: "https://api.x.com",
  path: (template) => WireNames.path(words, template),
  queryKey: ({ live }, key) => WireNames.queryKey(live === undefined ? words : streams, key),
  selector: (definition, parameter) =>
    WireNames.selector(definition.live === undefined ? words : streams, definition, parameter),
  value: (name) => WireNames.value(words, name),
  bodyKey: (key) => WireNames.bodyKey(words, key),
  isForeign: WireNames.isForeign,
  toNeutral: WireNames.toNeutral,
  fromNeutral: (schema) => WireNames.fromNeutral(words, schema),
  problemToNeutral: WireNames.problemToNeutral,
  problemFromNeutral: WireNames.problemFromNeutral(words),
  elsewhere: { name: elsewhere.name, isNamedDifferently: WireNames.isNamedDifferently(words, elsewhere.words) }
})

/** The names of X since August 2026 (`/2/tweets?post.fields=`). */
export const x: Wire = /*#__PURE__*/ wireOf("x", NameTables.august, {
  name: "x-2026-02",
  words: NameTables.february
}, NameTables.augustStreams)

/** The names of X in February 2026 (`/2/tweets?tweet.fields=`). */
export const x202602: Wire = /*#__PURE__*/ wireOf("x-2026-02", NameTables.february, {
  name: "x",
  words: NameTables.august
})

const readingAll = (wire: Wire): Wire => ({
  ...wire,
  isForeign: WireNames.isForeign,
  toNeutral: WireNames.toNeutral,
  problemToNeutral: WireNames.problemToNeutral
})

/** All name sets by name, for settings that are text. Each reads responses in any name set. */
export const named: { readonly [Name in WireName]: Wire } = {
  neutral: /*#__PURE__*/ readingAll(neutral),
  x,
  "x-2026-02": x202602
}

/** Their names. */
export const names: readonly [WireName, ...ReadonlyArray<WireName>] = ["neutral", "x", "x-2026-02"]

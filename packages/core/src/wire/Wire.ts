/**
 * The words in which a service speaks, as values: a program holds the tables of those that it names. User code is the same
 * with all of them.
 */
import { identity } from "effect/Function"
import type { Schema } from "effect/Schema"
import type { Definition } from "../schema/Definition.ts"
import type { WireName } from "../schema/WireName.ts"
import * as NameTables from "./NameTables.ts"
import * as WireNames from "./WireNames.ts"

/** The words of a service: from the names of this library to its own, and back in what it answers. */
export interface Wire {
  readonly name: WireName
  /** Where the service is, unless a setting says otherwise. */
  readonly baseUrl: string | undefined
  /** A route template. */
  readonly path: (template: string) => string
  /** The key of a query parameter of an operation. */
  readonly queryKey: (definition: Pick<Definition, "live">, key: string) => string
  /** How an operation's expansions or fields are said; none where they go as they are. */
  readonly selector: (
    definition: Pick<Definition, "live" | "name" | "result">,
    parameter: string
  ) => WireNames.Selector | undefined
  /** A member of an enumeration that a request holds. */
  readonly value: (name: string) => string
  /** A key of a request body, or a dotted path of keys. */
  readonly bodyKey: (key: string) => string
  /** Whether the text of a body can hold names to bring into neutral ones. */
  readonly isForeign: (text: string) => boolean
  /** Brings what it answers into neutral names, from whatever words. Compiled once for each schema. */
  readonly toNeutral: (schema: Pick<Schema<unknown>, "ast">) => (value: unknown) => unknown
  /** The inverse, for who answers. */
  readonly fromNeutral: (schema: Pick<Schema<unknown>, "ast">) => (value: unknown) => unknown
  /** A problem document, or the `errors` of any body. */
  readonly problemToNeutral: (document: unknown) => unknown
  /** The inverse. */
  readonly problemFromNeutral: (document: unknown) => unknown
  /** The wire of the words before or after these, and whether it has another one for a word. */
  readonly elsewhere:
    | { readonly name: WireName; readonly isSaidOtherwise: (word: string) => boolean }
    | undefined
}

/** The words of this library (`posts`). */
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

const speaking = (
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
  elsewhere: { name: elsewhere.name, isSaidOtherwise: WireNames.isSaidOtherwise(words, elsewhere.words) }
})

/** The words of X as they are since August 2026 (`/2/tweets?post.fields=`). */
export const x: Wire = /*#__PURE__*/ speaking("x", NameTables.august, {
  name: "x-2026-02",
  words: NameTables.february
}, NameTables.augustStreams)

/** The words of X as they were in February 2026 (`/2/tweets?tweet.fields=`). */
export const x202602: Wire = /*#__PURE__*/ speaking("x-2026-02", NameTables.february, {
  name: "x",
  words: NameTables.august
})

const readingAll = (wire: Wire): Wire => ({
  ...wire,
  isForeign: WireNames.isForeign,
  toNeutral: WireNames.toNeutral,
  problemToNeutral: WireNames.problemToNeutral
})

/** All of them by name, for settings that are text. Each reads whatever words come. */
export const named: { readonly [Name in WireName]: Wire } = {
  neutral: /*#__PURE__*/ readingAll(neutral),
  x,
  "x-2026-02": x202602
}

/** Their names. */
export const names: readonly [WireName, ...ReadonlyArray<WireName>] = ["neutral", "x", "x-2026-02"]

/**
 * The journal of uploads and threads, from which an interrupted one resumes: one text per key, and one lock per key, so that only
 * one process works on a key. `@postwire/node` has a journal in files.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Texts from "./Texts.ts"

/** A journal. A key is any text except the empty one; the texts contain no credentials. */
export interface Entries extends Texts.Texts {}

/** The maximum length of the key of an upload or a thread, in UTF-16 code units. */
const longestKey = 128

/** The rule for the key of an upload or a thread. */
export const keyRule = `must be a text of 1 to ${longestKey} characters`

/** Tests a value against that rule. Texts that are not well-formed would share one file. */
export const isKey = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= longestKey && value.isWellFormed()

/** The current journal. */
export class Journal extends /*#__PURE__*/ Context.Service<Journal, Entries>()("@postwire/core/storage/Journal") {}

/** A journal for one process, with initial texts. */
export const makeMemory: (texts?: Readonly<Record<string, string>>) => Entries = Texts.makeMemory

/** A journal for one process. */
export const layerMemory: Layer.Layer<Journal> = /*#__PURE__*/ Layer.sync(Journal, () => makeMemory())

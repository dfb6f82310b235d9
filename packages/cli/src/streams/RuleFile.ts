/**
 * Parses rules of the filtered stream from text: one per line, with an optional tag in brackets before it. An indented line
 * continues the rule above; a line that starts with `#` and a blank is a comment.
 */
import type { WantedRule } from "@postwire/core/streams/rules/StreamRules"
import * as Text from "../terminal/Text.ts"

export interface Place {
  /** From 1. */
  readonly line: number
  /** UTF-16 units before it on the line. */
  readonly column: number
  readonly text: string
}

/** A line of a rule, with its offset in the rule's value. */
interface Part extends Place {
  readonly at: number
}

export interface Written extends WantedRule {
  readonly parts: ReadonlyArray<Part>
}

export interface Fault extends Place {
  readonly problem: string
}

export const parse = (content: string): ReadonlyArray<Written> | Fault => {
  const rules: Array<{ value: string; readonly tag?: string; readonly parts: Array<Part> }> = []
  for (const [i, text] of content.replace(/^\ufeff/, "").split(/\r\n|\r|\n/).entries()) {
    if (/^\s*$|^\s*#(\s|$)/.test(text)) continue
    const line = i + 1
    const last = rules.at(-1)
    if (/^\s/.test(text) && last !== undefined) {
      last.parts.push({ line, text, column: text.search(/\S/), at: last.value.length + 1 })
      last.value += ` ${text.trim()}`
      continue
    }
    const [, tagged = "", tag] = /^\s*(\[("(?:[^"\\]|\\.)*"|[^\]]*)\])/.exec(text) ?? []
    const name = tag === undefined ? "" : tagOf(tag)
    if (name === undefined) return { line, column: text.indexOf("["), text, problem: "The tag is not a JSON string" }
    const column = tagged === "" ? text.search(/\S/) : text.indexOf(tagged) + tagged.length + blanksAfter(text, tagged)
    const value = text.slice(column).trimEnd()
    if (value === "") return { line, column, text, problem: "There is no rule after the tag" }
    rules.push({ value, ...(name === "" ? {} : { tag: name }), parts: [{ line, text, column, at: 0 }] })
  }
  return rules
}

const blanksAfter = (text: string, tagged: string): number =>
  text.slice(text.indexOf(tagged) + tagged.length).match(/^\s*/)?.[0].length ?? 0

const tagOf = (written: string): string | undefined => {
  if (!written.startsWith("\"")) return written.trim()
  try {
    const tag: unknown = JSON.parse(written)
    return typeof tag === "string" ? tag : undefined
  } catch {
    return undefined
  }
}

/** The place in the file of an offset in a rule's value. */
export const placeOf = ({ parts }: Written, position: number): Place => {
  const part = parts.findLast(({ at }) => at <= position)
  return part === undefined
    ? { line: 1, column: 0, text: "" }
    : { line: part.line, text: part.text, column: part.column + position - part.at }
}

export const line = ({ tag, value }: WantedRule): string => {
  const text = Text.joinLines(value)
  if (tag !== undefined && tag !== "") {
    return `[${/^[^\]"\s](?:[^\]]*[^\]\s])?$/.test(tag) ? tag : JSON.stringify(tag)}] ${text}`
  }
  return /^(\[|#(\s|$))/.test(text) ? `[] ${text}` : text
}

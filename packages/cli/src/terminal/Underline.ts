/** Shows a place in a line of text: the line, shortened if necessary, and a line of marks below the place. */
import * as Text from "./Text.ts"

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

/** Two lines of at most `columns`. `from` and `to` are UTF-16 offsets. */
export const lines = (text: string, from: number, to: number, columns: number): readonly [string, string] => {
  const shown = Text.plain(text.replace(/\s/g, " "))
  const before = lastOf(shown.slice(0, from), Math.max(1, Math.floor(columns / 2)))
  const marked = shown.slice(from, Math.max(from, to))
  const space = Text.width(before)
  const marks = Math.max(1, Math.min(Text.width(marked), columns - space))
  return [Text.cut(before + shown.slice(from), columns).trimEnd(), " ".repeat(space) + "^".repeat(marks)]
}

/** The end of a text, of at most `columns`, with an ellipsis if it was shortened. */
const lastOf = (text: string, columns: number): string => {
  if (Text.width(text) <= columns) return text
  let left = columns - 1
  let kept = ""
  for (const { segment } of [...graphemes.segment(text)].reverse()) {
    left -= Text.width(segment)
    if (left < 0) break
    kept = segment + kept
  }
  return `…${kept}`
}

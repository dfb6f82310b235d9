/** Formats texts and figures for terminals. */
import { oneLine } from "@postwire/node/TerminalText"
import { displayWidth } from "effect/cli/CliOutput"
import { wrapAnsi } from "fast-wrap-ansi"

export { oneLine, plain, plainJson } from "@postwire/node/TerminalText"

/** Joins trimmed lines to one. */
export const joinLines = (text: string): string =>
  text.split(/[\r\n]+/).map((line) => line.trim()).filter((line) => line !== "").join(" ")

/** The width of text on a terminal, in columns. */
export const width: (text: string) => number = displayWidth

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

/** Text of at most `columns`, with an ellipsis if it was shortened. */
export const cut = (text: string, columns: number): string => {
  if (width(text) <= columns) return text
  let kept = ""
  let left = columns - 1
  for (const { segment } of graphemes.segment(text)) {
    left -= width(segment)
    if (left < 0) break
    kept += segment
  }
  return columns < 1 ? "" : `${kept}…`
}

/** Text wrapped to at most `columns`, at spaces where possible; all lines but the first are indented. */
export const wrap = (text: string, columns: number, indent = 0): ReadonlyArray<string> =>
  wrapAnsi(text, Math.max(1, columns - indent), { hard: true }).split("\n")
    .map((line, i) => i === 0 ? line : " ".repeat(indent) + line)

/** Text padded to `columns`. */
export const pad = (text: string, columns: number, isNumber = false): string => {
  const space = " ".repeat(Math.max(0, columns - width(text)))
  return isNumber ? space + text : text + space
}

/** A whole number with separators: 20,107. */
export const count = (value: number): string => Math.round(value).toLocaleString("en-US")

/** A number with its noun: `1 page`, `20,107 pages`. The noun is a plural with `s`. */
export const quantity = (value: number, nouns: string): string =>
  `${count(value)} ${Math.round(value) === 1 ? nouns.replace(/s\b/, "") : nouns}`

/** A duration: `12 s`, `3 min 20 s`, `5 h 02 min`, `3 d 4 h`. */
export const duration = (seconds: number): string => {
  const s = Math.max(0, Math.round(seconds))
  if (s < 60) return `${s} s`
  if (s < 3_600) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`
  if (s < 86_400) return `${Math.floor(s / 3_600)} h ${String(Math.floor(s / 60) % 60).padStart(2, "0")} min`
  return `${count(Math.floor(s / 86_400))} d ${Math.floor(s / 3_600) % 24} h`
}

/** A time of day in the local time zone. */
export const clock = (millis: number): string => new Date(millis).toTimeString().slice(0, 8)

/** A time of the service, to the minute. */
export const minute = (time: string): string => oneLine(time).slice(0, 16).replace("T", " ")

export const size = (bytes: number): string =>
  bytes < 1e3 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`

/** An estimate in millionths of a dollar: to the dollar; below ten dollars, to the cent. */
export const roundDollars = (micros: number): string =>
  micros < 10_000_000 ? dollars(Math.round(micros / 10_000) * 10_000) : `$${count(micros / 1_000_000)}`

/** An amount in millionths of a dollar: to the cent; below a dollar, as exact as prices are. */
export const dollars = (micros: number): string => {
  const amount = micros / 1e6
  const digits = amount >= 1 || micros % 10_000 === 0 ? 2 : micros % 1_000 === 0 ? 3 : 6
  return `$${amount.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

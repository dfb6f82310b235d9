/** Parses a thread from Markdown: posts between lines of hyphens, with images in their text. */

export interface Image {
  /** The path as written, relative to the file of the thread. */
  readonly path: string
  readonly alt: string
}

export interface Part {
  readonly text: string
  readonly images: ReadonlyArray<Image>
  /** Its first line in the file, from 1. */
  readonly line: number
}

const separator = /^-{3,}[ \t]*$/

/**
 * `![alt](path)`, `![alt](<path>)` and `![alt](path "title")`, with balanced parentheses in a path. At every position only one
 * alternative matches, and no part crosses the next `![` or `<`, so the time is linear.
 */
const image =
  /(?<!\\)!\[((?:\\.|!(?!\[)|[^\]\\!])*)\](?:\(\s*<([^<>]+)>(?:\s+"[^"]*")?\s*\)|\(((?:[^()"]|\([^()]*\))+)(?:(?<=\s)"[^"]*"\s*)?\))/g

/** The posts of a file, including empty ones. */
export const parse = (markdown: string): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let from = 0
  const lines = markdown.split(/\r\n|\r|\n/)
  for (let at = 0; at <= lines.length; at++) {
    if (at < lines.length && !separator.test(lines[at] ?? "")) continue
    parts.push(partOf(lines.slice(from, at), from + 1))
    from = at + 1
  }
  return parts
}

const partOf = (lines: ReadonlyArray<string>, line: number): Part => {
  const images: Array<Image> = []
  const kept: Array<string> = []
  let isAfterImage = false
  for (const written of lines) {
    const before = images.length
    const text = written.replace(image, (_, alt: string, bracketed: string | undefined, plain: string | undefined) => {
      images.push({ path: (bracketed ?? plain ?? "").trim(), alt: alt.replace(/\\(.)/g, "$1").trim() })
      return ""
    })
    const isEmpty = text.trim() === ""
    // A line with nothing but images is removed, together with one of the blank lines around it.
    if (isEmpty && images.length > before) {
      isAfterImage = true
      continue
    }
    if (isEmpty && isAfterImage && kept.at(-1)?.trim() === "") continue
    isAfterImage = false
    kept.push(
      (images.length > before ? text.replace(/ {2,}/g, " ").trimEnd() : text).replace(/^\\(?=-)|\\(?=!\[)/g, "")
    )
  }
  const empty = lines.findIndex((text) => text.trim() !== "")
  return { text: kept.join("\n").trim(), images, line: line + Math.max(0, empty) }
}

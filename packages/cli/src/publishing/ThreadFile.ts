/** A thread as a file of Markdown has it: its posts between lines of hyphens, with images among their text. */

/** An image of a post. */
export interface Image {
  /** The path as it is written: relative to the file of the thread. */
  readonly path: string
  readonly alt: string
}

/** A post of a thread. */
export interface Part {
  readonly text: string
  readonly images: ReadonlyArray<Image>
  /** The line of the file where it begins, from 1. */
  readonly line: number
}

const separator = /^-{3,}[ \t]*$/

/**
 * `![alt](path)`, `![alt](<path>)` and `![alt](path "title")`; parentheses in a path come in pairs. At every place only one
 * alternative fits, and no part reaches beyond the next `![` or `<`: so the time grows with the text alone.
 */
const image =
  /(?<!\\)!\[((?:\\.|!(?!\[)|[^\]\\!])*)\](?:\(\s*<([^<>]+)>(?:\s+"[^"]*")?\s*\)|\(((?:[^()"]|\([^()]*\))+)(?:(?<=\s)"[^"]*"\s*)?\))/g

/** The posts of a file, empty ones too. */
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
    // What had nothing but images is no line of the text, and leaves one gap where there were two.
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

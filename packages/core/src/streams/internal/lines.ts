/** Complete lines of bytes that come in pieces, cut anywhere: inside a character, inside `\r\n`. */

const lineFeed = 10
const carriageReturn = 13

/** The longest line in bytes, unless another length is given. */
export const longestLine = 4 * 1024 * 1024

/** Keeps the beginning of a line until its end has come. Of one that is too long nothing is kept. */
export class LineReader {
  readonly #longest: number
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  /** The beginning of a line, with room for more. */
  #kept = nothing
  #size = 0

  constructor(longest: number = longestLine) {
    this.#longest = longest
  }

  /** Gives the lines that a piece ends, without their ends, and reports each that is too long, as soon as it is. */
  push(piece: Uint8Array, onLine: (line: string) => void, onTooLong: () => void): void {
    const end = piece.lastIndexOf(lineFeed) + 1
    if (end === 0) return this.#keep(piece, onTooLong)
    let from = 0
    if (this.#size > 0) {
      from = piece.indexOf(lineFeed) + 1
      this.#keep(piece.subarray(0, from), onTooLong)
      const isWhole = this.#size <= this.#longest
      const line = this.#taken()
      if (isWhole) onLine(withoutEnd(line))
    }
    if (end - from > this.#longest) this.#each(piece.subarray(from, end), onLine, onTooLong)
    else if (from < end) {
      // A view costs more than what it saves where there is nothing else.
      const text = this.#decoder.decode(from === 0 && end === piece.length ? piece : piece.subarray(from, end))
      let at = 0
      for (let next = text.indexOf("\n"); next >= 0; next = text.indexOf("\n", at)) {
        onLine(text.slice(at, next > at && text.charCodeAt(next - 1) === carriageReturn ? next - 1 : next))
        at = next + 1
      }
    }
    if (end < piece.length) this.#keep(piece.subarray(end), onTooLong)
  }

  /** What came after the last end of a line: a part of one. Empty when there is none. */
  end(): string {
    const rest = this.#taken()
    return rest.endsWith("\r") ? rest.slice(0, -1) : rest
  }

  #taken(): string {
    const text = this.#decoder.decode(this.#kept.subarray(0, this.#size))
    this.#kept = nothing
    this.#size = 0
    return text
  }

  /** Lines of which one may be too long. */
  #each(lines: Uint8Array, onLine: (line: string) => void, onTooLong: () => void): void {
    let at = 0
    for (let next = lines.indexOf(lineFeed); next >= 0; next = lines.indexOf(lineFeed, at)) {
      if (next + 1 - at > this.#longest) onTooLong()
      else onLine(withoutEnd(this.#decoder.decode(lines.subarray(at, next + 1))))
      at = next + 1
    }
  }

  /** Copied: the memory of a piece may be larger than what is kept of it, and be used again. */
  #keep(part: Uint8Array, onTooLong: () => void): void {
    const before = this.#size
    this.#size += part.length
    if (this.#size > this.#longest) {
      this.#kept = nothing
      if (before <= this.#longest) onTooLong()
      return
    }
    if (this.#size > this.#kept.length) {
      // Twice as much: a line may come byte by byte.
      const larger = new Uint8Array(Math.max(this.#size, 2 * this.#kept.length))
      larger.set(this.#kept)
      this.#kept = larger
    }
    this.#kept.set(part, before)
  }
}

const nothing = new Uint8Array(0)

const withoutEnd = (line: string): string =>
  line.slice(0, line.charCodeAt(line.length - 2) === carriageReturn ? -2 : -1)

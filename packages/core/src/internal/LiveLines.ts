/** Complete lines of bytes that come in pieces, cut anywhere: inside a character, inside `\r\n`. */

const lineFeed = 10
const carriageReturn = 13

/** The longest line in bytes, unless another length is given. */
export const longestLine = 4 * 1024 * 1024

/** Keeps the beginning of a line until its end has come. Of one that is too long nothing is kept. */
export class LiveLines {
  readonly #longest: number
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  #kept: Array<Uint8Array> = []
  #size = 0

  constructor(longest: number = longestLine) {
    this.#longest = longest
  }

  /** Gives the lines that a piece ends, without their ends, and tells of each that is too long. */
  push(piece: Uint8Array, onLine: (line: string) => void, onTooLong: () => void): void {
    const end = piece.lastIndexOf(lineFeed) + 1
    if (end === 0) return this.#keep(piece, 0)
    let from = 0
    if (this.#size > 0) {
      from = piece.indexOf(lineFeed) + 1
      this.#keep(piece, 0, from)
      if (this.#size > this.#longest) onTooLong()
      else onLine(withoutEnd(this.#decoder.decode(joined(this.#kept, this.#size))))
      this.#kept = []
      this.#size = 0
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
    if (end < piece.length) this.#keep(piece, end)
  }

  /** What came after the last end of a line: a part of one. Empty when there is none. */
  end(): string {
    const rest = this.#size > this.#longest ? "" : this.#decoder.decode(joined(this.#kept, this.#size))
    this.#kept = []
    this.#size = 0
    return rest.endsWith("\r") ? rest.slice(0, -1) : rest
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
  #keep(piece: Uint8Array, from: number, end: number = piece.length): void {
    this.#size += end - from
    if (this.#size > this.#longest) this.#kept = []
    else this.#kept.push(new Uint8Array(piece.subarray(from, end)))
  }
}

const withoutEnd = (line: string): string =>
  line.slice(0, line.charCodeAt(line.length - 2) === carriageReturn ? -2 : -1)

const joined = (parts: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  const [first] = parts
  if (parts.length === 1 && first !== undefined) return first
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

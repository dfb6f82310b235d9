/** Complete lines of bytes that come in pieces, cut anywhere: inside a character, inside `\r\n`. */

const lineFeed = 10

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
    const last = piece.lastIndexOf(lineFeed)
    if (last < 0) return this.#keep(piece)
    let from = 0
    if (this.#size > 0) {
      from = piece.indexOf(lineFeed) + 1
      this.#keep(piece.subarray(0, from))
      if (this.#size > this.#longest) onTooLong()
      else onLine(withoutEnd(this.#decoder.decode(joined(this.#kept, this.#size))))
      this.#kept = []
      this.#size = 0
    }
    if (from <= last) {
      const text = this.#decoder.decode(piece.subarray(from, last + 1))
      let at = 0
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
        onLine(text.slice(at, end > at && text.charCodeAt(end - 1) === 13 ? end - 1 : end))
        at = end + 1
      }
    }
    this.#keep(piece.subarray(last + 1))
  }

  /** What came after the last end of a line: a part of one. Empty when there is none. */
  end(): string {
    const rest = this.#size > this.#longest ? "" : this.#decoder.decode(joined(this.#kept, this.#size))
    this.#kept = []
    this.#size = 0
    return rest.endsWith("\r") ? rest.slice(0, -1) : rest
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return
    this.#size += part.length
    if (this.#size > this.#longest) this.#kept = []
    // The memory of a piece may be larger than what is kept of it.
    else this.#kept.push(part.slice())
  }
}

const withoutEnd = (line: string): string => line.slice(0, line.charCodeAt(line.length - 2) === 13 ? -2 : -1)

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

/** Lines of a text that comes in pieces of bytes. No more than one line of it is kept. */

/** A line is longer than it may be. */
export const tooLong: unique symbol = Symbol("tooLong")

/** Cuts pieces into lines, which end with a line feed, or a carriage return before it. */
export class Lines {
  readonly #decoder = new TextDecoder()
  readonly #longest: number
  #rest = ""

  /** `longest` is in characters. */
  constructor(longest: number) {
    this.#longest = longest
  }

  /** The lines that a piece ends. */
  push(piece: Uint8Array): ReadonlyArray<string> | typeof tooLong {
    const lines = (this.#rest + this.#decoder.decode(piece, { stream: true })).split("\n")
    this.#rest = lines.pop() ?? ""
    if (this.#rest.length > this.#longest || lines.some((line) => line.length > this.#longest)) return tooLong
    return lines.map(withoutReturn)
  }

  /** What came after the last line feed, which is the last line or a part of it. */
  end(): string {
    return withoutReturn(this.#rest + this.#decoder.decode())
  }
}

const withoutReturn = (line: string): string => line.endsWith("\r") ? line.slice(0, -1) : line

/** Splits text that arrives in pieces of bytes into lines. At most one line is kept in memory. */

/** Splits pieces into lines, which end with a line feed, optionally after a carriage return. */
export class Lines {
  readonly #decoder = new TextDecoder()
  readonly #longest: number
  #rest = ""
  #isTooLong = false

  /** `longest` is in characters. */
  constructor(longest: number) {
    this.#longest = longest
  }

  /** True if the line after those returned last is too long. */
  get isTooLong(): boolean {
    return this.#isTooLong
  }

  /** The lines that a piece completes, up to one that is too long. */
  push(piece: Uint8Array): ReadonlyArray<string> {
    const lines = (this.#rest + this.#decoder.decode(piece, { stream: true })).split("\n")
    this.#rest = lines.pop() ?? ""
    const long = lines.findIndex((line) => line.length > this.#longest)
    this.#isTooLong = long >= 0 || this.#rest.length > this.#longest
    return (long < 0 ? lines : lines.slice(0, long)).map(withoutReturn)
  }

  /** The text after the last line feed: the last line or a part of it. */
  end(): string {
    return withoutReturn(this.#rest + this.#decoder.decode())
  }
}

const withoutReturn = (line: string): string => line.endsWith("\r") ? line.slice(0, -1) : line

/** Lines of a text that comes in pieces of bytes. No more than one line of it is kept. */

/** Cuts pieces into lines, which end with a line feed, or a carriage return before it. */
export class Lines {
  readonly #decoder = new TextDecoder()
  readonly #longest: number
  #rest = ""
  #isTooLong = false

  /** `longest` is in characters. */
  constructor(longest: number) {
    this.#longest = longest
  }

  /** Whether a line is longer than it may be: the one after those that were given last. */
  get isTooLong(): boolean {
    return this.#isTooLong
  }

  /** The lines that a piece ends, up to one that is too long. */
  push(piece: Uint8Array): ReadonlyArray<string> {
    const lines = (this.#rest + this.#decoder.decode(piece, { stream: true })).split("\n")
    this.#rest = lines.pop() ?? ""
    const long = lines.findIndex((line) => line.length > this.#longest)
    this.#isTooLong = long >= 0 || this.#rest.length > this.#longest
    return (long < 0 ? lines : lines.slice(0, long)).map(withoutReturn)
  }

  /** What came after the last line feed, which is the last line or a part of it. */
  end(): string {
    return withoutReturn(this.#rest + this.#decoder.decode())
  }
}

const withoutReturn = (line: string): string => line.endsWith("\r") ? line.slice(0, -1) : line

/**
 * Where a command prints: data on standard output, everything else on standard error. This module alone knows whether
 * they are terminals and how wide they are; a test has terminals of its own.
 */
import * as Context from "effect/Context"

/** A stream that is printed on. */
export interface Screen {
  readonly isTerminal: boolean
  /** The width of the terminal; 80 where there is none. */
  readonly columns: number
  /** Writes what is drawn in place. Lines go through Effect's Console. */
  readonly write: (text: string) => void
}

/** Both streams of a command. */
export interface Terminal {
  readonly output: Screen
  readonly errors: Screen
}

const screenOf = (stream: NodeJS.WriteStream): Screen => ({
  get isTerminal() {
    return stream.isTTY === true
  },
  get columns() {
    return stream.isTTY === true ? stream.columns || 80 : 80
  },
  write: (text) => void stream.write(text)
})

/** Those of this process, unless others are provided. */
export const Terminal = Context.Reference<Terminal>("@postwire/cli/terminal/Terminal", {
  defaultValue: () => ({ output: screenOf(process.stdout), errors: screenOf(process.stderr) })
})

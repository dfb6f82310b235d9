/** The standard streams. Tests replace them to simulate terminals. */
import * as Context from "effect/Context"

export interface Screen {
  readonly isTerminal: boolean
  /** The width of the terminal; 80 without one. */
  readonly columns: number
  /** Writes what is drawn in place. Lines are printed with Effect's Console. */
  readonly write: (text: string) => void
}

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

/** The streams of this process, unless others are provided. */
export const Terminal = Context.Reference<Terminal>("@postwire/cli/terminal/Terminal", {
  defaultValue: () => ({ output: screenOf(process.stdout), errors: screenOf(process.stderr) })
})

/** The standard streams. Tests replace them to simulate terminals. */
import * as Context from "effect/Context"

export interface Screen {
  readonly isTerminal: boolean
  /** The width of the terminal; 80 without one. */
  readonly columns: number
  /** True for colours and symbols. Default false. */
  readonly hasColors?: boolean
  /** Writes what is drawn in place. Lines are printed with Effect's Console. */
  readonly write: (text: string) => void
}

export interface Terminal {
  readonly output: Screen
  readonly errors: Screen
  /** True with `--quiet`: neither progress nor notices are shown. Default false. */
  readonly isQuiet?: boolean
}

/** The rule of Effect's prompts, which know standard output only. */
export const hasColors = (isTerminal: boolean, { FORCE_COLOR, NO_COLOR, TERM }: NodeJS.ProcessEnv): boolean =>
  TERM !== "dumb" && (NO_COLOR ?? "") === "" && (isTerminal || !/^(0|false)?$/i.test(FORCE_COLOR ?? ""))

const screenOf = (stream: NodeJS.WriteStream): Screen => ({
  get isTerminal() {
    return stream.isTTY === true
  },
  get columns() {
    return stream.isTTY === true ? stream.columns || 80 : 80
  },
  get hasColors() {
    return hasColors(stream.isTTY === true, process.env)
  },
  write: (text) => void stream.write(text)
})

/** The streams of this process, unless others are provided. */
export const Terminal = Context.Reference<Terminal>("@postwire/cli/terminal/Terminal", {
  defaultValue: () => ({ output: screenOf(process.stdout), errors: screenOf(process.stderr) })
})

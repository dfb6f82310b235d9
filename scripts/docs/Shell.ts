/** The shell blocks of the documents, and terminals that run them as a user does. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"

/** A shell block of a page. */
export interface Block {
  /** Its page and line, such as `docs/start.md:49`. */
  readonly place: string
  readonly code: string
  /** Why it does not run: `<!-- not run: it needs the live service -->` before it. */
  readonly notRun: string | undefined
}

/** A block, and the line before it. Blocks of programs are run by the tests of the programs. */
const pattern = /^(?:<!-- ([^\n]+) -->\n)?(`{3,})(?:sh|bash|shell)\n([^]*?)^\2$/gm

/** The shell blocks of a page, except those that come from a program. */
export const blocksOf = (page: string, root: string): ReadonlyArray<Block> => {
  const source = readFileSync(join(root, page), "utf8")
  return Array.from(source.matchAll(pattern), ({ 0: { length }, 1: note = "", 3: code = "", index }) => ({
    place: `${page}:${source.slice(0, index + length).split("\n").length - code.split("\n").length}`,
    code,
    note
  })).flatMap(({ code, note, place }) =>
    note.startsWith("from ") ? [] : [{ code, place, notRun: /^not run: (.+)$/.exec(note)?.[1] }]
  )
}

/** The TypeScript programs of a page. */
export const programsOf = (page: string, root: string): ReadonlyArray<string> =>
  Array.from(readFileSync(join(root, page), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm), ([, code = ""]) => code)

/** The README and the guides. */
export const pages = (
  root: string
): ReadonlyArray<string> => ["README.md", ...globSync("docs/*.md", { cwd: root }).sort()]

/** The end of a block, and what it printed. */
export interface Ended {
  readonly status: number | null
  readonly printed: string
}

/** A terminal, which keeps its folder and its variables from block to block. */
export class Terminal {
  readonly #env: NodeJS.ProcessEnv

  /** `state` is the path of a file for the variables. */
  constructor(cwd: string, env: NodeJS.ProcessEnv, state: string) {
    this.#env = { ...env, START: cwd, STATE: state }
  }

  /** Starts a block in a process group of its own. */
  start(code: string): ChildProcess {
    const kept = `[ ! -e "$STATE" ] || . "$STATE"
cd "$START"
set -eo pipefail
trap 'START=$PWD; export START; export -p > "$STATE"' EXIT
`
    return spawn("bash", ["--noprofile", "--norc", "-c", kept + code], {
      env: this.#env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"]
    })
  }

  /** Runs a block to its end. */
  async run(code: string): Promise<Ended> {
    const child = this.start(code)
    const [printed, errors, [status]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, "close")
    ])
    return { status, printed: printed + errors }
  }
}

/** Presses Ctrl-C: interrupts all processes of a block. */
export const interrupt = async (child: ChildProcess): Promise<void> => {
  const closed = once(child, "close")
  child.stdout?.resume()
  child.stderr?.resume()
  process.kill(-child.pid!, "SIGINT")
  await closed
}

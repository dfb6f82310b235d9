/** Tutorials as steps, and the terminals of their reader. */
import { assert } from "@effect/vitest"
import type { ChildProcess } from "node:child_process"
import { mkdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { interrupt, Terminal } from "./Shell.ts"

/**
 * A step of a tutorial: a block, or Ctrl-C. The comment before a block says what is special about it:
 * - `<!-- from examples/tutorials/bot.ts -->`: the file `bot.ts`, which the reader saves
 * - `<!-- running: sandbox -->`: commands in a terminal of their own, where they keep running
 * - `<!-- prints: sandbox -->`: the text that these print next
 * - `<!-- not run: reason -->`: commands that do not run here
 *
 * `<!-- Ctrl-C: sandbox -->` stands alone. A `text` block without a comment is the output of the commands before it.
 */
export interface Step {
  /** Its page and line, such as `docs/tutorials/2-bot.md:49`. */
  readonly place: string
  readonly kind: "sh" | "text" | "file" | "running" | "prints" | "Ctrl-C" | "not run"
  /** The file, the running commands, or the reason. */
  readonly about: string
  readonly code: string
}

const kinds = { from: "file", running: "running", prints: "prints", "Ctrl-C": "Ctrl-C", "not run": "not run" } as const

const pattern =
  /^(?:<!-- (from|running|prints|not run):? (.+) -->\n)?(`{3,})(\w+)\n([^]*?)^\3$|^<!-- (Ctrl-C): (\w+) -->$/gm

/** The steps of a page. Throws where a block would silently not be checked. */
export const stepsOf = (page: string, source: string): ReadonlyArray<Step> =>
  Array.from(source.matchAll(pattern), (match): Step => {
    const [, note, about = "", , language = "", code = "", stop, stopped] = match
    const place = `${page}:${source.slice(0, match.index).split("\n").length}`
    if (stop !== undefined) return { place, kind: "Ctrl-C", about: stopped!, code }
    if (note !== undefined) return { place, kind: kinds[note as keyof typeof kinds], about, code }
    if (language !== "sh" && language !== "text") {
      throw new Error(`${place} is a block of ${language} without a comment`)
    }
    return { place, kind: language, about, code }
  })

/** Replaces what differs from run to run: numbers, with what belongs to them, and the padding of columns. */
const steady = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll(/\d(?:[\d.,:]*\d)?/g, "0").replaceAll(/ +/g, " ").replaceAll(/[─█]+/g, "─")
    .replaceAll(/ $/gm, "")

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")

/** The start of what was printed that a tutorial shows: `…` is any text of a line, and any lines where it stands alone. */
const startOf = (shown: string): string =>
  steady(shown).split("\n").slice(0, -1)
    .map((line) => line === "…" ? "(?:.*\\n)*?" : `${escaped(line).replaceAll("…", ".*")}\\n`).join("")

/** Returns true if a tutorial shows what was printed. Numbers are any numbers. */
export const isShown = (shown: string, printed: string): boolean => RegExp(`^${startOf(shown)}$`).test(steady(printed))

/** Commands that keep running, with what they have printed and no block has shown. */
class Running {
  printed = ""
  ended = false
  readonly child: ChildProcess

  constructor(child: ChildProcess) {
    this.child = child
    child.once("close", () => {
      this.ended = true
    })
    for (const output of [child.stdout, child.stderr]) {
      output?.setEncoding("utf8").on("data", (text: string) => {
        this.printed += text
      })
    }
  }

  /** Waits for the text: for a minute, and not after the end of the commands. */
  async show({ code, place }: Step): Promise<void> {
    for (let i = 0, ended = false; i < 1200 && !ended; i++) {
      ended = this.ended
      const printed = steady(this.printed)
      const found = RegExp(`^${startOf(code)}`).exec(printed)
      if (found !== null) {
        this.printed = printed.slice(found[0].length)
        return
      }
      await sleep(50)
    }
    assert.fail(`${place} shows\n${code}\nprinted was\n${this.printed}`)
  }
}

/** How a tutorial is run. */
export interface Reader {
  /** The folder of the reader, which is empty. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** Replaces ports that may be in use. */
  readonly adapt: (code: string) => string
}

/** Follows a page as its reader does. Returns the number of steps that ran. */
export const follow = async (page: string, root: string, { adapt, env, folder }: Reader): Promise<number> => {
  const states = `${folder}.states`
  mkdirSync(states)
  const first = new Terminal(folder, env, join(states, "first"))
  const running = new Map<string, Running>()
  let last = { printed: "", of: "" }
  const run = async (code: string, place: string) => {
    const { printed, status } = await first.run(`exec 2>&1\n${code}`)
    assert.strictEqual(status, 0, `${place}\n${code}${printed}`)
    return printed
  }
  const take = async (step: Step): Promise<void> => {
    const { about, kind, place } = step
    const code = adapt(step.code)
    if (kind === "sh") last = { printed: await run(code, place), of: "" }
    else if (kind === "file") await run(`cat > ${basename(about)} << 'THE END'\n${code}THE END\n`, place)
    else if (kind === "running") {
      const state = join(states, about)
      const terminal = new Terminal((await run("pwd", place)).trim(), env, state)
      running.set(about, new Running(terminal.start(`exec 2>&1\n${code}`)))
      last = { printed: "", of: about }
    } else if (kind === "Ctrl-C") {
      await interrupt(running.get(about)!.child)
      last = { printed: "", of: about }
    } else if (kind === "prints" || last.of !== "") await running.get(kind === "prints" ? about : last.of)!.show(step)
    else assert.isTrue(isShown(step.code, last.printed), `${place} shows\n${step.code}\nprinted was\n${last.printed}`)
  }
  try {
    const steps = stepsOf(page, readFileSync(join(root, page), "utf8")).filter(({ kind }) => kind !== "not run")
    for (const step of steps) await take(step)
    return steps.length
  } finally {
    for (const { child, ended } of running.values()) if (!ended) await interrupt(child)
  }
}

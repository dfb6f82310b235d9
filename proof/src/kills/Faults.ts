/** The command as a process with faults at its file operations. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { bundled } from "../../../packages/core/test/support/ProgramFile.ts"

/**
 * The faults of an operation: a kill before, after, or in the middle of its write; a loss of power after it, where what was not
 * synchronised is gone; a disk that is full from then on; a failure of the device.
 */
export const hows = ["before", "after", "torn", "power", "full", "io"] as const

export type How = typeof hows[number]

/** A fault at the operation with a number from 1, or a kill after some time. */
export type Fault = { readonly at: number; readonly how: How } | { readonly millis: number }

export interface Ended {
  readonly end: "killed" | "failed" | "done"
  readonly output: string
  readonly errors: string
}

/** Uses a command that runs until it is interrupted, from its first line on. */
export type Use = (line: string) => Promise<unknown>

export interface Program {
  /** Runs a command line. Operations on files below `root` count. */
  readonly run: (
    root: string,
    args: ReadonlyArray<string>,
    env: Readonly<Record<string, string>>,
    more: { readonly fault?: Fault | undefined; readonly use?: Use | undefined }
  ) => Promise<Ended>
  /** The kinds of the operations of the last run without a fault: `w` is a write. */
  readonly operations: () => string
}

/** The reason why this machine cannot inject faults. */
export const missing = process.platform === "linux" && existsSync("/usr/bin/cc")
  ? undefined
  : "needs Linux and a C compiler"

/** Compiles the faults and bundles the command into a folder. */
export const make = async (folder: string): Promise<Program> => {
  const [library, log] = [join(folder, "faults.so"), join(folder, "operations")]
  const source = fileURLToPath(new URL("faults.c", import.meta.url))
  execFileSync("cc", ["-O1", "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"])
  const main = new URL("../../../packages/cli/src/main.ts", import.meta.url)
  // The library of encrypted chat is not bundled.
  symlinkSync(
    fileURLToPath(new URL("../../../packages/chat/node_modules", import.meta.url)),
    join(folder, "node_modules")
  )
  const program = await bundled(main, join(folder, "bin/main.mjs"))
  return {
    operations: () => existsSync(log) ? readFileSync(log, "utf8").replaceAll(/^(.).*\n/gm, "$1") : "",
    run: async (root, args, env, { fault, use }) => {
      if (fault === undefined) rmSync(log, { force: true })
      const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, ...args], {
        cwd: root,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          PATH: process.env["PATH"] ?? "",
          HOME: root,
          NODE_COMPILE_CACHE: join(folder, "cache"),
          LD_PRELOAD: library,
          FAULTS_ROOT: root,
          ...fault === undefined
            ? { FAULTS_LOG: log }
            : "at" in fault
            ? { FAULTS_AT: String(fault.at), FAULTS_HOW: fault.how }
            : {},
          ...env
        }
      })
      let [output, errors] = ["", ""]
      child.stdout.setEncoding("utf8").on("data", (text) => output += text)
      if (use !== undefined) {
        const interrupt = () => void child.kill("SIGINT")
        createInterface({ input: child.stdout }).once("line", (line) => void use(line).then(interrupt, interrupt))
      }
      child.stderr.setEncoding("utf8").on("data", (text) => errors += text)
      const timer = fault !== undefined && "millis" in fault
        ? setTimeout(() => child.kill("SIGKILL"), fault.millis)
        : undefined
      const [code, signal] = await once(child, "close")
      clearTimeout(timer)
      const isDone = code === 0 || use !== undefined && code === 130
      return { end: signal === "SIGKILL" ? "killed" : isDone ? "done" : "failed", output, errors }
    }
  }
}

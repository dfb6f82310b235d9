/** The command as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { postwire } from "../../../core/test/support/ProgramFile.ts"

/** Starts the command. */
export const start = (
  args: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv = process.env,
  output: "pipe" | "ignore" | number = "pipe",
  input: "pipe" | "ignore" = "ignore"
): ChildProcess => spawn(process.execPath, [postwire, ...args], { env, stdio: [input, output, "pipe"] })

/** What a process printed, and its exit code, or `null` after a signal. */
export const ended = async (child: ChildProcess) => {
  let [output, errors] = ["", ""]
  child.stdout?.setEncoding("utf8").on("data", (text) => output += text)
  child.stderr?.setEncoding("utf8").on("data", (text) => errors += text)
  const [code]: ReadonlyArray<number | null> = await once(child, "close")
  return { code: code ?? null, output, errors }
}

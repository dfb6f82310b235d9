/** The exporter of `Exporter.ts` as processes that are killed. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { bundled } from "../../../core/test/support/ProgramFile.ts"

/** Runs the exporter to its end, or kills it soon after one of its next pages, of which there are at most `pages`. */
export const exporterIn = (root: string) =>
  Effect.map(
    Effect.promise(() => bundled(new URL("Exporter.ts", import.meta.url), join(root, "exporter.mjs"))),
    (program) => async (told: object, pages: number): Promise<"killed" | "done" | "failed"> => {
      const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, JSON.stringify(told)], {
        stdio: ["ignore", "pipe", "ignore"],
        env: { ...process.env, NODE_COMPILE_CACHE: join(root, "cache") }
      })
      let left = pages === 0 ? Infinity : 1 + Math.floor(Math.random() * pages)
      createInterface({ input: child.stdout }).on("line", () => {
        if (--left === 0) setTimeout(() => child.kill("SIGKILL"), Math.random() * 8)
      })
      const [code, signal] = await once(child, "close")
      return signal === "SIGKILL" ? "killed" : code === 0 ? "done" : "failed"
    }
  )

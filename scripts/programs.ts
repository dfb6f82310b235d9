// Before the tests: the command in one file, which starts in a third of the time that its sources take. Tests start it by the hundred.
import { cpSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"
import { bundled, postwire } from "../packages/core/test/support/ProgramFile.ts"

/** Bundles the command. */
export const bundle = async (): Promise<void> => {
  const folder = dirname(postwire)
  // The folder where the sandbox looks for its page.
  cpSync(
    fileURLToPath(new URL("../packages/sandbox/src/console", import.meta.url)),
    join(folder, "../../src/console"),
    {
      recursive: true
    }
  )
  await bundled(new URL("../packages/cli/src/main.ts", import.meta.url), postwire)
}

export default async (project: TestProject): Promise<void> => {
  // Every project inherits this from the root.
  if (!project.isRootProject()) return
  await bundle()
  project.onTestsRerun(bundle)
}

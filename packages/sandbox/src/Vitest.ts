/**
 * A sandbox for every test, with Vitest:
 *
 * ```ts
 * import { test } from "@postwire/sandbox/vitest"
 *
 * test("finds posts", async ({ sandbox }) => {
 *   sandbox.user({ username: "grace" }).post("hello")
 *   await using client = createClient(sandbox.settings)
 * })
 * ```
 */
import { test as base, type TestAPI } from "vitest"
import * as Sandbox from "./Sandbox.ts"

/** The fixtures of a test. */
export interface SandboxFixtures {
  /** The options of the sandbox; override them for a file or a suite: `test.override({ sandboxOptions: { posts: 0 } })`. */
  readonly sandboxOptions: Sandbox.Options
  /** An isolated sandbox on its own port, which is stopped after the test. */
  readonly sandbox: Sandbox.RunningSandbox
}

/** A `test` whose sandboxes have these options. A test that does not use `sandbox` starts none. */
export const sandboxTest = (options: Sandbox.Options = {}): TestAPI<SandboxFixtures> =>
  base.extend<SandboxFixtures>({
    sandboxOptions: options,
    sandbox: async ({ sandboxOptions }, use) => {
      const sandbox = await Sandbox.start(sandboxOptions)
      try {
        await use(sandbox)
      } finally {
        await sandbox.stop()
      }
    }
  })

/** A `test` with a sandbox of 1,000 posts. */
export const test: TestAPI<SandboxFixtures> = sandboxTest()

// oxlint-disable typescript/consistent-type-imports -- a module's type is found by its name
/** Postwire as a folder has it: this workspace, or another commit in a worktree of its own. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

/** The folder of this workspace. */
export const own: string = fileURLToPath(new URL("../..", import.meta.url))

interface Modules {
  readonly "@postwire/core/operations/Posts": typeof import("@postwire/core/operations/Posts")
  readonly "@postwire/core/operations/Search": typeof import("@postwire/core/operations/Search")
  readonly "@postwire/core/rate-limit/RateLimitStore": typeof import("@postwire/core/rate-limit/RateLimitStore")
  readonly "@postwire/core/schema/Scopes": typeof import("@postwire/core/schema/Scopes")
  readonly "@postwire/core/streams/operations/Streams": typeof import("@postwire/core/streams/operations/Streams")
  readonly "@postwire/export/Export": typeof import("@postwire/export/Export")
  readonly "@postwire/export/rows/Rows": typeof import("@postwire/export/rows/Rows")
  readonly "@postwire/export/sinks/Csv": typeof import("@postwire/export/sinks/Csv")
  readonly "@postwire/export/sinks/JsonLines": typeof import("@postwire/export/sinks/JsonLines")
  readonly "@postwire/export/sinks/Parquet": typeof import("@postwire/export/sinks/Parquet")
  readonly "@postwire/export/sinks/Sqlite": typeof import("@postwire/export/sinks/Sqlite")
  readonly "@postwire/export/sources/Hydration": typeof import("@postwire/export/sources/Hydration")
  readonly "@postwire/export/sources/Source": typeof import("@postwire/export/sources/Source")
  readonly "@postwire/node": typeof import("@postwire/node")
  readonly "@postwire/node/NodeClient": typeof import("@postwire/node/NodeClient")
  readonly "@postwire/node/RedisRateLimitStore": typeof import("@postwire/node/RedisRateLimitStore")
  readonly "@postwire/node/SqliteRateLimitStore": typeof import("@postwire/node/SqliteRateLimitStore")
  readonly "@postwire/node/Webhook": typeof import("@postwire/node/Webhook")
  readonly "@postwire/sandbox/Sandbox": typeof import("@postwire/sandbox/Sandbox")
  readonly "@postwire/sync": typeof import("@postwire/sync")
  readonly "effect/Context": typeof import("effect/Context")
  readonly "effect/Effect": typeof import("effect/Effect")
  readonly "effect/Layer": typeof import("effect/Layer")
  readonly "effect/Redacted": typeof import("effect/Redacted")
  readonly "effect/Result": typeof import("effect/Result")
  readonly "effect/Scope": typeof import("effect/Scope")
  readonly "effect/Stream": typeof import("effect/Stream")
}

/** Loads modules of a checkout by its packages' own entries, so that it does not matter where they have them. */
export const modules = (folder: string) => {
  // The bench depends on all of them.
  const { resolve } = createRequire(join(folder, "bench/package.json"))
  return <const Names extends ReadonlyArray<keyof Modules>>(
    ...names: Names
  ): Promise<{ [K in keyof Names]: Modules[Names[K] & keyof Modules] }> =>
    // The compiler cannot see that a name leads to its module.
    Promise.all(names.map((name) => import(pathToFileURL(resolve(name)).href))) as never
}

/** A commit that this one is compared with. */
export interface Before {
  readonly commit: string
  readonly folder: string
}

const run = (command: string, args: ReadonlyArray<string>, cwd: string): string => {
  const { status, stderr, stdout } = spawnSync(command, args, { cwd, encoding: "utf8" })
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")}: ${stderr}${stdout}`)
  return stdout.trim()
}

/** The day and the short name of the commit that a checkout is at. */
export const nameOf = (folder: string): string => run("git", ["log", "-1", "--format=%cs %h"], folder)

/** A commit in a worktree with its dependencies installed, made the first time. */
export const of = (revision: string): Before => {
  const commit = run("git", ["rev-parse", "--verify", "--short", `${revision}^{commit}`], own)
  // Node strips no types below node_modules.
  const folder = join(own, "out/bench", commit)
  if (!existsSync(join(folder, "package.json"))) {
    // Its folder may have been removed by hand.
    run("git", ["worktree", "prune"], own)
    run("git", ["worktree", "add", "--detach", folder, commit], own)
  }
  run(process.execPath, ["scripts/bootstrap.mjs", "pnpm", "install", "--frozen-lockfile"], folder)
  return { commit, folder }
}

/** The packages as they are published. */
import { spawnSync } from "node:child_process"
import { cpSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

const run = (command: string, ...args: ReadonlyArray<string>): void => {
  const { status, stderr, stdout } = spawnSync(command, args, { cwd: root, encoding: "utf8" })
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")}: failed\n${stdout}${stderr}`)
}

/**
 * Builds every package and packs it into a folder; the tarballs by the folders of the packages. Where POSTWIRE_PACKED names a
 * folder that has them, they are copied.
 */
export const pack = (folder: string): ReadonlyMap<string, string> => {
  const packed = process.env["POSTWIRE_PACKED"]
  if (packed !== undefined) cpSync(packed, folder, { recursive: true })
  else {
    run("pnpm", "--silent", "check")
    run(process.execPath, "scripts/bundle.ts")
    run("pnpm", "-r", "--filter", "./packages/*", "pack", "--pack-destination", folder)
  }
  return new Map(
    readdirSync(join(root, "packages")).map((name) => {
      const { version }: { version: string } = JSON.parse(
        readFileSync(join(root, "packages", name, "package.json"), "utf8")
      )
      return [name, join(folder, `postwire-${name}-${version}.tgz`)]
    })
  )
}

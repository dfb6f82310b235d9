/**
 * Tries the current packages with the type tests and the consumers of an earlier revision: a program that compiled and ran with that one
 * still does.
 *
 *   npm run compatible                 against the latest release, by its tag
 *   npm run compatible -- REV          against any revision
 *   npm run compatible -- REV --types  its type tests alone
 *
 * Differences fail, unless a changeset that waits says `**Breaking:**`.
 */
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const root = fileURLToPath(new URL("..", import.meta.url))

const run = (command: string, ...args: ReadonlyArray<string>) =>
  spawnSync(command, args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 })

const git = (...args: ReadonlyArray<string>): string => {
  const { status, stderr, stdout } = run("git", ...args)
  if (status !== 0) throw new Error(stderr.trim())
  return stdout
}

/** Writes the files of a revision below a folder, `place` says where. Returns how many. */
const extract = (revision: string, paths: string, place: (file: string) => string): number => {
  const files = git("ls-tree", "-r", "--name-only", revision, "--", ...paths.split(" ")).trim().split("\n").filter(
    Boolean
  )
  for (const file of files) {
    const target = join(root, place(file))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, git("show", `${revision}:${file}`))
  }
  return files.length
}

/** Compiles the type tests of a revision beside the current ones. Returns the errors. */
const types = (revision: string): ReadonlyArray<string> => {
  const folders = globSync("packages/*/test/types", { cwd: root })
  // Beside the current ones, so that they import the same sources.
  const old = folders.map((folder) => folder.replace(/types$/, "compatible"))
  const config = join(root, "tsconfig.compatible.json")
  try {
    const count = extract(revision, folders.join(" "), (file) => file.replace("/test/types/", "/test/compatible/"))
    // A configuration does not inherit references.
    const { references } = JSON.parse(readFileSync(join(root, "tsconfig.test.json"), "utf8"))
    const compilerOptions = { composite: false, incremental: false }
    writeFileSync(
      config,
      JSON.stringify({ extends: "./tsconfig.test.json", compilerOptions, include: old, references })
    )
    const compiler = run("effect-tsgo", "get-exe-path").stdout.trim()
    run(compiler, "--build")
    const { status, stdout } = run(compiler, "--project", config, "--noEmit")
    console.log(`${count} files with type tests of ${revision}: ${status === 0 ? "fine" : "different"}`)
    return status === 0 ? [] : [stdout]
  } finally {
    for (const folder of old) rmSync(join(root, folder), { recursive: true, force: true })
    rmSync(config, { force: true })
  }
}

/** Runs the consumers of a revision with the current packages. Returns the report of those that fail. */
const consumers = (revision: string): ReadonlyArray<string> => {
  const folder = "out/compatible"
  rmSync(join(root, folder), { recursive: true, force: true })
  extract(revision, "consumers", (file) => join(folder, file))
  const { status, stderr, stdout } = run(
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    "scripts/consumers.ts",
    "--from",
    join(folder, "consumers")
  )
  console.log(`consumers of ${revision}: ${stdout.trim().split("\n").at(-1)}`)
  return status === 0 ? [] : [stdout + stderr]
}

const { positionals: [given], values } = parseArgs({
  allowPositionals: true,
  options: { types: { type: "boolean", default: false } }
})
const revision = given ?? run("git", "describe", "--tags", "--abbrev=0", "--match", "v*").stdout.trim()
if (revision === "") {
  console.error("There is no release yet. Name a revision: npm run compatible -- REV")
  process.exit(1)
}
const differences = [...types(revision), ...values.types ? [] : consumers(revision)]
differences.forEach((difference) => console.log(`\n${difference}`))
const announced = globSync(".changeset/*.md", { cwd: root })
  .filter((file) => readFileSync(join(root, file), "utf8").includes("**Breaking:**"))
if (announced.length > 0) console.log(`Breaking changes are announced in ${announced.join(", ")}.`)
process.exitCode = differences.length === 0 || announced.length > 0 ? 0 : 1

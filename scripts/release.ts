// Packs and checks every package, and lists what would be published; nothing leaves the machine.
//   npm run release:dry
// The workflow `.github/workflows/release.yml` runs the same and then publishes those very files.
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as checksums from "./checksums.ts"
import { executableNode, licenceOf } from "./Nodes.ts"
import * as notices from "./notices.ts"
import { pack } from "./pack.ts"
import * as sbom from "./sbom.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = join(root, "out/release")

/** The maximum sizes of the tarballs, in kB of 1,000 bytes. A feature may raise its package's with a line in the changelog. */
const budgets: Readonly<Record<string, number>> = {
  archive: 85,
  chat: 40,
  cli: 1_700,
  cluster: 40,
  connectors: 15,
  core: 640,
  export: 100,
  mcp: 56,
  node: 730,
  sandbox: 370,
  sync: 890,
  web: 10
}

/** True while changesets wait for a version. */
const waiting = readdirSync(join(root, ".changeset")).some((file) => file.endsWith(".md") && file !== "README.md")

/** The licences that a program with a licence of its own can depend on without a thought. */
const licences = ["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "BlueOak-1.0.0"]

const run = (command: string, ...args: ReadonlyArray<string>): string => {
  const { status, stderr, stdout } = spawnSync(command, args, { cwd: root, encoding: "utf8" })
  if (status === 0) return stdout
  console.error(`${stdout}${stderr}\n${[command, ...args].join(" ")}: failed`)
  process.exit(1)
}

/** The paths of an `exports` entry, whatever its conditions. */
const targetsOf = (entry: unknown): ReadonlyArray<string> =>
  typeof entry === "string" ? [entry] : Object.values(entry ?? {}).flatMap(targetsOf)

interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports?: Readonly<Record<string, unknown>>
  readonly bin?: Readonly<Record<string, string>>
}

interface Packed {
  readonly manifest: Manifest
  readonly files: ReadonlyArray<string>
  readonly bytes: number
  readonly problems: ReadonlyArray<string>
}

const check = (name: string, tarball: string): Packed => {
  const files = run("tar", "tzf", tarball).trim().split("\n").map((file) => file.replace("package/", "./"))
  const text = run("tar", "xzOf", tarball, "package/package.json")
  const manifest: Manifest = JSON.parse(text)
  const bytes = statSync(tarball).size
  const budget = budgets[name] ?? 0
  const targets = [...targetsOf(manifest.exports), ...targetsOf(manifest.bin)].filter((target) => !target.includes("*"))
  const problems = [
    ...["./README.md", "./CHANGELOG.md", "./LICENSE"].filter((file) => !files.includes(file)).map((file) =>
      `no ${file}`
    ),
    ...targets.filter((target) => !files.includes(target)).map((target) => `${target} is exported and not there`),
    ...targets.filter((target) => !target.startsWith("./dist/")).map((target) =>
      `${target} is exported from the sources`
    ),
    ...files.filter((file) => /^\.\/test\/|\.tsbuildinfo$|\.env/.test(file)).map((file) =>
      `${file} must not be published`
    ),
    ...(text.includes("workspace:") ? ["workspace: is left in package.json"] : []),
    ...(bytes > budget * 1_000 ? [`more than its ${budget} kB`] : []),
    // Changesets that wait are not in it yet.
    ...(waiting ||
        readFileSync(join(root, "packages", name, "CHANGELOG.md"), "utf8").includes(`## ${manifest.version}\n`)
      ? []
      : [`CHANGELOG.md has no ${manifest.version}`])
  ]
  return { manifest, files, bytes, problems }
}

console.log("Building ...")
// Leftovers of earlier builds would be packed as well.
for (const name of readdirSync(join(root, "packages"))) {
  rmSync(join(root, "packages", name, "dist"), { recursive: true, force: true })
}
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const tarballs = pack(folder)

console.log("Checking types and exports of the tarballs as installed (publint, Are The Types Wrong, bundles) ...")
run("vitest", "run", "scripts/Packages.test.ts")

const problems: Array<string> = []
console.log(
  `\n${"package".padEnd(22)}${"version".padEnd(10)}${"files".padStart(6)}${"kB".padStart(8)}${"of".padStart(6)}`
)
for (const [name, tarball] of tarballs) {
  const packed = check(name, tarball)
  console.log(
    packed.manifest.name.padEnd(22) + packed.manifest.version.padEnd(10) + String(packed.files.length).padStart(6)
      + (packed.bytes / 1_000).toFixed(1).padStart(8) + String(budgets[name] ?? 0).padStart(6)
  )
  problems.push(...packed.problems.map((problem) => `${packed.manifest.name}: ${problem}`))
}

const found: Readonly<Record<string, ReadonlyArray<{ readonly name: string }>>> = JSON.parse(
  run("pnpm", "licenses", "list", "--prod", "--json", "--filter", "./packages/*")
)
console.log(
  `\nLicences of what is installed with them: ${
    Object.entries(found).map(([licence, packages]) => `${licence} (${packages.length})`).join(", ")
  }`
)
for (const [licence, packages] of Object.entries(found)) {
  if (!licences.includes(licence)) problems.push(`${packages.map(({ name }) => name).join(", ")}: licence ${licence}`)
}

const bom = sbom.make(tarballs)
writeFileSync(join(folder, "sbom.cdx.json"), `${JSON.stringify(bom, undefined, 2)}\n`)
const contained = [...tarballs.values()].flatMap(sbom.bundledIn)
const others = new Map(contained.map((notice) => [`${notice.name} ${notice.version}`, notice]))
const node = { name: "node", version: executableNode, licence: licenceOf(executableNode).trim() }
writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), notices.write([...others.values(), node]))
checksums.write(folder)
console.log(
  `\nsbom.cdx.json: ${bom.components.length} components; THIRD-PARTY-NOTICES.txt: ${others.size} bundled packages and Node`
)

const entries = readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md") && file !== "README.md")
console.log(
  entries.length === 0
    ? "\nEvery change is in a changelog. These tarballs are what would be published."
    : `\n${entries.length} changes wait for the next version (npx changeset version).`
)

if (problems.length > 0) {
  console.error(`\n${problems.join("\n")}`)
  process.exitCode = 1
} else {
  console.log(`\nThe tarballs are in out/release. Nothing was published.`)
}

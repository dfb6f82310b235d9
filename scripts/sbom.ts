/**
 * The bill of materials of a release, as CycloneDX: what pnpm lists for each package, in one document, with the code that tarballs
 * contain and the Node of the executables.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sha256 } from "./checksums.ts"
import { executableNode } from "./Nodes.ts"
import * as notices from "./notices.ts"

interface Component {
  readonly "bom-ref": string
  readonly name: string
  readonly version: string
  readonly [member: string]: unknown
}

interface Dependency {
  readonly ref: string
  readonly dependsOn: ReadonlyArray<string>
}

/** The members of a document that are read or changed. */
interface Bom {
  readonly metadata: { readonly component: Component; readonly [member: string]: unknown }
  readonly components: ReadonlyArray<Component>
  readonly dependencies: ReadonlyArray<Dependency>
  readonly [member: string]: unknown
}

const root = join(import.meta.dirname, "..")

const run = (command: string, ...args: ReadonlyArray<string>): string => {
  const { status, stderr, stdout } = spawnSync(command, args, { cwd: root, encoding: "utf8" })
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")}: failed\n${stdout}${stderr}`)
  return stdout
}

/** The document of each package, with all its dependencies, or with `--prod` without those of its development. */
const listed = (...args: ReadonlyArray<string>): ReadonlyArray<Bom> => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-sbom-"))
  try {
    const form = ["--sbom-format", "cyclonedx", "--sbom-spec-version", "1.6", "--split", "--out", `${folder}/%s.json`]
    run("pnpm", "sbom", ...form, "--filter", "./packages/*", ...args)
    return readdirSync(folder).sort().map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const refOf = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`

/** An identity that the contents determine, so that a second build has the same. */
const serialNumberOf = (contents: unknown): string => {
  const hash = createHash("sha256").update(JSON.stringify(contents)).digest("hex")
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32)
  ]
  return `urn:uuid:${parts.join("-")}`
}

/** The notices of the code of others in a tarball. */
export const bundledIn = (tarball: string): ReadonlyArray<notices.Notice> => {
  const { status, stdout } = spawnSync("tar", ["xzOf", tarball, "package/dist/bundled/LICENSES.txt"], {
    encoding: "utf8"
  })
  return status === 0 ? notices.read(stdout) : []
}

/** The components of documents and their dependencies, each once. */
const joined = (documents: ReadonlyArray<Bom>) => {
  const components = new Map<string, Component>()
  const dependencies = new Map<string, ReadonlySet<string>>()
  for (const document of documents) {
    for (const component of [document.metadata.component, ...document.components]) {
      components.set(component["bom-ref"], component)
    }
    for (const { dependsOn, ref } of document.dependencies) {
      dependencies.set(ref, new Set([...dependencies.get(ref) ?? [], ...dependsOn]))
    }
  }
  return { components, dependencies }
}

/** The bill of materials of a release: of tarballs, by the folders of their packages, and of executables. */
export const make = (tarballs: ReadonlyMap<string, string>): Bom => {
  const documents = listed("--prod")
  const { components, dependencies } = joined(documents)
  const developed = joined(listed())
  for (const { metadata: { component } } of documents) {
    const tarball = tarballs.get(component.name)!
    const contained = bundledIn(tarball).map(refOf)
    const ref = component["bom-ref"]
    components.set(ref, { ...component, hashes: [{ alg: "SHA-256", content: sha256(tarball) }] })
    dependencies.set(ref, new Set([...dependencies.get(ref) ?? [], ...contained]))
    for (const ref of contained) {
      components.set(ref, developed.components.get(ref)!)
      dependencies.set(ref, developed.dependencies.get(ref)!)
    }
  }
  const of = (name: string) => documents.find(({ metadata }) => metadata.component.name === name)!.metadata
  const { component: { version, ...cli }, tools } = of("cli")
  const node = { type: "platform", "bom-ref": "node", name: "node", version: executableNode }
  const executable = { type: "application", "bom-ref": "executable", name: "postwire", version }
  components.set("node", { ...node, purl: `pkg:generic/node@${executableNode}` })
  components.set("executable", executable)
  dependencies.set("node", new Set())
  dependencies.set("executable", new Set([cli["bom-ref"], "node"]))
  dependencies.set(
    "release",
    new Set([...documents.map(({ metadata }) => metadata.component["bom-ref"]), "executable"])
  )
  const sorted = [...components.values()].toSorted((a, b) => a["bom-ref"] < b["bom-ref"] ? -1 : 1)
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: serialNumberOf(sorted),
    version: 1,
    metadata: {
      // A second build of the commit has the same.
      timestamp: new Date(run("git", "log", "-1", "--format=%cI").trim()).toISOString(),
      tools,
      component: { ...executable, "bom-ref": "release", licenses: [{ license: { id: "MIT" } }] }
    },
    components: sorted,
    dependencies: [...dependencies].toSorted(([a], [b]) => a < b ? -1 : 1).map(([ref, on]) => ({
      ref,
      dependsOn: [...on].filter((ref) => components.has(ref)).sort()
    }))
  }
}

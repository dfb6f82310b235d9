// How the project is built, depended on and published: what each workflow may do, and the files beside a release.
import { assert, describe, it } from "@effect/vitest"
import { registerSchema, type SchemaObject, validate } from "@hyperjump/json-schema/draft-07"
import * as Yaml from "effect/encoding/Yaml"
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { range } from "../packages/core/src/runtime/SupportedNode.ts"
import { lines } from "./Nodes.ts"
import * as notices from "./notices.ts"
import * as sbom from "./sbom.ts"

const root = join(import.meta.dirname, "..")

const text = (file: string) => readFileSync(join(root, file), "utf8")

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly steps: ReadonlyArray<Step>
}

interface Workflow {
  readonly permissions?: object
  readonly jobs: Readonly<Record<string, Job>>
}

const yaml = (file: string): unknown => Yaml.parse(text(file))

const workflows = globSync(".github/workflows/*", { cwd: root })

/** The permissions to write, of all jobs that have any. */
const writers = {
  "drift.yml open": ["contents", "pull-requests"],
  "release.yml publish": ["attestations", "contents", "id-token"],
  "security.yml codeql": ["security-events"],
  "security.yml scorecard": ["id-token", "security-events"]
}

describe("the workflows", () => {
  it.each(workflows)("%s runs actions of one commit, whose version it names", (file) => {
    const uses = text(file).split("\n").filter((line) => /\buses:/.test(line))
    assert.isNotEmpty(uses)
    assert.deepStrictEqual(uses.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)), [])
  })

  it("name one commit for a version", () => {
    const pins = new Set(
      workflows.flatMap((file) => [...text(file).matchAll(/uses: (\S+?)@(\S+) # (\S+)/g)].map(String))
    )
    const actions = new Set([...pins].map((pin) => pin.split(/[ @]/)[1]))
    assert.strictEqual(pins.size, actions.size)
  })

  it("may nothing but what their jobs need", () => {
    const found: Record<string, ReadonlyArray<string>> = {}
    for (const file of workflows) {
      const { jobs, permissions } = yaml(file) as Workflow
      assert.deepStrictEqual(permissions, {}, file)
      for (const [name, job] of Object.entries(jobs)) {
        assert.isDefined(job.permissions, `${file} ${name}`)
        const written = Object.entries(job.permissions!).filter(([, access]) => access !== "read").map(([of]) => of)
        if (written.length > 0) found[`${basename(file)} ${name}`] = written.sort()
      }
    }
    assert.deepStrictEqual(found, writers)
  })

  it("run no code of a dependency where they may push or publish", () => {
    const trusted = workflows.flatMap((file) => Object.values((yaml(file) as Workflow).jobs))
      .filter(({ permissions }) => permissions?.["contents"] === "write")
    assert.lengthOf(trusted, 2)
    for (const { steps } of trusted) {
      for (const { run = "" } of steps) assert.notMatch(run, /\b(npx|pnpm|bootstrap|npm (?!publish))\b/)
    }
  })

  it("keep no credentials in the working copy", () => {
    for (const file of workflows) {
      for (
        const { uses, with: settings } of Object.values((yaml(file) as Workflow).jobs).flatMap(({ steps }) => steps)
      ) {
        if (uses?.startsWith("actions/checkout@")) assert.isFalse(settings?.["persist-credentials"], file)
      }
    }
  })

  it("run every proof", async () => {
    const { jobs } = yaml(".github/workflows/proof.yml") as { jobs: { proof: { strategy: { matrix: object } } } }
    const { proofs } = await import("../proof/src/Proofs.ts")
    assert.deepStrictEqual(jobs.proof.strategy.matrix, { name: Object.keys(proofs) })
  })

  it("look for weaknesses in the code and in changed dependencies, and publish the Scorecard", () => {
    for (const action of ["codeql-action/analyze", "dependency-review-action", "scorecard-action", "upload-sarif"]) {
      assert.include(text(".github/workflows/security.yml"), `/${action}@`)
    }
  })
})

describe("new versions of dependencies", () => {
  it("are proposed and installed when they are a week old", () => {
    const { updates } = yaml(".github/dependabot.yml") as {
      updates: ReadonlyArray<{ "package-ecosystem": string; cooldown?: { "default-days": number } }>
    }
    assert.includeMembers(updates.map((update) => update["package-ecosystem"]), ["docker", "github-actions", "npm"])
    for (const { cooldown } of updates) assert.strictEqual(cooldown?.["default-days"], 7)
    const { minimumReleaseAge } = yaml("pnpm-workspace.yaml") as { minimumReleaseAge: number }
    assert.strictEqual(minimumReleaseAge, 7 * 24 * 60)
  })
})

it("the policy has the supported lines of Node, each announced half a year before its end", () => {
  const rows = [...text("docs/policies.md").matchAll(/^\| (\d+) \| (\S+) \| (\S+) \|$/gm)]
  assert.deepStrictEqual(Object.fromEntries(rows.map(([, line, end]) => [line, end])), lines)
  for (const [, , end = "", notice = ""] of rows) {
    const date = new Date(notice)
    date.setUTCMonth(date.getUTCMonth() + 6)
    assert.strictEqual(date.toISOString().slice(0, 10), end)
  }
  const majors = [...range.matchAll(/\d+(?=\.|$)/g)].map(([major]) => major)
  assert.strictEqual(Object.keys(lines)[0], majors[0])
})

describe("a release", () => {
  /** Tarballs of the names and versions of the packages, one of which contains others. */
  const tarballs = (folder: string) => {
    const contained = [{ name: "effect", version: "4.1.0", licence: "MIT" }]
    mkdirSync(join(folder, "package/dist/bundled"), { recursive: true })
    writeFileSync(join(folder, "package/dist/bundled/LICENSES.txt"), notices.write(contained))
    return new Map(
      readdirSync(join(root, "packages")).map((name) => {
        const file = join(folder, `${name}.tgz`)
        const part = name === "cli" ? "package" : "package/dist/bundled"
        assert.strictEqual(spawnSync("tar", ["czf", file, "-C", folder, part]).status, 0)
        return [name, file]
      })
    )
  }

  it("has a bill of materials of all packages, of what they need and contain, that is valid CycloneDX", async () => {
    const folder = mkdtempSync(join(tmpdir(), "postwire-supply-"))
    try {
      const bom = sbom.make(tarballs(folder))
      const schemas = join(root, "node_modules/@cyclonedx/cyclonedx-library/res/schema")
      const addressOf = (name: string) => `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`
      for (const name of ["spdx", "jsf-0.82", "bom-1.6"]) {
        const schema: Record<string, SchemaObject> = JSON.parse(
          readFileSync(join(schemas, `${name}.SNAPSHOT.schema.json`), "utf8")
        )
        registerSchema({ ...schema, $id: addressOf(name) })
      }
      const valid = await validate(addressOf("bom-1.6"))
      assert.isTrue(valid(JSON.parse(JSON.stringify(bom))).valid)
      assert.isFalse(valid({ ...JSON.parse(JSON.stringify(bom)), serialNumber: "1" }).valid)

      const names = bom.components.map(({ name }) => name)
      assert.includeMembers(names, [...readdirSync(join(root, "packages")), "effect", "undici", "node"])
      assert.notInclude(names, "vitest")
      const on = new Map(bom.dependencies.map(({ dependsOn, ref }) => [ref, dependsOn]))
      assert.include(on.get("pkg:npm/%40postwire/cli@0.1.0")!, "pkg:npm/effect@4.1.0")
      assert.lengthOf(on.get("release")!, readdirSync(join(root, "packages")).length + 1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("has the sums of all its files, those of the executables too, before anything is published", () => {
    const { jobs } = yaml(".github/workflows/release.yml") as Workflow
    const steps = jobs["publish"]!.steps
    const place = (part: string) => steps.findIndex((step) => `${step.uses} ${step.run}`.includes(part))
    const order = ["download-artifact", "checksums.ts", "actions/attest@", "npm publish", "gh release create"].map(
      place
    )
    assert.notInclude(order, -1)
    assert.deepStrictEqual(order, order.toSorted((a, b) => a - b))

    const folder = mkdtempSync(join(tmpdir(), "postwire-supply-"))
    try {
      mkdirSync(join(folder, "out/release"), { recursive: true })
      const files = ["postwire-core-0.1.0.tgz", "postwire-linux-x64", "postwire-win32-x64.exe", "sbom.cdx.json"]
      for (const file of files) writeFileSync(join(folder, "out/release", file), file)
      const [program, script] = steps[place("checksums.ts")]!.run!.split(" ")
      assert.strictEqual(program, "node")
      const { status } = spawnSync(process.execPath, [join(root, script!)], { cwd: folder })
      assert.strictEqual(status, 0)
      const { stdout } = spawnSync("sha256sum", ["--check", "SHA256SUMS"], {
        cwd: join(folder, "out/release"),
        encoding: "utf8"
      })
      assert.deepStrictEqual(stdout.trim().split("\n"), files.map((file) => `${file}: OK`))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

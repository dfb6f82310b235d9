import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { catalogue } from "../packages/core/src/Catalogue.ts"
import * as agentFiles from "./agentFiles.ts"

const text = (least: number, most: number) => Schema.String.check(Schema.isMinLength(least), Schema.isMaxLength(most))

const url = Schema.String.check(Schema.makeFilter((text) => URL.canParse(text)))

/** A specific version, which no range is. */
const version = text(1, 255).check(Schema.isPattern(/^\d+\.\d+\.\d+(-[\w.]+)?$/))

const input = {
  description: Schema.optionalKey(Schema.String),
  isRequired: Schema.optionalKey(Schema.Boolean),
  isSecret: Schema.optionalKey(Schema.Boolean),
  default: Schema.optionalKey(Schema.String),
  value: Schema.optionalKey(Schema.String)
}

/** The rules of `server.json` of 2025-12-11, as far as they apply to a package of npm that is started on this machine. */
const Entry = Schema.Struct({
  $schema: Schema.Literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: text(3, 200).check(Schema.isPattern(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)),
  title: text(1, 100),
  description: text(1, 100),
  version,
  websiteUrl: url,
  repository: Schema.Struct({
    url,
    source: Schema.Literal("github"),
    subfolder: Schema.String.check(Schema.isPattern(/^\w[\w-]*(\/\w[\w-]*)*$/))
  }),
  packages: Schema.Array(Schema.Struct({
    registryType: Schema.Literal("npm"),
    identifier: Schema.String,
    version,
    runtimeHint: Schema.Literal("npx"),
    transport: Schema.Struct({ type: Schema.Literal("stdio") }),
    packageArguments: Schema.Array(Schema.Struct({ type: Schema.Literal("positional"), value: Schema.String })),
    environmentVariables: Schema.Array(Schema.Struct({ name: Schema.String, ...input }))
  }))
})

describe("the skill", () => {
  const skill = agentFiles.skill()

  it("names every operation and guide, in less than 5,000 tokens", () => {
    for (const { definition } of Object.values(catalogue)) assert.match(skill, new RegExp(`\\b${definition.name}\\b`))
    const links = [...skill.matchAll(/\]\(https:\/\/github\.com\/postwire\/postwire\/blob\/main\/([\w/.-]+)\)/g)]
    assert.isAbove(links.length, 30)
    for (const [, path = ""] of links) assert.isTrue(existsSync(new URL(`../${path}`, import.meta.url)), path)
    assert.strictEqual(skill.split("](").length - 1, links.length)
    assert.isBelow(skill.length / 4, 5_000)
  })

  it("has the front matter that hosts read", () => {
    assert.match(skill, /^---\nname: [a-z-]{1,64}\ndescription: [^\n]{1,1024}\n---\n\n# /)
  })
})

describe("the entry of the registry", () => {
  const server = agentFiles.server()

  it("keeps to the rules of the registry's schema", () => {
    // A misspelt member is allowed by the schema, and has no effect.
    const decode = Schema.decodeUnknownSync(Entry, { onExcessProperty: "error" })
    decode(JSON.parse(JSON.stringify(server)))
    for (const wrong of [{ ...server, title: "" }, { ...server, name: "postwire" }, { ...server, packges: [] }]) {
      assert.throws(() => decode(wrong))
    }
  })

  it("names the package that starts the server, and whose manifest has the same name of the server", () => {
    const { mcpName, name, version } = JSON.parse(
      readFileSync(new URL("../packages/cli/package.json", import.meta.url), "utf8")
    )
    assert.deepInclude(server, { name: mcpName, version })
    assert.deepInclude(server.packages[0], { identifier: name, version })
    assert.strictEqual(server.repository.url, `https://github.com/${server.name.replace("io.github.", "")}`)
  })

  it("declares secrets as such", () => {
    const variables = server.packages.flatMap(({ environmentVariables }) => environmentVariables)
    assert.isNotEmpty(variables)
    for (const variable of variables) {
      assert.strictEqual(
        "isSecret" in variable && variable.isSecret,
        /TOKEN|SECRET|KEY/.test(variable.name),
        variable.name
      )
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { catalogue } from "../packages/core/src/Catalogue.ts"
import * as agentFiles from "./agentFiles.ts"

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
  it("names a package that starts the server, and asks for secrets as such", () => {
    const { description, name, packages: [npm] } = agentFiles.server()
    assert.match(name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    assert.isAtMost(description.length, 100)
    assert.strictEqual(npm?.identifier, "@postwire/cli")
    for (const variable of npm?.environmentVariables ?? []) {
      assert.strictEqual("isSecret" in variable, /TOKEN|SECRET/.test(variable.name), variable.name)
    }
  })
})

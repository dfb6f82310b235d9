import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { acceptedDrift } from "./drift/AcceptedDrift.ts"
import { catalogueFacts } from "./drift/CatalogueFacts.ts"
import * as Drift from "./drift/Drift.ts"
import { wireOf } from "./drift/DriftReport.ts"
import * as FactsFile from "./drift/FactsFile.ts"

const fixtures = new URL("fixtures/", import.meta.url)
const files = readdirSync(fixtures).filter((file) => file.startsWith("service-"))

describe.each(files)("the catalogue and what the service said of itself in %s", (file) => {
  const text = readFileSync(new URL(file, fixtures), "utf8")
  const service = FactsFile.read(text)
  const wire = wireOf(service)
  const { drifts, stale } = Drift.compare(catalogueFacts(wire), service, wire.name, acceptedDrift)

  it("differ in nothing but what scripts/drift/AcceptedDrift.ts accepts", () => {
    assert.deepStrictEqual(
      drifts.map(({ aspect, catalogue, change, document, name, operations }) =>
        `${aspect} ${name} ${change}${
          document === undefined ? "" : `: ${document} there, ${catalogue} here`
        } (${operations})`
      ),
      []
    )
  })

  it("differ in all that it accepts", () => {
    assert.deepStrictEqual(stale.map(({ difference, operations }) => `${difference} (${operations ?? "all"})`), [])
  })

  it("are kept as they were read", () => {
    assert.strictEqual(FactsFile.write(service), text)
  })
})

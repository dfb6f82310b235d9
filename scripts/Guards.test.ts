// What the guards measure against their bounds, and the rule for bounds.
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { beforeAll } from "vitest"
import * as Guards from "./guards.ts"

describe("a bound", () => {
  it("may only go down", () => {
    assert.isUndefined(Guards.complaint(100, 100))
    assert.isUndefined(Guards.complaint(97, 100))
    assert.match(Guards.complaint(101, 100) ?? "", /101 is above its bound of 100/)
    assert.match(Guards.complaint(96, 100) ?? "", /lower the bound from 100 to 96/)
    assert.match(Guards.complaint(1, undefined) ?? "", /no bound/)
  })
})

describe("the bounds of guards.json", () => {
  beforeAll(() => {
    assert.strictEqual(spawnSync(process.execPath, ["scripts/bundle.ts"], { stdio: "inherit" }).status, 0)
  }, 240_000)

  it.each(Object.entries(Guards.measures))("hold: %s", async (_, measure) => {
    const bounds = Guards.bounds()
    const figures = Object.entries(await measure())
    assert.deepStrictEqual(
      figures.flatMap(([name, figure]) => {
        const complaint = Guards.complaint(figure, bounds[name])
        return complaint === undefined ? [] : [`${name}: ${complaint}`]
      }),
      []
    )
  }, 240_000)
})

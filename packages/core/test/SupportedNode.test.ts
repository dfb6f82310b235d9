import { assert, describe, it } from "@effect/vitest"
import { minimum, refusalOf } from "../src/runtime/SupportedNode.ts"

const [major, minor] = minimum.split(".").map(Number)

describe("a Node", () => {
  it.each([
    "0.12.18",
    "9.99.0",
    "20.20.2",
    `${major}.0.0`,
    `${major}.${minor! - 1}.9`,
    `${major! - 1}.${minor! + 1}.0`
  ])(
    "%s is refused in one line",
    (version) => {
      assert.strictEqual(
        refusalOf(version),
        `postwire: Node ${minimum} or newer is required (found ${version}): install a newer one`
      )
    }
  )

  it.each(["23.0.0", "23.11.1"])("%s, of a line without full-text search, is refused in one line", (version) => {
    assert.strictEqual(
      refusalOf(version),
      `postwire: Node 23 is not supported (found ${version}): install 24 or newer`
    )
  })

  it.each([`${minimum}.0`, `${major}.${minor! + 1}.0`, "24.0.0", "25.0.0", "100.0.0", "24.0.0-nightly2025"])(
    "%s will do",
    (version) => {
      assert.isUndefined(refusalOf(version))
    }
  )
})

import { assert, describe, it } from "@effect/vitest"
import { minimum, refusalOf } from "../src/SupportedNode.ts"

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
        `postwire: Node ${minimum} or newer is needed, and this is ${version}: install a newer one`
      )
    }
  )

  it.each([`${minimum}.0`, `${major}.${minor! + 1}.0`, `${major! + 1}.0.0`, "100.0.0", "24.0.0-nightly2025"])(
    "%s will do",
    (version) => {
      assert.isUndefined(refusalOf(version))
    }
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as PostText from "@postwire/core/PostText"

describe("the weight of a text", () => {
  it.each([
    ["", 0],
    ["I am a post", 11],
    ["Hi http://test.co", 26],
    ["http://test.co", 23],
    [`https://${"long.".repeat(80)}example.com/a?b=c#d and a word`, 34],
    ["A\u0301B", 2],
    ["の", 2],
    ["“quoted” – and…", 16],
    ["H🐱☺👨‍👩‍👧‍👦", 7],
    ["🙋🏽👨‍🎤", 4],
    ["😷👾😡🔥💩", 10]
  ])("%s: %i", (text, weight) => assert.strictEqual(PostText.weightOf(text), weight))

  it("is too much above 280, by letters, wide characters or emoji", () => {
    for (
      const [unit, most] of [["x", 280], ["の", 140], ["😷", 140], ["👩‍💻", 140], ["\ufb2c", 93], [
        "http://a.co ",
        11
      ]] as const
    ) {
      assert.isFalse(PostText.isLong(unit.repeat(most)), unit)
      assert.isTrue(PostText.isLong(unit.repeat(most + 1)), unit)
    }
  })

  it("is too much where it is, whatever letters are mixed", () => {
    for (const unit of ["の", "é", "“", "😷", "👩‍💻", "\ufb2c", "A\u0301", "http://a.co "]) {
      for (const count of [1, 20, 90, 135]) {
        for (const weight of [280, 281]) {
          const others = unit.repeat(count)
          const text = others + "x".repeat(Math.max(0, weight - PostText.weightOf(others)))
          assert.strictEqual(PostText.isLong(text), PostText.weightOf(text) > 280, text)
        }
      }
    }
  })

  it("of a beginning is not too much, and it ends where a word does", () => {
    const text = "some words 😷 ".repeat(40)
    const beginning = PostText.truncate(text)
    assert.isTrue(text.startsWith(`${beginning} `))
    assert.isAtMost(PostText.weightOf(beginning), 280)
    assert.isAtLeast(PostText.weightOf(beginning), 270)
    assert.strictEqual(PostText.truncate("x".repeat(300)), "x".repeat(280))
    assert.strictEqual(PostText.truncate("short enough"), "short enough")
  })
})

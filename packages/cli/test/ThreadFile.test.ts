import { assert, describe, it } from "@effect/vitest"
import { parse } from "../src/publishing/ThreadFile.ts"

const textsOf = (markdown: string) => parse(markdown).map(({ text }) => text)

describe("the file of a thread", () => {
  it("has its parts between lines of hyphens", () => {
    assert.deepStrictEqual(textsOf("One\n\nstill one\n---\n\nTwo\n-----  \nThree -- four\n"), [
      "One\n\nstill one",
      "Two",
      "Three -- four"
    ])
    assert.deepStrictEqual(textsOf("a\r\n---\r\nb\r\n"), ["a", "b"])
    assert.deepStrictEqual(textsOf("a\n\\---\nb - --- c\n--\n- - -"), ["a\n---\nb - --- c\n--\n- - -"])
  })

  it("shows empty parts, and the line where each begins", () => {
    assert.deepStrictEqual(parse("---\ntitle: x\n---\n\nHello").map(({ line, text }) => [line, text]), [
      [1, ""],
      [2, "title: x"],
      [5, "Hello"]
    ])
    assert.deepStrictEqual(textsOf("a\n---\n"), ["a", ""])
  })

  it("has images in any place of a part, in their order", () => {
    const [part] = parse(
      "Look: ![A \\[red\\] cat](cats/red.png) nice\n\n![](<b c.jpg>)\n\n![Two](photo (1).jpg \"title\")\nEnd"
    )
    assert.strictEqual(part?.text, "Look: nice\n\nEnd")
    assert.deepStrictEqual(part?.images, [
      { path: "cats/red.png", alt: "A [red] cat" },
      { path: "b c.jpg", alt: "" },
      { path: "photo (1).jpg", alt: "Two" }
    ])
    assert.deepStrictEqual(textsOf("a\n![x](x.png)\nb"), ["a\nb"])
    assert.deepStrictEqual(textsOf("![x](x.png)"), [""])
  })

  it("is read in a moment, however its images repeat and never end", () => {
    const starts = ["![](", "![a](", "![](<", "![", "", "![](a \""]
    const pieces = [
      "![](",
      "![",
      "[",
      "]",
      "](",
      "(",
      ")",
      "()",
      "<",
      ">",
      " ",
      "\\",
      "\"",
      " \"",
      "a",
      "![](a)",
      "![]()"
    ]
    for (const start of starts) {
      for (const one of pieces) {
        for (const other of pieces) {
          const line = start + `${one}${other}`.repeat(5_000)
          assert.lengthOf(parse(`${line}x`), 1)
        }
      }
    }
  })

  it("leaves everything else as it is written", () => {
    const text = "**bold** [link](https://a.example/b)  two spaces\n\n\n\n> quoted \\* \\![no image](x.png)"
    assert.deepStrictEqual(parse(text), [{ text: text.replace("\\![", "!["), images: [], line: 1 }])
  })
})

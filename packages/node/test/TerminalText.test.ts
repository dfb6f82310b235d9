import { assert, describe, it } from "@effect/vitest"
import * as TerminalText from "../src/TerminalText.ts"

describe("a text for a terminal", () => {
  it.each([
    ["control characters", "a\u001b[31mb\u009bc\rd\te\nf", "a\ufffd[31mb\ufffdc\ufffdd\te\nf"],
    ["marks of direction", "a\u202eb\u2066c\u200fd\u061ce", "a\ufffdb\ufffdc\ufffdd\ufffde"],
    [
      "what has no width",
      "pass\u200bw\u200do\u200crd\ufeff\u00ad\u2060",
      "pass\ufffdw\ufffdo\ufffdrd\ufffd\ufffd\ufffd"
    ],
    [
      "tags",
      "a\u{e0041}\u{e0042}\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u{e0041}",
      "a\ufffd\ufffd\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\ufffd"
    ],
    [
      "selectors behind letters and one another",
      "a\ufe0f\u2764\ufe0f\ufe01\u{e0100}",
      "a\ufffd\u2764\ufe0f\ufffd\ufffd"
    ]
  ])("shows %s", (_, text, shown) => {
    assert.strictEqual(TerminalText.plain(text), shown)
    const json = TerminalText.plainJson(JSON.stringify(text))
    assert.strictEqual(JSON.parse(json), text)
    assert.strictEqual(TerminalText.plain(json), json)
  })

  it.each([
    "\u{1f469}\u200d\u{1f4bb}\u2764\ufe0f1\ufe0f\u20e3\u{1f44d}\u{1f3fd}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\u0915\u094d\u200d\u0937",
    "日本語 ü ¡"
  ])("keeps %s", (text) => {
    assert.strictEqual(TerminalText.plain(text), text)
  })

  it("is on one line", () => {
    assert.strictEqual(TerminalText.oneLine(" a\r\n\tb\u2028c\u001bd "), "a b c\ufffdd")
  })
})

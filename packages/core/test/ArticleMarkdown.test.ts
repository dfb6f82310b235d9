import { assert, describe, it } from "@effect/vitest"
import { articleFromMarkdown, type MarkdownArticle } from "@postwire/core/publishing/ArticleMarkdown"
import { ArticleContent } from "@postwire/core/schema/models/Article"
import { Arbitrary, Schema } from "effect"

const media = { "a.png": "1", "b.gif": { id: "2", category: "tweet_gif" } }

/** The blocks as short texts: what an atomic block shows, or the type and text with marked ranges. */
const outline = ({ content_state: { blocks, entities } }: MarkdownArticle): ReadonlyArray<string> =>
  blocks.map(({ entity_ranges = [], inline_style_ranges = [], text, type }) => {
    if (type === "atomic") {
      const { value } = entities[entity_ranges[0]!.key]!
      return `${value.type} ${JSON.stringify(value.data)}`
    }
    const cut = ({ length, offset }: { readonly offset: number; readonly length: number }) =>
      text.slice(offset, offset + length)
    return [
      `${type} ${JSON.stringify(text)}`,
      ...inline_style_ranges.map((range) => `${range.style} ${cut(range)}`),
      ...entity_ranges.map((range) => `${entities[range.key]!.value.data.url} ${cut(range)}`)
    ].join("; ")
  })

const differences = (text: string, given = media) =>
  articleFromMarkdown(text, { media: given }).differences.map(({ line, shown, what }) => `${line} ${what}: ${shown}`)

describe("an article from Markdown", () => {
  it.each([
    ["one\ntwo  \nthree", [`unstyled "one two\\nthree"`]],
    ["## a\n\n### b\n\nc\n===", [`header-two "a"`, `header-three "b"`, `header-one "c"`]],
    ["- a\n- b\n\n1. c", [`unordered-list-item "a"`, `unordered-list-item "b"`, `ordered-list-item "c"`]],
    ["- \n- b", [`unordered-list-item ""`, `unordered-list-item "b"`]],
    ["> a\n>\n> b", [`blockquote "a"`, `blockquote "b"`]],
    ["***", ["divider {}"]],
    ["```js\na()\n```", [`markdown {"markdown":"\`\`\`js\\na()\\n\`\`\`"}`]],
    ["    a\n    ```", [`markdown {"markdown":"\`\`\`\`\\na\\n\`\`\`\\n\`\`\`\`"}`]],
    ["a **b *c* d** ~~e~~", [`unstyled "a b c d e"; italic c; bold b c d; strikethrough e`]],
    ["😀 **b** [c *d*](https://e.f/g h)", [`unstyled "😀 b [c d](https://e.f/g h)"; bold b; italic d`]],
    ["😀 [c **d**](<https://e.f/g h>)", [`unstyled "😀 c d"; bold d; https://e.f/g%20h c d`]],
    ["<https://e.f> [](https://g.h)", [
      `unstyled "https://e.f https://g.h"; https://e.f https://e.f; https://g.h https://g.h`
    ]],
    ["[a][b]\n\n[b]: https://c.d", [`unstyled "a"; https://c.d a`]],
    ["&copy; \\*a\\*", [`unstyled "© *a*"`]],
    ["https://x.com/ada/status/20?s=1", [`post {"post_id":"20"}`]],
    ["see https://x.com/ada/status/20", [`unstyled "see https://x.com/ada/status/20"`]],
    [`![c](a.png "d")`, [`image {"caption":"d","media_items":[{"media_id":"1","media_category":"tweet_image"}]}`]],
    ["![c](b.gif)", [`image {"media_items":[{"media_id":"2","media_category":"tweet_gif"}]}`]],
    ["- ![](a.png) b", [
      `image {"media_items":[{"media_id":"1","media_category":"tweet_image"}]}`,
      `unordered-list-item "b"`
    ]],
    ["**a ![](a.png) [b](https://c.d)**", [
      `unstyled "a "; bold a `,
      `image {"media_items":[{"media_id":"1","media_category":"tweet_image"}]}`,
      `unstyled "b"; bold b; https://c.d b`
    ]]
  ])("%j", (text, expected) => assert.deepStrictEqual(outline(articleFromMarkdown(text, { media })), expected))

  it("takes its title from the first heading, unless one is given", () => {
    const text = "# On *tea*\n\nBoil."
    const { content_state, differences, title } = articleFromMarkdown(text)
    assert.strictEqual(title, "On tea")
    assert.deepStrictEqual(content_state.blocks, [{ text: "Boil.", type: "unstyled" }])
    assert.deepStrictEqual(differences, [{ line: 1, what: "formatted title", shown: "as plain text" }])
    assert.strictEqual(articleFromMarkdown(text, { title: "T" }).content_state.blocks.length, 2)
    assert.isUndefined(articleFromMarkdown("Boil.\n\n# Tea").title)
  })

  it("lists its pictures with their alt texts, and counts its text", () => {
    const { images, length } = articleFromMarkdown("![one](a.png)\n\n![two](<c d.png>) ![](a.png)\n\n```\n12\n```", {
      media
    })
    assert.deepStrictEqual(images, [{ name: "a.png", alt: "one", line: 1 }, { name: "c d.png", alt: "two", line: 3 }])
    assert.strictEqual(length, " ".length * 3 + "two ".length + "```\n12\n```".length)
  })

  it("reads alt texts as texts, and the first one of a picture", () => {
    const { images } = articleFromMarkdown("![](a.png) ![*b* &amp; \\[c\nd](a.png)", { media })
    assert.deepStrictEqual(images, [{ name: "a.png", alt: "b & [c d", line: 1 }])
  })

  it.each([
    ["a\n\n#### b", ["3 heading of level 4: as a heading of level 3"]],
    ["- a\n  - b", ["2 nested list: without its nesting"]],
    ["> a\n>\n> > b", ["3 nested quote: without its nesting"]],
    ["> - a", ["1 list in a quote: without its nesting"]],
    ["- > a", ["1 quote in a list: without its nesting"]],
    ["- a\n\n  b", ["3 paragraph in a list: outside the list"]],
    ["- a\n  ```\n  b\n  ```", ["2 code in a list: outside the list"]],
    ["> # a", ["1 heading in a quote: outside the quote"]],
    ["7. a", ["1 list that begins with 7: beginning with 1"]],
    ["a\n`b`", ["2 code in a line: as plain text"]],
    ["|a|\n|-|\n|b|", ["1 table: as Markdown"]],
    ["|[a](/b\\|c)|\n|-|\n|[d][e] ![](a.png)|\n\n[e]: https://f.g", [
      "1 table: as Markdown",
      "3 link to https://f.g in a table: without its target",
      "3 picture a.png in a table: as Markdown without an upload"
    ]],
    ["- a ![](a.png)\n  b", [
      "1 picture in a list: outside the list",
      "2 text after a picture in a list: outside the list"
    ]],
    ["`a\nb` <i\nc> ~~[d](/e\n'f\ng')~~ ![](h\n'i')[^1]\n`j`", [
      "1 code in a line: as plain text",
      "2 HTML: as text",
      "3 title of a link: nowhere",
      "3 link to /e: as its text",
      "5 picture h without a media id: as its alt text",
      "6 footnote: as text where it stands",
      "7 code in a line: as plain text"
    ]],
    ["a\n\n<i>b</i>\n\n<div>c</div>", ["3 HTML: as text", "5 HTML: as text"]],
    ["a <!-- b -->\n\n<!-- c -->", ["1 comment: nowhere", "3 comment: nowhere"]],
    ["a[^1]\n\n[^1]: b", ["1 footnote: as text where it stands", "3 footnote: as text where it stands"]],
    ["[a](/b)", ["1 link to /b: as its text"]],
    ["[a](javascript:b)", ["1 link to javascript:b: as its text"]],
    ["![a](b)", ["1 picture b without a media id: as its alt text"]],
    ["![a](__proto__)", ["1 picture __proto__ without a media id: as its alt text"]],
    ["[![](a.png)](https://b.c)", ["1 link of a picture: without the link"]],
    ["a\n[b](https://c.d \"e\")", ["2 title of a link: nowhere"]],
    ["![a](a.png)\n![a](a.png) ![](a.png)\n![b](a.png)", ["3 another alt text of picture a.png: nowhere"]],
    ["[a]: https://b.c\n[d]: https://e.f\n\n[d]", ["1 link definition without a link: nowhere"]],
    ["---\na: b\n---\nc\n\n`d`", ["1 front matter: nowhere", "6 code in a line: as plain text"]],
    [`${"> ".repeat(120)}a`, ["1 nested quote: without its nesting", "1 text nested too deeply: nowhere"]]
  ])("reports %j", (text, expected) => assert.deepStrictEqual(differences(text), expected))

  it("reports nothing where it shows everything", () => {
    assert.deepStrictEqual(differences("# a\n\nb **c**\n\n- d\n\n> e\n\n---\n\n```\nf\n```\n\n![g](a.png)"), [])
  })
})

/** Pieces of Markdown and of what looks like it. */
const pieces = [
  ..."# ,### ,##### ,> ,- ,1. ,9) ,    ,\t,\n,\n\n,  \n,\\\n,***,---\n,===,```,~~~,`,``,*,**,_,__,~~,[,],(,),![,](,<,>,|,|-|,:"
    .split(","),
  ..."[^1],[^1]:,[a]:,[a],<b>,</b>,<!--,-->,<?,&amp;,&#0;,\\,https://a.b,https://x.com/a/status/1,a.png,😀,é,\r\n,\r"
    .split(","),
  " ",
  "word",
  "\ud83d",
  "\0",
  "__proto__",
  "constructor",
  "\"t\""
]

const anyMarkdown = Arbitrary.schema(Schema.Array(Schema.Literals(pieces)).check(Schema.isMaxLength(60)))

const fits = Schema.is(ArticleContent)

describe("any text", () => {
  it.prop("makes a valid article, with ranges inside its text", { parts: anyMarkdown }, ({ parts }) => {
    const { content_state, differences } = articleFromMarkdown(parts.join(""), { media })
    assert.isTrue(fits(content_state))
    const { blocks, entities } = content_state
    assert.deepStrictEqual(entities.map(({ key }) => key), entities.map((_, i) => String(i)))
    const used = new Set<number>()
    for (const { entity_ranges = [], inline_style_ranges = [], text, type } of blocks) {
      assert.strictEqual(type === "atomic", entity_ranges.length > 0 && text === " ")
      for (const { length, offset } of [...entity_ranges, ...inline_style_ranges]) {
        assert.isAbove(length, 0)
        assert.isAtMost(offset + length, text.length)
      }
      for (const { key } of entity_ranges) used.add(key)
    }
    assert.strictEqual(used.size, entities.length)
    for (const { line } of differences) assert.isAtMost(line, parts.join("").split(/\r\n?|\n/).length)
  })

  it.prop("loses no word without a report", {
    lines: Arbitrary.schema(
      Schema.Array(
        Schema.Tuple([
          Schema.Literals([
            "",
            "",
            "# ",
            "#### ",
            "> ",
            "- ",
            "  - ",
            "1. ",
            "   ",
            "    ",
            "| ",
            "<p> ",
            "[^1]: ",
            "> > "
          ]),
          Schema.Literals(["", "\n", "\n```", "\n---", "\n|-|", "  ", "**", "_", "~~", "`", "](https://a.b)", "\n\n"])
        ])
      ).check(Schema.isMaxLength(30))
    )
  }, ({ lines }) => {
    const text = lines.map(([before, after], i) => `${before}word${i}.${after}`).join("\n")
    const { content_state, differences, title } = articleFromMarkdown(text)
    const shown = JSON.stringify([title, content_state])
    const lost = lines.flatMap((_, i) => shown.includes(`word${i}.`) ? [] : [i])
    if (differences.every(({ shown }) => shown !== "nowhere")) assert.deepStrictEqual(lost, [])
  })

  it.each(
    [
      "[",
      "![",
      "[a](",
      "*a_ ",
      "*a **a ",
      "> ",
      "- ",
      "<!--",
      "[^",
      "[a]: ",
      "|a",
      "`\n",
      "![a](a.png) ",
      "- a\n\n",
      "---\na: b\n"
    ].map((piece): readonly [string, string] => ["", piece]).concat([["    ", "`"]])
  )(
    "takes a time in proportion to its length: %j %j",
    (before, piece) => {
      const time = (length: number) => {
        const text = before + piece.repeat(length / piece.length)
        const begun = performance.now()
        articleFromMarkdown(text, { media })
        return performance.now() - begun
      }
      time(2_500)
      // 64 times the length takes some 64 times as long, and 4,096 times where it grows with the square.
      assert.isBelow(time(160_000), Math.max(time(2_500), 5) * 1_000)
    }
  )
})

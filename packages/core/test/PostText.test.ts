import { assert, describe, it } from "@effect/vitest"
import type { Selected } from "@postwire/core/schema/Selection"
import * as PostEntities from "@postwire/core/text/PostEntities"
import * as PostText from "@postwire/core/text/PostText"
import { Arbitrary, Schema } from "effect"
import { vi } from "vitest"

/** What texts are made of, and what somebody may make them of. */
const pieces = [
  ..."a,1,word, , ,\n\n,.,-,_,/,:,@,#,$,(,),!,。,http://,https://,example.com,t.co/abc,a.co,@ada,@ada/list,#tag".split(
    ","
  ),
  ..."#タグ,$TEST,日本語の文章です,ภาษาไทย,é,A\u0301,\ufb2c,\u0316,😷,👩‍💻,👨‍👩‍👧‍👦,🇩🇪,🇩,1⃣,🙋🏽,❤️,\u200d,\ufe0f,\u202a".split(
    ","
  ),
  "x".repeat(90),
  "の".repeat(50),
  `https://example.com/${"a/".repeat(60)}`,
  `#${"tag".repeat(40)}`,
  "\u0301".repeat(50),
  "\ud83d",
  "\ude00",
  "\ufffe",
  "\ufeff"
]

const anyText = Arbitrary.schema(Schema.Array(Schema.Literals(pieces)).check(Schema.isMaxLength(60)))

const anyMaximum = Arbitrary.schema(Schema.Literals([70, 71, 99, 280]))

/** Positions by the characters before them that are no spaces, which is what stays when a text is split. */
const solid = (text: string) => text.replaceAll(/\s/g, "").length

describe("the whole text of a post", () => {
  it("is that of its note, if it has one", () => {
    const short: Selected<"post", { readonly post_fields: ["note_post"] }> = {
      id: "1",
      text: "short",
      edit_history_post_ids: ["1"]
    }
    assert.strictEqual(PostText.full(short), "short")
    assert.strictEqual(PostText.full({ ...short, note_post: {} }), "short")
    assert.strictEqual(PostText.full({ ...short, note_post: { text: "the whole" } }), "the whole")
    const read: Selected<"post", {}> = short
    // @ts-expect-error The post may be long: it was read without note_post.
    assert.strictEqual(PostText.full(read), "short")
  })
})

describe("the length of a text", () => {
  it.each([
    ["", 0],
    ["I am a post", 11],
    ["Hi http://test.co", 26],
    ["Hi test.co", 26],
    ["Hi test.nowhere", 15],
    [`https://${"long.".repeat(80)}example.com/a?b=c#d and a word`, 34],
    ["http://en.wikipedia.org/wiki/A:(c)", 27],
    ["http://en.wikipedia.org/wiki/A:(c)d", 23],
    ["http://en.wikipedia.org/wiki/A(b)(c)", 23],
    ["http://en.wikipedia.org/wiki/A(b):(c)", 27],
    ["A\u0301B", 2],
    ["の", 2],
    ["“quoted” – and…", 16],
    ["H🐱☺👨‍👩‍👧‍👦", 7],
    ["🙋🏽👨‍🎤", 4],
    ["😷👾😡🔥💩", 10],
    ["🇩🇪", 2],
    ["🇩🇩", 4],
    ["🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2],
    ["©", 1],
    ["©️", 2],
    ["👩‍💻🏽", 4],
    ["\ud83d", 2]
  ])("%s: %i", (text, expected) => assert.strictEqual(PostText.length(text), expected))

  it("is too much above 280, by letters, wide characters, emoji or links", () => {
    for (
      const [unit, most] of [["x", 280], ["の", 140], ["😷", 140], ["👩‍💻", 140], ["\ufb2c", 93], ["http://a.co ", 11], [
        "a.co ",
        11
      ]] as const
    ) {
      assert.isTrue(PostText.fits(unit.repeat(most)), unit)
      assert.isFalse(PostText.fits(unit.repeat(most + 1)), unit)
    }
  })

  it.prop("decides what fits, and how much of it", { parts: anyText, maximum: anyMaximum }, ({ maximum, parts }) => {
    const text = parts.join("")
    const fits = PostText.length(text) <= maximum
    assert.strictEqual(PostText.fits(text, maximum), fits)
    const units = PostText.fittingUnits(text, maximum)
    const isRefused = /[\ufffe\ufeff\uffff]/.test(text)
    assert.strictEqual(PostText.faultOf(text, maximum) === undefined, fits && !isRefused)
    if (text === text.normalize("NFC") && !isRefused) assert.strictEqual(units === text.length, fits)
  })

  it("says what is wrong", () => {
    assert.strictEqual(PostText.faultOf("x".repeat(281)), "must have a length of 280 at most, and has 281")
    assert.strictEqual(PostText.faultOf("ab\uffff"), "must not have the character U+FFFF, at 2")
    assert.isUndefined(PostText.faultOf("x".repeat(281), 25_000))
  })
})

describe("the beginning of a text", () => {
  it("is not too long, and ends where a word does", () => {
    const text = "some words 😷 ".repeat(40)
    const beginning = PostText.truncate(text)
    assert.isTrue(text.startsWith(`${beginning} `))
    assert.isAtMost(PostText.length(beginning), 280)
    assert.isAtLeast(PostText.length(beginning), 270)
    assert.strictEqual(PostText.truncate("x".repeat(300)), "x".repeat(280))
    assert.strictEqual(PostText.truncate("short enough"), "short enough")
    assert.strictEqual(PostText.truncate("の", 1), "")
  })

  it.prop("fits, whatever the text", { parts: anyText, maximum: anyMaximum }, ({ maximum, parts }) => {
    const text = parts.join("")
    const beginning = PostText.truncate(text, maximum)
    assert.isTrue(text.trimStart().startsWith(beginning) || text === beginning)
    assert.isTrue(PostText.fits(beginning, maximum))
  })
})

describe("parts of a text", () => {
  it("are one where it fits, and none where there is nothing", () => {
    assert.deepStrictEqual(PostText.split(" one "), ["one"])
    assert.deepStrictEqual(PostText.split("one", { numbered: true }), ["one"])
    assert.deepStrictEqual(PostText.split(" \n "), [])
  })

  it("end with words, and with a number that is counted", () => {
    const parts = PostText.split("word ".repeat(100), { numbered: true })
    assert.deepStrictEqual(parts.map((part) => part.replaceAll("word", "w")), [
      `${"w ".repeat(55)}1/2`,
      `${"w ".repeat(45)}2/2`
    ])
    const many = PostText.split("word ".repeat(700), { numbered: true })
    assert.isAbove(many.length, 9)
    many.forEach((part, k) => {
      assert.isTrue(part.endsWith(` ${k + 1}/${many.length}`))
      assert.isTrue(PostText.fits(part))
    })
  })

  it("end with a paragraph that fills half of one", () => {
    const [a, b, c] = ["a".repeat(100), "b".repeat(100), "c ".repeat(150).trim()]
    assert.deepStrictEqual(PostText.split(`${a}\n\n${b}\r\n\r\n${c}`), [
      `${a}\n\n${b}`,
      `${"c ".repeat(140).trim()}`,
      `${"c ".repeat(10).trim()}`
    ])
    const short = `short\n\n${"c ".repeat(150)}`
    assert.match(PostText.split(short)[0] ?? "", /^short\n\n(c ){100}/)
  })

  it("are cut in a word only where it is longer than a part, between graphemes", () => {
    assert.deepStrictEqual(PostText.split(`${"a ".repeat(130)}${"x".repeat(30)}`), [
      "a ".repeat(130).trim(),
      "x".repeat(30)
    ])
    assert.deepStrictEqual(PostText.split("x".repeat(300)), ["x".repeat(280), "x".repeat(20)])
    for (const grapheme of ["e\u0301\u0323", "👩‍💻", "🇩🇪", "ᄒ\u1161\u11ab"]) {
      const parts = PostText.split(grapheme.repeat(300))
      assert.isAbove(parts.length, 1)
      for (const part of parts) assert.strictEqual(part, grapheme.repeat(part.length / grapheme.length))
    }
  })

  it("end with words, too, of scripts that have no spaces, and begin with no full stop", () => {
    const parts = PostText.split("故人西辞黄鹤楼，烟花三月下扬州。".repeat(20))
    for (const part of parts) assert.notMatch(part, /^[，。]/)
    assert.strictEqual(parts.join(""), "故人西辞黄鹤楼，烟花三月下扬州。".repeat(20))
    const thai = PostText.split("ภาษาไทย".repeat(60))
    for (const part of thai) assert.match(part, /^(ภาษา|ไทย)/)
  })

  it("have room for the longest mention and its number", () => {
    assert.throws(() => PostText.split("text", { maximum: 69 }), RangeError, "maximum must be at least 70, and is 69")
    assert.throws(() => PostText.split("text", { maximum: NaN }), RangeError)
  })

  it("fit where composing ends a link", () => {
    const text = `example.comexample.com${"\u0301".repeat(50)}${"t.co/abc".repeat(7)}`
    for (const part of PostText.split(text, { maximum: 70 })) assert.isTrue(PostText.fits(part, 70), part)
  })

  it.prop("fit, give the words back and cut no entity, whatever the text", {
    parts: anyText,
    maximum: anyMaximum,
    numbered: Schema.Boolean
  }, ({ maximum, numbered, parts }) => {
    const text = parts.join("")
    const found = PostText.split(text, { maximum, numbered })
    for (const part of found) assert.isTrue(PostText.fits(part, maximum), part)
    const bare = numbered && found.length > 1 ? found.map((part) => part.replace(/ \d+\/\d+$/, "")) : found
    assert.strictEqual(bare.join("").replaceAll(/\s/g, ""), text.replaceAll(/\s/g, ""))

    const room = maximum - (numbered ? ` ${found.length}/${found.length}`.length : 0)
    let end = 0
    const cuts = new Set(bare.slice(0, -1).map((part) => end += solid(part)))
    const { cashtags, hashtags, mentions, urls } = PostEntities.find(text)
    const whole = [
      ...[...cashtags, ...hashtags, ...mentions, ...urls].map((entity) => [entity.start, entity.end] as const),
      // A byte order mark is a space, after which the service sees no link.
      ...Array.from(text.matchAll(/(?<!\ufeff)\S+/g), ({ 0: word, index }) => [index, index + word.length] as const)
    ].filter(([start, end]) => PostText.length(text.slice(start, end)) <= room)
    for (const [start, end] of whole) {
      const last = solid(text.slice(0, end))
      for (let at = solid(text.slice(0, start)) + 1; at < last; at++) {
        assert.isFalse(cuts.has(at), text.slice(start, end))
      }
    }
  })
})

describe("entities", () => {
  it("have positions of the text, and none lies in another", () => {
    const text = "😷 @ada/engines and @grace on example.com/@ada#x: #tag $TEST"
    const { cashtags, hashtags, mentions, urls } = PostEntities.find(text)
    const texts = (spans: ReadonlyArray<PostEntities.Span>) => spans.map(({ end, start }) => text.slice(start, end))
    assert.deepStrictEqual(mentions, [{ start: 3, end: 15, username: "ada", list: "engines" }, {
      start: 20,
      end: 26,
      username: "grace"
    }])
    assert.deepStrictEqual(texts(urls), ["example.com/@ada#x"])
    assert.deepStrictEqual(texts(hashtags), ["#tag"])
    assert.deepStrictEqual(texts(cashtags), ["$TEST"])
  })

  it.prop("are what the text has there, in order", { parts: anyText }, ({ parts }) => {
    const text = parts.join("")
    const { cashtags, hashtags, mentions, urls } = PostEntities.find(text)
    for (const { end, start, url } of urls) assert.strictEqual(text.slice(start, end), url)
    for (const { end, start, tag } of [...hashtags, ...cashtags]) assert.strictEqual(text.slice(start + 1, end), tag)
    for (const { end, list, start, username } of mentions) {
      assert.strictEqual(text.slice(start + 1, end), list === undefined ? username : `${username}/${list}`)
    }
    const spans = [...urls, ...mentions, ...hashtags, ...cashtags].sort((a, b) => a.start - b.start)
    spans.reduce((last, { end, start }) => (assert.isAtLeast(start, last), end), 0)
  })
})

// An algorithm that goes back takes minutes for these.
describe("a hostile text", () => {
  it.each([
    ["dots", "."],
    ["labels", "a."],
    ["domains in one word", "a.co"],
    ["domains that are cut off", "x.co_."],
    ["letters that may begin a domain", "日"],
    ["parentheses", "a.co/("],
    ["a path that ends with commas", `http://a.co/${",".repeat(2000)}`],
    ["a query that never ends", `a.co?${"!".repeat(2000)}`],
    ["protocols", "http://"],
    ["signs", "@#$"],
    ["digits after a sign", `#${"1".repeat(2000)}`],
    ["joined emoji", "👩‍"],
    ["halves of characters", "\ude00\ud83d"],
    ["spaces", "\n "]
  ])("of %s takes no longer than it is", (_, unit) => {
    const text = unit.repeat(100_000 / unit.length)
    PostEntities.find(text)
    const shorter = text.slice(0, 5_000)
    assert.isTrue(PostText.fits(PostText.truncate(shorter)))
    for (const part of PostText.split(shorter)) assert.isTrue(PostText.fits(part))
  })

  it("of marks is composed in pieces, since the engine takes the square of their number", () => {
    const normalize = vi.spyOn(String.prototype, "normalize")
    try {
      const text = `a${"\u0301\u0316".repeat(50_000)}`
      assert.isFalse(PostText.fits(text))
      PostText.split(text.slice(0, 2000))
      assert.isAbove(normalize.mock.contexts.length, 0)
      for (const part of normalize.mock.contexts) assert.isBelow(String(part).length, 30)
    } finally {
      normalize.mockRestore()
    }
  })
})

/** A post that was sent is found among those that the service shows, and no other is taken for it. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as SamePost from "../src/publishing/internal/samePost.ts"

const sent = (text: string, more: Partial<SamePost.Sent> = {}): SamePost.Sent => ({
  text,
  inReplyTo: undefined,
  quoted: undefined,
  mediaIds: [],
  isContinuation: false,
  ...more
})

const link = (url: string, expanded_url?: string) => ({ start: 0, end: 0, url, ...(expanded_url && { expanded_url }) })

const repliedTo = (id: string) => ({ referenced_posts: [{ type: "replied_to", id }] })

const [a, b] = ["https://t.co/aaaaaaaaaa", "https://t.co/bbbbbbbbbb"] as const

describe("what was sent", () => {
  const same: ReadonlyArray<readonly [why: string, sent: SamePost.Sent, seen: SamePost.Seen]> = [
    ["as it is", sent("One"), { text: "One" }],
    ["with escapes", sent("a & b < c > d \" e"), { text: "a &amp; b &lt; c &gt; d &quot; e" }],
    ["with escapes of the author", sent("&amp; is an ampersand"), { text: "&amp;amp; is an ampersand" }],
    ["in another normal form", sent("cafe\u0301"), { text: "caf\u00e9" }],
    ["with less white space", sent("  One\r\n\r\n\r\ntwo  "), { text: "One\n\ntwo" }],
    ["without invisible characters", sent("One\u200e two\ufe0f"), { text: "One two" }],
    ["without an invisible character between spaces", sent("One \u200b \ufeff two"), { text: "One two" }],
    ["without an invisible character in an escape", sent("One &am\u200bp; two"), { text: "One &amp;amp; two" }],
    ["without an invisible character before an accent", sent("cafe\u200d\u0301"), { text: "caf\u00e9" }],
    ["with links that touch", sent("a-https://a.example-https://b.example."), { text: `a-${a}-${b}.` }],
    ["with a short link", sent("See https://example.com/x"), {
      text: `See ${a}`,
      entities: { urls: [link(a, "https://example.com/x")] }
    }],
    ["with a link that had no scheme", sent("See example.com."), {
      text: `See ${a}.`,
      entities: { urls: [link(a, "http://example.com")] }
    }],
    ["with links written in another way", sent("HTTPS://Example.com/ä and https://müller.example/?q=ü"), {
      text: `${a} and ${b}`,
      entities: { urls: [link(a, "https://example.com/%C3%A4"), link(b, "https://xn--mller-kva.example/?q=%C3%BC")] }
    }],
    ["with a link that is not told", sent("See https://example.com/x"), { text: `See ${a}` }],
    ["with a link of its media", sent("One", { mediaIds: ["7"] }), {
      text: `One ${a}`,
      entities: { urls: [link(a, "https://x.com/ada/status/1/photo/1")] },
      attachments: { media_keys: ["3_7"] }
    }],
    ["with media alone", sent("", { mediaIds: ["7", "8"] }), { text: a, attachments: { media_keys: ["3_8", "3_7"] } }],
    ["with a link, and one of its media", sent("One https://example.com/", { mediaIds: ["7"] }), {
      text: `One ${a} ${b}`,
      entities: { urls: [link(a, "https://example.com"), link(b, "https://x.com/ada/status/1/photo/1")] },
      attachments: { media_keys: ["3_7"] }
    }],
    ["with a link of what it quotes", sent("One", { quoted: "5" }), {
      text: `One ${a}`,
      referenced_posts: [{ type: "quoted", id: "5" }]
    }],
    ["a link of another post, which is thereby quoted", sent("One https://x.com/ada/status/5"), {
      text: `One ${a}`,
      entities: { urls: [link(a, "https://x.com/ada/status/5")] },
      referenced_posts: [{ type: "quoted", id: "5" }]
    }],
    ["as a reply", sent("Two", { inReplyTo: "5" }), { text: "Two", ...repliedTo("5") }],
    ["as a reply that names whom it replies to", sent("Two", { inReplyTo: "5" }), {
      text: "@ada @grace Two",
      ...repliedTo("5")
    }],
    ["as a reply that named them itself", sent("@ada Two", { inReplyTo: "5" }), {
      text: "@ada Two",
      ...repliedTo("5")
    }],
    [
      "in its own thread, with a link that leads elsewhere",
      sent("Two https://a.example", { inReplyTo: "5", isContinuation: true }),
      { text: `Two ${a}`, entities: { urls: [link(a, "https://b.example")] }, ...repliedTo("5") }
    ],
    ["as a long text", sent(`${"long ".repeat(60)}https://example.com`), {
      text: `${"long ".repeat(50)}… ${b}`,
      note_post: { text: `${"long ".repeat(60)}${a}`, entities: { urls: [link(a, "https://example.com")] } }
    }],
    ["on a service that changes nothing", sent("One & https://example.com/?a=1&b=2"), {
      text: "One & https://example.com/?a=1&b=2",
      entities: { urls: [link("https://example.com/?a=1&b=2", "https://example.com/?a=1&b=2")] }
    }]
  ]
  it.each(same)("is seen %s", (_, sent, seen) => assert.isTrue(SamePost.isSame(sent, seen)))

  const other: ReadonlyArray<readonly [why: string, sent: SamePost.Sent, seen: SamePost.Seen]> = [
    ["another text", sent("One"), { text: "Ones" }],
    ["a part of it", sent("One two"), { text: "One" }],
    ["a reply", sent("One"), { text: "One", ...repliedTo("5") }],
    ["a reply to another", sent("One", { inReplyTo: "4" }), { text: "One", ...repliedTo("5") }],
    ["no reply", sent("One", { inReplyTo: "4" }), { text: "One" }],
    ["a repost of it", sent("One"), { text: "One", referenced_posts: [{ type: "reposted", id: "5" }] }],
    ["one that quotes another", sent("One", { quoted: "4" }), {
      text: "One",
      referenced_posts: [{ type: "quoted", id: "5" }]
    }],
    ["one with another link", sent("New: https://example.com/1"), {
      text: `New: ${a}`,
      entities: { urls: [link(a, "https://example.com/2")] }
    }],
    ["one with other media", sent("", { mediaIds: ["7"] }), { text: a, attachments: { media_keys: ["3_8"] } }],
    ["one with media", sent("One"), { text: `One ${a}`, attachments: { media_keys: ["3_8"] } }],
    ["one without its media", sent("One", { mediaIds: ["7"] }), { text: "One" }],
    ["one with words after the link", sent("One https://example.com"), {
      text: `One ${a} two`,
      entities: { urls: [link(a, "https://example.com")] }
    }],
    ["a mention that begins no reply", sent("Two"), { text: "@ada Two" }],
    ["one with a space in place of a link", sent("a b"), { text: `a${a}b` }],
    ["one with fewer links than characters", sent("--"), { text: `-${a}-` }],
    ["one of links without an end", sent("-".repeat(280)), { text: `${`${a}-`.repeat(40)}!` }],
    ["one of escapes without an end", sent("-"), { text: `&${"amp;".repeat(100_000)}` }]
  ]
  it.each(other)("is not %s", (_, sent, seen) => assert.isFalse(SamePost.isSame(sent, seen)))

  const Word = Schema.Literals([
    "one",
    "two.",
    "&",
    "<b>",
    "café",
    "cafe\u0301",
    "👩‍👩‍👧",
    "❤️",
    "日本語",
    "#tag",
    "@ada",
    "$^.*+?()[]{}|\\",
    "https://example.com/a?b=1&c=2",
    "https://example.org/(x)",
    "\n",
    "\t ",
    "\u200b",
    "\u2060 \ufeff"
  ])
  it.prop("is seen whatever its words, and told from what has one more", {
    words: Schema.Array(Word).check(Schema.isMaxLength(12))
  }, ({ words }) => {
    const text = words.join(" ")
    let count = 0
    const urls: Array<ReturnType<typeof link>> = []
    const shown = text.replace(/[\u200b\u2060\ufeff]/g, "").normalize("NFC").trim().replace(/https:\S+/g, (url) => {
      const short = `https://t.co/${String(++count).padStart(10, "0")}`
      urls.push(link(short, url))
      return short
    }).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")
    const seen = { text: shown, entities: { urls } }
    assert.isTrue(SamePost.isSame(sent(text), seen))
    assert.isFalse(SamePost.isSame(sent(`${text} more`), seen))
  })
})

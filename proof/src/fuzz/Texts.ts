/** Readers of texts: of posts, articles, queries and rules. */
import { articleFromMarkdown } from "@postwire/core/publishing/ArticleMarkdown"
import * as Query from "@postwire/core/query/Query"
import { ArticleContent } from "@postwire/core/schema/models/Article"
import * as PostEntities from "@postwire/core/text/PostEntities"
import * as PostText from "@postwire/core/text/PostText"
import { Result, Schema } from "effect"
import assert from "node:assert/strict"
import * as Matcher from "../../../packages/sandbox/src/matching/Matcher.ts"
import * as Search from "../../../packages/sandbox/src/search/Query.ts"
import type { Domain } from "./Loop.ts"
import * as Mutations from "./Mutations.ts"

const million = 1_000_000

const written = [
  ..."a|1|word| |. |\n\n|,|.|-|_|/|:|@|#|$|(|)|!|。|http://|https://|example.com|t.co/abc|a.co|@ada|@ada/list|#tag"
    .split("|"),
  ..."#タグ|$TEST|日本語の文章です|ภาษาไทย|é|A\u0301|\ufb2c|😷|👩‍💻|👨‍👩‍👧‍👦|🇩🇪|🇩|1⃣|🙋🏽|❤️|\u200d|\ufe0f".split("|"),
  "x".repeat(90),
  "の".repeat(50),
  `https://example.com/${"a/".repeat(60)}`,
  "\u0301".repeat(50),
  "\ud83d",
  "\ude00",
  "\ufffe",
  "\ufeff"
]

const solid = (text: string): string => text.replaceAll(/\s/g, "")

const checkEntities = (text: string): void => {
  const { cashtags, hashtags, mentions, urls } = PostEntities.find(text)
  for (const { end, start, url } of urls) assert.strictEqual(text.slice(start, end), url)
  for (const { end, start, tag } of [...hashtags, ...cashtags]) assert.strictEqual(text.slice(start + 1, end), tag)
  for (const { end, list, start, username } of mentions) {
    assert.strictEqual(text.slice(start + 1, end), list === undefined ? username : `${username}/${list}`)
  }
  const spans = [...urls, ...mentions, ...hashtags, ...cashtags].sort((a, b) => a.start - b.start)
  spans.reduce((last, { end, start }) => (assert.ok(start >= last), end), 0)
}

export const posts: Domain = {
  name: "texts of posts",
  holds: "lengths, entities and parts agree: each part fits, and no character is lost",
  cases: million,
  modules: /packages\/core\/src\/text\//,
  seeds: ["a", "One. ".repeat(100), "😷 @ada/engines and @grace on example.com/@ada#x: #tag $TEST", written.join(" ")],
  mutate: Mutations.text(written, 500),
  run: (text) => {
    const maximum = [70, 71, 99, 280][text.length % 4]!
    const fits = PostText.length(text) <= maximum
    assert.strictEqual(PostText.fits(text, maximum), fits)
    const isRefused = /[\ufffe\ufeff\uffff]/.test(text)
    assert.strictEqual(PostText.faultOf(text, maximum) === undefined, fits && !isRefused)
    const units = PostText.fittingUnits(text, maximum)
    if (text === text.normalize("NFC") && !isRefused) assert.strictEqual(units === text.length, fits)
    assert.ok(PostText.fits(PostText.truncate(text, maximum), maximum))
    checkEntities(text)
    if (text.length > 2_000) return
    const numbered = text.length % 3 === 0
    const parts = PostText.split(text, { maximum, numbered })
    for (const part of parts) assert.ok(PostText.fits(part, maximum), part)
    const bare = numbered && parts.length > 1 ? parts.map((part) => part.replace(/ \d+\/\d+$/, "")) : parts
    assert.strictEqual(solid(bare.join("")), solid(text))
  }
}

const markdown = [
  ..."# |### |##### |> |- |1. |9) |    |\t|\n|\n\n|  \n|\\\n|***|---\n|===|```|~~~|`|``|*|**|_|__|~~|[|]|(|)|![|](|<|>|,|:"
    .split("|"),
  ..."[^1],[^1]:,[a]:,[a],<b>,</b>,<!--,-->,<?,&amp;,&#0;,\\,https://a.b,https://x.com/a/status/1,a.png,😀,é,\r\n,\r,|,|-|"
    .split(","),
  " ",
  "word",
  "\ud83d",
  "\0",
  "__proto__",
  "constructor",
  "\"t\""
]

const isContent = Schema.is(ArticleContent)

export const articles: Domain = {
  name: "articles from Markdown",
  holds: "every text makes a valid article, whose ranges lie in their blocks",
  cases: million,
  modules: /packages\/core\/src\/publishing\/ArticleMarkdown|markdown-it/,
  seeds: [
    "# On *tea*\n\nBoil **water**, [read](https://e.f/g \"t\").\n\n- a\n  - b\n\n> c\n\n1. d\n\n***\n\n```js\na()\n```\n",
    "|a|b|\n|-|-|\n|![x](a.png)|~~d~~|\n\n[a]: https://b.c\n\n[a] <b>e</b> <!-- f --> &amp; [^1]\n\n[^1]: g",
    "---\na: b\n---\nc https://x.com/ada/status/20\n\nhttps://x.com/ada/status/20?s=1"
  ],
  mutate: Mutations.text(markdown, 500),
  run: (text) => {
    const media = { "a.png": "1" }
    const { content_state, differences } = articleFromMarkdown(text, { media })
    assert.ok(isContent(content_state))
    const { blocks, entities } = content_state
    const used = new Set<number>()
    for (const { entity_ranges = [], inline_style_ranges = [], text } of blocks) {
      for (const { length, offset } of [...entity_ranges, ...inline_style_ranges]) {
        assert.ok(length > 0)
        assert.ok(offset + length <= text.length)
      }
      for (const { key } of entity_ranges) used.add(key)
    }
    assert.strictEqual(used.size, entities.length)
    const lines = text.split(/\r\n?|\n/).length
    for (const { line } of differences) assert.ok(line <= lines)
  }
}

const terms = [
  ..."cat dog OR AND - -( ( ) \" ~3 ~7 #tag ＃型 $ACME $brk.b @ada @1 from:ada from:@ada to:1 is:retweet is:reply"
    .split(" "),
  ..."is:nullcast -is:nullcast has:images has:geo lang:en followers_count:10..200 tweets_count:5 context:47.* sample:5"
    .split(" "),
  ..."url:\"https://a.b\" bio:\"data engineer\" point_radius:[2.355128 bounding_box:[-1 48.8 16km] 4.5] list:1".split(
    " "
  ),
  ..."embedding:\"climate change\" embedding_threshold:.45 retweets_of:ada conversation_id:1 entity:\"a b\" place:x"
    .split(" "),
  " ",
  "point_radius:[2.355128 48.861118 16km]",
  "bounding_box:[-1 2 3 4.5]",
  "((((((((",
  ":",
  "é",
  "\ud800",
  "\u0000",
  "'"
]

/** The store has no posts that a quote could lead to. */
const lookups: Matcher.Lookups = {
  users: { byId: () => undefined },
  posts: { byId: () => undefined },
  attachments: { placesByIds: () => [] }
}

const checkError = ({ end, message, position }: Query.QuerySyntaxError, source: string): void => {
  assert.ok(position >= 0 && position <= end && end <= source.length, `${position} to ${end}`)
  assert.notEqual(message, "")
}

export const queries: Domain = {
  name: "queries and stream rules",
  holds: "client and sandbox agree on validity; errors lie in the text; groups and spaces change no meaning",
  cases: million,
  modules: /packages\/(core\/src\/query|sandbox\/src\/(search|matching))\//,
  seeds: ["cat", "(cat OR dog) -is:retweet lang:en", "\"social media\"~5 sample:15", "from:ada has:links", ...terms],
  mutate: Mutations.text([...terms, ...terms.map((term) => ` ${term}`)], 600),
  run: (source) => {
    for (const dialect of ["search", "rule"] as const) {
      const parsed = Query.parse(source, { dialect })
      const checked = Query.check(source, { dialect })
      if (Result.isFailure(parsed)) {
        checkError(parsed.failure, source)
        assert.ok(Result.isFailure(checked))
      } else if (!/["\u0000]/.test(source)) {
        for (const same of [` ${source}  `, `(${source})`]) {
          const again = Query.parse(same, { dialect })
          if (Result.isFailure(again)) assert.match(again.failure.message, /Nested more than/)
          else assert.strictEqual(Query.meaningOf(again.success.node), Query.meaningOf(parsed.success.node))
        }
      }
      if (Result.isFailure(checked)) checkError(checked.failure, source)
    }
    const [search, found] = [Query.parse(source, { dialect: "search" }), Search.parse(source)]
    if (Result.isFailure(search)) assert.deepStrictEqual(found, Result.fail(search.failure))
    else if (Result.isFailure(found)) assert.match(found.failure.message, /^Searches of the sandbox do not know/)
    const maximumLength = Query.maximumLength.rule
    const [rule, read] = [Query.check(source, { dialect: "rule" }), Matcher.parse(source, { maximumLength })]
    if (Result.isFailure(rule)) assert.deepStrictEqual(read, Result.fail(rule.failure))
    else if (Result.isFailure(read)) assert.match(read.failure.message, /^The sandbox does not know/)
    else Matcher.compile([{ id: "1", query: read.success }], lookups)
  }
}

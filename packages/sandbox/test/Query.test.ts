import { assert, describe, it, layer } from "@effect/vitest"
import { getRecentPostsCount } from "@postwire/core/operations/Counts"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { Context, Effect, Layer, Result, Schema } from "effect"
import * as Query from "../src/search/Query.ts"
import { Store } from "../src/store/Store.ts"
import * as Entities from "../src/text/Entities.ts"
import * as Terms from "../src/text/Terms.ts"
import * as Fuzz from "./support/Fuzz.ts"
import { make } from "./support/Requests.ts"

const now = Date.UTC(2026, 10, 20, 12)

const corpus = Effect.gen(function*() {
  const store = yield* Store.open({ file: ":memory:" })
  const ada = store.users.insert({ username: "ada", name: "Ada", createdAt: now - 2e9 })
  const grace = store.users.insert({ username: "Grace_H", name: "Grace", createdAt: now - 1e9, verifiedType: "blue" })
  const names = new Map<string, string>()
  const add = (name: string, text: string, more: Partial<Parameters<typeof store.posts.insert>[0]> = {}) => {
    const id = store.posts.insert({ authorId: ada, text, lang: "en", createdAt: now + names.size, ...more })
    names.set(id, name)
    return id
  }
  const a = add("a", "Effect makes side effects calm. #TypeScript")
  add("b", "@ada side by side with Rust, see https://docs.effect.website/guide?x=1", {
    authorId: grace,
    inReplyToPostId: a
  })
  add("c", "RT @ada: Effect makes side effects calm. #TypeScript", { authorId: grace, repostedPostId: a })
  add("d", "最近ずっと型のことを考えています #型安全 $ACME", { lang: "ja", mediaKeys: ["3_1"] })
  add("e", "Don't quote me, café owners 🚀", { quotedPostId: a, lang: "fr", mediaKeys: ["7_2"], placeId: "x" })
  add("f", "is_reply has_media from_ada OR not $BRK.B 100%")
  return {
    a,
    ada,
    find: (source: string) =>
      Result.match(Query.parse(source), {
        onFailure: (error) => `${error.position}: ${error.message}`,
        onSuccess: (query) =>
          store.posts.search({ query, limit: 50 }).items.map(({ id }) => names.get(id)).toSorted().join("")
      })
  }
})

describe("a search on the wire of August 2026", () => {
  it.effect("finds no reposts by words, and counts none; other operators still find them", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const post = bench.ada.post("On engines")
      bench.sandbox.user({ username: "reader" }).repost(post)
      const found = (query: string, wire: "neutral" | "x") =>
        Effect.all([searchRecentPosts({ query }), getRecentPostsCount({ query })]).pipe(
          Effect.map(([{ data = [] }, { meta }]) => [data.length, meta.total_post_count]),
          Effect.provide(bench.client(wire))
        )
      assert.deepStrictEqual(yield* found("engines", "neutral"), [2, 2])
      assert.deepStrictEqual(yield* found("engines", "x"), [1, 1])
      assert.deepStrictEqual(yield* found("(engines OR nothing) lang:und", "x"), [1, 1])
      assert.deepStrictEqual(yield* found("from:reader -engine", "x"), [1, 1])
    }))
})

describe("Terms", () => {
  it("cuts texts into folded words", () => {
    assert.deepStrictEqual(Terms.words("Don't PANIC: snake_case, ＦＵＬＬ-width 42 naïve"), [
      "don",
      "t",
      "panic",
      "snake_case",
      "full",
      "width",
      "42",
      "naïve"
    ])
    assert.deepStrictEqual(Terms.words("Effectの型🚀!"), ["effect", "の", "型", "🚀"])
    assert.deepStrictEqual(Terms.words("\"'*^:()-\u0000\ud800"), [])
  })

  it("cuts texts of any length, where words are longer than any query, too", () => {
    for (const text of ["a".repeat(6e6), `漢${"\u0301".repeat(6e6)}`]) {
      assert.strictEqual(Terms.words(text).join("").length, text.length)
    }
    // The longest word that a query can hold is one.
    assert.deepStrictEqual(Terms.words("a".repeat(1_024)), ["a".repeat(1_024)])
  })
})

describe("Entities", () => {
  it("are found in one go, however many there are", () => {
    const tags = Entities.find("🚀 $A ".repeat(60_000), () => undefined)?.cashtags
    assert.lengthOf(tags!, 60_000)
    assert.deepStrictEqual(tags!.at(-1), { start: 299_997, end: 299_999, tag: "A" })
  })

  it("are what the service finds: links without a protocol, and neither lists nor domains that do not exist", () => {
    const ada = { id: "1", username: "ada" }
    assert.deepStrictEqual(
      Entities.find("🚀 .@ADA, see example.com/a?b, not @ada/engines or https://a.example", () => ada),
      {
        mentions: [{ start: 3, end: 7, ...ada }],
        urls: [{
          start: 13,
          end: 28,
          url: "example.com/a?b",
          expanded_url: "http://example.com/a?b",
          display_url: "example.com/a?b"
        }]
      }
    )
  })
})

describe("Query", () => {
  it.effect("finds what it says", () =>
    Effect.gen(function*() {
      const { a, ada, find } = yield* corpus
      for (
        const [source, found] of [
          ["effect", "abc"],
          ["EFFECT calm", "ac"],
          ["effects", "ac"],
          ["eff", ""],
          ["\"side effects\"", "ac"],
          ["\"effects side\"", ""],
          ["\"side by\" rust", "b"],
          ["rust OR café", "be"],
          ["side rust OR café", "be"],
          ["side (rust OR calm)", "abc"],
          ["(side calm) OR (quote me)", "ace"],
          ["side -calm", "b"],
          ["side -(calm OR rust)", ""],
          ["side -calm -rust", ""],
          ["effect -\"side effects\"", "b"],
          ["café OR -side", "def"],
          ["side (café OR -rust)", "ac"],
          ["well-known OR don't", "e"],
          ["or OR or", "f"],
          ["from:ada", "adef"],
          ["from:ADA from:@ada", "adef"],
          [`from:${ada}`, "adef"],
          ["from:grace_h", "bc"],
          ["from:nobody", ""],
          ["to:ada", "b"],
          [`to:${ada}`, "b"],
          ["@ada", "bc"],
          ["@ADA -is:repost", "b"],
          ["#typescript", "ac"],
          ["#TypeScrip", ""],
          ["#型安全", "d"],
          ["#型", ""],
          ["＃型安全", "d"],
          ["型", "d"],
          ["考えて", "d"],
          ["えて考", ""],
          ["$acme", "d"],
          ["$BRK.B", "f"],
          ["$100", "f"],
          ["🚀", "e"],
          ["lang:ja OR lang:FR", "de"],
          ["is:reply", "b"],
          ["is:repost", "c"],
          ["is:retweet", "c"],
          ["is:quote", "e"],
          ["is:verified", "bc"],
          ["has:media", "de"],
          ["has:images", "d"],
          ["has:videos", "e"],
          ["has:video_link", "e"],
          ["side -is:nullcast", "abc"],
          ["has:links", "b"],
          ["has:hashtags", "acd"],
          ["has:cashtags", "df"],
          ["has:mentions", "bc"],
          ["has:geo", "e"],
          [`conversation_id:${a}`, "ab"],
          [`in_reply_to_post_id:${a}`, "b"],
          [`in_reply_to_tweet_id:${a}`, "b"],
          [`quotes_of_post_id:${a}`, "e"],
          [`quotes_of_tweet_id:${a}`, "e"],
          [`reposts_of_post_id:${a}`, "c"],
          [`retweets_of_tweet_id:${a}`, "c"],
          ["reposts_of:ADA", "c"],
          [`retweets_of:${ada}`, "c"],
          ["reposts_of:grace_h", ""],
          ["FROM:ada IS:Reply OR LANG:JA", "d"],
          // In quotes, everything is text.
          ["\"from:ada\"", ""],
          ["\"or not\"", "f"],
          ["\"is_reply has_media\"", "f"],
          ["\"calm. #TypeScript\"", "ac"],
          ["\"making -calm\" OR \"side (effects)\"", "ac"],
          ["side(rust)", "b"],
          ["CAFÉ", "e"],
          ["cafe\u0301", "e"],
          ["ＥＦＦＥＣＴ ＣＡＬＭ", "ac"],
          ["url:effect.website", "b"],
          ["url:\"https://docs.effect.website/guide\"", "b"],
          ["url:website.effect", ""],
          // Words of a text are no facts, whatever they look like.
          ["is_reply", "f"],
          ["from_ada has_media", "f"],
          ["effect from:ada -#typescript OR rust to:ada lang:en", "b"]
        ] as const
      ) assert.strictEqual(find(source), found, source)
    }))

  it.effect("says where and why it does not understand", () =>
    Effect.gen(function*() {
      const { find } = yield* corpus
      for (
        const [source, problem] of [
          ["", "0: The query is empty"],
          [" \n\t", "0: The query is empty"],
          ["-effect", "0: The query only excludes posts; it needs at least one term to search for"],
          ["-a -(b OR c)", "0: The query only excludes posts; it needs at least one term to search for"],
          ["-a OR -b", "0: The query only excludes posts; it needs at least one term to search for"],
          ["(-a)", "0: The query only excludes posts; it needs at least one term to search for"],
          ["effect \"side", "7: This \" has no partner"],
          ["effect (side", "7: This ( has no )"],
          ["effect) side", "6: This ) has no ("],
          ["effect ()", "8: A term is missing before this )"],
          ["OR effect", "0: A term is missing before this OR"],
          ["a OR OR b", "5: A term is missing before this OR"],
          ["effect OR", "9: The query ends too early"],
          ["a AND b", "2: AND is not an operator: separate terms with spaces"],
          ["a - b", "2: A - must stand directly before the term that it excludes"],
          ["a --b", "2: A - must stand directly before the term that it excludes"],
          ["a -", "2: A - must stand directly before the term that it excludes"],
          ["a context:47.*", "2: Searches of the sandbox do not know context:47.*"],
          ["a bio:b", "2: bio: is only available in rules of the filtered stream"],
          ["a near:here", "2: near: is not an operator"],
          ["constructor:x", "0: constructor: is not an operator"],
          ["__proto__:x", "0: __proto__: is not an operator"],
          ["https://effect.website", "0: https: is not an operator"],
          ["from: ada", "0: from: needs a value"],
          ["from: \"ada\"", "0: from: needs a value"],
          ["from:a-b", "5: a-b is not a username"],
          ["@", "0: @ is not a username"],
          ["#", "0: # is not a hashtag"],
          ["a #b-c", "2: #b-c is not a hashtag"],
          ["is:nice", "3: is: must be one of reply, repost, quote, verified, nullcast, retweet, not nice"],
          [
            "has:toString",
            "4: has: must be one of media, images, videos, links, hashtags, cashtags, mentions, geo, video_link, not toString"
          ],
          ["lang:english", "5: english is not a language code"],
          ["conversation_id:abc", "16: abc is not a post id"],
          ["a quotes_of_tweet_id:1x", "21: 1x is not a post id"],
          ["reposts_of:a-b", "11: a-b is not a username"],
          ["(a b", "0: This ( has no )"],
          ["\u3000\u2028", "0: The query is empty"],
          ["a \"!!\"", "2: Nothing to search for"],
          ["***", "0: Nothing to search for"]
        ] as const
      ) assert.strictEqual(find(source), problem, source)
      assert.strictEqual(find(`${"(".repeat(33)}effect${")".repeat(33)}`), "33: Nested more than 32 deep")
      assert.strictEqual(find(`${"(".repeat(32)}effect${")".repeat(32)}`), "abc")
      assert.match(find("(".repeat(100_000)), /^33: Nested/)
    }))

  it.effect("takes hostile text for words", () =>
    Effect.gen(function*() {
      const { find } = yield* corpus
      for (
        const source of [
          "effect'; DROP TABLE posts; --x",
          "effect* NEAR(a b, 2) ^side {text}",
          "text : effect",
          "facts : \"is_post\"",
          "effect\u0000 \u0000",
          "url:\"a' OR 1=1\"",
          "url:%00%22",
          "\"effect\"\"side\"",
          "effect AND\u00a0side",
          "effect NOT side",
          "from:'ada'",
          "\ud800 effect \udfff",
          "a\u0301\u0301\u0301 ﷺ İ",
          Array.from({ length: 500 }, (_, i) => `w${i}`).join(" OR "),
          Array.from({ length: 500 }, (_, i) => `-w${i}`).join(" ") + " effect",
          `effect ${"-(a OR b) (c OR -d) ".repeat(100)}`,
          "x ".repeat(5000),
          `"${"effect ".repeat(3000)}"`
        ]
      ) assert.match(find(source), /^([a-f]*|\d+: .+)$/s, source.slice(0, 60))
      assert.strictEqual(find("effect"), "abc")
      assert.strictEqual(find("\"effect\"\"side\""), "abc")
    }))
})

const Piece = Schema.Literals([
  ..."effect side OR AND - ( ) \" from: from:ada # #tag @ada $ACME is:reply url: * ' 🚀 ^ { : NEAR( 型".split(" "),
  "\u0000",
  "\ud83d",
  " ",
  "  "
])

// One corpus for all runs; a query leaves nothing behind.
class Corpus extends Context.Service<Corpus, Effect.Success<typeof corpus>>()("@postwire/sandbox/test/Query/Corpus") {
  static readonly layer = Layer.effect(Corpus, corpus)
}

const isLong = process.env["POSTWIRE_LONG"] === "1"

layer(Corpus.layer)("Query properties", (it) => {
  const answered = Effect.fnUntraced(function*(source: string) {
    const { find } = yield* Corpus
    const answer = find(source)
    assert.match(answer, /^([a-f]*|\d+: .+)$/s)
    const position = /^\d+/.exec(answer)
    if (position) assert.isAtMost(Number(position[0]), source.length)
  })

  it.effect.prop(
    "answers any string with posts or with the typed error",
    { source: Schema.String },
    ({ source }) => answered(source),
    { arbitrary: { runs: isLong ? 1000 : 400 } }
  )

  it.effect.prop(
    "answers any sequence of its own pieces with posts or with the typed error",
    { pieces: Schema.Array(Piece), blank: Schema.Literals(["", " "]) },
    ({ blank, pieces }) => answered(pieces.join(blank)),
    { arbitrary: { runs: isLong ? 3000 : 1000 } }
  )
})

/** A query, and what it says of a post. */
interface Expression {
  readonly source: string
  readonly holds: (post: Said) => boolean
  /** Whether it names anything to look for. */
  readonly isPositive: boolean
}

/** A post as somebody who reads it sees it. */
interface Said {
  readonly words: ReadonlyArray<string>
  readonly author: string
  readonly lang: string
  readonly answers: Said | undefined
  readonly quotes: Said | undefined
  readonly hasMedia: boolean
}

const vocabulary = "alpha beta gamma Été 型 🚀 #tag #Other @bob $ACME https://a.example.com/x".split(" ")
const languages = ["en", "de"]
const authors = ["ann", "bob", "Cy"]

const term = (source: string, holds: Expression["holds"]): Expression => ({ source, holds, isPositive: true })

const terms: ReadonlyArray<Expression> = [
  ...["alpha", "beta", "gamma", "été", "型", "🚀"].map((word) =>
    term(word, (post) => post.words.some((said) => said.toLowerCase() === word))
  ),
  term("BETA", (post) => post.words.includes("beta")),
  // Signs are no letters, so the word of a tag is a word as well.
  term("tag", (post) => post.words.includes("#tag")),
  ...["#tag", "#other", "@bob", "$acme"].map((sign) =>
    term(sign, (post) => post.words.some((said) => said.toLowerCase() === sign))
  ),
  ...[["alpha", "beta"], ["beta", "gamma"], ["gamma", "alpha", "beta"], ["alpha", "alpha"]].map((phrase) =>
    term(`"${phrase.join(" ")}"`, ({ words }) => words.some((_, i) => phrase.every((word, j) => words[i + j] === word)))
  ),
  ...authors.flatMap((name) => [
    term(`from:${name}`, (post) => post.author === name),
    term(`to:${name.toUpperCase()}`, (post) => post.answers?.author === name)
  ]),
  ...languages.map((lang) => term(`lang:${lang}`, (post) => post.lang === lang)),
  term("is:reply", (post) => post.answers !== undefined),
  term("is:quote", (post) => post.quotes !== undefined),
  term("is:verified", (post) => post.author === "Cy"),
  term("is:retweet", () => false),
  term("has:media", (post) => post.hasMedia),
  term("has:links", (post) => post.words.includes("https://a.example.com/x")),
  term("has:hashtags", (post) => post.words.some((word) => word.startsWith("#"))),
  term("has:cashtags", (post) => post.words.includes("$ACME")),
  term("has:mentions", (post) => post.words.includes("@bob")),
  term("url:a.example.com", (post) => post.words.includes("https://a.example.com/x")),
  term("nowhere", () => false)
]

/** A query of terms, groups, negations and alternatives. */
const expression = (random: Fuzz.Random, depth: number): Expression => {
  const kind = depth === 0 ? 0 : random.below(4)
  if (kind === 0) return random.pick(terms)
  const parts = Array.from({ length: 1 + random.below(3) }, () => expression(random, depth - 1))
  const isPositive = parts.some((part) => part.isPositive)
  switch (kind) {
    case 1: {
      const [part] = parts as [Expression]
      const source = part.source.startsWith("-") ? `-(${part.source})` : `-${part.source}`
      return { source, holds: (post) => !part.holds(post), isPositive: false }
    }
    case 2:
      return {
        source: `(${parts.map(({ source }) => source).join(" OR ")})`,
        holds: (post) => parts.some((part) => part.holds(post)),
        isPositive
      }
    default:
      return {
        source: `(${parts.map(({ source }) => source).join("  ")})`,
        holds: (post) => parts.every((part) => part.holds(post)),
        isPositive
      }
  }
}

describe("random queries over random posts", () => {
  it.effect("find what reading every post finds, in either order", () =>
    Effect.gen(function*() {
      const store = yield* Store.open({ file: ":memory:" })
      const random = Fuzz.random(11)
      const ids = new Map(authors.map((username) => [
        username,
        store.users.insert({
          username,
          name: username,
          createdAt: now,
          verifiedType: username === "Cy" ? "blue" : "none"
        })
      ]))
      const posts: Array<{ readonly id: string; readonly said: Said }> = []
      for (let i = 0; i < 150; i++) {
        const [answered, quoted] = [0.3, 0.2].map((share) => random.chance(share) ? posts[random.below(i)] : undefined)
        const said: Said = {
          words: Array.from({ length: 1 + random.below(6) }, () => random.pick(vocabulary)),
          author: random.pick(authors),
          lang: random.pick(languages),
          answers: answered?.said,
          quotes: quoted?.said,
          hasMedia: random.chance(0.2)
        }
        const id = store.posts.insert({
          authorId: ids.get(said.author)!,
          text: said.words.join(" "),
          createdAt: now + i,
          lang: said.lang,
          inReplyToPostId: answered?.id,
          quotedPostId: quoted?.id,
          mediaKeys: said.hasMedia ? ["3_1"] : undefined,
          impressions: random.below(10_000)
        })
        posts.unshift({ id, said })
      }
      const sizes = new Set<number>()
      for (let i = 0; i < (isLong ? 2_000 : 600); i++) {
        const { holds, isPositive, source } = expression(random, 4)
        const parsed = Query.parse(source)
        if (Result.isFailure(parsed)) {
          assert.isFalse(isPositive, source)
          assert.match(parsed.failure.message, /only excludes posts/, source)
          continue
        }
        assert.isTrue(isPositive, source)
        const expected = posts.filter(({ said }) => holds(said)).map(({ id }) => id)
        for (const order of ["recency", "relevancy"] as const) {
          const found = store.posts.search({ query: parsed.success, limit: 500, order }).items.map(({ id }) => id)
          if (order === "recency") assert.deepStrictEqual(found, expected, source)
          else assert.sameMembers(found, expected, source)
        }
        sizes.add(expected.length)
      }
      // Neither of everything nor of nothing alone.
      assert.isAbove(sizes.size, 50)
    }))
})

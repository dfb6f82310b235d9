import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer, Result, Schema } from "effect"
import * as Query from "../src/query/Query.ts"
import * as Terms from "../src/query/Terms.ts"
import { Store } from "../src/store/Store.ts"

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
          ["has:links", "b"],
          ["has:hashtags", "acd"],
          ["has:cashtags", "df"],
          ["has:mentions", "bc"],
          ["has:geo", "e"],
          [`conversation_id:${a}`, "ab"],
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
          ["-effect", "0: The query only says what to leave out; it needs at least one term to look for"],
          ["-a -(b OR c)", "0: The query only says what to leave out; it needs at least one term to look for"],
          ["-a OR -b", "0: The query only says what to leave out; it needs at least one term to look for"],
          ["(-a)", "0: The query only says what to leave out; it needs at least one term to look for"],
          ["effect \"side", "7: A \" without its partner"],
          ["effect (side", "7: A ( without its )"],
          ["effect) side", "6: A ) without its ("],
          ["effect ()", "8: Nothing before this )"],
          ["OR effect", "0: Nothing before this OR"],
          ["a OR OR b", "5: Nothing before this OR"],
          ["effect OR", "9: The query ends too early"],
          ["a AND b", "2: AND is no operator: terms are combined by a blank"],
          ["a - b", "2: A - belongs directly before what it excludes"],
          ["a --b", "2: A - belongs directly before what it excludes"],
          ["a -", "2: A - belongs directly before what it excludes"],
          ["a near:here", "2: There is no operator near:"],
          ["constructor:x", "0: There is no operator constructor:"],
          ["__proto__:x", "0: There is no operator __proto__:"],
          ["https://effect.website", "0: There is no operator https:"],
          ["from: ada", "0: from: needs a value"],
          ["from: \"ada\"", "0: from: needs a value"],
          ["from:a-b", "0: a-b is no username"],
          ["@", "0: @ is no username"],
          ["#", "0: # is no hashtag"],
          ["a #b-c", "2: #b-c is no hashtag"],
          ["is:nice", "0: is: knows reply, repost, quote, verified, retweet, not nice"],
          [
            "has:toString",
            "0: has: knows media, images, videos, links, hashtags, cashtags, mentions, geo, not toString"
          ],
          ["lang:english", "0: english is no language code"],
          ["conversation_id:abc", "0: abc is no post id"],
          ["a \"!!\"", "2: Nothing here that can be searched for"],
          ["***", "0: Nothing here that can be searched for"]
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
  "effect",
  "side",
  "OR",
  "AND",
  "-",
  "(",
  ")",
  "\"",
  "from:",
  "from:ada",
  "#",
  "#tag",
  "@ada",
  "$ACME",
  "is:reply",
  "url:",
  "*",
  "'",
  "\u0000",
  "🚀",
  "\ud83d",
  " ",
  "  ",
  "^",
  "{",
  ":",
  "NEAR(",
  "型"
])

// One corpus for all runs; a query leaves nothing behind.
class Corpus extends Context.Service<Corpus, Effect.Success<typeof corpus>>()("@postwire/sandbox/test/Query/Corpus") {
  static readonly layer = Layer.effect(Corpus, corpus)
}

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
    { arbitrary: { runs: 1000 } }
  )

  it.effect.prop(
    "answers any sequence of its own pieces with posts or with the typed error",
    { pieces: Schema.Array(Piece), blank: Schema.Literals(["", " "]) },
    ({ blank, pieces }) => answered(pieces.join(blank)),
    { arbitrary: { runs: 3000 } }
  )

  it.effect("splits all posts in two by what it finds and what it leaves out", () =>
    Effect.gen(function*() {
      const { find } = yield* Corpus
      const all = "(from:ada OR from:grace_h)"
      for (const term of ["effect", "is:reply", "#typescript", "café", "\"side effects\"", "(side OR has:media)"]) {
        assert.strictEqual([...find(term), ...find(`${all} -${term}`)].toSorted().join(""), find(all), term)
      }
    }))
})

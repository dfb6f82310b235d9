import { assert, describe, it } from "@effect/vitest"
import * as Language from "@postwire/core/query/Query"
import { Effect, Result } from "effect"
import * as Matcher from "../src/matching/Matcher.ts"
import * as Query from "../src/search/Query.ts"
import * as Seed from "../src/seed/Seed.ts"
import type { Post } from "../src/store/Post.ts"
import { Store } from "../src/store/Store.ts"
import * as IndexedPosts from "../src/streams/IndexedPosts.ts"
import * as Terms from "../src/text/Terms.ts"
import * as Fuzz from "./support/Fuzz.ts"

const now = Date.UTC(2026, 10, 20, 12)

const isLong = process.env["POSTWIRE_LONG"] === "1"

const everything = (store: Store["Service"]): ReadonlyArray<Post> =>
  store.posts.search({ query: Result.getOrThrow(Query.parse("is:reply OR -is:reply")), limit: 5_000 }).items

/** Terms that posts have, and some that few do. */
const termsOf = (posts: ReadonlyArray<Post>, random: Fuzz.Random): ReadonlyArray<string> => {
  const from = (values: ReadonlyArray<string | undefined>) => values.filter((value) => value !== undefined)
  const words = posts.flatMap(({ text }) => Terms.words(text))
  const some = Array.from({ length: 120 }, () => random.pick(words))
  const pairs = Array.from({ length: 60 }, () => {
    const at = random.below(words.length - 1)
    return `"${words[at]} ${words[at + 1]}"`
  })
  const sampled = Array.from({ length: 60 }, () => random.pick(posts))
  return [
    ...some,
    ...pairs,
    ...from(sampled.flatMap(({ author_id, conversation_id, entities, lang, referenced_posts }) => [
      `from:${author_id}`,
      `lang:${lang}`,
      `conversation_id:${conversation_id}`,
      ...(entities?.hashtags ?? []).map(({ tag }) => `#${tag}`),
      ...(entities?.cashtags ?? []).map(({ tag }) => `$${tag}`),
      ...(entities?.mentions ?? []).map(({ username }) => `@${username}`),
      ...(entities?.urls ?? []).map(({ expanded_url }) => `url:"${expanded_url}"`),
      ...(referenced_posts ?? []).map(({ id, type }) =>
        `${
          { reposted: "retweets_of_tweet_id", quoted: "quotes_of_post_id", replied_to: "in_reply_to_post_id" }[type]
        }:${id}`
      )
    ])),
    ...["reply", "repost", "quote", "verified", "nullcast"].map((kind) => `is:${kind}`),
    ...["media", "images", "videos", "links", "hashtags", "cashtags", "mentions", "geo"].map((kind) => `has:${kind}`)
  ]
}

const expression = (random: Fuzz.Random, terms: ReadonlyArray<string>, depth: number): string => {
  const kind = depth === 0 ? 0 : random.below(4)
  if (kind === 0) return random.pick(terms)
  const parts = Array.from({ length: 1 + random.below(3) }, () => expression(random, terms, depth - 1))
  if (kind === 1) return parts[0]!.startsWith("-") ? `-(${parts[0]})` : `-${parts[0]}`
  return `(${parts.join(kind === 2 ? " OR " : " ")})`
}

describe("Matcher", () => {
  it.effect("finds, post by post, what a search for the same finds", () =>
    Effect.gen(function*() {
      const store = yield* Store.open({ file: ":memory:" })
      Seed.run(store, { seed: 3, posts: isLong ? 800 : 400, start: now })
      const posts = everything(store)
      assert.isAbove(posts.length, 250)
      const random = Fuzz.random(5)
      const terms = termsOf(posts, random)
      const queries = Array.from({ length: isLong ? 3_000 : 200 }, () => expression(random, terms, 3)).flatMap(
        (source) => {
          const query = Language.parse(source, { dialect: "search" })
          return Result.isSuccess(query) ? [query.success] : []
        }
      )
      // Searches leave out what a quote quotes.
      const match = Matcher.compile(queries.map((query, i) => ({ id: String(i), query })), {
        ...store,
        posts: { byId: () => undefined }
      })
      const subject = IndexedPosts.make(store)
      const matched = queries.map((): Array<string> => [])
      for (const post of posts) {
        const ids = match(post.id, subject(post)).map(Number)
        assert.deepStrictEqual(ids, ids.toSorted((a, b) => a - b))
        for (const id of ids) matched[id]!.push(post.id)
      }
      const sizes = new Set<number>()
      for (const [i, { source }] of queries.entries()) {
        const found = store.posts.search({ query: Result.getOrThrow(Query.parse(source)), limit: 5_000 }).items
        assert.deepStrictEqual(matched[i], found.map(({ id }) => id), source)
        sizes.add(found.length)
      }
      assert.isAbove(sizes.size, 25)
    }))

  it.effect("knows what only rules ask for", () =>
    Effect.gen(function*() {
      const store = yield* Store.open({ file: ":memory:" })
      const company = store.users.insert({
        username: "acme",
        name: "ACME",
        createdAt: now - 3e9,
        verifiedType: "business"
      })
      const ada = store.users.insert({
        username: "ada",
        name: "Ada Lovelace, PhD",
        description: "Data engineer. Poetical science.",
        location: "London, UK",
        createdAt: now - 2e9
      })
      store.affiliates.set(company, ada, true)
      store.attachments.insertPlace({
        id: "01a9",
        name: "Paris",
        full_name: "Paris, France",
        country: "France",
        country_code: "FR",
        place_type: "city",
        geo: { type: "Feature", bbox: [2.2, 48.8, 2.5, 48.9], properties: {} }
      })
      const original = store.posts.insert({
        authorId: company,
        text: "The café is open #coffee https://shop.example.com/Beans",
        createdAt: now
      })
      const quote = store.posts.insert({
        authorId: ada,
        text: "Never said better, they all said",
        quotedPostId: original,
        placeId: "01a9",
        source: "Analytical Engine",
        createdAt: now + 1
      })
      const reply = store.posts.insert({
        authorId: company,
        text: "Thanks",
        inReplyToPostId: quote,
        createdAt: now + 2
      })
      const subject = IndexedPosts.make(store)
      const found = (source: string) => {
        const query = Matcher.parse(source, { maximumLength: 1_024 })
        if (Result.isFailure(query)) return query.failure.message
        const match = Matcher.compile([{ id: "1", query: query.success }], store)
        return [original, quote, reply].map((id, i) => {
          const post = store.posts.byId(id)
          return post !== undefined && match(id, subject(post)).length > 0 ? "oqr"[i] : ""
        }).join("")
      }
      for (
        const [source, posts] of [
          // A quote says what it quotes, too; its author is another one.
          ["café", "oq"],
          ["#coffee", "oq"],
          ["url:shop.example.com", "oq"],
          ["said -café", ""],
          ["from:acme", "or"],
          ["cafe", ""],
          ["url_contains:com/beans", "oq"],
          ["bio:\"data engineer\"", "q"],
          ["bio_name:phd OR bio_name:acme", "oqr"],
          ["bio_location:london", "q"],
          ["from_affiliate_of:ACME", "q"],
          [`to_affiliate_of:${company}`, "r"],
          ["place:\"paris france\"", "q"],
          ["place:01A9", "q"],
          ["place_country:fr", "q"],
          ["point_radius:[2.35 48.85 25km]", "q"],
          ["point_radius:[2.35 48.85 5mi]", ""],
          ["bounding_box:[2 48 3 49]", "q"],
          ["bounding_box:[2.3 48 3 49]", ""],
          ["posts_count:2", "or"],
          ["tweets_count:0..1", "q"],
          ["min_followers:1", ""],
          ["source:\"analytical engine\"", "q"],
          // Two words stand between them, and two moves more the other way about.
          ["\"never they\"~2", "q"],
          ["\"never they\"~1", ""],
          ["\"they never\"~4", "q"],
          ["\"they never\"~3", ""],
          ["\"said said\"~5", "q"],
          ["\"never never\"~6", ""],
          ["(from:acme OR from:ada) sample:100", "oqr"],
          ["cats embedding:dogs", "The sandbox does not know embedding:dogs"],
          ["-bio:engineer thanks", "r"]
        ] as const
      ) assert.strictEqual(found(source), posts, source)
    }))

  it.effect("takes the share of a sample, and of a larger one all that a smaller one has", () =>
    Effect.gen(function*() {
      const store = yield* Store.open({ file: ":memory:" })
      Seed.run(store, { seed: 3, posts: 800, start: now })
      const posts = everything(store)
      const subject = IndexedPosts.make(store)
      const rules = [10, 40].map((share) => ({
        id: String(share),
        query: Result.getOrThrow(Language.parse(`(is:reply OR -is:reply) sample:${share}`, { dialect: "rule" }))
      }))
      const match = Matcher.compile(rules, store)
      const found = posts.map((post) => match(post.id, subject(post)))
      const share = (id: string) => found.filter((ids) => ids.includes(id)).length / posts.length
      assert.closeTo(share("10"), 0.1, 0.05)
      assert.closeTo(share("40"), 0.4, 0.08)
      assert.isTrue(found.every((ids) => !ids.includes("10") || ids.includes("40")))
    }))
})

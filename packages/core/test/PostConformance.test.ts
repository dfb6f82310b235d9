/** The published conformance vectors, every one. */
import { assert, describe, it } from "@effect/vitest"
import * as PostEntities from "@postwire/core/text/PostEntities"
import * as PostText from "@postwire/core/text/PostText"
import { readFileSync } from "node:fs"
import { packed } from "../src/text/internal/topLevelDomains.ts"
import { unpacked } from "../src/text/Links.ts"

interface Vector<A> {
  readonly description: string
  readonly text: string
  readonly expected: A
}

type Vectors<A> = ReadonlyArray<Vector<A>>

type Indices = readonly [start: number, end: number]

interface Measured {
  readonly weightedLength: number
  readonly valid: boolean
  readonly permillage: number
  readonly displayRangeStart: number
  readonly displayRangeEnd: number
  readonly validRangeStart: number
  readonly validRangeEnd: number
}

interface Published {
  readonly extract:
    & {
      readonly [K in "mentions" | "urls" | "tco_urls_with_params" | "hashtags" | "hashtags_from_astral" | "cashtags"]:
        Vectors<ReadonlyArray<string>>
    }
    & {
      readonly [K in "urls_with_indices" | "urls_with_directional_markers"]: Vectors<
        ReadonlyArray<{ readonly url: string; readonly indices: Indices }>
      >
    }
    & {
      readonly mentions_with_indices: Vectors<
        ReadonlyArray<{ readonly screen_name: string; readonly indices: Indices }>
      >
      readonly mentions_or_lists_with_indices: Vectors<
        ReadonlyArray<{ readonly screen_name: string; readonly list_slug: string; readonly indices: Indices }>
      >
      readonly replies: Vectors<string | null>
      readonly hashtags_with_indices: Vectors<ReadonlyArray<{ readonly hashtag: string; readonly indices: Indices }>>
      readonly cashtags_with_indices: Vectors<ReadonlyArray<{ readonly cashtag: string; readonly indices: Indices }>>
    }
  readonly validate:
    & {
      readonly [K in "tweets" | "usernames" | "lists" | "hashtags" | "urls" | "urls_without_protocol"]: Vectors<boolean>
    }
    & {
      readonly [
        K in
          | "WeightedTweetsCounterTest"
          | "WeightedTweetsWithDiscountedEmojiCounterTest"
          | "UnicodeDirectionalMarkerCounterTest"
      ]: Vectors<Measured>
    }
  readonly topLevelDomains: Readonly<Record<"country" | "generic", ReadonlyArray<string>>>
}

const { extract, topLevelDomains, validate }: Published = JSON.parse(
  readFileSync(new URL("fixtures/text.json", import.meta.url), "utf8")
)

const { find } = PostEntities

/** The tests of a group, each under its own description. */
const group = <A>(name: string, vectors: Vectors<A>, actual: (text: string) => A) =>
  describe(name, () => {
    it.each(vectors)("$description", ({ expected, text }) => assert.deepStrictEqual(actual(text), expected))
  })

const indices = ({ end, start }: PostEntities.Span): Indices => [start, end]

describe("extract", () => {
  const urls = (text: string) => find(text).urls.map(({ url }) => url)
  const urlsWithIndices = (text: string) => find(text).urls.map((at) => ({ url: at.url, indices: indices(at) }))
  const hashtags = (text: string) => find(text).hashtags.map(({ tag }) => tag)

  group("mentions", extract.mentions, (text) => find(text).mentions.map(({ username }) => username))
  group(
    "mentions_with_indices",
    extract.mentions_with_indices,
    (text) => find(text).mentions.map((at) => ({ screen_name: at.username, indices: indices(at) }))
  )
  group(
    "mentions_or_lists_with_indices",
    extract.mentions_or_lists_with_indices,
    (text) =>
      find(text).mentions.map((at) => ({
        screen_name: at.username,
        list_slug: at.list === undefined ? "" : `/${at.list}`,
        indices: indices(at)
      }))
  )
  group("replies", extract.replies, (text) => {
    const [first] = find(text).mentions
    return first !== undefined && text.slice(0, first.start).trim() === "" ? first.username : null
  })
  group("urls", extract.urls, urls)
  group("urls_with_indices", extract.urls_with_indices, urlsWithIndices)
  group("urls_with_directional_markers", extract.urls_with_directional_markers, urlsWithIndices)
  group("tco_urls_with_params", extract.tco_urls_with_params, urls)
  group("hashtags", extract.hashtags, hashtags)
  group("hashtags_from_astral", extract.hashtags_from_astral, hashtags)
  group(
    "hashtags_with_indices",
    extract.hashtags_with_indices,
    (text) => find(text).hashtags.map((at) => ({ hashtag: at.tag, indices: indices(at) }))
  )
  group("cashtags", extract.cashtags, (text) => find(text).cashtags.map(({ tag }) => tag))
  group(
    "cashtags_with_indices",
    extract.cashtags_with_indices,
    (text) => find(text).cashtags.map((at) => ({ cashtag: at.tag, indices: indices(at) }))
  )
})

describe("validate", () => {
  /** Whether a text is one entity from its beginning to its end. */
  const isWhole = (text: string, [entity]: ReadonlyArray<PostEntities.Span>) =>
    entity?.start === 0 && entity.end === text.length

  // They are of a time when a post had 140 characters, of which each counted as one.
  group("tweets", validate.tweets, (text) => {
    const wide = PostText.length("の") * Array.from(text).length === PostText.length(text)
    return text !== "" && PostText.faultOf(text, wide ? 280 : 140) === undefined
  })
  group(
    "usernames",
    validate.usernames,
    (text) => isWhole(text, find(text).mentions.filter(({ list }) => list === undefined))
  )
  group("lists", validate.lists, (text) => isWhole(text, find(text).mentions.filter(({ list }) => list !== undefined)))
  group("hashtags", validate.hashtags, (text) => isWhole(text, find(text).hashtags))
  group("urls", validate.urls, (text) => PostEntities.isUrl(text))
  group("urls_without_protocol", validate.urls_without_protocol, (text) => PostEntities.isUrl(text, true))

  const measure = (text: string): Measured => {
    const weightedLength = PostText.length(text)
    return {
      weightedLength,
      valid: text !== "" && PostText.faultOf(text) === undefined,
      permillage: Math.floor(weightedLength / PostText.maximumWeight * 1000),
      displayRangeStart: 0,
      displayRangeEnd: text.length - 1,
      validRangeStart: 0,
      validRangeEnd: PostText.fittingUnits(text) - 1
    }
  }
  const later = new Map(validate.WeightedTweetsWithDiscountedEmojiCounterTest.map((vector) => [vector.text, vector]))
  const isInForce = (vector: Vector<Measured>) =>
    (later.get(vector.text) ?? vector).expected.weightedLength === vector.expected.weightedLength

  group("WeightedTweetsCounterTest", validate.WeightedTweetsCounterTest.filter(isInForce), measure)
  it("WeightedTweetsCounterTest: what counted every part of an emoji was replaced", () =>
    assert.deepStrictEqual(
      validate.WeightedTweetsCounterTest.filter((vector) => !isInForce(vector)).map(({ description }) => description),
      [
        "Count a mix of single byte single word, and double word unicode characters",
        "Count unicode emoji chars outside the basic multilingual plane with skin tone modifiers"
      ]
    ))
  group("WeightedTweetsWithDiscountedEmojiCounterTest", validate.WeightedTweetsWithDiscountedEmojiCounterTest, measure)
  group("UnicodeDirectionalMarkerCounterTest", validate.UnicodeDirectionalMarkerCounterTest, measure)
})

describe("top-level domains", () => {
  it.each(Object.entries(topLevelDomains))(
    "%s: a link ends with each of them",
    (_, names) =>
      assert.deepStrictEqual(
        names.filter((name) => {
          const url = `https://twitter.${name}`
          const [link, ...others] = find(url).urls
          return link?.url !== url || others.length > 0
        }),
        []
      )
  )

  it("are those that were published (node scripts/domains.ts packs them again)", () =>
    assert.deepStrictEqual([...unpacked(packed)], Object.values(topLevelDomains).flat().sort()))
})

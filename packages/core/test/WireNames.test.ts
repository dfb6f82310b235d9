import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as Model from "../src/schema/Model.ts"
import { CountBucket } from "../src/schema/models/CountBucket.ts"
import { DirectMessageEvent } from "../src/schema/models/DirectMessageEvent.ts"
import { Includes } from "../src/schema/models/Includes.ts"
import { List } from "../src/schema/models/List.ts"
import { Meta } from "../src/schema/models/Meta.ts"
import { Poll } from "../src/schema/models/Poll.ts"
import { Post } from "../src/schema/models/Post.ts"
import { Space } from "../src/schema/models/Space.ts"
import { User } from "../src/schema/models/User.ts"
import { streamPosts } from "../src/streams/operations/Streams.ts"
import { august, february } from "../src/wire/NameTables.ts"
import * as RenameCompiler from "../src/wire/RenameCompiler.ts"
import { x as newest, x202602 } from "../src/wire/Wire.ts"
import * as WireNames from "../src/wire/WireNames.ts"
import facts from "./fixtures/wire-names.json" with { type: "json" }

const Reposted = Schema.Struct({ data: Schema.Struct({ reposted: Schema.Boolean }) })

const schemas: Readonly<Record<string, Schema.Constraint>> = {
  "Tweet -> Post": Post.schema,
  User: User.schema,
  DmEvent: DirectMessageEvent.schema,
  Expansions: Includes,
  SearchCount: CountBucket,
  "Get2TweetsCounts{All,Recent}Response": Schema.Struct({ meta: Meta }),
  "UsersRetweets{Create,Delete}Response": Reposted
}

/** An object with `value` at the end of a path of keys. */
const at = (keys: ReadonlyArray<string>, value: unknown): unknown =>
  keys.reduceRight((value, key) => ({ [key]: value }), value)

const Page = Schema.Struct({
  data: Schema.optionalKey(Schema.Array(Post.schema)),
  includes: Schema.optionalKey(Includes),
  meta: Schema.optionalKey(Meta)
})

const both = (schema: Schema.Constraint, neutral: unknown, x: unknown) => {
  assert.deepStrictEqual(x202602.fromNeutral(schema)(neutral), x)
  assert.deepStrictEqual(WireNames.toNeutral(schema)(x), neutral)
}

const untouched = (schema: Schema.Constraint, value: unknown) => {
  assert.strictEqual(x202602.fromNeutral(schema)(value), value)
  assert.strictEqual(WireNames.toNeutral(schema)(value), value)
}

describe("names", () => {
  const rows = (
    rows: ReadonlyArray<{ readonly neutral: string; readonly x: string }>,
    toX: (name: string) => string
  ) => {
    for (const { neutral, x } of rows) assert.strictEqual(toX(neutral), x)
  }

  it("paths", () => {
    const parameters = facts.pathParameters.map(({ neutral, x }) => ({ neutral: `/2/a/:${neutral}`, x: `/2/a/:${x}` }))
    for (const wire of [x202602, newest]) {
      rows(facts.paths, wire.path)
      rows(parameters, wire.path)
      rows(facts.bodyKeys, wire.bodyKey)
    }
  })

  it("query keys", () => {
    rows(facts.queryKeys, (key) => x202602.queryKey({}, key))
    rows(facts.queryKeys.map(({ neutral }) => ({ neutral, x: neutral })), (key) => newest.queryKey({}, key))
  })

  it("query keys of streams, which are those of February", () => {
    const live = streamPosts.definition
    rows(facts.queryKeys, (key) => newest.queryKey(live, key))
    rows(facts.queryKeys, (key) => x202602.queryKey(live, key))
    const say = newest.selector(live, "post_fields")!
    assert.deepStrictEqual(say("referenced_posts").names, ["referenced_tweets"])
    assert.deepStrictEqual(say("matched_media_notes").names, ["matched_media_notes"])
    assert.isTrue(say("article_title").isUnavailable)
    assert.deepStrictEqual(newest.selector(live, "expansions")!("referenced_posts.id.author_id").expansions, [
      "referenced_tweets.id.author_id"
    ])
  })

  it("fields and expansions", () => {
    rows(facts.selectorValues, (name) => WireNames.expansion(february, name))
  })

  it("every word that is read has in it what bodies are looked through for", () => {
    for (const word of [...february.members.values(), ...february.values.values(), ...august.members.values()]) {
      assert.isTrue(WireNames.isForeign(word), word)
    }
    for (const [neutral, word] of [...august.members, ...august.values]) {
      assert.include([february.members.get(neutral), february.values.get(neutral)], word)
    }
  })

  it("every identifier of the service's document", () => {
    for (const { kind, neutral, x } of facts.inScope) {
      // Members of enumerations that are no selector values stand in responses; `retweets` only in `exclude`.
      if (kind === "enum" && ["post", "reposted", "retweets"].includes(neutral)) continue
      rows(
        [{ neutral, x }],
        kind === "enum"
          ? (name) => WireNames.expansion(february, name)
          : kind === "parameter"
          ? (key) => x202602.queryKey({}, key)
          : x202602.bodyKey
      )
    }
  })

  it("names that merely contain the word pass", () => {
    for (
      const name of [...facts.reverseHazards, "post", "posts_of_next_year", "repost", "constructor", "__proto__", ""]
    ) {
      for (const words of [february, august]) {
        assert.strictEqual(WireNames.bodyKey(words, name), name)
        assert.strictEqual(WireNames.expansion(words, name), name)
        assert.strictEqual(WireNames.queryKey(words, name), name)
      }
    }
    for (const segment of facts.reversePathSegments) {
      assert.strictEqual(WireNames.path(february, `/2/users/${segment}`), `/2/users/${segment}`)
    }
  })
})

describe("values of a schema", () => {
  for (const { neutral, pointer, schema, x } of facts.responseKeys) {
    it(`${schema} ${pointer}`, () => {
      const keys = pointer.slice(1).split("/")
      const value = ["kept", { tweets: 1, posts: 2 }]
      both(schemas[schema]!, at([...keys.slice(0, -1), neutral], value), at([...keys.slice(0, -1), x], value))
    })
  }

  it("members of enumerations", () => {
    const values: Record<string, (value: string) => void> = {
      "Post.referenced_posts[].type (response)": () =>
        both(Post.schema, { referenced_posts: [{ type: "reposted", id: "1" }, { type: "quoted", id: "2" }] }, {
          referenced_tweets: [{ type: "retweeted", id: "1" }, { type: "quoted", id: "2" }]
        }),
      "Post.withheld.scope (response)": () =>
        both(Post.schema, { withheld: { scope: "post" } }, { withheld: { scope: "tweet" } }),
      "Problem.resource_type (errors[])": () => {
        assert.deepStrictEqual(WireNames.problemToNeutral({ resource_type: "tweet" }), { resource_type: "post" })
        assert.deepStrictEqual(x202602.problemFromNeutral({ resource_type: "post" }), { resource_type: "tweet" })
      }
    }
    for (const { where } of facts.enumValues) values[where]!(where)
    untouched(Post.schema, { withheld: { scope: "user" }, reply_settings: "tweet" })
    untouched(User.schema, { withheld: { scope: "tweet" } })
  })

  it("only objects on the way to a change are rebuilt", () => {
    const entities = { hashtags: [{ start: 0, end: 1, tag: "tweets" }] }
    const plain = { id: "2", text: "a" }
    const body = {
      data: [{ id: "1", edit_history_tweet_ids: ["1"], entities }, plain],
      includes: { users: [{ id: "3" }] },
      meta: { next_token: "tweets" }
    }
    const before = structuredClone(body)
    const neutral = WireNames.toNeutral(Page)(body) as typeof Page.Type
    assert.deepStrictEqual(neutral.data![0], { id: "1", edit_history_post_ids: ["1"], entities })
    assert.strictEqual(neutral.data![0]!.entities, entities)
    assert.strictEqual(neutral.data![1], plain)
    assert.strictEqual(neutral.includes, body.includes)
    assert.strictEqual(neutral.meta, body.meta)
    assert.deepStrictEqual(body, before)
    assert.deepStrictEqual(Object.keys(neutral.data![0]!), ["id", "edit_history_post_ids", "entities"])
  })

  it("without anything to rename nothing is looked at", () => {
    untouched(List.schema, new Proxy({}, { ownKeys: () => assert.fail(), get: () => assert.fail() }))
    assert.strictEqual(x202602.fromNeutral(List.schema), x202602.fromNeutral(Poll.schema))
  })

  it("is compiled once per schema", () => {
    assert.strictEqual(WireNames.toNeutral(Page), WireNames.toNeutral(Page))
  })

  it("another shape than declared passes", () => {
    for (
      const value of [null, undefined, 1, "tweets", [], [null], { data: "tweets" }, { data: [null, "tweets", [1]] }]
    ) {
      untouched(Page, value)
    }
  })

  it("unknown keys and values survive", () => {
    both(Page, {
      data: [{ id: "1", note_post: { text: "a", tweets: 1 }, tweet_next_year: { tweet_id: 1 } }],
      tweets: [1]
    }, { data: [{ id: "1", note_tweet: { text: "a", tweets: 1 }, tweet_next_year: { tweet_id: 1 } }], tweets: [1] })
  })

  it("a key under both names loses neither value", () => {
    const body = { includes: { tweets: [{ id: "1" }], posts: [{ id: "2" }] } }
    assert.deepStrictEqual(WireNames.toNeutral(Page)(body), body)
    assert.deepStrictEqual(x202602.fromNeutral(Page)(body), body)
  })

  it("compiled copies are those of the interpreter, for any keys in any order", () => {
    const texts = [
      `{"data":[{"id":"1","edit_history_tweet_ids":["1"],"referenced_tweets":[{"type":"retweeted","id":"2"},null]}]}`,
      `{"data":[{"edit_history_tweet_ids":["1"],"id":"1","text":"tweet","7":{"tweet_id":1}}]}`,
      `{"data":[{"id":"1","edit_history_tweet_ids":["1"],"edit_history_post_ids":["2"]}]}`,
      `{"data":[{"id":"1","edit_history_tweet_ids":null,"__proto__":{"polluted":1},"constructor":1}]}`,
      `{"data":[{"id":"1","note_tweet":{"text":"a","quote\\"s and \\\\":1},"public_metrics":{"retweet_count":1,"like_count":2}}]}`,
      `{"includes":{"tweets":[{"id":"1","edit_history_tweet_ids":["1"]}],"users":[{"id":"2","pinned_tweet_id":"1"}]}}`,
      `{"includes":{"tweets":[{"id":"1"}],"posts":[{"id":"2"}]}}`
    ]
    // Schemas of this test alone, since those of models may have compiled copies by now.
    const Named = () =>
      Schema.Struct({
        edit_history_post_ids: Schema.Array(Schema.String),
        referenced_posts: Schema.Array(Schema.Struct({ type: Model.known("quoted", "reposted"), id: Schema.String })),
        note_post: Schema.Struct({ text: Schema.String }),
        public_metrics: Schema.Struct({ repost_count: Schema.Number }),
        pinned_post_id: Schema.String
      })
    const Own = () =>
      Schema.Struct({
        data: Schema.Array(Named()),
        includes: Schema.Struct({ posts: Schema.Array(Named()), users: Schema.Array(Named()) })
      })
    const translated = () => {
      const toNeutral = WireNames.toNeutral(Own())
      return () => texts.map((text) => JSON.stringify(toNeutral(JSON.parse(text))))
    }
    WireNames.compileWith(undefined)
    const interpreted = translated()()
    const later = translated()
    // Copies that are made before there is a compiler do not count towards those that are compiled.
    for (let round = 0; round < 3; round++) later()
    let compiled = 0
    WireNames.compileWith((members) => {
      compiled++
      return RenameCompiler.compile(members)
    })
    for (let round = 0; round < 3; round++) assert.deepStrictEqual(later(), interpreted)
    assert.isAbove(compiled, 5)
    const polluted: { readonly polluted?: unknown } = {}
    assert.isUndefined(polluted.polluted)
  })

  it("where code cannot be generated copies are interpreted", () => {
    const generate = globalThis.Function
    Reflect.set(globalThis, "Function", () => {
      throw new EvalError("refused")
    })
    try {
      assert.isUndefined(RenameCompiler.compile([{ from: "a", to: "b", inner: undefined }]))
    } finally {
      Reflect.set(globalThis, "Function", generate)
    }
  })

  it("prototypes stay clean", () => {
    const text = (posts: string) =>
      `{"${posts}":[{"id":"1","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}],` +
      `"__proto__":{"polluted":1}}`
    const neutral = WireNames.toNeutral(Includes)(JSON.parse(text("tweets"))) as object
    assert.strictEqual(JSON.stringify(neutral), text("posts"))
    assert.strictEqual(Object.getPrototypeOf(neutral), Object.prototype)
    assert.isUndefined(({} as Record<string, unknown>)["polluted"])
    assert.isUndefined((neutral as Record<string, unknown>)["polluted"])
    const inherited = Object.create({ tweets: [{ id: "1" }] })
    untouched(Includes, inherited)
    const own = { tweets: [{ id: "1" }] }
    WireNames.compileWith(RenameCompiler.compile)
    assert.deepStrictEqual(WireNames.toNeutral(Includes)(own), { posts: [{ id: "1" }] })
    untouched(Includes, inherited)
  })

  it("recursive schemas and unions", () => {
    interface Thread {
      readonly post_id: string
      readonly replies?: ReadonlyArray<Thread>
    }
    const Thread = Schema.Struct({
      post_id: Schema.String,
      replies: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<Thread> => Thread)))
    })
    both(Thread, { post_id: "1", replies: [{ post_id: "2" }] }, { tweet_id: "1", replies: [{ tweet_id: "2" }] })
    const either = Schema.Union([Schema.Array(Thread), Schema.Struct({ post_count: Schema.Int }), Schema.Null])
    both(either, [{ post_id: "1" }], [{ tweet_id: "1" }])
    both(either, { post_count: 1 }, { tweet_count: 1 })
    untouched(either, null)
  })

  it.prop("there and back is the identity", [
    Arbitrary.schema(Page),
    Arbitrary.schema(Schema.Struct(User.fields)),
    Arbitrary.schema(DirectMessageEvent.schema),
    Arbitrary.schema(
      Schema.Struct({
        ...Post.fields,
        referenced_posts: Schema.Array(
          Schema.Struct({ type: Schema.Literals(["reposted", "quoted", "replied_to"]), id: Schema.String })
        ),
        withheld: Schema.Struct({ scope: Schema.Literals(["post", "user"]) })
      })
    )
  ], ([page, user, event, post]) => {
    for (
      const [schema, value] of [[Page, page], [User.schema, user], [DirectMessageEvent.schema, event], [
        Post.schema,
        post
      ]] as const
    ) {
      const x = x202602.fromNeutral(schema)(value)
      assert.deepStrictEqual(WireNames.toNeutral(schema)(x), value)
      assert.strictEqual(JSON.stringify(WireNames.toNeutral(schema)(x)), JSON.stringify(value))
    }
    assert.nestedPropertyVal(
      x202602.fromNeutral(User.schema)(user),
      "public_metrics.tweet_count",
      user.public_metrics.post_count
    )
    assert.notInclude(Object.keys(x202602.fromNeutral(Post.schema)(post) as object).join(), "post")
  })
})

describe("problems", () => {
  const x = {
    type: "https://api.twitter.com/2/problems/invalid-request",
    title: "tweets",
    detail: "tweet.fields",
    parameter: "referenced_tweets.id",
    value: "tweet_id",
    resource_id: "tweets",
    resource_type: "tweet",
    field: "public_metrics.retweet_count",
    section: "data",
    parameters: { "tweet.fields": ["tweet.fields", "note_tweet"], constructor: ["tweet_id"], ids: ["posts"] },
    errors: [{ message: "tweets", parameters: { tweet_id: ["tweets"] }, errors: [{ parameter: "pinned_tweet_id" }] }]
  }
  const neutral = {
    ...x,
    parameter: "referenced_posts.id",
    resource_type: "post",
    field: "public_metrics.repost_count",
    parameters: { "post.fields": ["tweet.fields", "note_tweet"], constructor: ["tweet_id"], ids: ["posts"] },
    errors: [{ message: "tweets", parameters: { post_id: ["tweets"] }, errors: [{ parameter: "pinned_post_id" }] }]
  }

  it("names are renamed, and nothing else", () => {
    assert.deepStrictEqual(WireNames.problemToNeutral(x), neutral)
    assert.deepStrictEqual(x202602.problemFromNeutral(neutral), x)
  })

  it("every position", () => {
    const positions: Record<string, readonly [x: object, neutral: object]> = {
      "errors[].parameter": [{ parameter: "tweet.fields" }, { parameter: "post.fields" }],
      "errors[].field (FieldUnauthorizedProblem)": [{ field: "note_tweet.text" }, { field: "note_post.text" }],
      "errors[].parameters (InvalidRequestProblem, map)": [{
        parameters: { max_results: ["5"], "tweet.fields": ["tweets"] }
      }, { parameters: { max_results: ["5"], "post.fields": ["tweets"] } }],
      "errors[].resource_type": [{ resource_type: "tweet" }, { resource_type: "post" }],
      "errors[].type and top-level type": [{ type: "tweet" }, { type: "tweet" }],
      "errors[].value, errors[].resource_id, errors[].detail, errors[].title, errors[].message, top-level detail/title/reason":
        [{
          value: "tweets",
          resource_id: "tweet",
          detail: "tweets",
          title: "tweets",
          message: "tweets",
          reason: "tweet"
        }, {
          value: "tweets",
          resource_id: "tweet",
          detail: "tweets",
          title: "tweets",
          message: "tweets",
          reason: "tweet"
        }]
    }
    for (const where of facts.errorPositions) {
      const [x, neutral] = positions[where]!
      assert.deepStrictEqual(WireNames.problemToNeutral({ errors: [x] }), { errors: [neutral] })
      assert.deepStrictEqual(WireNames.problemToNeutral(x), neutral)
      assert.deepStrictEqual(x202602.problemFromNeutral(neutral), x)
    }
  })

  it("types are never renamed", () => {
    for (const type of facts.problemTypes) {
      const document = { type, title: "a", errors: [{ type, parameter: "ids", resource_type: "user" }] }
      assert.strictEqual(WireNames.problemToNeutral(document), document)
      assert.strictEqual(x202602.problemFromNeutral(document), document)
    }
  })

  it("other documents pass", () => {
    for (
      const value of [null, "tweet", [], { errors: "tweet" }, { errors: [null, 1, { code: 1 }] }, {
        parameters: ["tweet_id"]
      }]
    ) {
      assert.strictEqual(WireNames.problemToNeutral(value), value)
    }
  })

  it("endless nesting is harmless", () => {
    let document: object = { parameter: "tweet_id" }
    for (let i = 0; i < 100_000; i++) document = { errors: [document] }
    assert.strictEqual(WireNames.problemToNeutral(document), document)
  })
})

describe("what must not be renamed", () => {
  const word = "tweets tweet_id https://x.com/tweets/1?tweet.fields=tweets posts reposted retweeted"
  const names = { name: word, description: word }
  const entities = {
    urls: [{
      start: 0,
      end: 1,
      url: word,
      expanded_url: word,
      display_url: word,
      unwound_url: word,
      title: word,
      description: word
    }],
    hashtags: [{ start: 0, end: 1, tag: "tweets" }],
    cashtags: [{ start: 0, end: 1, tag: "tweets" }],
    mentions: [{ start: 0, end: 1, username: "tweets" }],
    annotations: [{ start: 0, end: 1, normalized_text: "tweets" }]
  }
  const values: Record<string, ReadonlyArray<readonly [Schema.Constraint, unknown]>> = {
    "Post.text, Post.note_post.text, DmEvent.text, create_post.text, DM text": [[Post.schema, {
      id: "1",
      text: "tweets"
    }], [DirectMessageEvent.schema, { id: "1", text: "tweets" }]],
    "User.name, User.username, User.description, User.location, User.url": [[User.schema, {
      ...names,
      id: "1",
      username: "tweets",
      location: "tweets",
      url: word
    }]],
    "List.name, List.description, Space.title, topics[].name/description, Place names": [[List.schema, names], [
      Space.schema,
      { title: "tweets", topics: [names] }
    ], [Includes, { topics: [names], places: [{ ...names, full_name: "tweets" }] }]],
    "entities.*: urls[].url/expanded_url/display_url/unwound_url/title/description, hashtags[].tag, cashtags[].tag, mentions[].username, annotations[].normalized_text":
      [[Post.schema, { entities }], [User.schema, { entities: { description: entities, url: entities } }]],
    "context_annotations[].domain.name/entity.name/description": [[Post.schema, {
      context_annotations: [{ domain: names, entity: names }]
    }]],
    "Post.source": [[Post.schema, { source: "tweets" }]],
    "media url, preview_image_url, variants[].url, profile_image_url, profile_banner_url": [[Includes, {
      media: [{ url: word, preview_image_url: word, variants: [{ url: word }] }]
    }], [User.schema, { profile_image_url: word, profile_banner_url: word }]],
    "poll options[].label / poll.options": [[Includes, { polls: [{ options: [{ label: "tweets" }] }] }]],
    "pagination tokens (next_token, previous_token, pagination_token)": [[Page, {
      meta: { next_token: "tweets", previous_token: "posts" }
    }]],
    "keys of free-form maps (Geo.properties, errors[].parameters values)": [[Includes, {
      places: [{ geo: { properties: { tweets: 1, posts: 1, post_id: 2 } } }]
    }]]
  }

  for (const where of facts.hazards.filter((where) => where in values)) {
    it(`${where}`, () => {
      for (const [schema, value] of values[where]!) untouched(schema, value)
    })
  }

  it("the rest are no positions of a response body", () => {
    // Request parameters, credentials and problems: nothing here ever gets to see the values of the first four.
    assert.deepStrictEqual(facts.hazards.filter((where) => !(where in values)), [
      "query parameter `query` (search, counts, spaces search)",
      "direct_message_deep_link, destination URLs",
      "Authorization header, OAuth scopes, client credentials",
      "problem type URIs, detail and title",
      "exclude=retweets",
      "media_category values tweet_gif/tweet_video"
    ])
    const Sent = Schema.Struct({ exclude: Schema.String, media_category: Schema.String, query: Schema.String })
    untouched(Sent, { exclude: "retweets", media_category: "tweet_gif", query: "is:retweet tweets" })
  })
})

// What programs send in the words of August 2026, and how refusals name the other ones.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { catalogue } from "../src/Catalogue.ts"
import * as Errors from "../src/errors/Errors.ts"
import { parametersOf } from "../src/schema/Definition.ts"
import * as RequestEncoder from "../src/wire/RequestEncoder.ts"
import * as Wire from "../src/wire/Wire.ts"
import { make, secrets } from "./support/Service.ts"
import { test } from "./support/Test.ts"

type Name = keyof typeof catalogue

const prepared = (name: Name, parameters: object, wire = Wire.x) =>
  RequestEncoder.encode(catalogue[name].definition, parameters, wire)

/** The query of a call, decoded. */
const query = (name: Name, parameters: object, wire = Wire.x): object => {
  const request = prepared(name, parameters, wire)
  if ("_tag" in request) throw request
  return Object.fromEntries(new URLSearchParams(request.query))
}

describe("in the words of August", () => {
  it("names of queries, fields and expansions are new, those of paths and bodies are not", () => {
    assert.deepStrictEqual(
      query("getPost", { id: "1", expansions: "referenced_posts.id,author_id", post_fields: ["note_post", "lang"] }),
      { expansions: "referenced_posts,author_id", "post.fields": "note_post,lang" }
    )
    assert.deepStrictEqual(
      query("getPosts", { ids: "1", expansions: ["entities.note.mentions.username", "attachments.media_source_post"] }),
      { ids: "1", expansions: "username,attachments.media_source_tweet" }
    )
    assert.deepStrictEqual(
      query("getUser", { id: "1", expansions: ["affiliation.user_id", "pinned_post_id"], user_fields: "username" }),
      { expansions: "affiliation,pinned_post_id", "user.fields": "username" }
    )
    assert.deepInclude(prepared("like", { post_id: "1" }), { body: `{"tweet_id":"1"}` })
    assert.deepInclude(prepared("createPost", { text: "a", in_reply_to_post_id: "1" }), {
      path: "/2/tweets",
      body: `{"text":"a","reply":{"in_reply_to_tweet_id":"1"}}`
    })
  })

  it.each<[Name, object, object]>([
    ["getPost", { id: "1", post_fields: "author_id" }, { expansions: "author_id" }],
    [
      "getPost",
      { id: "1", post_fields: ["lang", "author_id", "referenced_posts"], expansions: ["author_id", "geo.place_id"] },
      { "post.fields": "lang", expansions: "author_id,referenced_posts,geo.place_id" }
    ],
    [
      "getPost",
      { id: "1", expansions: [{ unlisted: "a.b" }], post_fields: ["edit_history_post_ids", { unlisted: "author_id" }] },
      { "post.fields": "author_id", expansions: "a.b,edit_history_post_ids" }
    ],
    [
      "getMe",
      { user_fields: ["affiliation", "pinned_post_id", "name"], post_fields: "edit_history_post_ids" },
      { "user.fields": "name", expansions: "affiliation,pinned_post_id" }
    ],
    ["getFollowedLists", { id: "1", list_fields: "owner_id" }, { expansions: "owner_id" }],
    ["getSpace", { id: "1", space_fields: "title,host_ids" }, { "space.fields": "title", expansions: "host_ids" }],
    [
      "getDirectMessageEvents",
      { dm_event_fields: ["sender_id", "referenced_posts"], expansions: "sender_id" },
      { expansions: "sender_id,referenced_posts" }
    ]
  ])("fields of %s that only expansions bring are those: %o", (
    name,
    parameters,
    expected
  ) => {
    assert.deepStrictEqual(query(name, parameters), expected)
  })

  it.each(["x", "x-2026-02"] as const)(
    "what users never bring is not selected on %s, and all the same checked",
    (wire) => {
      const parameters = {
        id: "1",
        media_fields: ["url"],
        place_fields: "country",
        poll_fields: "id",
        user_fields: "url"
      }
      assert.deepStrictEqual(query("getLikingUsers", parameters, Wire.named[wire]), { "user.fields": "url" })
      assert.instanceOf(
        prepared("getLikingUsers", { id: "1", media_fields: "urls" }, Wire.named[wire]),
        Errors.InvalidParameters
      )
    }
  )

  it.each<[Name, object, string]>([
    ["getPost", { id: "1", expansions: "referenced_posts.id.author_id" }, "expansions"],
    ["getPosts", { ids: "1", expansions: ["referenced_posts.id.attachments.media_keys"] }, "expansions"],
    ["getMe", { expansions: "pinned_post_id", post_fields: ["author_id"] }, "post_fields"],
    ["getPost", { id: "1", expansions: "author_id", user_fields: ["pinned_post_id"] }, "user_fields"]
  ])("what %s cannot say is refused, with the setting that can: %o", (name, parameters, parameter) => {
    const error = prepared(name, parameters)
    assert.instanceOf(error, Errors.InvalidParameters)
    assert.strictEqual(error.parameter, parameter)
    assert.match(error.message, /cannot be requested with wire: "x", only with wire: "x-2026-02"\. Got "/)
    assert.isFalse("_tag" in prepared(name, parameters, Wire.x202602))
  })

  it.each<[Name, object, string, string]>([
    ["getPost", { id: "1", post_fields: ["lang", "article_title"] }, "post_fields", "article_title"],
    ["getPosts", { ids: "1", post_fields: "matched_media_notes" }, "post_fields", "matched_media_notes"],
    ["searchRecentPosts", { query: "a", post_fields: ["paid_partnership"] }, "post_fields", "paid_partnership"],
    ["getMe", { post_fields: "note_request_suggestions" }, "post_fields", "note_request_suggestions"],
    ["getUser", { id: "1", user_fields: "url,subscribes_to_you" }, "user_fields", "subscribes_to_you"]
  ])(
    "what %s could not say in February is refused, with the setting that can: %o",
    (name, parameters, parameter, field) => {
      const error = prepared(name, parameters, Wire.x202602)
      assert.instanceOf(error, Errors.InvalidParameters)
      assert.strictEqual(error.parameter, parameter)
      assert.include(error.message, `cannot be requested with wire: "x-2026-02", only with wire: "x". Got "${field}"`)
      for (const wire of [Wire.x, Wire.neutral]) {
        const fields = new Map(Object.entries(query(name, parameters, wire))).get(parameter.replace("_", "."))
        assert.include(String(fields).split(","), field)
      }
    }
  )

  it("February selects no fields of a job that is created, and no media of likes", () => {
    const fields = { compliance_job_fields: ["status"] } as const
    assert.deepStrictEqual(query("createComplianceJob", { type: "posts", ...fields }, Wire.x202602), {})
    assert.deepStrictEqual(query("getComplianceJob", { id: "1", ...fields }, Wire.x202602), {
      "compliance_job.fields": "status"
    })
    const likes = { partition: 1, media_fields: ["url"], post_fields: ["lang"] }
    assert.deepStrictEqual(query("streamLikesFirehose", likes, Wire.x202602), {
      partition: "1",
      "tweet.fields": "lang"
    })
    for (
      const [parameter, name] of [
        ["expansions", "attachments.media_keys"],
        ["like_with_post_author_fields", "attachments_media_keys"]
      ] as const
    ) {
      const error = prepared("streamLikesFirehose", { ...likes, [parameter]: [name] }, Wire.x202602)
      assert.instanceOf(error, Errors.InvalidParameters)
      assert.include(error.message, `cannot be requested with wire: "x-2026-02", only with wire: "x". Got "${name}"`)
      assert.isFalse("_tag" in prepared("streamLikesFirehose", { ...likes, [parameter]: [name] }, Wire.x))
    }
  })

  it("everything that an operation lists is said, or refused", () => {
    for (const [name, { definition }] of Object.entries(catalogue)) {
      // What streams take is still said as in February.
      if ("live" in definition) continue
      for (const [parameter, { values = [] }] of Object.entries(definition.query ?? {})) {
        const say = Wire.x.selector(definition, parameter)
        if (!(parameter in parametersOf(definition)) || !/^expansions$|_fields$/.test(parameter)) continue
        for (const value of values) {
          const { expansions, names, isUnavailable } = say!(value)
          // August left the counts of trends and of analytics, and the post of a broadcast, as they were called.
          const said = [...expansions, ...names].filter((word) =>
            !(name === "getTrends" && word === "tweet_count") && !/Analytics$|Broadcast/.test(name)
          )
          assert.notMatch(said.join(), /tweet(?!$)|referenced_posts\./, `${name} ${value}`)
          if (isUnavailable) assert.lengthOf([...expansions, ...names], 0)
        }
      }
    }
  })
})

describe("a refusal", () => {
  const refusal = (wire: (typeof Wire.names)[number], message: string, status = 400) => {
    const service = make(() => ({
      status,
      body: { errors: [{ message, parameters: {} }], title: "Invalid Request", detail: "One is invalid." }
    }))
    return catalogue.getPost({ id: "1", post_fields: ["lang"] }).pipe(
      Effect.flip,
      Effect.provide(service.layer({ ...secrets, wire }))
    )
  }

  test.each(
    [
      ["x", "The query parameter [post.fields] is not one of [id,tweet.fields]", "x-2026-02"],
      ["x", "The `tweet.fields` query parameter value [note_post] is not one of [id,note_tweet]", "x-2026-02"],
      ["x-2026-02", "The query parameter [tweet.fields] is not one of [id,post.fields]", "x"],
      ["x-2026-02", "The `expansions` query parameter value [referenced_tweets.id] is not one of [author_id]", "x"],
      ["x", "The `expansions` query parameter value [affiliation,referenced_posts] is not one of [id]", "x-2026-02"],
      ["x", "The query parameter [user.fields] is not one of [id,post.fields]", undefined],
      ["x", "The `max_results` query parameter value [post.fields] is not between 10 and 100", undefined],
      ["neutral", "The query parameter [post.fields] is not one of [id,tweet.fields]", undefined]
    ] as const
  )("on %s of %s names the wire %s")(function*([wire, message, otherWire]) {
    const error = yield* refusal(wire, message)
    assert.instanceOf(error, Errors.BadRequest)
    assert.strictEqual(error.otherWire, otherWire)
    assert.strictEqual(
      error.message.endsWith(
        `The service may use other names: try wire: "${otherWire}", or set POSTWIRE_WIRE.`
      ),
      otherWire !== undefined
    )
  })
})

describe("every wire", () => {
  const bodies = {
    neutral: { data: { id: "1", text: "a", referenced_posts: [{ id: "2", type: "reposted" }] } },
    "2.159": { data: { id: "1", text: "a", referenced_tweets: [{ id: "2", type: "retweeted" }] } },
    "2.167": { data: { id: "1", text: "a", referenced_posts: [{ id: "2", type: "retweeted" }] } }
  }

  test.each(Wire.names)("reads what comes in whatever words: %s")(function*(wire) {
    for (const body of Object.values(bodies)) {
      const { layer } = make(() => ({ body }))
      const response = yield* Effect.provide(catalogue.getPost({ id: "1" }), layer({ ...secrets, wire }))
      assert.deepStrictEqual(response.body, bodies.neutral as never)
    }
  })
})

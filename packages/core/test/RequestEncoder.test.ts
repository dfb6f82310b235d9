import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { catalogue } from "../src/Catalogue.ts"
import * as Errors from "../src/errors/Errors.ts"
import { type Definition, parametersOf } from "../src/schema/Definition.ts"
import * as Parameters from "../src/schema/Parameters.ts"
import * as RequestEncoder from "../src/wire/RequestEncoder.ts"
import * as Wire from "../src/wire/Wire.ts"
import { all, assertNoSecret, make, secrets, transportError, type Untyped } from "./support/Service.ts"
import { test } from "./support/Test.ts"

const prepare = (operation: { readonly definition: Definition }, parameters: unknown) =>
  RequestEncoder.encode(operation.definition, parameters, Wire.neutral)

const refusedAs = (operation: { readonly definition: Definition }, parameters: unknown) => {
  const error = prepare(operation, parameters)
  assert.instanceOf(error, Errors.InvalidParameters)
  assert.instanceOf(error, TypeError)
  assert.include(error.message, `${operation.definition.name}: `)
  assertNoSecret(error)
  return error
}

const accepted = (operation: { readonly definition: Definition }, parameters: unknown) => {
  const prepared = prepare(operation, parameters)
  if (prepared instanceof Error) throw prepared
  return prepared
}

const {
  createDirectMessage,
  createPost,
  getDirectMessageEvents,
  getMe,
  getPost,
  getPosts,
  getStreamRuleCounts,
  getUser,
  getUsersPosts,
  like,
  searchAllPosts,
  searchRecentPosts
} = catalogue

describe("prepare", () => {
  it("refuses ids that are none, by name and rule", () => {
    const bad = [
      "../me",
      "a/b?x",
      "1\r\nX",
      NaN,
      2 ** 53,
      Number("9007199254740993"),
      "",
      " ",
      "%2e%2e",
      "é",
      -1,
      1.5,
      1e21,
      -1n,
      10n ** 19n,
      {},
      [],
      Symbol("x"),
      () => 1,
      true
    ]
    for (const id of bad) {
      const error = refusedAs(getPost, { id })
      assert.strictEqual(error.parameter, "id")
      assert.strictEqual(error.rule, "must be an id of 1 to 19 digits, as a string, a bigint or a safe integer")
      assert.isDefined(error.value)
      assert.notMatch(error.message, /[\r\n]/)
    }
    for (const post_id of bad) assert.strictEqual(refusedAs(like, { post_id }).parameter, "post_id")
  })

  it("refuses what is no object of parameters", () => {
    for (const parameters of [null, 1, "id=1", [], [{ id: "1" }], true, () => ({ id: "1" })]) {
      assert.strictEqual(refusedAs(getPost, parameters).parameter, "parameters")
    }
  })

  it("refuses missing parameters", () => {
    for (const parameters of [{}, { id: undefined }, { id: null }]) {
      assert.strictEqual(refusedAs(getPost, parameters).message, "getPost: id is required.")
    }
  })

  it("refuses an empty required text even where the bounds are left to the service", () => {
    const { definition } = catalogue.searchRecentPosts
    // An empty query asks for nothing: it is a mistake, whatever the service allows.
    const prepared = RequestEncoder.encode(definition, { query: "" }, Wire.neutral, { checks: "identifiers" })
    assert.instanceOf(prepared, Errors.InvalidParameters)
  })

  it("takes own properties only", () => {
    // An inherited id once passed for given and was not sent, which made the path /2/posts/.
    assert.strictEqual(refusedAs(getPost, Object.create({ id: "20" })).rule, "is required")
    class Parameters {
      get id() {
        return "20"
      }
    }
    assert.strictEqual(refusedAs(getPost, new Parameters()).rule, "is required")
    assert.instanceOf(prepare(getUser, Object.create({ id: "20" })), Errors.ConflictingIdentifiers)
    assert.strictEqual(accepted(getPost, Object.assign(Object.create(null), { id: "20" })).path, "/2/posts/20")
  })

  it("names the nearest parameter of a misspelt one, and shows no value of it", () => {
    const error = refusedAs(getPost, { id: "1", post_field: [secrets.bearerToken] })
    assert.strictEqual(error.message, "getPost: post_field is not a parameter of getPost (did you mean post_fields?).")
    for (const name of ["bearerToken", "bearer_token", "accessToken", "constructor", "toString"]) {
      assert.strictEqual(refusedAs(getPost, { id: "1", [name]: secrets.bearerToken }).parameter, name)
    }
    assert.strictEqual(refusedAs(getPost, JSON.parse(`{"id": "1", "__proto__": {"id": "2"}}`)).parameter, "__proto__")
  })

  it("names the parameter that a word of the service stands for", () => {
    const meant = [
      [getPost, { id: "1", tweet_fields: 1 }, "post_fields"],
      [getPost, { id: "1", "tweet.fields": 1 }, "post_fields"],
      [getPost, { id: "1", "post.fields": 1 }, "post_fields"],
      [createPost, { in_reply_to_tweet_id: 1 }, "in_reply_to_post_id"],
      [createPost, { quote_tweet_id: 1 }, "quote_post_id"],
      [createPost, { reply: { in_reply_to_tweet_id: 1 } }, "in_reply_to_post_id"],
      [createPost, { poll: {} }, "poll_options"],
      [like, { tweet_id: 1 }, "post_id"],
      [getUsersPosts, { maxResults: 1 }, "max_results"],
      [getUsersPosts, { max_result: 1 }, "max_results"],
      [getMe, { userAuth: true }, "user_auth"],
      [getUsersPosts, { limit: 1 }, "max_results"],
      [getUsersPosts, { count: 1 }, "max_results"],
      [getUsersPosts, { user_id: 1 }, "id"],
      [getPost, { tweet_id: 1 }, "id"],
      [createPost, { media: {} }, "media_ids"]
    ] as const
    for (const [operation, parameters, name] of meant) {
      for (const wire of [Wire.neutral, Wire.x]) {
        const error = RequestEncoder.encode(operation.definition, parameters, wire)
        assert.instanceOf(error, Errors.InvalidParameters)
        assert.match(error.rule, RegExp(` \\(did you mean ${name}\\?\\)$`))
      }
    }
  })

  it("names the nearest of the names that a parameter lists", () => {
    const meant = [
      [
        getPost,
        { id: "1", post_fields: ["lang", "public_metric"] },
        "post_fields",
        `"public_metric"`,
        "public_metrics"
      ],
      [getPost, { id: "1", post_fields: "lang,createdat" }, "post_fields", `"createdat"`, "created_at"],
      [getPost, { id: "1", post_fields: ["note_tweet"] }, "post_fields", `"note_tweet"`, "note_post"],
      [
        getPost,
        { id: "1", expansions: ["referenced_tweets.id"] },
        "expansions",
        `"referenced_tweets.id"`,
        "referenced_posts.id"
      ],
      [getMe, { expansions: ["pinned_tweet_id"] }, "expansions", `"pinned_tweet_id"`, "pinned_post_id"],
      [getMe, { expansions: ["affiliation"] }, "expansions", `"affiliation"`, "affiliation.user_id"],
      [searchRecentPosts, { query: "a", sort_order: "relevance" }, "sort_order", `"relevance"`, "relevancy"],
      [
        createPost,
        { text: "a", reply_settings: "mentioned_users" },
        "reply_settings",
        `"mentioned_users"`,
        "mentionedUsers"
      ],
      [getUsersPosts, { id: "1", exclude: ["replys"] }, "exclude", `"replys"`, "replies"],
      [
        getDirectMessageEvents,
        { event_types: ["MessageCreated"] },
        "event_types",
        `"MessageCreated"`,
        "MessageCreate"
      ]
    ] as const
    for (const [operation, parameters, parameter, value, name] of meant) {
      for (const wire of [Wire.neutral, Wire.x]) {
        const error = RequestEncoder.encode(operation.definition, parameters, wire)
        assert.instanceOf(error, Errors.InvalidParameters)
        assert.deepInclude(error, { parameter, value, rule: `has no such name (did you mean ${name}?)` })
      }
    }
  })

  it("takes a name that is listed nowhere on purpose, in the words of the caller", () => {
    assert.strictEqual(
      refusedAs(getMe, { expansions: ["author_id"] }).rule,
      "has no such name, only affiliation.user_id, most_recent_post_id, pinned_post_id"
    )
    assert.strictEqual(
      refusedAs(getMe, { user_fields: "zzz" }).rule,
      `has no such name; pass one that only the service knows as { unlisted: "name" }`
    )
    const parameters = { id: 1, post_fields: ["note_post", { unlisted: "brand_new_post" }] }
    const x = RequestEncoder.encode(getPost.definition, parameters, Wire.x202602)
    assert.deepInclude(x, { query: "tweet.fields=note_tweet%2Cbrand_new_post" })
    // A command line's spelling of it, and nobody else's.
    for (const post_fields of ["lang,unlisted:brand_new", ["lang", "unlisted:created_at"], "unlisted:"]) {
      assert.strictEqual(
        refusedAs(getPost, { id: 1, post_fields }).rule,
        `has no such name; pass one that only the service knows as { unlisted: "name" }`
      )
    }
    for (const unlisted of ["", "a b", "a,b", 1, undefined, {}, "a\n"]) {
      assert.strictEqual(refusedAs(getPost, { id: 1, post_fields: [{ unlisted }] }).parameter, "post_fields")
    }
  })

  it("keeps a message on one line, whatever a parameter is called", () => {
    const error = refusedAs(getPost, { id: "1", "x\r\n2026 forged\u001b[2J": 1 })
    assert.strictEqual(error.parameter, "x\r\n2026 forged\u001b[2J")
    assert.notMatch(error.message, /[\u0000-\u001f]/)
  })

  it("refuses user_auth where there is none, and anything but a boolean", () => {
    assert.strictEqual(refusedAs(catalogue.getBookmarks, { user_auth: true }).parameter, "user_auth")
    for (const user_auth of [1, "true", "", {}]) {
      assert.strictEqual(refusedAs(getMe, { user_auth }).parameter, "user_auth")
    }
    assert.isTrue(accepted(getMe, { user_auth: undefined }).userAuth)
    assert.isTrue(accepted(getMe, { user_auth: null }).userAuth)
    assert.isFalse(accepted(getMe, { user_auth: false }).userAuth)
  })

  it("refuses both and neither of two alternatives", () => {
    const conflict = (operation: { readonly definition: Definition }, parameters: object) => {
      const error = prepare(operation, parameters)
      assert.instanceOf(error, Errors.ConflictingIdentifiers)
      assert.instanceOf(error, TypeError)
      return error.message
    }
    assert.strictEqual(
      conflict(getUser, { id: 0, username: "ada" }),
      "getUser accepts exactly one of id and username, but id and username were given."
    )
    assert.strictEqual(conflict(getUser, {}), "getUser accepts exactly one of id and username, but neither was given.")
    assert.strictEqual(conflict(getUser, { id: null, username: undefined }), conflict(getUser, {}))
    conflict(getDirectMessageEvents, { dm_conversation_id: "1-2", participant_id: "2" })
    conflict(createDirectMessage, { text: "a" })
    conflict(createDirectMessage, { text: "a", dm_conversation_id: "1-2", participant_id: "2" })
    assert.strictEqual(accepted(getDirectMessageEvents, {}).path, "/2/dm_events")
    assert.strictEqual(accepted(getUser, { id: 0, username: null }).path, "/2/users/0")
  })

  it("enforces the rules across parameters", () => {
    const missing = (parameters: object, operation: { readonly definition: Definition } = createPost) =>
      refusedAs(operation, parameters).parameter
    assert.strictEqual(missing({}), "text")
    assert.strictEqual(missing({ quote_post_id: "1" }), "text")
    assert.strictEqual(missing({ text: "a", media_tagged_user_ids: ["1"] }), "media_ids")
    assert.strictEqual(missing({ text: "a", poll_options: ["a", "b"] }), "poll_duration_minutes")
    assert.strictEqual(missing({ text: "a", poll_duration_minutes: 5 }), "poll_options")
    assert.strictEqual(missing({ text: "a", exclude_reply_user_ids: ["1"] }), "in_reply_to_post_id")
    assert.strictEqual(missing({ participant_id: "1" }, createDirectMessage), "text")
    assert.strictEqual(accepted(createPost, { text: "" }).body, `{"text":""}`)
    assert.strictEqual(
      accepted(createPost, { media_ids: [1], for_super_followers_only: false }).body,
      `{"media":{"media_ids":["1"]},"for_super_followers_only":false}`
    )
    assert.strictEqual(
      accepted(createDirectMessage, { participant_id: 1, media_id: 2 }).body,
      `{"attachments":[{"media_id":"2"}]}`
    )
  })

  it("enforces the limits of every parameter at both ends", () => {
    for (const [, operation] of all) {
      for (const [name, parameter] of Object.entries(parametersOf(operation.definition))) {
        const { bounds } = parameter
        // A link is longer than the shortest text.
        if (bounds === undefined || bounds.of === "time" || parameter.rule === Parameters.linked(1).rule) continue
        const at = (size: number): unknown =>
          bounds.of === "value"
            ? size
            : bounds.of === "characters"
            ? "😀".repeat(size)
            : Array(size).fill(name === "media_keys" ? "3_1" : "1")
        const answer = (size: number) => prepare(operation, { [name]: at(size) })
        for (const size of [bounds.minimum, bounds.maximum]) {
          const error = answer(size)
          assert.isFalse(error instanceof Errors.InvalidParameters && error.value !== undefined, `${name} ${size}`)
        }
        const beyond = [bounds.minimum - 1, bounds.maximum + 1]
        for (const size of beyond) {
          if (size === 0 && parameter.open === true || size < 0 && bounds.of !== "value") continue
          const error = answer(size)
          assert.instanceOf(error, Errors.InvalidParameters)
          assert.strictEqual(error.parameter, name)
        }
      }
    }
  })

  it("omits empty texts and empty lists of names, but refuses an empty list of ids", () => {
    const parameters = { id: "1", exclude: [], post_fields: [], expansions: "", max_results: null }
    assert.strictEqual(accepted(getUsersPosts, parameters).query, "")
    assert.strictEqual(accepted(getStreamRuleCounts, { rules_count_fields: "" }).query, "")
    assert.strictEqual(refusedAs(getPosts, { ids: [] }).parameter, "ids")
    for (const post_fields of [{ length: 0 }, () => 1, 0, false]) {
      assert.strictEqual(refusedAs(getPost, { id: "1", post_fields }).parameter, "post_fields")
    }
  })

  it("encodes for the wire", () => {
    assert.strictEqual(
      accepted(searchAllPosts, { query: "a b+c&d=é\ud800", start_time: new Date(0), max_results: 500 }).query,
      "query=a%20b%2Bc%26d%3D%C3%A9%EF%BF%BD&start_time=1970-01-01T00%3A00%3A00Z&max_results=500"
    )
    assert.strictEqual(
      RequestEncoder.encode(getPost.definition, { id: 1, expansions: ["referenced_posts.id"] }, Wire.x) instanceof
        Error,
      false
    )
    const x = RequestEncoder.encode(like.definition, { post_id: 1n }, Wire.x)
    assert.deepInclude(x, { path: "/2/users//likes", identityAt: 9, body: `{"tweet_id":"1"}` })
  })

  it("returns a typed error for a value that JSON cannot represent", () => {
    const circular: Array<unknown> = []
    circular.push(circular)
    assert.strictEqual(refusedAs(getPosts, { ids: circular }).parameter, "ids")
    assert.strictEqual(refusedAs(getPosts, { ids: { toJSON: () => 1n, length: 1 } }).parameter, "ids")
  })
})

describe("send", () => {
  const failing = (operation: Untyped, parameters: object, cause: object) => {
    const service = make(() => transportError(cause))
    return Effect.map(
      Effect.flip(Effect.provide(operation(parameters), service.layer())),
      (error) => {
        assert.lengthOf(service.requests, 1)
        assertNoSecret(error)
        return error
      }
    )
  }

  test("never sends a create twice, and says when its outcome is unknown")(function*() {
    for (const cause of [{ phase: "headers", requestSent: true, message: "gone" }, new Error("gone")]) {
      const error = yield* failing(createPost as Untyped, { text: "a" }, cause)
      assert.instanceOf(error, Errors.OutcomeUnknown)
      assert.strictEqual(error.reason, "gone")
      assert.include(error.message, "may have happened")
    }
    const unsent = yield* failing(createPost as Untyped, { text: "a" }, {
      phase: "connect",
      requestSent: false,
      message: "refused"
    })
    assert.instanceOf(unsent, Errors.TransportFailure)
    assert.strictEqual(unsent.phase, "connect")
  })

  test("tells how far a read or a toggle got")(function*() {
    for (const phase of ["connect", "send", "headers", "body"] as const) {
      const error = yield* failing(getPost as Untyped, { id: "1" }, { phase, requestSent: true, message: "gone" })
      assert.instanceOf(error, Errors.TransportFailure)
      assert.strictEqual(error.phase, phase)
    }
    const toggle = yield* failing(like as Untyped, { post_id: "1" }, new Error("gone"))
    assert.instanceOf(toggle, Errors.TransportFailure)
    assert.strictEqual(toggle.phase, "unknown")
    assert.strictEqual(toggle.message, "like: no response (unknown): gone")
  })

  test("treats a body that breaks off as no answer, unless a create was refused")(function*() {
    for (const status of [200, 201, 302, 303, 307, 399, 400, 401, 403, 404, 408, 409, 429, 499, 500, 501, 503]) {
      const service = make(() => ({ status, body: brokenOff() }), { tells: false })
      const failure = (operation: Untyped, parameters: object) =>
        Effect.flip(Effect.provide(operation(parameters), service.layer()))
      const read = yield* failure(getPost as Untyped, { id: "1" })
      assert.instanceOf(read, Errors.TransportFailure)
      const created = yield* failure(createPost as Untyped, { text: "a" })
      assert.strictEqual(created._tag, refusals[status] ?? "OutcomeUnknown", String(status))
      assert.lengthOf(service.requests, 2)
    }
  })
})

/** What a create fails with, of whose answer only the head came. */
const refusals: { readonly [status: number]: Errors.AnyError["_tag"] } = {
  307: "UnexpectedStatus",
  399: "UnexpectedStatus",
  400: "BadRequest",
  401: "Unauthorized",
  402: "PaymentRequired",
  403: "Forbidden",
  404: "NotFound",
  409: "UnexpectedStatus",
  429: "RateLimited",
  499: "UnexpectedStatus",
  501: "ServerFailure"
}

const brokenOff = () =>
  new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(`{"data": {"id": "1", "te`))
      controller.error(new Error("reset"))
    }
  })

/** Threads against the sandbox, whatever goes wrong: each part is posted once, or it is said why that cannot be told. */
import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Errors from "@postwire/core/errors/Errors"
import type { Post, Progress } from "@postwire/core/publishing/Publish"
import type { ThreadError, ThreadOptions } from "@postwire/core/publishing/Thread"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as Journal from "@postwire/core/storage/Journal"
import { Cause, Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { randomInt } from "node:crypto"
import { admit } from "../../core/src/accounts/internal/admission.ts"
import * as MovedClock from "../../core/test/support/MovedClock.ts"
import { make as random } from "../src/text/random.ts"
import * as Requests from "./support/Requests.ts"
import * as Threads from "./support/Threads.ts"

/** Of these, the service takes each once only: the second of two is refused. */
const thread = (name: string): ReadonlyArray<Post> => [
  { text: `One & only <${name}> https://example.com/${name}?a=1&b=2` },
  { text: `Two: https://example.com/${name} https://example.org/` },
  { text: "Three" }
]

/** Of these, it takes as many as come. */
const polls = (name: string): ReadonlyArray<Post> =>
  thread(name).map((post) => ({ ...post, poll: { options: ["yes", "no"], duration_minutes: 60 } }))

const texts = (posts: ReadonlyArray<{ readonly text?: string | undefined }>) => posts.map(({ text }) => text)

/** Whether what stands is the thread, each part of it once and in reply to the one before. */
const assertStands = (stands: ReadonlyArray<Threads.Shown>, posts: ReadonlyArray<Post>) => {
  assert.deepStrictEqual(texts(stands), texts(posts))
  stands.forEach(({ referenced_posts = [] }, i) =>
    assert.strictEqual(referenced_posts.find(({ type }) => type === "replied_to")?.id, stands[i - 1]?.id)
  )
}

describe("a thread", () => {
  it.effect("is posted in its order, each part in reply to the one before, and once", () =>
    Effect.gen(function*() {
      const line = yield* Threads.make()
      const journal = Journal.makeMemory()
      const posts = thread("a")
      const publisher = yield* Threads.start(line, journal)
      const published = yield* Threads.toEnd(publisher.publish(posts, { key: "a" }))
      assert.deepStrictEqual(line.state.requests, ["GET /2/users/me", ...posts.map(() => "POST /2/posts")])
      const stands = yield* line.posts()
      assertStands(stands, posts)
      assert.deepStrictEqual(published, {
        posts: stands.map(({ id, text }) => ({ id, text, media: [] })),
        resumed: false,
        abandoned: false
      })
      // Again, by another process.
      line.state.requests = []
      const other = yield* Threads.start(line, journal)
      assert.deepStrictEqual(yield* Threads.toEnd(other.publish(posts, { key: "a" })), { ...published, resumed: true })
      assert.deepStrictEqual(line.state.requests, [])
    }))

  it.effect("goes on whatever becomes of a request, and posts no part twice", () =>
    Effect.gen(function*() {
      const line = yield* Threads.make()
      const publisher = yield* Threads.start(line, Journal.makeMemory())
      line.state.lag = Threads.longestLag
      for (const fate of ["lost", "failed late", "unreadable", "vanished", "failed", "late"] as const) {
        for (const [kind, nth] of [[thread, 1], [polls, 1], [polls, 2], [thread, 3]] as const) {
          const key = `${fate} ${nth} ${kind.name}`
          const since = (yield* line.posts()).at(-1)?.id
          const posts = kind(encodeURI(key))
          line.state.fates = [...Array.from({ length: nth - 1 }, () => "answered" as const), fate]
          const published = yield* Threads.toEnd(publisher.publish(posts, { key }))
          const stands = yield* line.posts(since)
          assertStands(stands, posts)
          assert.deepStrictEqual(published.posts.map(({ id }) => id), stands.map(({ id }) => id), key)
        }
      }
    }))
})

describe("the wall clock", () => {
  it.effect.each(
    [
      ["forward while a part is looked for", "looking", 3_600_000],
      ["back while a part is looked for", "looking", -3_600_000],
      ["forward before the thread begins", "start", 3_600_000]
    ] as const
  )("may be set %s: no part is posted twice", ([, phase, jump]) =>
    Effect.gen(function*() {
      const line = yield* Threads.make()
      const publisher = yield* Threads.start(line, Journal.makeMemory())
      const clock = yield* MovedClock.make
      line.state.lag = Threads.longestLag
      line.state.fates = ["lost"]
      const posts = polls("a")
      let jumps = 0
      const reach = (reached: Progress["phase"] | "start") => {
        if (reached === phase && jumps++ === 0) clock.move(jump)
      }
      reach("start")
      const begun = yield* Monotonic.millis
      yield* Threads.toEnd(
        clock.provide(publisher.publish(posts, { key: "a", onProgress: (step) => reach(step.phase) }))
      )
      assert.isBelow((yield* Monotonic.millis) - begun, 120_000)
      assertStands(yield* line.posts(), posts)
    }))
})

/** A publisher of a thread, and what it fails with. */
const scene = Effect.fnUntraced(function*(journal: Journal.Entries = Journal.makeMemory()) {
  const line = yield* Threads.make()
  const publisher = yield* Threads.start(line, journal)
  const publish = (posts: ReadonlyArray<Post>, options: Partial<ThreadOptions> = {}) =>
    Threads.toEnd(publisher.publish(posts, { key: "a", ...options }))
  const failure = (posts: ReadonlyArray<Post>, options?: Partial<ThreadOptions>) => Effect.flip(publish(posts, options))
  return { ...line, line, journal, publisher, publish, failure }
})

describe("a part that cannot be decided", () => {
  const posts = thread("a")

  const undecided = [
    // By then it is not there, but whoever could tell is not asked.
    ["unreadable", "vanished", 2, (state: Threads.Line["state"]) => void (state.isReadable = false), 1],
    // The one before is not there either.
    ["lagging", "lost", 2, (state: Threads.Line["state"]) => void (state.lag = 3_600_000), 7],
    // The service said that it has it.
    ["hidden", "unreadable", 1, (state: Threads.Line["state"]) => void (state.lag = 3_600_000), 7]
  ] as const
  for (const [reason, fate, part, arrange, looks] of undecided) {
    it.effect(`is said: ${reason}`, () =>
      Effect.gen(function*() {
        const { failure, journal, line, publish, state, userId } = yield* scene()
        arrange(state)
        state.fates = [...Array.from({ length: part - 1 }, () => "answered" as const), fate]
        const stand = () => Effect.map(line.posts(), (posts) => posts.length)
        const error = yield* failure(posts)
        assert.instanceOf(error, Errors.ThreadUndecided)
        const { inReplyTo, sentAt, text } = error
        const before = (yield* line.posts())[part - 2]
        assert.deepStrictEqual(
          [error.key, error.part, error.parts, error.reason, error.authorId, inReplyTo],
          ["a", part, 3, reason, userId, before?.id]
        )
        assert.isTrue(posts[part - 1]?.text?.startsWith(text))
        assert.isAtLeast(sentAt.getTime(), Requests.now)
        assert.strictEqual(error.looks, looks)
        assert.include(error.message, `Part ${part} of 3 of thread "a" may have been posted`)
        // Who does not decide is told again, and nothing is sent.
        const [stood, creates] = [
          yield* stand(),
          state.requests.filter((request) => request === "POST /2/posts").length
        ]
        assert.instanceOf(yield* failure(posts), Errors.ThreadUndecided)
        assert.strictEqual(yield* stand(), stood)
        assert.lengthOf(state.requests.filter((request) => request === "POST /2/posts"), creates)
        // Who ends it has what stands as far as it is known, now and later.
        const copy = Journal.makeMemory({ "thread.a": (yield* journal.read("thread.a")) ?? "" })
        const other = yield* Threads.start(line, copy)
        const ended = yield* Threads.toEnd(other.publish(posts, { key: "a", undecided: "abandon" }))
        assert.deepStrictEqual([ended.posts.length, ended.abandoned], [part - 1, true])
        state.requests = []
        assert.deepStrictEqual(
          yield* Threads.toEnd(other.publish(posts, { key: "a", undecided: "continue" })),
          { ...ended, resumed: part > 1 }
        )
        assert.deepStrictEqual(state.requests, [])
        if (reason !== "unreadable") return
        // Who says that it is not there has it sent.
        const { abandoned, posts: all } = yield* publish(posts, { undecided: "continue" })
        assert.isFalse(abandoned)
        const stands = yield* line.posts()
        assertStands(stands, posts)
        assert.deepStrictEqual(all.map(({ id }) => id), stands.map(({ id }) => id))
      }))
  }

  it.effect("ends the thread for who says so, whether it is found by then or not", () =>
    Effect.gen(function*() {
      const { failure, line, publish, state } = yield* scene()
      const cases = [["first", 1, "lost", 1], ["last", 3, "lost", 3], ["absent", 3, "vanished", 2]] as const
      for (const [key, part, fate, standing] of cases) {
        const posts = polls(key)
        const since = (yield* line.posts()).at(-1)?.id
        state.isReadable = false
        state.fates = [...Array.from({ length: part - 1 }, () => "answered" as const), fate]
        assert.instanceOf(yield* failure(posts, { key }), Errors.ThreadUndecided)
        state.isReadable = true
        const { abandoned, posts: stand } = yield* publish(posts, { key, undecided: "abandon" })
        assert.deepStrictEqual(stand.map(({ id }) => id), (yield* line.posts(since)).map(({ id }) => id))
        // The last one leaves nothing to abandon.
        assert.deepStrictEqual([stand.length, abandoned], [standing, standing < 3])
      }
      // Who decides beforehand means what cannot be decided, and nothing else.
      state.fates = ["lost", "vanished"]
      const { abandoned, posts: all } = yield* publish(posts, { key: "c", undecided: "abandon" })
      assert.deepStrictEqual([all.length, abandoned], [3, false])
    }))

  it.effect("is one that not everybody sees, and that is not there", () =>
    Effect.gen(function*() {
      const { failure, publish, state } = yield* scene()
      const promoted: ReadonlyArray<Post> = [{ text: "One" }, { text: "Two", nullcast: true }]
      state.fates = ["answered", "vanished"]
      const error = yield* failure(promoted)
      assert.deepInclude(error, { _tag: "ThreadUndecided", part: 2, reason: "unlisted" })
      assert.lengthOf((yield* publish(promoted, { undecided: "continue" })).posts, 2)
    }))

  it.effect("is none when the author has said the same elsewhere: then it is refused", () =>
    Effect.gen(function*() {
      const { failure, line, publish } = yield* scene()
      yield* line.request("POST", "/2/posts", { body: { text: "One" } })
      const error = yield* failure([{ text: "One" }, { text: "Two" }])
      assert.instanceOf(error, Errors.Forbidden)
      assert.instanceOf(yield* failure([{ text: "One" }, { text: "Two" }], { undecided: "abandon" }), Errors.Forbidden)
      assert.lengthOf(yield* line.posts(), 1)
      assert.lengthOf((yield* publish([{ text: "Three" }], { key: "b" })).posts, 1)
    }))
})

it.effect("a part that is absent after the last send fails as what was not posted", () =>
  Effect.gen(function*() {
    for (const [fate, expected] of [["vanished", "TransportFailure"], ["failed", "ServerFailure"]] as const) {
      const { failure, line, publish, state } = yield* scene()
      state.fates = [fate, fate, fate]
      assert.strictEqual((yield* failure(thread("a")))._tag, expected)
      assert.deepStrictEqual(state.fates, [])
      assert.lengthOf(yield* line.posts(), 0)
      // It is still in doubt where the posts of the author could not be read.
      state.fates = [fate, fate, fate]
      state.isReadable = false
      assert.strictEqual((yield* failure(thread("a"), { undecided: "continue" }))._tag, "OutcomeUnknown")
      state.isReadable = true
      yield* publish(thread("a"))
      assertStands(yield* line.posts(), thread("a"))
    }
  }))

describe("a part that waits before it leaves", () => {
  const posts = polls("a")

  /** Publishes until the second part is to be sent, and waits for something. */
  const wait = Effect.fnUntraced(function*(line: Threads.Line, journal: Journal.Entries) {
    const publisher = yield* Threads.start(line, journal)
    const fiber = yield* Effect.forkDetach(publisher.publish(posts, {
      key: "a",
      onProgress: ({ part, phase }) => {
        if (part === 2 && phase === "sending") line.state.wait = 59_000
      }
    }))
    while (line.state.wait === 0) yield* TestClock.adjust(10)
    return { publisher, fiber }
  })

  it.effect("was not sent when it is given up by then, and is not looked for", () =>
    Effect.gen(function*() {
      const { journal, line, publish, state } = yield* scene()
      const { fiber } = yield* wait(line, journal)
      yield* TestClock.adjust(30_000)
      yield* Effect.forkDetach(Fiber.interrupt(fiber))
      yield* TestClock.adjust(1_000)
      state.wait = 0
      const told: Array<string> = []
      yield* publish(posts, { onProgress: ({ phase }) => told.push(phase) })
      assert.notInclude(told, "looking")
      assertStands(yield* line.posts(), posts)
    }))

  it.effect("is looked for as long as if it had left just before its process was killed", () =>
    Effect.gen(function*() {
      const { journal, line, publish, state } = yield* scene()
      const { publisher } = yield* wait(line, journal)
      state.lag = Threads.longestLag
      yield* TestClock.adjust(59_010)
      assert.lengthOf(yield* line.posts(), 2)
      yield* publisher.kill
      state.wait = 0
      yield* publish(posts)
      assertStands(yield* line.posts(), posts)
    }))

  it.effect("is looked for as long if the wall clock was set forward before the next process", () =>
    Effect.gen(function*() {
      const { journal, line, publisher: next, state } = yield* scene()
      const { publisher } = yield* wait(line, journal)
      state.lag = Threads.longestLag
      yield* TestClock.adjust(59_010)
      yield* publisher.kill
      state.wait = 0
      const clock = yield* MovedClock.make
      clock.move(3_600_000)
      yield* Threads.toEnd(clock.provide(next.publish(posts, { key: "a" })))
      assertStands(yield* line.posts(), posts)
    }))
})

it.effect("a part is looked for with the credential that it was sent with", () =>
  Effect.gen(function*() {
    const posts = polls("a")
    const { journal, line } = yield* scene()
    const [, token = ""] = line.newcomer({ userId: line.userId }).header.split(" ")
    // As of an account: the client knows that there is no other than this one.
    const account = Layer.succeed(Credentials.Credentials, {
      admit,
      current: Effect.succeed({
        bearerToken: Redacted.make(token),
        grant: { account: "ada", holder: Redacted.make("ada"), userId: line.userId, scopes: undefined, secrets: [] }
      })
    })
    for (
      const [key, credentials, user_auth] of [
        ["signed", Credentials.layer(line.secrets), undefined],
        ["bearer", Credentials.layerBearer(token), false],
        ["account", account, undefined]
      ] as const
    ) {
      const publisher = yield* Threads.start(line, journal, credentials)
      const since = (yield* line.posts()).at(-1)?.id
      line.state.fates = ["lost", "vanished"]
      yield* Threads.toEnd(publisher.publish(posts, { key, user_auth }))
      assertStands(yield* line.posts(since), posts)
    }
  }))

describe("a part that was deleted", () => {
  for (const fate of ["limited", "vanished"] as const) {
    it.effect(`is said, when the next one was ${fate}`, () =>
      Effect.gen(function*() {
        const { failure, line, publish, state, store } = yield* scene()
        const posts = thread("a")
        state.fates = ["answered", "answered", fate]
        state.isReadable = false
        yield* failure(posts)
        state.isReadable = true
        const [, second] = yield* line.posts()
        store.posts.delete(second?.id ?? "")
        const error = yield* failure(posts)
        assert.instanceOf(error, Errors.ThreadBroken)
        assert.deepInclude(error, { key: "a", part: 2, parts: 3, id: second?.id ?? "" })
        assert.include(error.message, `Part 2 of 3 of thread "a" is gone: post ${second?.id}`)
        assert.instanceOf(yield* failure(posts, { undecided: "continue" }), Errors.ThreadBroken)
        const ended = yield* publish(posts, { undecided: "abandon" })
        assert.deepStrictEqual([ended.posts.length, ended.abandoned, ended.resumed], [2, true, true])
        assert.lengthOf(yield* line.posts(), 1)
      }))
  }
})

it.effect("a part that was edited is no part that is gone", () =>
  Effect.gen(function*() {
    const { failure, line, publish, state } = yield* scene()
    const posts = thread("a")
    state.isReadable = false
    state.fates = ["answered", "vanished"]
    assert.instanceOf(yield* failure(posts), Errors.ThreadUndecided)
    state.isReadable = true
    const [first] = yield* line.posts()
    const edit = { text: "Uno", edit_options: { previous_post_id: first?.id } }
    assert.strictEqual((yield* line.request("POST", "/2/posts", { body: edit })).status, 201)
    assert.lengthOf((yield* publish(posts)).posts, 3)
  }))

describe("a key", () => {
  it.effect("is that of one thread, of one user", () =>
    Effect.gen(function*() {
      const { failure, journal, line, publish } = yield* scene()
      const posts = thread("a")
      const { posts: published } = yield* publish(posts)
      for (
        const others of [
          posts.slice(1),
          [...posts, { text: "Four" }],
          posts.map((post, i) => i === 1 ? { text: "2" } : post),
          posts.map((post) => ({ ...post, reply_settings: "following" as const }))
        ]
      ) {
        const error = yield* failure(others)
        assert.instanceOf(error, Errors.InvalidParameters)
        assert.deepStrictEqual([error.operation, error.parameter, error.value], ["publishThread", "key", "\"a\""])
      }
      const grace = line.store.users.insert({ username: "grace", name: "Grace", createdAt: Requests.now })
      const { header } = line.newcomer({ userId: grace })
      const other = yield* Threads.start(line, journal, Credentials.layerBearer(header.slice("Bearer ".length)))
      const refused = yield* Effect.flip(Threads.toEnd(other.publish(posts, { key: "a", user_auth: false })))
      assert.deepInclude(refused, { _tag: "InvalidParameters", parameter: "key" })
      assert.include(refused.message, "another user")
      // Another credential of the same user may go on.
      const { header: again } = line.newcomer({ userId: line.userId })
      const same = yield* Threads.start(line, journal, Credentials.layerBearer(again.slice("Bearer ".length)))
      const found = yield* Threads.toEnd(same.publish(posts, { key: "a", user_auth: false }))
      assert.deepStrictEqual(found.posts, published)
      assert.lengthOf(yield* line.posts(), 3)
    }))

  it.effect("is written in one order, and with ids in any form", () =>
    Effect.gen(function*() {
      const { publish, line } = yield* scene()
      yield* line.request("POST", "/2/posts", { body: { text: "Zero" } })
      const [zero] = yield* line.posts()
      const id = zero?.id ?? ""
      const one = yield* publish([{ text: "One", in_reply_to_post_id: id, reply_settings: "following" }])
      const two = yield* publish([{ reply_settings: "following", in_reply_to_post_id: BigInt(id), text: "One" }])
      assert.deepStrictEqual(one.posts, two.posts)
    }))

  it.effect("whose record cannot be read is no new one", () =>
    Effect.gen(function*() {
      for (
        const [text, fault] of [
          ["{", "damaged"],
          ["{}", "damaged"],
          [JSON.stringify({ version: 2 }), "newer"]
        ] as const
      ) {
        const { failure, state } = yield* scene(Journal.makeMemory({ "thread.a": text }))
        assert.deepInclude(yield* failure(thread("a")), { _tag: "StorageFailure", fault, action: "read" })
        assert.deepStrictEqual(state.requests, [])
      }
    }))
})

describe("the journal", () => {
  it.effect("is written before a part is sent and after; where that fails, nothing more is sent", () =>
    Effect.gen(function*() {
      const posts = thread("a")
      for (let nth = 1; nth <= 1 + 2 * posts.length; nth++) {
        const held = Journal.makeMemory()
        let writes = 0
        const full = new Errors.StorageFailure({ kind: "journal", place: "here", fault: "full", action: "write" })
        const { failure, line, state } = yield* scene({
          ...held,
          write: (key, text) => ++writes === nth ? Effect.fail(full) : held.write(key, text)
        })
        assert.strictEqual(yield* failure(posts), full)
        const creates = state.requests.filter((request) => request === "POST /2/posts").length
        assert.strictEqual(creates, Math.floor((nth - 1) / 2))
        const publisher = yield* Threads.start(line, held)
        assert.lengthOf((yield* Threads.toEnd(publisher.publish(posts, { key: "a" }))).posts, 3)
        assertStands(yield* line.posts(), posts)
      }
    }))

  it.effect("has no secret, and of what is to come no word", () =>
    Effect.gen(function*() {
      const { failure, journal, secrets, state } = yield* scene()
      state.fates = ["answered", "limited"]
      yield* failure(thread("a"))
      const text = (yield* journal.read("thread.a")) ?? ""
      assert.include(text, "One & only")
      for (const secret of [...Object.values(secrets), "Two"]) assert.notInclude(text, secret)
    }))
})

describe("posts that break a rule", () => {
  const long = "x".repeat(281)
  const broken: ReadonlyArray<readonly [posts: unknown, options: object, parameter: string]> = [
    [[], {}, "posts"],
    ["One", {}, "posts"],
    [[{ text: "One" }, null], {}, "posts[1]"],
    [[{ text: "One" }, { text: long }], {}, "posts[1].text"],
    [[{ text: "One" }, {}], {}, "posts[1].text"],
    [[{ text: "One" }, { text: "Two", in_reply_to_post_id: "1" }], {}, "posts[1].in_reply_to_post_id"],
    [[{ text: "One" }, { txt: "Two" }], {}, "posts[1].txt"],
    [[{ text: "One", poll: { options: ["a"], duration_minutes: 5 } }], {}, "posts[0].poll.options"],
    [[{ text: "One", poll: { options: ["a", "b"], duration_minutes: 5, choices: [] } }], {}, "posts[0].poll.choices"],
    [[{ text: "One", media_ids: 5 }], {}, "posts[0].media_ids"],
    [[{ text: "", media_ids: null }], {}, "posts[0].text"],
    [[{ text: "One", media: Array(1) }], {}, "posts[0].media[0].file"],
    [[{ text: "One", poll: { options: ["a", "b"], duration_minutes: 1 } }], {}, "posts[0].poll.duration_minutes"],
    [
      [{ text: "One", poll: { options: ["a", "b"], duration_minutes: 5 }, quote_post_id: "1" }],
      {},
      "posts[0].quote_post_id"
    ],
    [[{ text: "One", media_ids: ["1"], quote_post_id: "1" }], {}, "posts[0].quote_post_id"],
    [[{ text: "One", media: ["a.jpg"] }], {}, "posts[0].media[0].file"],
    [[{ text: "One", media: Array.from({ length: 5 }, () => new Uint8Array(9)) }], {}, "posts[0].media"],
    [[{ text: "One", media_ids: ["1", "2", "3", "4"], media: [new Uint8Array(9)] }], {}, "posts[0].media"],
    [[{ text: "One" }], { key: "" }, "key"],
    [[{ text: "One" }], { key: "x".repeat(129) }, "key"],
    [[{ text: "One" }], { key: "\ud800" }, "key"],
    [[{ text: "One" }], { undecided: "perhaps" }, "undecided"],
    [[{ text: "One" }], { lag: -1 }, "lag"],
    [[{ text: "One" }], { maxWeight: 0 }, "maxWeight"],
    [[{ text: "One" }], { maxweight: 1 }, "maxweight"],
    [[{ text: "One" }], { onProgress: 1 }, "onProgress"],
    [[{ text: "One" }], { retries: 11 }, "retries"]
  ]

  it.effect("are refused before anything is sent, by what breaks it", () =>
    Effect.gen(function*() {
      const { failure, journal, line, state } = yield* scene()
      for (const [posts, options, parameter] of broken) {
        const error = yield* failure(posts as ReadonlyArray<Post>, options)
        assert.instanceOf(error, Errors.InvalidParameters, parameter)
        assert.deepStrictEqual([error.operation, error.parameter], ["publishThread", parameter], error.message)
      }
      assert.deepStrictEqual(state.requests, [])
      assert.isUndefined(yield* journal.read("thread.a"))
      const { message } = yield* failure([{ text: "One" }, { text: long }])
      assert.strictEqual(
        message,
        "publishThread: posts[1].text must have a length of 280 at most, and has 281."
      )
      // Of its files one of a broken post is sent as little as of others.
      line.state.requests = []
      yield* failure([{ text: "One", media: [new Uint8Array([0xff, 0xd8, 0xff])] }, {
        text: "Two",
        media: [new Uint8Array(3)]
      }])
      assert.notInclude(line.state.requests.join(), "POST")
    }))

  it.effect("may weigh more where the author has longer posts", () =>
    Effect.gen(function*() {
      const { journal, line } = yield* scene()
      const grace = { username: "grace", name: "Grace", createdAt: Requests.now, verifiedType: "blue" as const }
      const { header } = line.newcomer({ userId: line.store.users.insert(grace) })
      const publisher = yield* Threads.start(line, journal, Credentials.layerBearer(header.slice("Bearer ".length)))
      const options = { key: "a", maxWeight: 25_000, user_auth: false }
      assert.lengthOf((yield* Threads.toEnd(publisher.publish([{ text: long }], options))).posts, 1)
    }))
})

it.effect("each step of a thread is told, whatever becomes of the telling", () =>
  Effect.gen(function*() {
    const { publish, state } = yield* scene()
    state.fates = ["answered", "lost"]
    const told: Array<string> = []
    yield* publish([{ text: "One" }, { text: "Two" }], {
      onProgress: ({ part, parts, phase }) => {
        told.push(`${part}/${parts} ${phase}`)
        throw new Error("not mine")
      }
    })
    assert.deepStrictEqual(told, [
      "1/2 sending",
      "1/2 posted",
      "2/2 sending",
      "2/2 looking",
      "2/2 posted"
    ])
  }))

/** What may happen to those who publish a thread. */
const fates: ReadonlyArray<Threads.Fate> = [
  "lost",
  "unsent",
  "vanished",
  "failed",
  "failed late",
  "unreadable",
  "late",
  "limited"
]

const runs = process.env["POSTWIRE_LONG"] === "1" ? 150 : 20

/** Two that are the same in every run, and one that is drawn, which can be drawn again. */
const seeds = [1, 2, Number(process.env["POSTWIRE_SEED"] ?? randomInt(2 ** 31))]

describe("processes that publish one thread", () => {
  it.effect.each(seeds)(
    "post each part once, whatever happens to them (POSTWIRE_SEED=%i)",
    (seed) =>
      Effect.gen(function*() {
        const line = yield* Threads.make()
        const draw = random(seed, "threads")
        const [journal, { state }] = [Journal.makeMemory(), line]
        const seen = { kills: 0, interrupts: 0, resumed: 0, failed: new Set<string>() }
        for (let run = 1; run <= runs; run++) {
          const since = (yield* line.posts()).at(-1)?.id
          const posts = draw.chance(0.5) ? thread(String(run)) : polls(String(run))
          const key = `thread ${run}`
          const begin = Threads.start(line, journal)
          const publishers = [yield* begin, yield* begin]
          const calls: Array<Fiber.Fiber<unknown, ThreadError>> = []
          const call = (which: number) =>
            Effect.map(Effect.forkDetach(publishers[which]!.publish(posts, { key })), (fiber) => calls.push(fiber))
          state.lag = draw.below(Threads.longestLag)
          for (let step = 0; step < 12; step++) {
            const which = draw.below(2)
            switch (draw.pick(["call", "call", "pass", "pass", "fate", "fate", "kill", "interrupt"] as const)) {
              case "call":
                yield* call(which)
                break
              case "pass":
                yield* TestClock.adjust(draw.pick([5, 10, 15, 25, 40, 100, 1_000, 10_000, 60_000]))
                break
              case "fate":
                state.fates.push(draw.pick(["answered", ...fates]))
                break
              case "kill":
                seen.kills++
                yield* publishers[which]!.kill
                publishers[which] = yield* begin
                break
              case "interrupt": {
                const call = calls.shift()
                if (call === undefined) break
                seen.interrupts++
                yield* Effect.forkDetach(Fiber.interrupt(call))
              }
            }
          }
          state.fates.length = 0
          const published = yield* Threads.toEnd(publishers[0]!.publish(posts, { key }))
          const stands = yield* line.posts(since)
          assertStands(stands, posts)
          assert.deepStrictEqual(published.posts.map(({ id }) => id), stands.map(({ id }) => id))
          seen.resumed += Number(published.resumed)
          for (const call of calls) {
            const exit = call.pollUnsafe()
            if (exit?._tag !== "Failure") continue
            for (const reason of exit.cause.reasons) {
              assert.notStrictEqual(reason._tag, "Die", Cause.pretty(exit.cause))
              if (reason._tag === "Fail") seen.failed.add(reason.error._tag)
            }
          }
        }
        // What can pass is all that they failed with.
        assert.deepStrictEqual(
          [...seen.failed].filter((tag) => !["RateLimited", "ServerFailure", "TransportFailure"].includes(tag)),
          []
        )
        assert.isAbove(Math.min(seen.kills, seen.interrupts, seen.resumed), runs / 10)
        if (runs > 20) console.log(JSON.stringify({ ...seen, failed: [...seen.failed] }))
      }),
    120_000
  )
})

import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Errors from "../src/errors/Errors.ts"
import { type Article, type ArticleOptions, createArticle } from "../src/publishing/Article.ts"
import * as Journal from "../src/storage/Journal.ts"
import * as Service from "./support/Service.ts"
import { inMinute, test } from "./support/Test.ts"

const article: Article = {
  title: "Tea",
  content_state: { blocks: [{ type: "unstyled", text: "Boil water." }], entities: [] }
}

/** What becomes of a create: it is done, and its answer arrives, or not; or it is refused. */
type Fate = "answered" | "lost" | "slow" | "refused" | "empty" | "hanging"

/** A service that counts drafts, and a journal that outlives its clients. */
const start = () => {
  const memory = Journal.makeMemory()
  let unwritable: string | undefined
  const journal: Journal.Entries = {
    ...memory,
    write: (key, text) =>
      unwritable !== undefined && text?.includes(`"${unwritable}"`) === true
        ? Effect.fail(
          new Errors.StorageFailure({ kind: "journal", place: "/journal", fault: "full", action: "write" })
        )
        : memory.write(key, text)
  }
  const fates: Array<Fate> = []
  const published: Array<{ readonly id: string; readonly article?: object }> = []
  let drafts = 0
  let me = "42"
  const service = Service.make(({ method, path, query }) => {
    if (path === "/2/users/me") return { body: { data: { id: me, name: "Ada", username: "ada" } } }
    if (method === "GET") {
      assert.deepInclude(query, { "post.fields": "article", start_time: "2026-11-27T23:59:00Z" })
      const data = published.map((post) => ({ text: "https://t.co/a", edit_history_post_ids: [post.id], ...post }))
      return { body: { data, meta: { result_count: data.length } } }
    }
    const fate = fates.shift() ?? "answered"
    if (fate === "refused") return { status: 403, body: { title: "Forbidden", detail: "Premium", status: 403 } }
    const id = path === "/2/articles/draft" ? String(++drafts) : undefined
    if (fate === "lost") return Service.transportError(new Error("closed"))
    if (fate === "slow") return Effect.delay(Service.transportError(new Error("closed")), "25 seconds")
    if (fate === "empty") return { status: 201, body: { errors: [{ title: "Hm", type: "about:blank" }] } }
    if (fate === "hanging") return Effect.never
    return id === undefined
      ? { body: { data: { post_id: `9${/\d+(?=\/publish)/.exec(path)?.[0]}` } } }
      : { status: 201, body: { data: { id, title: "Tea" } } }
  })
  const run = (options: Partial<ArticleOptions> = {}, given: Article = article) =>
    createArticle(given, { key: "k", ...options }).pipe(
      Effect.provide([service.layer(), Layer.succeed(Journal.Journal, journal)])
    )
  return {
    fates,
    journal,
    published,
    run,
    becomes: (id: string) => void (me = id),
    /** The journal cannot record this state. */
    fail: (state: string | undefined) => void (unwritable = state),
    creates: () => service.requests.flatMap(({ method, path }) => method === "POST" ? [path] : [])
  }
}

const draft = "/2/articles/draft"

const now = Date.UTC(2026, 10, 28)

describe("createArticle", () => {
  test("creates a draft once, and publishes it later, once")(function*() {
    const { creates, run } = start()
    assert.deepStrictEqual(yield* run(), { article_id: "1", resumed: false })
    assert.deepStrictEqual(yield* run(), { article_id: "1", resumed: true })
    assert.deepStrictEqual(yield* run({ publish: true }), { article_id: "1", post_id: "91", resumed: true })
    assert.deepStrictEqual(yield* run({ publish: true }), { article_id: "1", post_id: "91", resumed: true })
    assert.deepStrictEqual(creates(), [draft, "/2/articles/1/publish"])
  })

  test.each<Fate>(["lost", "empty"])("creates no second draft where the answer was %s, until it is told to")(
    function*(fate) {
      const { creates, fates, run } = start()
      fates.push(fate)
      const first = yield* Service.fails(run(), Errors.ArticleUndecided, { step: "draft", key: "k", authorId: "42" })
      assert.match(first.message, /no response was recorded.*"Tea"|"Tea".*no response was recorded/)
      yield* Service.fails(run(), Errors.ArticleUndecided, { step: "draft", detail: undefined })
      assert.deepStrictEqual(creates(), [draft])
      assert.deepStrictEqual(yield* run({ undecided: "continue" }), { article_id: "2", resumed: false })
      assert.deepStrictEqual(creates(), [draft, draft])
    }
  )

  test("continues with the draft that its author has found")(function*() {
    const { creates, fates, run } = start()
    fates.push("lost")
    yield* Service.fails(run(), Errors.ArticleUndecided)
    assert.deepStrictEqual(yield* run({ article_id: "1", publish: true }), {
      article_id: "1",
      post_id: "91",
      resumed: true
    })
    assert.deepStrictEqual(creates(), [draft, "/2/articles/1/publish"])
  })

  test("creates no draft where its author names one, which a later call corrects")(function*() {
    const { creates, run } = start()
    assert.deepStrictEqual(yield* run({ article_id: "5" }), { article_id: "5", resumed: true })
    const { article_id, post_id } = yield* run({ article_id: "6", publish: true })
    assert.deepStrictEqual([article_id, post_id], ["6", "96"])
    yield* run({ article_id: "7", publish: true })
    assert.deepStrictEqual(creates(), ["/2/articles/6/publish"])
  })

  test("publishes again what may be published only when it is told to")(function*() {
    const { creates, fates, published, run } = start()
    yield* TestClock.setTime(now)
    published.push({ id: "90" }, { id: "92", article: { title: "Milk" } })
    fates.push("answered", "lost")
    const lost = inMinute(run({ publish: true }))
    yield* Service.fails(lost, Errors.ArticleUndecided, { step: "publication", article_id: "1" })
    yield* Service.fails(inMinute(run()), Errors.ArticleUndecided, { step: "publication" })
    assert.lengthOf(creates(), 2)
    assert.strictEqual((yield* inMinute(run({ publish: true, undecided: "continue" }))).post_id, "91")
  })

  test("finds the post whose answer was lost, though it appears late")(function*() {
    const { creates, fates, published, run } = start()
    yield* TestClock.setTime(now)
    fates.push("answered", "slow")
    const fiber = yield* Effect.forkChild(run({ publish: true }))
    yield* TestClock.adjust("80 seconds")
    published.push({ id: "91", article: { title: "Tea" } }, { id: "90" })
    yield* TestClock.adjust("5 seconds")
    const found = { article_id: "1", post_id: "91", resumed: false }
    assert.deepStrictEqual(yield* Fiber.join(fiber), found)
    assert.deepStrictEqual(yield* run({ publish: true }), { ...found, resumed: true })
    assert.lengthOf(creates(), 2)
  })

  test("finds it in a later call, and does not publish it again even if that may")(function*() {
    const { creates, fates, published, run } = start()
    yield* TestClock.setTime(now)
    fates.push("answered", "lost")
    yield* Service.fails(inMinute(run({ publish: true })), Errors.ArticleUndecided)
    published.push({ id: "91", article: { title: "Tea" } })
    assert.strictEqual((yield* run({ publish: true, undecided: "continue" })).post_id, "91")
    assert.lengthOf(creates(), 2)
  })

  test("names the ids that the journal could not record")(function*() {
    const { creates, fail, published, run } = start()
    yield* TestClock.setTime(now)
    fail("drafted")
    const draft = yield* Service.fails(run(), Errors.ArticleUndecided, { step: "draft", article_id: "1" })
    assert.match(draft.message, /^Draft 1 exists: .*\(The journal .* is full.*Call again with article_id: "1"\.$/)
    fail("published")
    const ids = { article_id: "1", post_id: "91" }
    const post = yield* Service.fails(run({ article_id: "1", publish: true }), Errors.ArticleUndecided, ids)
    assert.match(post.message, /^Draft 1 is published as post 91: /)
    fail(undefined)
    published.push({ id: "91", article: { title: "Tea" } })
    assert.deepStrictEqual(yield* run(), { ...ids, resumed: true })
    assert.deepStrictEqual(creates(), ["/2/articles/draft", "/2/articles/1/publish"])
  })

  test("sends again what the service refused")(function*() {
    const { fates, run } = start()
    fates.push("refused")
    yield* Service.fails(run(), Errors.Forbidden)
    assert.strictEqual((yield* run()).article_id, "1")
    fates.push("refused")
    yield* Service.fails(run({ publish: true }), Errors.Forbidden)
    assert.strictEqual((yield* run({ publish: true })).post_id, "91")
  })

  test("counts as sent when it is interrupted")(function*() {
    const { creates, fates, run } = start()
    fates.push("hanging")
    const fiber = yield* Effect.forkChild(run())
    while (creates().length === 0) yield* Effect.yieldNow
    yield* Fiber.interrupt(fiber)
    yield* Service.fails(run(), Errors.ArticleUndecided, { step: "draft" })
    assert.lengthOf(creates(), 1)
  })

  test("refuses the key of another article or user")(function*() {
    const { becomes, creates, journal, run } = start()
    yield* run()
    const other = yield* Service.fails(run({}, { ...article, title: "Milk" }), Errors.InvalidParameters, {
      parameter: "key"
    })
    assert.include(other.message, "belongs to an article with other content")
    becomes("43")
    const record = JSON.parse((yield* journal.read("article.k"))!)
    yield* Effect.scoped(Effect.andThen(
      journal.lock("article.k"),
      journal.write("article.k", JSON.stringify({ ...record, credential: "another" }))
    ))
    assert.include((yield* Service.fails(run(), Errors.InvalidParameters)).message, "an article of another user")
    assert.lengthOf(creates(), 1)
  })

  test.each<readonly [string, Partial<ArticleOptions>, object]>([
    ["key", { key: "" }, {}],
    ["undecided", { undecided: "abandon" as never }, {}],
    ["publish", { publish: 1 as never }, {}],
    ["article_id", { article_id: "x" }, {}],
    ["title", {}, { title: "" }],
    ["title", {}, { title: undefined }],
    ["content_state", {}, { content_state: { blocks: [{ type: "h1", text: "" }], entities: [] } }],
    ["cover.file", {}, { cover: 1 }],
    [`images["a.png"].file`, {}, { images: { "a.png": 1 } }]
  ])("checks everything before anything is sent: %j")(function*([parameter, options, change]) {
    const { creates, run } = start()
    yield* Service.fails(run(options, { ...article, ...change }), Errors.InvalidParameters, { parameter })
    assert.lengthOf(creates(), 0)
  })
})

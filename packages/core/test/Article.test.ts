import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Errors from "../src/errors/Errors.ts"
import { type Article, type ArticleOptions, createArticle } from "../src/publishing/Article.ts"
import * as Journal from "../src/storage/Journal.ts"
import * as Service from "./support/Service.ts"
import { test } from "./support/Test.ts"

const article: Article = {
  title: "Tea",
  content_state: { blocks: [{ type: "unstyled", text: "Boil water." }], entities: [] }
}

/** What becomes of a create: it is done, and its answer arrives, or not; or it is refused. */
type Fate = "answered" | "lost" | "refused" | "empty" | "hanging"

/** A service that counts drafts, and a journal that outlives its clients. */
const start = () => {
  const journal = Journal.makeMemory()
  const fates: Array<Fate> = []
  let drafts = 0
  let me = "42"
  const service = Service.make(({ method, path }) => {
    if (path === "/2/users/me") return { body: { data: { id: me, name: "Ada", username: "ada" } } }
    assert.strictEqual(method, "POST")
    const fate = fates.shift() ?? "answered"
    if (fate === "refused") return { status: 403, body: { title: "Forbidden", detail: "Premium", status: 403 } }
    const id = path === "/2/articles/draft" ? String(++drafts) : undefined
    if (fate === "lost") return Service.transportError(new Error("closed"))
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
    run,
    becomes: (id: string) => void (me = id),
    creates: () => service.requests.flatMap(({ method, path }) => method === "POST" ? [path] : [])
  }
}

const draft = "/2/articles/draft"

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
    const { creates, fates, run } = start()
    fates.push("answered", "lost")
    yield* Service.fails(run({ publish: true }), Errors.ArticleUndecided, { step: "publication", article_id: "1" })
    yield* Service.fails(run(), Errors.ArticleUndecided, { step: "publication" })
    assert.lengthOf(creates(), 2)
    assert.strictEqual((yield* run({ publish: true, undecided: "continue" })).post_id, "91")
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

  test("counts as sent when it is interrupted, and renews its note only before that")(function*() {
    const { creates, fates, run } = start()
    fates.push("hanging")
    const fiber = yield* Effect.forkChild(run())
    while (creates().length === 0) yield* Effect.yieldNow
    yield* TestClock.adjust(25_000)
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
    ["title", {}, { title: " " }],
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

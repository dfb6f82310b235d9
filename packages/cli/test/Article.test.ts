import { assert, describe, it } from "@effect/vitest"
import { isKey } from "@postwire/core/storage/Journal"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as MediaBytes from "../../core/test/support/MediaBytes.ts"
import * as ArticleFile from "../src/publishing/ArticleFile.ts"
import * as Commands from "./Commands.ts"

const desk = Effect.fnUntraced(function*(text: string) {
  const folder = yield* Commands.folder
  const file = join(folder, "tea.md")
  writeFileSync(file, text)
  writeFileSync(join(folder, "cup.png"), MediaBytes.png())
  writeFileSync(join(folder, "cup.txt"), "no picture")
  return { folder, file }
})

describe("postwire article --dry-run", () => {
  it.effect("shows the article, its files, and what the service will show differently", () =>
    Effect.gen(function*() {
      const { file, folder } = yield* desk(
        "# Tea\n\nBoil `water`.\n\nAnd `milk`.\n\n![A cup](cup.png)\n\n![x](https://a.b/c.png)\n"
      )
      const { code, errors, output } = yield* Commands.parse(
        "article",
        file,
        "--dry-run",
        "--cover",
        join(folder, "cup.png")
      )
      assert.strictEqual(code, 0, errors)
      assert.match(errors.replaceAll(/\s+/g, " "), /tea\.md: code in a line, shown as plain text \(lines 3, 5\)/)
      assert.match(
        errors.replaceAll(/\s+/g, " "),
        /picture https:\/\/a\.b\/c\.png without a media id, shown as its alt text \(line 9\)/
      )
      assert.match(
        output,
        /^Tea\n4 blocks, 22 characters\n\+ .*cup\.png \(image\/png, .*, as tweet_image\)\n\+ .*cup\.png .*\nNothing was sent\.$/
      )
      const json = JSON.parse((yield* Commands.parse("article", file, "--dry-run", "--json", "--title", "Milk")).output)
      assert.deepInclude(json, { title: "Milk" })
      assert.strictEqual(json.content_state.blocks[0].type, "header-one")
    }))

  it.effect("refuses a file without a title, and files that are no pictures", () =>
    Effect.gen(function*() {
      const { file } = yield* desk("No heading ![](cup.txt)")
      const without = yield* Commands.parse("article", file, "--dry-run")
      assert.match(without.errors, /tea\.md has no title\n {2}Begin it with a heading, # Title, or pass --title\.$/)
      assert.include((yield* Commands.parse("article", file, "--dry-run", "--title", " ")).errors, "has no title")
      const wrong = yield* Commands.parse("article", file, "--dry-run", "--title", "Tea")
      assert.strictEqual(wrong.code, 1)
      assert.include(wrong.errors, "cup.txt")
      const both = yield* Commands.parse("article", file, "--dry-run", "--publish")
      assert.strictEqual(both.code, 1)
    }))
})

describe("postwire article", () => {
  it("makes a valid key of any file", () => {
    const article = { title: "Tea", content_state: { blocks: [], entities: [] } }
    const key = ArticleFile.keyOf(`a${"\u{1d4af}".repeat(40)}.md`, undefined, article)
    assert.isTrue(isKey(key), key)
  })

  it.live("creates the draft once, publishes it, and creates no second one after a lost answer", () =>
    Effect.gen(function*() {
      const { file, folder } = yield* desk("# Tea\n\nBoil water.\n\n![A cup](cup.png)\n")
      const { faults, journal } = yield* Sandbox.Sandbox
      const variables = yield* Commands.variables({ POSTWIRE_JOURNAL: join(folder, "journal") })
      const run = (...flags: ReadonlyArray<string>) => Commands.runWith(variables, "article", file, ...flags)
      const creates = () =>
        journal.entries().map(({ method, path }) => `${method} ${path}`).filter((call) => call.includes("/articles/"))

      faults.add({ operation: "createArticleDraft", reset: "after" })
      const lost = yield* run()
      assert.strictEqual(lost.code, 1)
      assert.match(lost.errors, /^postwire: The draft may exist: the article "Tea"/)
      assert.include(lost.errors.replaceAll(/\s+/g, " "), "the same command with --draft ID continues with it")
      const again = yield* run("--publish")
      assert.deepStrictEqual([again.code, creates().length], [1, 1], again.errors)

      const draft = yield* run("--continue")
      assert.deepStrictEqual([draft.code, creates().length], [0, 2], draft.errors)
      faults.add({ operation: "publishArticle", reset: "after" })
      const published = yield* run("--publish", "--json")
      assert.strictEqual(published.code, 0, published.errors)
      // The response was lost, but the post is there.
      const { article_id, post_id, resumed } = JSON.parse(published.output)
      assert.deepStrictEqual([article_id, resumed, creates().length], [draft.output, true, 3])
      assert.strictEqual((yield* run("--publish")).output, post_id)
      assert.lengthOf(creates(), 3)

      writeFileSync(file, "# Tea\n\nBoil more water.\n")
      const changed = yield* run()
      assert.match(
        changed.errors.replaceAll(/\s+/g, " "),
        /The key of .*tea\.md \(--key\) belongs to an article with other content/
      )
      faults.add({ operation: "createArticleDraft", reset: "after" })
      assert.strictEqual((yield* run("--key", "found")).code, 1)
      const found = yield* run("--key", "found", "--draft", "17")
      assert.deepStrictEqual([found.code, found.output, creates().length], [0, "17", 4], found.errors)
      const other = yield* run("--key", "more")
      assert.match(other.output, /^\d+$/)
      assert.match(other.errors, /The draft is created: \d+\.\n {2}The same command with --publish publishes it\.$/)
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 0 }))))
})

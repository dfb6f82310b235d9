import { assert, describe, it } from "@effect/vitest"
import type { ExportStatus, PartStatus } from "@postwire/cluster/Tables"
import * as StatusCommand from "../src/commands/StatusCommand.ts"

const now = Date.UTC(2026, 0, 31)

const part = (replaced: Partial<PartStatus> = {}): PartStatus => ({
  export: "5fc901ecd74d4267",
  part: 0,
  partition: undefined,
  state: "running",
  attempt: 0,
  pages: 7,
  items: 700,
  errors: 0,
  worker: "a:1",
  updated: now - 5_000,
  problem: undefined,
  ...replaced
})

const status = (replaced: Partial<ExportStatus> = {}): ExportStatus => ({
  id: "5fc901ecd74d4267",
  query: {
    operation: "searchRecentPosts",
    parameters: { query: "it's (effect OR \"zio\")", max_results: 50, post_fields: "created_at,text" },
    credentials: "default",
    label: ""
  },
  wanted: 1,
  state: "running",
  attempt: 0,
  created: now - 10_000,
  updated: now - 5_000,
  pages: 7,
  items: 700,
  errors: 0,
  problem: undefined,
  parts: [part()],
  ...replaced
})

const told = (
  all: ExportStatus,
  { isOne = false, ...replaced }: Partial<StatusCommand.View> & { readonly isOne?: boolean } = {}
) =>
  StatusCommand.linesOf({
    now,
    isShared: true,
    workers: ["a:1"],
    exports: [all],
    unreadable: [],
    syncs: [],
    ...replaced
  }, isOne)

describe("the status of an export", () => {
  it("tells it by the flags that ask for the same", () => {
    assert.deepStrictEqual(told(status()), [
      "1 worker: a:1",
      "EXPORT           OPERATION              STATE      PARTS  PAGES      ITEMS  LAST",
      "5fc901ecd74d4267 searchRecentPosts      running      0/1      7        700   5 s",
      "  --query 'it'\\''s (effect OR \"zio\")' --max-results 50 --post-fields",
      "    created_at,text"
    ])
  })

  it("has its label, and the name of its credentials", () => {
    const { query } = status()
    const lines = told(status({ query: { ...query, parameters: { id: "1" }, label: "this week", credentials: "lab" } }))
    assert.strictEqual(lines[3], "  --id 1 --label 'this week' --credentials lab")
  })

  it("shows a long query as a whole only where it is alone, and never wider than a terminal", () => {
    const { query } = status()
    const long = status({ query: { ...query, parameters: { query: `${"word ".repeat(200)}\u001b[31m\n` } } })
    for (const isOne of [false, true]) {
      const lines = told(long, { isOne })
      for (const line of lines) assert.isAtMost(line.length, 80)
      assert.strictEqual(lines.some((line) => line === "    ..."), !isOne)
      assert.notMatch(lines.join(""), /[\u0000-\u001f]/)
    }
    assert.strictEqual(told(long, { isOne: true }).join(" ").match(/word/g)?.length, 200)
  })

  const waits = (all: ExportStatus, view: Partial<StatusCommand.View> = {}) =>
    told(all, view).filter((line) => / waits |No progress|standard error/.test(line)).join(" ")
  const old = { updated: now - 600_000, parts: [part({ updated: now - 600_000 })] }

  it("names the rows that cannot be read, beside those that can", () => {
    const unreadable = [{ export: "5fc901ecd74d4268", part: 2, reason: "Missing key\n  at [\"operation\"]" }]
    assert.deepStrictEqual(told(status(), { unreadable }).slice(-2), [
      "5fc901ecd74d4268 part 2                 damaged",
      "  Its row in the database cannot be read: Missing key at [\"operation\"]"
    ])
    const view = { now, isShared: true, workers: [], exports: [], unreadable, syncs: [] }
    assert.notInclude(StatusCommand.linesOf(view, false).join(), "no exports")
    assert.deepStrictEqual(StatusCommand.plainOf(view).unreadable, unreadable)
  })

  it("has times in ISO 8601 as JSON", () => {
    const view = StatusCommand.plainOf({
      now,
      isShared: true,
      workers: [],
      exports: [status()],
      unreadable: [],
      syncs: []
    })
    assert.strictEqual(view.now, "2026-01-31T00:00:00.000Z")
    assert.deepInclude(view.exports[0], { created: "2026-01-30T23:59:50.000Z", updated: "2026-01-30T23:59:55.000Z" })
    assert.strictEqual(view.exports[0]?.parts[0]?.updated, "2026-01-30T23:59:55.000Z")
  })

  it("says that there is no worker", () => {
    assert.match(waits(status(), { workers: [] }), /It waits for a worker: run postwire worker/)
    assert.strictEqual(waits(status({ state: "done" }), { workers: [] }), "")
    assert.strictEqual(waits(status()), "")
  })

  it("says what it may wait for when nothing comes", () => {
    assert.match(waits(status(old)), /No progress for 10 m: the rate limit may be exhausted/)
    assert.match(
      waits(status(old), { isShared: false, workers: [] }),
      /for 10 m: unless its command is running, run it again/
    )
    assert.strictEqual(waits(status({ ...old, state: "failed" })), "")
  })

  it("says the reason where it is known, instead", () => {
    const problem = "searchRecentPosts: the service failed (503)"
    const all = status({ ...old, parts: [part({ problem, updated: now - 600_000 })] })
    assert.strictEqual(waits(all), "")
    assert.include(told(all), `  ${problem}`)
  })
})

import { assert, describe, it, layer } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Arbitrary, Effect, Schema } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Chart from "../src/terminal/Chart.ts"
import * as Commands from "./Commands.ts"

/** Every element that is opened is closed, in order. */
const assertBalanced = (markup: string) => {
  const open: Array<string> = []
  for (const [, end, name = "", empty] of markup.matchAll(/<(\/?)([a-z]\w*)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (end === "/") assert.strictEqual(open.pop(), name)
    else if (empty !== "/" && name !== "meta") open.push(name)
  }
  assert.deepStrictEqual(open, [])
}

layer(Sandbox.layerServer({ posts: 300 }), { excludeTestServices: true })("postwire counts", (it) => {
  it.effect("draws the series, and prints it as JSON and CSV", () =>
    Effect.gen(function*() {
      const args = ["counts", "effect", "--granularity", "day"]
      const chart = yield* Commands.run(...args)
      assert.deepStrictEqual([chart.code, chart.errors], [0, ""])
      const lines = chart.output.split("\n")
      for (const line of lines) assert.isAtMost(displayWidth(line), 80)
      assert.strictEqual(lines[0], "Posts that match effect")
      assert.match(chart.output, /█[^]* 0 ┼┬─+/)
      const { buckets, granularity, query, total_post_count } = JSON.parse(
        (yield* Commands.run(...args, "--json")).output
      )
      assert.deepStrictEqual([query, granularity, buckets.length], ["effect", "day", 8])
      assert.include(chart.output, `\n${total_post_count} posts from `)
      const sum = (rows: ReadonlyArray<string>) => rows.reduce((sum, row) => sum + Number(row.split(",")[2]), 0)
      const [header, ...rows] = (yield* Commands.run(...args, "--csv")).output.split("\r\n")
      assert.deepStrictEqual([header, rows.length, sum(rows)], ["start,end,post_count", 8, total_post_count])
      const { limit } = yield* Effect.map(Sandbox.Sandbox, ({ budget }) => ({ limit: budget.posts() }))
      assert.deepStrictEqual(limit, [], "counts do not spend the post cap")
    }))

  it.effect("counts in the archive, page by page, oldest first", () =>
    Effect.gen(function*() {
      // A second before midnight, so that no day begins meanwhile.
      const end = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 1_000
      const start = end - 40 * 86_400_000
      const { code, errors, output } = yield* Commands.run(
        ..."counts effect --archive --granularity day --json --start-time".split(" "),
        new Date(start).toISOString(),
        "--end-time",
        new Date(end).toISOString()
      )
      assert.deepStrictEqual([code, errors], [0, ""])
      const times = JSON.parse(output).buckets.map(({ start }: Chart.Bar) => start)
      assert.strictEqual(times.length, 41)
      assert.deepStrictEqual(times, times.toSorted())
    }))

  it.effect("writes files that need nothing else, and overwrites none", () =>
    Effect.gen(function*() {
      const root = yield* Commands.folder
      const files = ["svg", "html", "csv", "json"].map((ending) => join(root, `a.${ending}`))
      for (const file of files) {
        const { code, output } = yield* Commands.run("counts", "effect OR <b>\"x\"</b>", "--out", file)
        assert.deepStrictEqual([code, /: \d+ posts$/.test(output)], [0, true])
      }
      for (const file of files.slice(0, 2)) {
        const text = readFileSync(file, "utf8")
        assertBalanced(text)
        assert.match(text, /<svg [^>]*role="img" aria-labelledby="title description">/)
        assert.match(text, /<title id="title">Posts that match effect OR &#60;b&#62;&#34;x/)
        assert.match(text, /<desc id="description">\d+ posts from/)
        assert.match(text, /prefers-color-scheme: dark/)
        assert.notMatch(text, /<script|<b>|(href|src)=|@import|url\(/)
      }
      const refused = yield* Commands.run("counts", "effect", "--out", files[0]!)
      assert.strictEqual(refused.code, 1)
      assert.match(refused.errors, /a\.svg: it exists already\n.*--force/)
      assert.strictEqual((yield* Commands.run("counts", "effect", "--out", files[0]!, "--force")).code, 0)
      const unknown = yield* Commands.run("counts", "effect", "--out", join(root, "a.png"))
      assert.match(unknown.errors, /has no known format\n.*\.svg/)
      const nowhere = yield* Commands.run("counts", "effect", "--out", join(root, "none", "a.svg"))
      assert.match(nowhere.errors, /cannot be written \(NotFound\)\n/)
    }))
})

describe("Chart", () => {
  const count = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 })))
  const size = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 700 })))

  const seriesOf = (counts: ReadonlyArray<number>, query: string, granularity: string): Chart.Series => ({
    query,
    granularity,
    buckets: counts.map((post_count, i) => ({
      start: new Date(Date.UTC(2026, 0, 1, i)).toISOString(),
      end: new Date(Date.UTC(2026, 0, 1, i + 1)).toISOString(),
      post_count
    }))
  })

  it.prop(
    "holds all that was counted, within the width, whatever the counts",
    {
      a: count,
      b: count,
      size,
      query: Arbitrary.schema(Schema.String),
      granularity: Arbitrary.schema(Schema.Literals(["minute", "hour", "day"])),
      width: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 40, maximum: 160 })))
    },
    ({ a, b, granularity, query, size, width }) => {
      const series = seriesOf(
        Array.from({ length: size }, (_, i) => i % 7 === 0 ? a : i % 3 === 0 ? b : i),
        query,
        granularity
      )
      const total = series.buckets.reduce((sum, { post_count }) => sum + post_count, 0)
      assert.strictEqual(Chart.totalOf(series), total)
      const { bars, each } = Chart.barsOf(series, 70)
      assert.strictEqual(bars.reduce((sum, { count }) => sum + count, 0), total)
      assert.isAtMost(bars.length, 70)
      assert.strictEqual(bars.length, Math.ceil(size / each))
      for (const columns of [width, 80]) {
        const lines = Chart.terminal(series, columns)
        for (const line of lines) {
          assert.isAtMost(displayWidth(line), columns, line)
          assert.notMatch(line, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/)
        }
        // Whatever was counted is seen.
        assert.strictEqual(/[▁-█]/.test(lines.join("")), total > 0)
        if (size > 0) assert.include(lines.join(" "), `${total.toLocaleString("en-US")} post`)
      }
      const drawing = Chart.svg(series)
      assertBalanced(drawing)
      const drawn = Array.from(
        drawing.matchAll(/: ([\d,]+)<\/title><\/rect>/g),
        ([, n = ""]) => Number(n.replaceAll(",", ""))
      )
      assert.strictEqual(drawn.reduce((sum, n) => sum + n, 0), total)
      assert.isAtMost(drawn.length, 400)
      assert.notMatch(drawing, /NaN|Infinity|undefined/)
    },
    { arbitrary: { runs: 60 } }
  )

  it("draws heights in proportion", () => {
    const lines = Chart.terminal(seriesOf([0, 10, 5, 1], "x", "hour"), 40, 4)
    assert.deepStrictEqual(lines.slice(2, 8), [
      "10 ┤        ███████",
      "   │        ███████",
      " 5 ┤        ███████ ███████",
      "   │        ███████ ███████ ▃▃▃▃▃▃▃",
      " 0 ┼┬───────────────┬───────────────",
      "    01-01 00:00     01-01 02:00"
    ])
  })

  it("shows what is there, however little it is", () => {
    const lines = Chart.terminal(seriesOf([10_000, 1, 0], "x", "hour"), 40, 4)
    assert.match(lines[5] ?? "", /│███████ ▁▁▁▁▁▁▁$/)
  })
})

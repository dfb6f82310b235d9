import { assert, describe, it } from "@effect/vitest"
import { exponentOf, type Row, type Run, toJson } from "../bench/src/Model.ts"
import * as Options from "../bench/src/Options.ts"
import * as Report from "../bench/src/Report.ts"
import { rowsOf } from "../bench/src/Rounds.ts"
import { sections } from "../bench/src/Sections.ts"
import * as Bench from "./docs/Bench.ts"

const known = sections.map(({ name }) => name)

const readings = (...values: ReadonlyArray<number>) => values.map((CPU) => ({ CPU, time: CPU * 2, allocated: CPU / 3 }))

const rows: ReadonlyArray<Row> = [
  ...rowsOf(
    { section: "calls", scenario: "one post, one by one" },
    new Map([
      ["undici", readings(100, 110, 90)],
      ["undici again", readings(101, 109, 91)],
      ["a contender whose name is longer than any column", readings(17_600, 17_601, 17_602)],
      ["postwire", readings(104, 114, 95)],
      ["postwire before", readings(208, 228, 190)]
    ])
  ),
  ...rowsOf(
    { section: "pages", scenario: "a peer that drifts" },
    new Map([
      ["generator", readings(1e6, 1e6, 1e6)],
      ["generator again", readings(1.1e6, 1.1e6, 1.1e6)],
      ["postwire", readings(2e8, 3e8, 4e8)]
    ])
  )
]

const run: Run = {
  environment: {
    date: "2026-11-23",
    commit: "2026-11-23 1234567",
    against: "2026-11-22 7654321",
    machine: "2 x CPU",
    versions: { Node: "24.21.0", effect: "4.1.0" }
  },
  sections: [
    { name: "calls", seconds: 55, foreign: 0.02, drift: 1.01 },
    { name: "pages", seconds: 15, foreign: 0.25, drift: 1.1 }
  ],
  rows,
  growth: [{ name: "pages by posts", metric: "CPU", exponent: 1.02, expected: 1, points: [[1_000, 5], [10_000, 51]] }]
}

describe("arguments of the bench", () => {
  it("name sections and options", () => {
    assert.deepStrictEqual(Options.parse(["--", "calls", "pages", "--rounds", "3", "--only", "postwire"], known), {
      sections: ["calls", "pages"],
      full: false,
      against: undefined,
      rounds: 3,
      json: undefined,
      only: ["postwire"]
    })
  })

  it.each([
    [["--rounds", "0"], "--rounds must be a whole number from 1."],
    [["--rounds", "many"], "--rounds must be a whole number from 1."],
    [["cals"], `There is no section cals; there are ${known.join(", ")}.`],
    [["--against"], "Option '--against <value>' argument missing"],
    [["--row"], "Unknown option '--row'"]
  ])("that are wrong say so: %s", (args, message) => {
    assert.throws(() => Options.parse(args, known), message)
  })

  it("ask for help, which fits in a terminal", () => {
    assert.strictEqual(Options.parse(["-h"], known), "help")
    for (const line of Options.help(known).split("\n")) assert.isAtMost(line.length, 80, line)
    for (const name of known) assert.include(Options.help(known), name)
  })
})

describe("results", () => {
  const row = (contender: string, section = "calls", metric = "CPU") =>
    rows.find((row) => row.contender === contender && row.section === section && row.metric === metric)!

  it("compare contenders within a round, with their peer and with the other commit", () => {
    const { before, isConclusive, ratio, value } = row("postwire")
    assert.strictEqual(value.median, 104)
    assert.strictEqual(ratio?.to, "undici")
    assert.closeTo(ratio?.median ?? 0, 1.04, 0.001)
    assert.strictEqual(before?.median, 0.5)
    assert.isUndefined(isConclusive)
    assert.isUndefined(row("undici").ratio)
  })

  it("are marked where the peer is more than 5 % from itself", () => {
    assert.isFalse(row("postwire", "pages").isConclusive)
    const { isConclusive: _, ...conclusive } = row("postwire", "pages")
    assert.include(Report.format({ ...run, rows: [{ ...conclusive, isConclusive: false }] }), "?  not conclusive")
  })

  it("are tables of at most 80 columns, whose columns are apart", () => {
    const table = Report.format(run)
    for (const line of table.split("\n")) assert.isAtMost(line.length, 80, line)
    assert.match(table, /^ {2}postwire +104 us +1\.04 ±0\.00 +208 us +1\.04 ±0\.00 +34\.7 kB$/m)
    assert.match(table, /^ {4}of before +0\.50 ±0\.00 +0\.50 ±0\.00 +0\.50$/m)
    assert.match(table, /^ {2}postwire +\S+ s +\? 300 ±\S+ +\S+ s +\? 300 ±\S+ +\S+ GB$/m)
    assert.include(table, "others used 25 % of the machine")
    assert.notMatch(table, /\S(B|s)\d/)
  })

  it("are JSON with a line for each row and four digits", () => {
    const json = toJson(run)
    assert.strictEqual(json.split("\n").filter((line) => line.includes(`"scenario"`)).length, rows.length)
    const read: Run = JSON.parse(json)
    assert.deepStrictEqual(read.growth, run.growth)
    assert.strictEqual(
      read.rows.find(({ contender, metric }) => contender === "postwire" && metric === "allocated")!.value.median,
      34.67
    )
  })
})

it("the exponent of a power law is the slope of its logarithms", () => {
  const points = (exponent: number) => [10, 100, 1_000].map((size) => [size, 3 * size ** exponent] as const)
  for (const exponent of [0, 0.5, 1, 2]) assert.closeTo(exponentOf(points(exponent)), exponent, 1e-9)
  assert.closeTo(exponentOf([[1, 1], [10, 12], [100, 95]]), 0.99, 0.01)
})

describe("the documentation of a run", () => {
  it("has charts in which every figure is a number", () => {
    for (const [file, chart] of Bench.charts(run)) {
      assert.notMatch(chart, /NaN|Infinity|undefined/, file)
      assert.match(chart, /^<svg [^]*<\/svg>\n$/, file)
    }
    const calls = Bench.ratios("calls", run)
    assert.include(calls, ">postwire</text>")
    assert.strictEqual(calls.match(/class="before"/g)?.length, 1)
    assert.notInclude(calls, "unsure\"")
    assert.include(Bench.ratios("pages", run), `class="now unsure"`)
    assert.include(Bench.growth(run.growth), ">1.02, expected at most 1<")
  })

  it("has tables with ratios and what the other commit was", () => {
    const table = Bench.table("calls", run)
    assert.include(table, "| one post, one by one | undici | 100 us | 200 us | 33.3 kB |")
    assert.include(
      table,
      "|  | postwire | 104 us: 1.04 ±0.00 | 208 us: 1.04 ±0.00 | 34.7 kB: 1.04 ±0.00 | CPU 0.50 ±0.00"
    )
    assert.include(table, "a peer was at most 1 % from itself")
  })

  it("is of a run that is checked in", () => {
    assert.isAbove(Bench.run().rows.length, 0)
    for (const { section } of Bench.run().rows) assert.include(known, section)
  })
})

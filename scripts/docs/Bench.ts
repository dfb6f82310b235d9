/** The tables and the charts of `docs/bench.json`, the results of a run of the bench. */
import type { Growth, Row, Run, Spread } from "../../bench/src/Model.ts"
import * as Report from "../../bench/src/Report.ts"
import { text } from "./Source.ts"

/** The run that is checked in. */
export const run = (): Run => JSON.parse(text("docs/bench.json"))

const unique = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> => [...new Set(values)]

/** How sure a ratio is: its spread, and a question mark where it is not conclusive. */
const sure = ({ isConclusive }: Row, ratio: Spread): string =>
  `${Report.shown(ratio)}${isConclusive === false ? " ?" : ""}`

const cellOf = (row: Row | undefined): string => {
  if (row === undefined) return ""
  const figure = Report.figure(row.value.median, row.unit)
  return row.ratio === undefined ? figure : `${figure}: ${sure(row, row.ratio)}`
}

/** Contenders that are there to judge the others. */
const isControl = (name: string): boolean => / (again|before)$/.test(name)

/** The Markdown table of a section: a line for each scenario and contender, a column for each metric. */
export const table = (section: string, { rows, sections }: Run): string => {
  const own = rows.filter((row) => row.section === section && !isControl(row.contender))
  const metrics = unique(own.map(({ metric }) => metric))
  const hasBefore = own.some(({ before }) => before !== undefined)
  const line = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const headings = ["", "", ...metrics, ...hasBefore ? ["of before"] : []]
  const groups = unique(own.map(({ scenario }) => scenario)).flatMap((scenario) => {
    const of = own.filter((row) => row.scenario === scenario)
    return unique(of.map(({ contender }) => contender)).map((contender, i) => {
      const found = metrics.map((metric) => of.find((row) => row.contender === contender && row.metric === metric))
      const before = found.flatMap((row) => row?.before === undefined ? [] : [`${row.metric} ${sure(row, row.before)}`])
      return line([i === 0 ? scenario : "", contender, ...found.map(cellOf), ...hasBefore ? [before.join(", ")] : []])
    })
  })
  const { drift, foreign = 0 } = sections.find(({ name }) => name === section) ?? {}
  const percent = (share: number) => `${(Math.abs(share) * 100).toFixed(0)} %`
  const words = drift === undefined ? "" : `; a peer was at most ${percent(drift - 1)} from itself`
  return [
    line(headings),
    line(headings.map(() => "---")),
    ...groups,
    "",
    `Other programs used ${percent(foreign)} of the machine${words}.`
  ].join("\n")
}

/** The exponents as a Markdown table. */
export const exponents = (growth: ReadonlyArray<Growth>): string =>
  [
    "| | metric | exponent | expected at most |",
    "|---|---|---|---|",
    ...growth.map(({ expected, exponent, metric, name }) =>
      `| ${name} | ${metric} | ${exponent.toFixed(2)} | ${expected} |`
    )
  ].join("\n")

const style = `
.axis, .one { stroke: #8a97b3; fill: none }
.one, .expected { stroke-dasharray: 3 3 }
.expected { stroke: #8a97b3; fill: none }
.now { stroke: #2456c8; fill: #2456c8 }
.before { stroke: #c07818; fill: #c07818 }
.unsure { fill: none }
.line { fill: none }
text { fill: #16203a; font: 12px ui-sans-serif, system-ui, sans-serif }
.title { font-weight: 600 }
.mark { text-anchor: middle; fill: #5b6b8c }
@media (prefers-color-scheme: dark) {
  text { fill: #e6eaf5 }
  .mark { fill: #aab6d3 }
  .now { stroke: #7ea6ff; fill: #7ea6ff }
  .before { stroke: #f0b060; fill: #f0b060 }
  .line, .unsure { fill: none }
}`

/** A picture with the style of the charts. */
export const svg = (title: string, width: number, height: number, parts: ReadonlyArray<string>): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${title}</title>
<style>${style}</style>
${parts.join("\n")}
</svg>
`

const escape = (words: string): string => words.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

/** Words at a place of a picture. */
export const label = (kind: string, x: number, y: number, words: string): string =>
  `<text class="${kind}" x="${x}" y="${y}">${escape(words)}</text>`

/** A place on a logarithmic axis from `low` to `high`. */
const logarithmic = (low: number, high: number, from: number, to: number) => (value: number): number =>
  Math.round(from + (Math.log(value / low) / Math.log(high / low || 2)) * (to - from))

const [width, left, right, step] = [720, 210, 700, 18]

/** The ratios of a section to its peers as dots on a logarithmic axis, with a line between the quartiles. */
export const ratios = (section: string, { rows }: Run): string => {
  const own = rows.filter((row) => row.section === section && row.metric === "CPU" && !isControl(row.contender))
    .flatMap((row) => row.ratio === undefined ? [] : [{ row, ratio: row.ratio }])
  const all = own.flatMap(({ ratio }) => [ratio.low, ratio.high])
  const xOf = logarithmic(Math.min(0.5, ...all), Math.max(2, ...all), left, right)
  const parts: Array<string> = []
  let y = 6
  for (const scenario of unique(own.map(({ row }) => row.scenario))) {
    const of = own.filter(({ row }) => row.scenario === scenario)
    y += step + 4
    parts.push(label("title", 4, y, `${scenario}: CPU time, 1 is ${of[0]?.ratio.to}`))
    const top = y + 4
    for (const { ratio, row } of of) {
      y += step
      const earlier = rows.find((other) =>
        other.scenario === scenario && other.section === section && other.metric === "CPU" &&
        other.contender === `${row.contender} before`
      )?.ratio
      const unsure = row.isConclusive === false ? " unsure" : ""
      parts.push(
        label("name", 16, y, row.contender),
        ...earlier === undefined
          ? []
          : [`<circle class="before${unsure}" cx="${xOf(earlier.median)}" cy="${y - 4}" r="3"/>`],
        `<path class="now" d="M${xOf(ratio.low)} ${y - 4}H${xOf(ratio.high)}"/>`,
        `<circle class="now${unsure}" cx="${xOf(ratio.median)}" cy="${y - 4}" r="4"/>`
      )
    }
    parts.push(`<path class="one" d="M${xOf(1)} ${top}V${y + 2}"/>`)
  }
  const marks = [0.5, 1, 2, 5, 10, 20, 50].filter((mark) => xOf(mark) >= left && xOf(mark) <= right)
  y += step
  parts.push(...marks.map((mark) => label("mark", xOf(mark), y, String(mark))))
  return svg(`CPU time of ${section} relative to the peers`, width, y + 8, parts)
}

const [cellWidth, cellHeight] = [240, 166]

const sizeOf = (size: number): string => size.toLocaleString("en", { notation: "compact" })

/** One cost over its size on logarithmic axes, with the expected slope. */
const cell = (
  { expected, exponent, metric, name, points }: Growth,
  at: number,
  columns: number
): ReadonlyArray<string> => {
  const [x, y] = [(at % columns) * cellWidth, Math.floor(at / columns) * cellHeight]
  const [first, last] = [points[0] ?? [1, 1], points.at(-1) ?? [10, 10]]
  const costs = points.map(([, cost]) => cost)
  const end = first[1] * (last[0] / first[0]) ** expected
  const xOf = logarithmic(first[0], last[0], x + 16, x + cellWidth - 24)
  const yOf = logarithmic(Math.min(...costs, end), Math.max(...costs, end), y + cellHeight - 28, y + 60)
  const places = points.map(([size, cost]) => [xOf(size), yOf(cost)] as const)
  return [
    label("title", x + 8, y + 16, name),
    label("name", x + 8, y + 32, metric),
    label("name", x + 8, y + 48, `${exponent.toFixed(2)}, expected at most ${expected}`),
    `<path class="expected" d="M${xOf(first[0])} ${yOf(first[1])}L${xOf(last[0])} ${yOf(end)}"/>`,
    `<path class="now line" d="M${places.map((place) => place.join(" ")).join("L")}"/>`,
    ...places.map(([cx, cy]) => `<circle class="now" cx="${cx}" cy="${cy}" r="3"/>`),
    label("mark", xOf(first[0]) + 8, y + cellHeight - 10, sizeOf(first[0])),
    label("mark", xOf(last[0]) - 8, y + cellHeight - 10, sizeOf(last[0]))
  ]
}

/** How costs grow, each on axes of its own. */
export const growth = (all: ReadonlyArray<Growth>, columns = 3): string =>
  svg(
    "How costs grow",
    columns * cellWidth,
    Math.ceil(all.length / columns) * cellHeight,
    all.flatMap((one, at) => cell(one, at, columns))
  )

/** The sections whose ratios are drawn. */
export const drawn: ReadonlyArray<string> = ["calls", "pages", "streams", "exports", "hydrate"]

/** The charts by their files. */
export const charts = (of: Run = run()): ReadonlyMap<string, string> =>
  new Map([
    ...drawn.map((section) => [`docs/pictures/bench-${section}.svg`, ratios(section, of)] as const),
    ["docs/pictures/bench-growth.svg", growth(of.growth)],
    ["docs/pictures/bench-growth-narrow.svg", growth(of.growth, 1)]
  ])

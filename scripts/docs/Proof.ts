/** The tables and the charts of `docs/proof`, the results of the proofs. */
import { globSync } from "node:fs"
import { basename } from "node:path"
import type { Chart, Result } from "../../proof/src/Model.ts"
import * as Bench from "./Bench.ts"
import { text } from "./Source.ts"

const files = globSync("docs/proof/*.json", { cwd: new URL("../..", import.meta.url) }).sort()

const results = (): ReadonlyArray<readonly [name: string, result: Result]> =>
  files.map((file) => [basename(file, ".json"), JSON.parse(text(file))] as const)

const time = (seconds: number): string =>
  seconds < 100
    ? `${seconds} s`
    : seconds < 6_000
    ? `${Math.round(seconds / 60)} min`
    : `${(seconds / 3_600).toFixed(1)} h`

/** The claims of a proof, and the run that they come from. */
export const section = (name: string): string => {
  const { claims, commit, date, foreign, growth, machine, node, seconds, seed, share }: Result = JSON.parse(
    text(`docs/proof/${name}.json`)
  )
  const part = share === 1 ? "the full length" : `${share} of the full length`
  const busy = foreign === undefined ? "" : `; other programs used ${(foreign * 100).toFixed(0)} % of it`
  return [
    "| | Goal | Measured |",
    "|---|---|---|",
    ...claims.map(({ claim, goal, holds, measured }) =>
      `| ${claim} | ${goal} | ${holds ? measured : `**missed**: ${measured}`} |`
    ),
    ...growth === undefined ? [] : ["", Bench.exponents(growth)],
    "",
    `Run on ${date} for ${time(seconds)} (${part}, seed ${seed}) at ${
      commit.split(" ").at(-1)
    }, ${machine}, Node ${node}${busy}.`
  ].join("\n")
}

const [height, left, top, bottom] = [200, 64, 30, 40]

/** The size of a letter on average, and of a line. */
const [letter, lineHeight] = [6.6, 14]

const wide = 720
/** The width of a phone, on which words keep their size. */
const narrow = 360

/** Lines on linear axes that begin at zero. */
export const lines = ({ series, title, x, y }: Chart, at = 0, width = wide): ReadonlyArray<string> => {
  const points = series.flatMap(({ points }) => points)
  const last = (of: 0 | 1) => Math.max(...points.map((point) => point[of])) || 1
  const [maxX, maxY] = [last(0), last(1)]
  const longest = Math.max(...series.map(({ name }) => name.length))
  const xOf = (value: number) => Math.round(left + value / maxX * (width - left - 16 - longest * letter))
  const yOf = (value: number) => Math.round(at + height - bottom - value / maxY * (height - bottom - top))
  // The names of lines that end side by side stand below each other.
  let bottomOfNames = 0
  const places = new Map(
    series.map(({ name, points }) => [name, yOf(points.at(-1)?.[1] ?? 0) + 4] as const)
      .sort(([, one], [, other]) => one - other)
      .map(([name, y]) => [name, bottomOfNames = Math.max(y, bottomOfNames + lineHeight)] as const)
  )
  const mark = (value: number) => value.toLocaleString("en", { maximumSignificantDigits: 3 })
  return [
    Bench.label("title", 8, at + 16, `${title}: ${y} over ${x}`),
    `<path class="axis" d="M${left} ${yOf(maxY)}V${yOf(0)}H${xOf(maxX)}"/>`,
    Bench.label("mark", left - 28, yOf(maxY) + 4, mark(maxY)),
    Bench.label("mark", left - 28, yOf(0) + 4, "0"),
    Bench.label("mark", xOf(maxX), yOf(0) + 18, mark(maxX)),
    ...series.flatMap(({ name, points }, i) => [
      `<path class="line ${i % 2 === 0 ? "now" : "before"}" d="M${
        points.map(([px, py]) => `${xOf(px)} ${yOf(py)}`).join("L")
      }"/>`,
      Bench.label("name", xOf(maxX) + 8, places.get(name)!, name)
    ])
  ]
}

const drawing = (name: string, charts: ReadonlyArray<Chart>, width: number): string =>
  Bench.svg(
    `Measured by the ${name} proof`,
    width,
    charts.length * height,
    charts.flatMap((chart, i) => lines(chart, i * height, width))
  )

/** The charts by their files, each for a desk and for a phone. */
export const charts = (): ReadonlyMap<string, string> =>
  new Map(
    results().flatMap(([name, { charts = [], growth = [] }]) => [
      ...charts.length === 0 ? [] : [
        [`docs/pictures/proof-${name}.svg`, drawing(name, charts, wide)] as const,
        [`docs/pictures/proof-${name}-narrow.svg`, drawing(name, charts, narrow)] as const
      ],
      ...growth.length === 0 ? [] : [
        [`docs/pictures/proof-${name}-growth.svg`, Bench.growth(growth)] as const,
        [`docs/pictures/proof-${name}-growth-narrow.svg`, Bench.growth(growth, 1)] as const
      ]
    ])
  )

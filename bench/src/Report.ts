/** The results as tables of at most 80 columns. */
import { mostDrift, mostForeign, type Row, type Run, type Section, type Spread } from "./Model.ts"

const three = (value: number): string => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)

const steps: Readonly<Record<string, ReadonlyArray<readonly [from: number, unit: string]>>> = {
  us: [[1e6, "s"], [1e3, "ms"], [1, "us"]],
  kB: [[1e6, "GB"], [1e3, "MB"], [1, "kB"]],
  MB: [[1e3, "GB"], [1, "MB"]]
}

/** A figure in the unit in which it is short. */
export const figure = (value: number, unit: string): string => {
  const known = steps[unit]
  if (known === undefined) return `${Number.isInteger(value) ? value : three(value)} ${unit}`.trimEnd()
  const [from, name] = known.find(([from]) => Math.abs(value) >= from) ?? known.at(-1)!
  return `${three(value / from)} ${name}`
}

/** A ratio, and half of what lies between its quartiles. */
export const shown = ({ high, low, median }: Spread): string => {
  const digits = median >= 10 ? median >= 100 ? 0 : 1 : 2
  return `${median.toFixed(digits)} ±${((high - low) / 2).toFixed(digits)}`
}

const line = (label: string, cells: ReadonlyArray<string>): string =>
  // At least one blank before the next column, however long a name is.
  [label.slice(0, 21).padEnd(22), ...cells.map((cell, i) => cell.padStart(i % 2 === 0 ? 10 : 14))].join("").trimEnd()

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`

const head = ({ drift, foreign, name, seconds }: Section): string => {
  const notes = [
    `${seconds.toFixed(0)} s`,
    ...foreign === undefined ? [] : [`others used ${percent(foreign)} of the machine`],
    ...drift === undefined ? [] : [`a peer was up to ${percent(Math.abs(drift - 1))} from itself`]
  ]
  return `${name.toUpperCase()}\n${notes.join("; ")}`
}

/** As many metrics as fit in a line, the last without its ratio. */
const most = 3

const doubtful = (row: Row, ratio: Spread | undefined): string =>
  ratio === undefined ? "" : `${row.isConclusive === false ? "? " : ""}${shown(ratio)}`

/** The table of a scenario: a line for each contender, and one for its ratio to the same of the other commit. */
const scenarioTable = (scenario: string, rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const metrics = [...new Set(rows.map(({ metric }) => metric))].slice(0, most)
  const to = rows.find(({ ratio }) => ratio !== undefined)?.ratio?.to
  const cells = (f: (metric: string) => readonly [figure: string, ratio: string]) =>
    metrics.flatMap((metric, i) => f(metric).slice(0, i === most - 1 ? 1 : 2))
  return [
    "",
    to === undefined ? scenario : `${scenario}; ratios to ${to}`,
    line("", cells((metric) => [metric, ""])),
    // Those of the other commit are what the ratios below are of.
    ...[...new Set(rows.map(({ contender }) => contender))].filter((name) => !name.endsWith(" before")).flatMap(
      (name) => {
        const own = (metric: string) => rows.find((row) => row.contender === name && row.metric === metric)
        return [
          line(
            `  ${name}`,
            cells((metric) => {
              const row = own(metric)
              return row === undefined ? ["", ""] : [figure(row.value.median, row.unit), doubtful(row, row.ratio)]
            })
          ),
          ...metrics.some((metric) => own(metric)?.before !== undefined)
            ? [
              line(
                "    of before",
                cells((metric) => {
                  const row = own(metric)
                  const before = row === undefined ? "" : doubtful(row, row.before)
                  return metric === metrics[most - 1] ? [before.replace(/ ±.*/, ""), ""] : ["", before]
                })
              )
            ]
            : []
        ]
      }
    )
  ]
}

const table = (rows: ReadonlyArray<Row>): ReadonlyArray<string> =>
  [...new Set(rows.map(({ scenario }) => scenario))]
    .flatMap((scenario) => scenarioTable(scenario, rows.filter((row) => row.scenario === scenario)))

/** What stands below the tables. */
const notes = (sections: ReadonlyArray<Section>, rows: ReadonlyArray<Row>): ReadonlyArray<string> => [
  ...rows.some(({ isConclusive }) => isConclusive === false)
    ? [`?  not conclusive: the peer was more than ${percent(mostDrift)} from itself in the same rounds`]
    : [],
  ...sections.filter(({ foreign = 0 }) => foreign > mostForeign)
    .map(({ foreign = 0, name }) => `${name}: other programs used ${percent(foreign)} of the machine`)
]

/** A run as text. */
export const format = ({ environment, growth, rows, sections }: Run): string => {
  const { against, commit, machine, versions } = environment
  const words = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const middle = Math.ceil(words.length / 2)
  return [
    words.slice(0, middle).join(", "),
    words.slice(middle).join(", "),
    `${machine}; loopback, no TLS, no compression`,
    `${commit}${against === undefined ? "" : `, before ${against}`}`,
    "Medians; ratios are within a round, with half of what lies between quartiles.",
    ...sections.flatMap((section) => ["", head(section), ...table(rows.filter((row) => row.section === section.name))]),
    ...growth.length === 0 ? [] : [
      "",
      "EXPONENTS OF GROWTH",
      ...growth.map(({ expected, exponent, metric, name }) =>
        `  ${name.slice(0, 44).padEnd(46)}${metric.padEnd(12)}${exponent.toFixed(2).padStart(6)}` +
        `  ${exponent <= expected + 0.1 ? "" : "above "}${expected}`
      )
    ],
    "",
    ...notes(sections, rows)
  ].join("\n").trimEnd()
}

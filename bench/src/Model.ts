/** The results of a run: rows, what every section says of the machine, and how costs grow. */

/** The middle of what the rounds say, and how far the half around it reaches. */
export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** A figure of one contender in one scenario. */
export interface Row {
  readonly section: string
  readonly scenario: string
  readonly contender: string
  readonly metric: string
  readonly unit: string
  readonly value: Spread
  /** The number of rounds. */
  readonly rounds: number
  /** Relative to the peer of the scenario, within a round. */
  readonly ratio?: Spread & { readonly to: string }
  /** Relative to the same contender of the commit that `--against` names, within a round. */
  readonly before?: Spread
  /** False where the peer was more than 5 % from itself in the same rounds. */
  readonly isConclusive?: false
  /** The size that it was measured at, where it is about growth. */
  readonly at?: number
}

/** What a section says of the machine. */
export interface Section {
  readonly name: string
  readonly seconds: number
  /** The share of the machine's CPU time that other programs used; undefined where the system does not say. */
  readonly foreign?: number
  /** The furthest that a peer was from itself: the ratio of its CPU time. */
  readonly drift?: number
}

/** How a cost grows with a size: it is proportional to the size to the power of the exponent. */
export interface Growth {
  readonly name: string
  readonly metric: string
  readonly exponent: number
  /** An exponent above this one is a defect. */
  readonly expected: number
  readonly points: ReadonlyArray<readonly [size: number, cost: number]>
}

/** A run, as `docs/bench.json` holds it. */
export interface Run {
  readonly environment: {
    readonly date: string
    readonly commit: string
    readonly against?: string
    readonly machine: string
    readonly versions: Readonly<Record<string, string>>
  }
  readonly sections: ReadonlyArray<Section>
  readonly rows: ReadonlyArray<Row>
  readonly growth: ReadonlyArray<Growth>
}

/** The value below which a share `q` of the values lies. */
export const quantile = (values: ReadonlyArray<number>, q: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)] ?? Number.NaN
  return low + ((sorted[Math.ceil(at)] ?? low) - low) * (at % 1)
}

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

export const spread = (values: ReadonlyArray<number>): Spread => ({
  median: median(values),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75)
})

/** So far may a peer be from itself. */
export const mostDrift = 0.05

/** Other programs may have so much of the machine. */
export const mostForeign = 0.1

/** The exponent of a power law: the slope of the least squares on logarithms. */
export const exponentOf = (points: Growth["points"]): number => {
  const logs = points.map(([size, cost]) => [Math.log(size), Math.log(cost)] as const)
  const mean = (of: 0 | 1) => logs.reduce((sum, log) => sum + log[of], 0) / logs.length
  const [x, y] = [mean(0), mean(1)]
  const sum = (f: (x: number, y: number) => number) => logs.reduce((sum, log) => sum + f(log[0] - x, log[1] - y), 0)
  return sum((dx, dy) => dx * dy) / sum((dx) => dx * dx)
}

const digits = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

/** JSON with a line for each row, so that two runs can be compared line by line. */
export const toJson = (run: Run): string => {
  const lines = (values: ReadonlyArray<object>) =>
    values.map((value) => `\n    ${JSON.stringify(value, digits)}`).join()
  const parts = [
    `"environment": ${JSON.stringify(run.environment)}`,
    ...(["sections", "growth", "rows"] as const).map((part) => `"${part}": [${lines(run[part])}\n  ]`)
  ]
  return `{\n  ${parts.join(",\n  ")}\n}\n`
}

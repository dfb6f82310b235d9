/**
 * Batches of all contenders in turn, each in a process of its own, so that none pays for the garbage or the compiled code of
 * another. Medians of the ratios within a round take out most of what other programs disturb.
 */
import * as Checkout from "./Checkout.ts"
import * as Child from "./Child.ts"
import { type Growth, mostDrift, type Row, type Spread, spread } from "./Model.ts"
import type { Options } from "./Options.ts"

/** A section's view of the run. */
export interface Bench extends Options {
  readonly before: Checkout.Before | undefined
  /** A folder for files, empty at the start of a section. */
  readonly place: string
  readonly add: (...rows: ReadonlyArray<Row>) => void
  readonly grow: (...growth: ReadonlyArray<Growth>) => void
  /** Reports a step, and the share of the section that is done. */
  readonly say: (step: string, share: number) => void
}

/** A part of the bench. */
export interface Section {
  readonly name: string
  /** How long it may take, by default and with `--full`. */
  readonly seconds: number
  readonly fullSeconds: number
  /** True if it is part of a run only by its name or with `--full`. */
  readonly isExtra?: true
  readonly run: (bench: Bench, seconds: number) => Promise<void>
}

/** A batch: so many calls, posts, lines or requests. */
export interface Task {
  readonly count: number
  readonly measure?: "allocated" | "memory"
}

/** Microseconds and kB for one of `count`, or MB. */
export type Reading = Readonly<Record<string, number>>

/** The settings of the process of a contender. */
export interface Settings {
  /** The folder of the checkout. */
  readonly folder: string
  readonly url: string
  readonly place: string
  readonly wire: "neutral" | "x" | "x-2026-02"
}

/** What the process of a contender runs, by their names. */
export type Contenders<T extends Task> = Readonly<
  Record<string, (settings: Settings) => Promise<(task: T) => Promise<void> | void>>
>

const units: Readonly<Record<string, string>> = {
  CPU: "us",
  time: "us",
  import: "us",
  call: "us",
  allocated: "kB",
  size: "kB",
  memory: "MB"
}

export const unitOf = (metric: string): string => units[metric] ?? ""

/** The names to measure: the peer twice, those that were chosen, and those of ours as the other commit has them. */
export const select = (
  { before, only }: Bench,
  peers: ReadonlyArray<string>,
  ours: ReadonlyArray<string>,
  others: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const isChosen = (name: string) => only.length === 0 || only.includes(name)
  const chosen = ours.filter(isChosen)
  const names = [
    ...chosen.flatMap((name) => before === undefined ? [name] : [name, `${name} before`]),
    ...others.filter(isChosen)
  ]
  return names.length === 0 ? [] : [...peers.slice(0, 1), `${peers[0]} again`, ...peers.slice(1), ...names]
}

/** The process of a contender, by its name in the tables. */
export const start = <T extends Task>(
  bench: Bench,
  section: string,
  name: string,
  settings: Partial<Settings>
): Promise<Child.Child<T, Reading>> =>
  Child.start(
    "Process.ts",
    section,
    name.replace(/ (again|before)$/, ""),
    JSON.stringify({
      folder: name.endsWith(" before") ? bench.before?.folder : Checkout.own,
      place: bench.place,
      ...settings
    })
  )

/** What is measured of all contenders in turns. */
export interface Scenario<T extends Task> {
  readonly name: string
  readonly task: T
  /** False for contenders that cannot take it. */
  readonly takes?: (contender: string) => boolean
  /** Milliseconds of a batch, for which its count is chosen; `undefined` keeps the count. */
  readonly batch?: number
  readonly at?: number
}

/** Contenders, of which the first is the peer that the others are compared with. */
export interface Group<T extends Task> {
  readonly section: string
  readonly title?: string
  readonly contenders: ReadonlyMap<string, Pick<Child.Child<T, Reading>, "ask">>
  readonly scenarios: ReadonlyArray<Scenario<T>>
  readonly seconds: number
  /** The part of the section's time that has gone before, and that of this group: 0 to 1. */
  readonly from: number
  readonly share: number
  /** True if nothing gets faster: each batch is a new process. */
  readonly isWarm?: true
  /** True to look at allocations after the rounds. */
  readonly isAllocating?: true
}

type Series = Map<string, Array<Reading>>

const last = 3
/** A contender is warm when the last batches were not faster, by more than this, than the fastest before them. */
const isWarm = (readings: ReadonlyArray<Reading>): boolean => {
  const lowest = (some: ReadonlyArray<Reading>) => Math.min(...some.map((reading) => reading["CPU"] ?? 0))
  return readings.length >= 2 * last && lowest(readings.slice(-last)) > lowest(readings.slice(0, -last)) * 0.98
}

/** Each round begins with another contender, and every second round goes backwards. */
const order = <A>(all: ReadonlyArray<A>, round: number): ReadonlyArray<A> => {
  const turned = all.map((_, i) => all[(i + (round >> 1)) % all.length]!)
  return round % 2 === 0 ? turned : turned.toReversed()
}

const ratios = (own: ReadonlyArray<Reading>, other: ReadonlyArray<Reading>, metric: string): Spread =>
  spread(own.map((reading, round) => (reading[metric] ?? Number.NaN) / (other[round]?.[metric] ?? Number.NaN)))

const fewestRounds = 8

/** Steady figures are those whose median would hardly change with more rounds. */
const isSteady = (series: Series): boolean => {
  const [peer = [], ...others] = series.values()
  return peer.length >= fewestRounds && others.every((own) => {
    const { high, low, median } = ratios(own, peer, "CPU")
    return (high - low) / median / Math.sqrt(own.length) < 0.01
  })
}

/** The rows of one scenario. */
export const rowsOf = (
  { at, scenario, section }: { readonly section: string; readonly scenario: string; readonly at?: number | undefined },
  series: ReadonlyMap<string, ReadonlyArray<Reading>>
): ReadonlyArray<Row> => {
  const [first] = series
  if (first === undefined) return []
  const [to, peer] = first
  const again = series.get(`${to} again`)
  return Array.from(series).flatMap(([contender, own]) =>
    Object.keys(own[0] ?? {}).map((metric): Row => {
      const before = series.get(`${contender} before`)
      const isComparable = own !== peer && peer[0]?.[metric] !== undefined && again !== undefined
      const drift = again === undefined ? 0 : Math.abs(ratios(again, peer, metric).median - 1)
      return {
        section,
        scenario,
        contender,
        metric,
        unit: unitOf(metric),
        value: spread(own.map((reading) => reading[metric] ?? Number.NaN)),
        rounds: own.length,
        ...(isComparable ? { ratio: { to, ...ratios(own, peer, metric) } } : {}),
        ...(before === undefined ? {} : { before: ratios(own, before, metric) }),
        ...(drift > mostDrift ? { isConclusive: false } : {}),
        ...(at === undefined ? {} : { at })
      }
    })
  )
}

/** Measures all contenders in all scenarios until the figures are steady or the time is used up. */
export const compare = async <T extends Task>(bench: Bench, group: Group<T>): Promise<void> => {
  const { contenders, from, scenarios, seconds, section, share, title = section } = group
  const begun = performance.now()
  const used = () => (performance.now() - begun) / 1000 / seconds
  const plans = scenarios.map(({ takes = () => true, task, ...scenario }) => ({
    ...scenario,
    task,
    series: new Map(Array.from(contenders.keys()).filter(takes).map((name) => [name, new Array<Reading>()])) as Series
  }))
  const progress = (step: string) => bench.say(`${title}: ${step}`, from + share * Math.min(used(), 1))
  const turn = async (plan: typeof plans[number], round: number) => {
    for (const [name, readings] of order([...plan.series], round)) {
      readings.push(await contenders.get(name)!.ask(plan.task))
    }
  }
  for (const plan of plans) {
    progress("sizes of the batches")
    for (let k = 0; plan.batch !== undefined && k < 2; k++) {
      const { time = 1 } = await contenders.values().next().value!.ask(plan.task)
      plan.task = { ...plan.task, count: Math.max(1, Math.round(plan.batch * 1000 / time)) }
    }
  }
  for (
    let round = 0;
    round < (group.isWarm === true ? 0 : bench.rounds === undefined ? 20 : 1) && used() < 0.35;
    round++
  ) {
    const cold = plans.filter(({ series }) => !Array.from(series.values()).every(isWarm))
    progress(`warming up, ${cold.length} of ${plans.length} scenarios not warm`)
    for (const plan of cold) await turn(plan, round)
  }
  for (const { series } of plans) for (const readings of series.values()) readings.length = 0
  let open = plans
  for (let round = 0; open.length > 0; round++) {
    progress(`round ${round + 1}, ${open.length} of ${plans.length} scenarios`)
    for (const plan of open) await turn(plan, round)
    open = bench.rounds === undefined
      ? used() >= 1 ? [] : open.filter(({ series }) => !isSteady(series))
      : round + 1 < bench.rounds
      ? open
      : []
  }
  for (const { at, name: scenario, series, task } of plans) {
    bench.add(...rowsOf({ section, scenario, at }, series))
    if (group.isAllocating !== true) continue
    const allocated: Series = new Map(Array.from(series.keys(), (name) => [name, []]))
    for (let round = 0; round < 3; round++) {
      for (const [name, readings] of allocated) {
        const reading = await contenders.get(name)!.ask({ ...task, measure: "allocated" })
        if ("allocated" in reading) readings.push(reading)
      }
    }
    bench.add(...rowsOf({ section, scenario }, allocated))
  }
}

/** Starts contenders, does something with them, and ends them. */
export const withAll = async <T extends Task>(
  names: ReadonlyArray<string>,
  start: (name: string) => Promise<Child.Child<T, Reading>>,
  f: (contenders: ReadonlyMap<string, Child.Child<T, Reading>>) => Promise<void>
): Promise<void> => {
  using all = new DisposableStack()
  const contenders = await Promise.all(names.map(async (name) => [name, all.use(await start(name))] as const))
  await f(new Map(contenders))
}

/**
 * A long batch, some rounds in turns, each in a new process: its cost, and the most resident memory above that at the start.
 */
export const long = async <T extends Task>(
  bench: Bench,
  at: { readonly section: string; readonly scenario: string; readonly at?: number },
  names: ReadonlyArray<string>,
  start: (name: string) => Promise<Child.Child<T, Reading>>,
  warm: T,
  task: T,
  rounds: number
): Promise<void> => {
  const series: Series = new Map(names.map((name) => [name, []]))
  const all = Math.min(rounds, bench.rounds ?? rounds) * names.length
  for (let k = 0; k < all; k++) {
    const name = names[k % names.length]!
    bench.say(`${at.section}: ${at.scenario}, ${name}`, 0.5 + k / all / 2)
    await withAll<T>([name], start, async (contenders) => {
      const contender = contenders.get(name)!
      await contender.ask(warm)
      series.get(name)!.push(await contender.ask({ ...task, measure: "memory" }))
    })
  }
  bench.add(...rowsOf(at, series))
}

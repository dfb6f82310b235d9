/** The results of the proofs. */
import type { Growth } from "../../bench/src/Model.ts"

/** Something that has to hold, and how it was found to. */
export interface Claim {
  readonly claim: string
  readonly goal: string
  readonly measured: string
  readonly holds: boolean
}

/** Lines over time or over another figure. */
export interface Chart {
  readonly title: string
  readonly x: string
  readonly y: string
  readonly series: ReadonlyArray<{
    readonly name: string
    readonly points: ReadonlyArray<readonly [x: number, y: number]>
  }>
}

/** The results of one proof. */
export interface Outcome {
  readonly claims: ReadonlyArray<Claim>
  readonly charts?: ReadonlyArray<Chart>
  readonly growth?: ReadonlyArray<Growth>
}

/** The options of a run, which each proof gets. */
export interface Run {
  /** The part of the full counts and times that is run: 1 is everything. */
  readonly share: number
  readonly seed: number
  /** Shows a step, and the share of the proof that is done. */
  readonly say: (step: string, share: number) => void
}

/** A proof: its subject as a title, and how it is run. */
export interface Proof {
  readonly title: string
  /** The reason why this machine cannot run it. */
  readonly missing?: string
  readonly run: (run: Run) => Promise<Outcome>
}

/** A result, as `docs/proof/<name>.json` holds it. */
export interface Result extends Outcome {
  readonly date: string
  readonly commit: string
  readonly machine: string
  readonly node: string
  readonly share: number
  readonly seed: number
  readonly seconds: number
  /** The share of the machine's CPU time that other programs used; undefined where the system does not say. */
  readonly foreign?: number
}

const digits = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

/** JSON with a line for each point of a chart. */
export const toJson = (result: Result): string =>
  `${JSON.stringify(result, digits, 2).replaceAll(/\[\s+([-\d.e]+),\s+([-\d.e]+)\s+\]/g, "[$1, $2]")}\n`

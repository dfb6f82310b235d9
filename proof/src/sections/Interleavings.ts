/** Processes that share stores, in any order of their steps and of what may happen to them. */
import * as Limits from "../interleavings/Limits.ts"
import * as Parts from "../interleavings/Parts.ts"
import { type Outcome, run as runSchedule, type Subject } from "../interleavings/Schedule.ts"
import * as Spending from "../interleavings/Spending.ts"
import * as Streams from "../interleavings/Streams.ts"
import * as Threads from "../interleavings/Threads.ts"
import * as Tokens from "../interleavings/Tokens.ts"
import * as Webhooks from "../interleavings/Webhooks.ts"
import type { Claim, Proof, Run } from "../Model.ts"

const subjects: ReadonlyArray<Subject> = [
  Tokens.subject,
  Limits.subject,
  Spending.subject,
  Threads.subject,
  Webhooks.subject,
  Streams.subject,
  Parts.subject
]

const schedules = 10_000

const count = (number: number): string => number.toLocaleString("en")

const measuredOf = (subject: Subject, outcomes: ReadonlyArray<Outcome>): string => {
  const bad = outcomes.filter(({ broken }) => broken.length > 0)
  const faults = outcomes.reduce(
    (sum, { faults }) => sum + [...faults.values()].reduce((sum, each) => sum + each, 0),
    0
  )
  const losses = outcomes.filter(({ faults }) => faults.has("failover") || faults.has("snapshot"))
  const [noticed, unnoticed] = (["noticed", "unnoticed"] as const).map((kind) =>
    losses.filter(({ lost }) => lost === kind).length
  )
  const parts = [
    `${count(outcomes.length)} schedules with ${count(faults)} faults`,
    ...subject.loses === true && losses.length > 0
      ? [
        `of ${count(losses.length)} whose database lost writes, it cost something in ${
          count((noticed ?? 0) + (unnoticed ?? 0))
        } (noticed in ${count(noticed ?? 0)})`
      ]
      : []
  ]
  const [first] = bad
  return first === undefined
    ? `${parts.join("; ")}; none broke a rule`
    : `${parts.join("; ")}; ${count(bad.length)} broke a rule, the first with seed ${first.seed}: ${
      first.broken.join("; ").replaceAll(/\s+/g, " ").slice(0, 300)
    }`
}

const check = async (subject: Subject, { say, seed, share }: Run, done: number): Promise<Claim> => {
  const outcomes: Array<Outcome> = []
  const total = Math.max(10, Math.round(schedules * share))
  for (let index = 0; index < total; index++) {
    if (index % 20 === 0) say(`${subject.name}, schedule ${count(index)}`, (done + index / total) / subjects.length)
    outcomes.push(await runSchedule(subject, seed * 1_000_000 + index))
  }
  return {
    claim: subject.name,
    goal: subject.holds,
    measured: measuredOf(subject, outcomes),
    holds: outcomes.every(({ broken }) => broken.length === 0)
  }
}

export const proof: Proof = {
  title: "Interleavings of processes that share stores",
  run: async (run) => {
    const claims: Array<Claim> = []
    for (const [done, subject] of subjects.entries()) claims.push(await check(subject, run, done))
    return { claims }
  }
}

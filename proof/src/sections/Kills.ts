/** Commands that are killed at each of their file operations and at random, and whose files fail. */
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { make as random } from "../../../packages/sandbox/src/text/random.ts"
import { type Ended, type Fault, type How, hows, make, missing, type Program } from "../kills/Faults.ts"
import type { Scene } from "../kills/Scene.ts"
import { scenesOf, variablesOf } from "../kills/Scenes.ts"
import type { Claim, Proof, Run } from "../Model.ts"

const wantedKills = 1_000

interface Tally {
  operations: number
  kills: number
  failures: number
  readonly violations: Array<string>
}

/** The faults of one run after another. A last run without a fault follows. */
type Chain = ReadonlyArray<Fault>

const describe = (chain: Chain): string =>
  chain.map((fault) => "at" in fault ? `${fault.how} ${fault.at}` : `after ${Math.round(fault.millis)} ms`).join(", ")

interface Stage {
  readonly program: Program
  readonly folder: string
  readonly sandbox: Sandbox.RunningSandbox
}

/** Runs a scene in a new folder; returns its final state, or what was violated. */
const attempt = async ({ folder, program, sandbox }: Stage, scene: Scene, chain: Chain, tally?: Tally) => {
  const root = join(folder, "run")
  rmSync(root, { recursive: true, force: true })
  mkdirSync(root)
  const { args, between, decide, end, env, state, use } = await scene.begin(root)
  const variables = { ...variablesOf(sandbox, root), ...env }
  const run = (fault?: Fault, line = args) => {
    sandbox.budget.clear()
    return program.run(root, line, variables, { fault, use })
  }
  try {
    let last: Ended = { end: "failed", output: "", errors: "" }
    for (const fault of chain) {
      last = await run(fault)
      if (tally !== undefined && last.end === "killed") tally.kills++
      else if (tally !== undefined && "at" in fault && (fault.how === "full" || fault.how === "io")) tally.failures++
      const violated = between?.()
      if (violated !== undefined) return { violated }
      if (last.end === "done") break
    }
    if (last.end !== "done" || use !== undefined) last = await run()
    const decided = last.end === "done" ? undefined : decide?.(last.errors)
    if (decided !== undefined) last = await run(undefined, decided)
    return last.end === "done"
      ? { state: await state(last.output) }
      // The page of results names no folder of a machine.
      : { violated: `it cannot be continued: ${last.errors.replaceAll(root, "").slice(-300)}` }
  } catch (error) {
    return { violated: String(error) }
  } finally {
    end?.()
  }
}

/** Every fault at every operation, and chains of kills at random times. */
function* chainsOf(
  operations: string,
  millis: number,
  tally: Tally,
  { seed, share }: Run,
  without: ReadonlyArray<How>
): Generator<Chain> {
  const draw = random(seed, "kills")
  for (let at = 1; at <= operations.length; at++) {
    for (const how of hows) {
      if (without.includes(how)) continue
      if ((how === "torn" || how === "full") && operations[at - 1] !== "w") continue
      if (draw.next() < share) yield [{ at, how }]
    }
  }
  while (tally.kills < wantedKills * share && tally.violations.length < 20) {
    yield Array.from({ length: 8 }, () => ({ millis: millis * (0.3 + 0.7 * draw.next()) }))
  }
}

const proveScene = async (stage: Stage, name: string, scene: Scene, run: Run): Promise<Claim> => {
  const tally: Tally = { operations: 0, kills: 0, failures: 0, violations: [] }
  await attempt(stage, scene, [])
  const begun = performance.now()
  const whole = await attempt(stage, scene, [])
  const millis = performance.now() - begun
  if (whole.violated !== undefined) throw new Error(`${name}: ${whole.violated}`)
  const operations = stage.program.operations()
  tally.operations = operations.length
  for (const chain of chainsOf(operations, millis, tally, run, scene.without ?? [])) {
    const { state, violated } = await attempt(stage, scene, chain, tally)
    if (violated !== undefined) tally.violations.push(`${describe(chain)}: ${violated}`)
    else if (!isDeepStrictEqual(state, whole.state)) tally.violations.push(`${describe(chain)}: the result is another`)
    run.say(
      `${name}: ${tally.kills} kills, ${tally.violations.length} violations`,
      tally.kills / wantedKills / run.share
    )
  }
  const { failures, kills, violations } = tally
  const found = violations.length === 0 ? "" : ` (${violations.slice(0, 2).join("; ").replaceAll(/[\n|]+/g, " ")})`
  return {
    claim: `${name}: ${scene.invariant}`,
    goal: `${Math.round(wantedKills * run.share).toLocaleString("en")} of ${
      wantedKills.toLocaleString("en")
    } kills, 0 violations`,
    measured: `${tally.operations} file operations; ${
      kills.toLocaleString("en")
    } kills, ${failures} failures of the disk: ${violations.length} violations${found}`,
    holds: kills >= Math.floor(wantedKills * run.share) && violations.length === 0
  }
}

export const proof: Proof = {
  title: "Kills and failing disks",
  ...missing === undefined ? {} : { missing },
  run: async (run) => {
    const folder = mkdtempSync(join(tmpdir(), "postwire-kills-"))
    await using sandbox = await Sandbox.start({ posts: 300, seed: run.seed })
    try {
      const stage = { folder, sandbox, program: await make(folder) }
      const claims: Array<Claim> = []
      const scenes = Object.entries(scenesOf(sandbox))
      // Of the smallest shares, some commands are enough.
      const first = random(run.seed, "scenes").below(scenes.length)
      const count = Math.min(scenes.length, Math.ceil(scenes.length * run.share * 100))
      for (let i = 0; i < count; i++) {
        const [name, scene] = scenes[(first + i) % scenes.length]!
        claims.push(await proveScene(stage, name, scene, run))
      }
      return { claims }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

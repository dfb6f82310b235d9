/** Runs the proofs that take time and load; `--help` says how. */
import { mkdirSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as Checkout from "../../bench/src/Checkout.ts"
import * as Machine from "../../bench/src/Machine.ts"
import * as Progress from "../../bench/src/Progress.ts"
import { type Result, toJson } from "./Model.ts"
import { proofs } from "./Proofs.ts"

const names = Object.keys(proofs)

const help = `pnpm proof [name...] [--share F] [--seed N] [--save]

  name       ${names.join(", ")}
             (without any: all, which takes a day)
  --share    the part of the counts and times to run; 0.01 is a first look
  --seed     draws other cases; the seed of a failure repeats it
  --save     writes docs/proof/<name>.json, from which the page is drawn`

/** Ends the run before it begins. */
const refuse = (message: string): never => {
  console.error(message)
  process.exit(1)
}

const positive = (name: string, value: string): number => {
  const number = Number(value)
  if (number > 0 && Number.isFinite(number)) return number
  return refuse(`--${name} must be a number above 0.`)
}

const runOne = async (name: string, share: number, seed: number): Promise<Result> => {
  const { proof } = await proofs[name]!()
  const [begun, machine] = [performance.now(), Machine.usage()]
  const outcome = await proof.run({ share, seed, say: (step, done) => Progress.show(`${name}: ${step}`, done) })
  Progress.clear()
  const foreign = Machine.foreign(machine, Machine.usage())
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: Checkout.nameOf(Checkout.own),
    machine: `${cpus().length} x ${cpus()[0]?.model ?? "unknown"}`,
    node: process.versions.node,
    share,
    seed,
    seconds: Math.round((performance.now() - begun) / 1000),
    ...(foreign === undefined ? {} : { foreign }),
    ...outcome
  }
}

const main = async (): Promise<void> => {
  const { positionals, values } = parseArgs({
    args: process.argv.slice(2).filter((argument) => argument !== "--"),
    allowPositionals: true,
    options: {
      share: { type: "string", default: "1" },
      seed: { type: "string", default: "1" },
      save: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false }
    }
  })
  if (values.help) return console.log(help)
  const unknown = positionals.find((name) => !names.includes(name))
  if (unknown !== undefined) refuse(`There is no proof ${unknown}; there are ${names.join(", ")}.`)
  const [share, seed] = [positive("share", values.share), positive("seed", values.seed)]
  for (const name of positionals.length === 0 ? names : positionals) {
    const result = await runOne(name, share, seed)
    for (const { claim, goal, holds, measured } of result.claims) {
      console.log(`${holds ? "holds" : "FAILS"}  ${name}: ${claim}: ${measured} (${goal})`)
      if (!holds) process.exitCode = 1
    }
    if (values.save) {
      const folder = join(Checkout.own, "docs/proof")
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, `${name}.json`), toJson(result))
    }
  }
}

await main().catch((error: unknown) => {
  Progress.clear()
  console.error(error instanceof Error ? error.stack : error)
  process.exitCode = 1
})

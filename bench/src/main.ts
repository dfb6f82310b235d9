/** Measures Postwire beside bare Undici, the clients that people use today, and an earlier commit; `--help` says how. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { cpus, tmpdir } from "node:os"
import { join } from "node:path"
import * as Checkout from "./Checkout.ts"
import * as Machine from "./Machine.ts"
import { type Growth, type Row, type Run, type Section, toJson } from "./Model.ts"
import * as Options from "./Options.ts"
import * as Progress from "./Progress.ts"
import * as Report from "./Report.ts"
import { sections } from "./Sections.ts"

const versions = (): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ["Node", process.versions.node],
    ...["effect", "undici", "twitter-api-v2", "@xdevplatform/xdk"].map((name) => {
      const { version } = JSON.parse(readFileSync(findPackageJSON(name, import.meta.url)!, "utf8"))
      return [name, version]
    })
  ])

/** The part of a section's rows that was furthest from its peer: the second process of the same. */
const driftOf = (rows: ReadonlyArray<Row>): number | undefined =>
  rows
    .filter(({ contender, metric, ratio }) =>
      ratio !== undefined && metric === "CPU" && contender === `${ratio.to} again`
    )
    .map(({ ratio }) => ratio!.median)
    .toSorted((a, b) => Math.abs(b - 1) - Math.abs(a - 1))[0]

const main = async (): Promise<void> => {
  const known = sections.map(({ name }) => name)
  const options = Options.parse(process.argv.slice(2), known)
  if (options === "help") return console.log(Options.help(known))
  const { against, full, json, sections: named } = options
  const chosen = sections.filter(({ isExtra, name }) =>
    named.length === 0 ? full || isExtra !== true : named.includes(name)
  )
  if (against !== undefined) Progress.show(`making a worktree of ${against}`, 0)
  const before = against === undefined ? undefined : Checkout.of(against)
  const secondsOf = (section: typeof chosen[number]) => full ? section.fullSeconds : section.seconds
  const all = chosen.reduce((sum, section) => sum + secondsOf(section), 0)
  const rows: Array<Row> = []
  const growth: Array<Growth> = []
  const measured: Array<Section> = []
  let done = 0
  for (const section of chosen) {
    const [first, begun, seconds] = [rows.length, performance.now(), secondsOf(section)]
    const machine = Machine.usage()
    const place = mkdtempSync(join(tmpdir(), "postwire-bench-"))
    const say = (step: string, share: number) => Progress.show(step, (done + seconds * share) / all)
    say(section.name, 0)
    try {
      await section.run({
        ...options,
        before,
        place,
        add: (...more) => void rows.push(...more),
        grow: (...more) => void growth.push(...more),
        say
      }, seconds)
    } catch (error) {
      // The others are worth their figures.
      Progress.clear()
      console.error(`${section.name}: ${error instanceof Error ? error.stack : error}`)
      process.exitCode = 1
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
    done += seconds
    const [foreign, drift] = [Machine.foreign(machine, Machine.usage()), driftOf(rows.slice(first))]
    measured.push({
      name: section.name,
      seconds: (performance.now() - begun) / 1000,
      ...(foreign === undefined ? {} : { foreign }),
      ...(drift === undefined ? {} : { drift })
    })
  }
  Progress.clear()
  const run: Run = {
    environment: {
      date: new Date().toISOString().slice(0, 10),
      commit: Checkout.nameOf(Checkout.own),
      ...(before === undefined ? {} : { against: Checkout.nameOf(before.folder) }),
      machine: `${cpus().length} x ${cpus()[0]?.model ?? "unknown"}`,
      versions: versions()
    },
    sections: measured,
    rows,
    growth
  }
  console.log(Report.format(run))
  if (json !== undefined) writeFileSync(json, toJson(run))
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})

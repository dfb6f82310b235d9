/** `postwire status`: shows every export and every sync of a cluster, their progress and the workers. */
import type { Status as SyncStatus } from "@postwire/cluster/Syncs"
import type { ExportStatus, Overview, PartStatus } from "@postwire/cluster/Tables"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Cluster from "../exporting/Cluster.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

export interface View extends Overview {
  /** Milliseconds, by the clock of the database. */
  readonly now: number
  /** True if there are workers: a database in a file has none besides its own command. */
  readonly isShared: boolean
  readonly workers: ReadonlyArray<string>
  readonly syncs: ReadonlyArray<SyncStatus>
}

export const command = Command.make(
  "status",
  {
    cluster: Cluster.flag,
    id: Args.text("export", "Only this export, with all its parts", "ID"),
    json: Report.json
  },
  Effect.fnUntraced(function*({ cluster, id, json }) {
    const Engine = yield* Effect.promise(() => import("@postwire/cluster/Engine"))
    const { Tables } = yield* Effect.promise(() => import("@postwire/cluster/Tables"))
    const Syncs = yield* Effect.promise(() => import("@postwire/cluster/Syncs"))
    const Worker = yield* Effect.promise(() => import("@postwire/cluster/Worker"))
    const database = yield* Cluster.existing(cluster)
    const view = yield* Effect.gen(function*() {
      const tables = yield* Tables
      return {
        now: yield* tables.now,
        isShared: database._tag !== "Sqlite",
        workers: database._tag === "Sqlite" ? [] : yield* Engine.workers,
        ...yield* tables.overview(Option.getOrUndefined(id)),
        syncs: Option.isSome(id) ? [] : yield* Syncs.status
      }
    }).pipe(Effect.provide(Worker.layerWatch(database)))
    if (Option.isSome(id) && view.exports.length + view.unreadable.length === 0) {
      return yield* ErrorReport.refuse(`There is no export ${id.value}`, "postwire status lists all.")
    }
    yield* Report.print(json, plainOf(view), () => linesOf(view, Option.isSome(id)))
  })
).pipe(Args.help("Show the exports and syncs of a cluster: progress, workers, failures.", lines.status))

const timeOf = (millis: number): string => new Date(millis).toISOString()

/** The view as JSON, with times in ISO 8601. */
export const plainOf = ({ exports, isShared, now, syncs, unreadable, workers }: View) => ({
  now: timeOf(now),
  isShared,
  workers,
  exports: exports.map(({ created, parts, updated, ...all }) => ({
    ...all,
    created: timeOf(created),
    updated: timeOf(updated),
    parts: parts.map((part) => ({ ...part, updated: timeOf(part.updated) }))
  })),
  unreadable,
  syncs: syncs.map(({ due, ...sync }) => ({ ...sync, due: due === null ? null : timeOf(due) }))
})

/** Lines of at most 80 columns. Completed exports show parts only if they were named. */
export const linesOf = (view: View, isOne: boolean): ReadonlyArray<string> => [
  ...view.workers.length === 0
    ? []
    : Text.wrap(`${Text.quantity(view.workers.length, "workers")}: ${view.workers.join(", ")}`, 80, 2),
  ...view.exports.length + view.unreadable.length === 0
    ? ["There are no exports."]
    : [row(["EXPORT", "OPERATION", "STATE", "PARTS", "PAGES", "ITEMS", "LAST"])],
  ...view.exports.flatMap((all) => [
    row([
      all.id,
      all.query.operation,
      all.state,
      `${all.parts.filter(({ state }) => state === "done").length}/${all.parts.length || all.wanted}`,
      Text.count(all.pages),
      Text.count(all.items),
      ago(view.now - all.updated)
    ]),
    ...askedTold(all.query, isOne),
    ...indented(waitedFor(all, view), 2),
    ...indented(all.problem, 2),
    ...isOne || (all.state !== "done" && all.parts.length > 1)
      ? all.parts.flatMap((part) => partTold(part, view.now))
      : all.parts.flatMap(({ problem }) => indented(problem, 2))
  ]),
  ...view.unreadable.flatMap(({ export: id, part, reason }) => [
    row([id, part === undefined ? "" : `part ${part}`, "damaged"]),
    ...indented(`Its row in the database cannot be read: ${Text.oneLine(reason)}`, 2)
  ]),
  ...view.syncs.length === 0 ? [] : [row(["SYNC", "WORKER", "STATE", "", "", "", "NEXT"])],
  ...view.syncs.flatMap(({ due, name, problem, state, worker }) => [
    row([name, worker ?? "", state, "", "", "", due === null ? "" : ago(due - view.now)]),
    ...indented(problem ?? undefined, 2)
  ])
]

/** The flags of the query, shortened if there are many exports. */
const askedTold = (
  { credentials, label, parameters }: ExportStatus["query"],
  isOne: boolean
): ReadonlyArray<string> => {
  const flags = Object.entries({
    ...parameters,
    ...label === "" ? {} : { label },
    ...credentials === "default" ? {} : { credentials }
  }).map(([name, value]) => `--${name.replaceAll("_", "-")} ${quoted(Text.oneLine(String(value)))}`)
  const lines = indented(flags.join(" "), 2)
  return isOne || lines.length <= manyLines ? lines : [...lines.slice(0, manyLines - 1), "    ..."]
}

const manyLines = 3

/** Quotes an argument for a shell. */
const quoted = (text: string): string => /^[\w.,:@/+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** An export without news for longer shows a reason, in milliseconds. */
const patience = 60_000

/** The reason why an export does not advance, if it is visible here. */
const waitedFor = (
  { parts, problem, state, updated }: ExportStatus,
  { isShared, now, workers }: View
): string | undefined => {
  if (state === "done" || state === "failed" || problem !== undefined) return undefined
  if (isShared && workers.length === 0) {
    return "It waits for a worker: run postwire worker on any machine with access to the database."
  }
  if (now - updated < patience || parts.some(({ problem }) => problem !== undefined)) return undefined
  return isShared
    ? `No progress for ${ago(now - updated)}: the rate limit may be exhausted; workers say on their standard error ` +
      "what they wait for."
    : `No progress for ${ago(now - updated)}: unless its command is running, run it again.`
}

const partTold = (part: PartStatus, now: number): ReadonlyArray<string> => [
  row([
    `  part ${part.part}`,
    part.worker ?? "",
    part.state,
    part.errors === 0 ? "" : `${part.errors} err`,
    Text.count(part.pages),
    Text.count(part.items),
    ago(now - part.updated)
  ]),
  ...indented(part.problem, 4)
]

const indented = (text: string | undefined, indent: number): ReadonlyArray<string> =>
  text === undefined || text === "" ? [] : Text.wrap(text, 80 - indent, 2).map((line) => " ".repeat(indent) + line)

const widths = [16, 22, 8, 7, 6, 10, 5]

/** Aligns numbers to the right, and names to the left. */
const row = (cells: ReadonlyArray<string>): string =>
  cells.map((cell, i) => i < 3 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)).join(" ")
    .trimEnd()

/** A duration in its largest unit. */
const ago = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1000))
  return seconds < 120
    ? `${seconds} s`
    : seconds < 7_200
    ? `${Math.floor(seconds / 60)} m`
    : seconds < 172_800
    ? `${Math.floor(seconds / 3_600)} h`
    : `${Math.floor(seconds / 86_400)} d`
}

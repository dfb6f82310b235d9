/** The file of a sync, and its copy. */
import * as Copy from "@postwire/archive/copy/Copy"
import type * as Media from "@postwire/archive/media/Media"
import * as SyncFile from "@postwire/archive/sources/SyncFile"
import * as Database from "@postwire/cluster/Database"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { existsSync } from "node:fs"
import { basename, dirname, resolve } from "node:path"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as TextFile from "../terminal/TextFile.ts"

/** The name of the file unless another is given. */
export const defaultName = "postwire.sync.json"

export const file = Flag.String("file").pipe(
  Flag.withMetavar("FILE"),
  Args.withDefault("The file that says what to sync", defaultName)
)

/** Reads the file of a sync. */
export const read = Effect.fnUntraced(function*(path: string) {
  if (!existsSync(path)) {
    return yield* ErrorReport.refuse(`There is no ${Text.oneLine(path)}`, "Make one with: postwire sync init")
  }
  const parsed = SyncFile.parse(yield* TextFile.read(path, "the file of a sync"))
  if (!("sources" in parsed)) {
    return yield* ErrorReport.refuse(
      `${Text.oneLine(path)}: ${parsed.map(Text.oneLine).join("; ")}`,
      "Correct it, then run the same command again. postwire sync schema prints its JSON Schema."
    )
  }
  return parsed
})

/** The copy that a file names. A failure to open it names it, too. */
export const layer = (path: string, { target }: Pick<SyncFile.SyncFile, "target">) => {
  const name = isAddress(target) ? shown(target) : resolve(dirname(path), target)
  return (isAddress(target) ? Layer.provideMerge(Copy.layer(name), postgres(target)) : Copy.layerSqlite(name)).pipe(
    Layer.tapError(() => Report.say(`The copy is ${Text.oneLine(name)}.`))
  )
}

/** The settings of media, if a file or a flag wants them. A copy in PostgreSQL has them beside the file. */
export const mediaOf = (
  path: string,
  { media = false, target }: Pick<SyncFile.SyncFile, "media" | "target">,
  isWanted: boolean
): Media.Options | undefined => {
  if (media === false && !isWanted) return undefined
  const { folder = isAddress(target) ? `${basename(path)}.media` : undefined, hosts } = typeof media === "boolean"
    ? {}
    : media
  return { hosts, folder: folder === undefined ? undefined : resolve(dirname(path), folder) }
}

const isAddress = (target: string): boolean => /^postgres(ql)?:\/\//.test(target)

const postgres = (target: string) => Database.layerPostgres({ url: Redacted.make(target) })

/** An address without its user and its parameters, since either may contain a password. */
const shown = (target: string): string => {
  const { host, pathname } = new URL(target)
  return `${host}${pathname}`
}

/** The flags of commands that read a copy. */
export const flags = {
  file,
  db: Args.text("db", "The copy, if no file names it: an SQLite file, or the address of a PostgreSQL database", "COPY")
}

/** The name of a copy, and the copy, which is only read. */
export const reader = Effect.fnUntraced(function*({ db, file }: Command.Command.Config.Infer<typeof flags>) {
  const target = Option.getOrElse(db, () => undefined) ?? (yield* read(file)).target
  if (isAddress(target)) {
    if (!URL.canParse(target)) {
      return yield* ErrorReport.refuse("--db is not the address of a database", "Write postgres://user@host/database")
    }
    if (Option.isSome(db) && Database.hasPassword(Redacted.make(target))) {
      yield* Report.say(
        "Every user of this machine can read the password in the command line.",
        "Make it the target of a sync file that only you can read, and name that with --file."
      )
    }
    return { name: shown(target), layer: Layer.provideMerge(Copy.layerReader(shown(target)), postgres(target)) }
  }
  const path = Option.isSome(db) ? target : resolve(dirname(file), target)
  return existsSync(path)
    ? { name: path, layer: Copy.layerSqliteReader(path) }
    : yield* ErrorReport.refuse(`There is no copy ${Text.oneLine(path)} yet`, "Make it with: postwire sync")
})

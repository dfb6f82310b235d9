/**
 * The state of an export in its folder:
 *
 * - `work/`: an export that is not complete; `result.json` in it once only moving the files is left
 * - `moved/`: a `work` whose files were all moved
 * - `manifest.json` and the included objects, errors and outcomes: of the last complete export
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as fs from "node:fs/promises"
import { basename, join, parse } from "node:path"
import * as disk from "../files/Disk.ts"
import { CheckpointUnusable, type ExportError, FileExists } from "../files/ExportErrors.ts"
import * as sealed from "../files/Sealed.ts"
import * as folders from "./Folder.ts"
import * as Manifest from "./Manifest.ts"
import type { Mode, Output } from "./Sink.ts"

const namesOf = (out: string) => {
  const folder = folders.folderOf(out)
  return { folder, manifest: join(folder, "manifest.json"), work: join(folder, "work"), moved: join(folder, "moved") }
}

/** The folder of an export that is not complete. */
export const workOf = (out: string): string => namesOf(out).work

/** The path of a file of a complete export. */
const placeOf = (out: string, { holds, name }: { readonly holds: string; readonly name: string }): string =>
  holds === "items" ? out : join(folders.folderOf(out), basename(name))

/** The name of a complete file, relative to the folder of the items. */
export const nameOf = (out: string, { holds, path }: Pick<Output, "holds" | "path">): string =>
  holds === "items" ? basename(out) : `${basename(folders.folderOf(out))}/${basename(path)}`

const about =
  `It is named after the file that the export writes. Until the export is complete, work/ has what was fetched. Then manifest.json
has the query, the result, and the SHA-256 of every file.

Keep nothing else here. Without this folder an unfinished export starts over.
`

/**
 * Takes the folder of an export until the scope ends. Returns the manifest of a complete export, or `undefined` for one to
 * continue, which may have no pages yet. Refuses before it changes anything.
 */
export const open = Effect.fnUntraced(function*(
  out: string,
  mode: Mode
): Effect.fn.Return<Manifest.Manifest | undefined, ExportError, Scope.Scope> {
  yield* folders.hold(out, {
    about,
    before: Effect.gen(function*() {
      const found = yield* folders.lookAt(out)
      if (mode === "resume") yield* refuseFormer(out)
      if (found !== undefined && mode !== "force") return yield* new FileExists({ path: out })
    })
  })
  return yield* settle(out, mode)
})

/** Refuses to continue an unfinished export of an earlier version. */
const refuseFormer = Effect.fnUntraced(function*(out: string) {
  const { base, dir } = parse(out)
  const dot = base.indexOf(".", 1)
  const path = join(dir, `${dot === -1 ? base : base.slice(0, dot)}.checkpoint.json`)
  const isFormer = yield* Effect.map(
    Effect.orElseSucceed(disk.read(path), () => undefined),
    (text) => text !== undefined && /^\{\s*"version": 1,\s*"fingerprint": \{/.test(text)
  )
  if (!isFormer) return
  return yield* new CheckpointUnusable({
    path,
    reason: "an earlier version wrote it, which kept its files beside the result: finish it with that version"
  })
})

/** Finds or creates the state; the caller holds the lock. */
const settle = Effect.fnUntraced(function*(
  out: string,
  mode: Mode
): Effect.fn.Return<Manifest.Manifest | undefined, ExportError> {
  const names = namesOf(out)
  if (yield* disk.exists(names.moved)) yield* clear(out)
  const exists = (path: string) => new FileExists({ path })
  if (mode === "resume" && (yield* disk.exists(resultOf(names.work)))) {
    yield* move(out)
    return yield* complete(out)
  }
  const found = yield* folders.lookAt(out)
  if (mode === "force") yield* disk.remove(names.work)
  if (yield* disk.exists(names.work)) {
    if (mode === "new") return yield* exists(names.folder)
    if (found !== undefined && !(yield* disk.exists(replacing(names.work)))) return yield* exists(out)
    return undefined
  }
  if (mode === "resume" && (yield* disk.exists(names.manifest))) return yield* complete(out)
  if (found !== undefined && mode !== "force") return yield* exists(out)
  if (mode === "new" && (yield* disk.exists(names.manifest))) return yield* exists(names.folder)
  yield* disk.attempt(names.work, async () => {
    await fs.mkdir(names.work)
    if (found !== undefined) await fs.writeFile(replacing(names.work), "")
    await disk.syncFolder(names.work)
  })
  return undefined
})

const Result = Schema.Struct({
  /** The file of the items, in `work`. */
  items: disk.Name,
  manifest: Manifest.Manifest
})

const results = sealed.file(Result)

const resultOf = (work: string): string => join(work, "result.json")

/** Exists if the export may replace the output file. */
const replacing = (work: string): string => join(work, "replacing")

/** The manifest of a complete export; refused if a file is missing or was changed. */
const complete = Effect.fnUntraced(function*(out: string): Effect.fn.Return<Manifest.Manifest, ExportError> {
  const path = namesOf(out).manifest
  const manifest = yield* Manifest.read(path)
  const changed = (reason: string) => new CheckpointUnusable({ path, reason })
  if (manifest === undefined) return yield* changed("it is gone")
  for (const file of manifest.files) {
    const place = placeOf(out, file)
    if (!(yield* disk.exists(place))) return yield* changed(`${place} is gone`)
    const { sha256 } = yield* disk.digest(place)
    if (sha256 !== file.sha256) return yield* changed(`${place} was changed since`)
  }
  return manifest
})

/** Moves the files of a complete export to their places. If it is interrupted, the next run continues it. */
export const publish = Effect.fnUntraced(function*(out: string, items: string, manifest: Manifest.Manifest) {
  yield* results.write(resultOf(workOf(out)), { items: basename(items), manifest })
  yield* move(out)
})

const move = Effect.fnUntraced(function*(out: string) {
  const names = namesOf(out)
  const path = resultOf(names.work)
  const result = yield* results.read(path)
  if (result === undefined) return yield* sealed.edited(path)
  yield* folders.lookAt(out)
  const isReplacing = yield* disk.exists(replacing(names.work))
  for (const file of result.manifest.files) {
    const isItems = file.holds === "items"
    const from = join(names.work, isItems ? result.items : basename(file.name))
    if (yield* disk.exists(from)) yield* place(from, placeOf(out, file), !isItems || isReplacing)
  }
  yield* disk.attempt(out, async () => {
    await fs.rename(names.work, names.moved)
    await disk.syncFolder(names.work)
  })
  yield* clear(out)
})

const place = (from: string, to: string, mayReplace: boolean): Effect.Effect<void, ExportError> =>
  Effect.mapError(
    disk.attempt(to, () => disk.place(from, to, mayReplace)),
    (error) => error._tag === "FileExists" ? new FileExists({ path: to, isComplete: true }) : error
  )

/** Writes the manifest of the moved files, and removes the files of the export before. */
const clear = Effect.fnUntraced(function*(out: string) {
  const names = namesOf(out)
  const result = yield* Effect.catchTag(
    results.read(resultOf(names.moved)),
    "CheckpointUnusable",
    () => Effect.undefined
  )
  if (result !== undefined) {
    const before = yield* Effect.orElseSucceed(Manifest.read(names.manifest), () => undefined)
    yield* Manifest.write(names.manifest, result.manifest)
    const kept = new Set(result.manifest.files.map((file) => placeOf(out, file)))
    for (const file of before?.files ?? []) {
      if (!kept.has(placeOf(out, file))) yield* disk.remove(placeOf(out, file))
    }
  }
  yield* disk.remove(names.moved)
})

/** Records why an export is not complete. */
export const leave = (out: string, manifest: Manifest.Manifest): Effect.Effect<void, ExportError> =>
  Manifest.write(join(workOf(out), "manifest.json"), manifest)

/** Undoes `open`, for an export that ended before its first page. */
export const abandon = Effect.fnUntraced(function*(out: string) {
  yield* disk.remove(workOf(out))
  yield* folders.abandon(out)
})

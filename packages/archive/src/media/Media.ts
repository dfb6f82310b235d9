/**
 * The files of photos, videos and GIFs of a copy, in a folder beside it. A file has the name of its content and is fetched once; an
 * unfinished one is continued by the next run.
 *
 * ```ts
 * const { files, problems } = yield* Media.run({})
 * ```
 */
import * as Disk from "@postwire/export/files/Disk"
import type { ExportError } from "@postwire/export/files/ExportErrors"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type { HttpClient } from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import * as fs from "node:fs/promises"
import { join, resolve } from "node:path"
import * as Copy from "../copy/Copy.ts"
import { CopyUnusable, type SyncRunning } from "../copy/CopyErrors.ts"
import * as layout from "../copy/Layout.ts"
import { type Bounds, download, type File, final, keep, maxAttempts, type NotFetched, write } from "./Download.ts"
import { best } from "./Variant.ts"

/** The hosts from which the service serves media. */
export const serviceHosts = ["pbs.twimg.com", "video.twimg.com"] as const

/** Settings of a run. */
export interface Options {
  /** The hosts from which files may come, with the port unless it is that of https. Default: those of the service. */
  readonly hosts?: ReadonlyArray<string> | undefined
  /** The largest file. Default: 4 GiB. */
  readonly maxBytes?: number | undefined
  /** The longest time for a file, which the next run continues. Default: 15 minutes. */
  readonly timeLimit?: Duration.Input | undefined
  /** The folder of the files. The copy remembers it. Default: beside the SQLite file, `<file>.media`. */
  readonly folder?: string | undefined
  /** When it completes, the run ends as `interrupted`. */
  readonly stop?: Effect.Effect<unknown> | undefined
  /** Called after every file. */
  readonly onFile?: ((summary: Summary) => Effect.Effect<void>) | undefined
}

/** The result of a run. */
export interface Summary {
  readonly status: "done" | "interrupted"
  readonly files: number
  readonly bytes: number
  /** The reasons for which files were not fetched, with the number of files. */
  readonly problems: Readonly<Record<string, number>>
}

export type MediaError = ExportError | SqlError | SyncRunning | CopyUnusable

const defaultMaxBytes = 4 * 1024 ** 3

/** The files that are fetched at the same time. */
const concurrency = 4

/** Fetches the files that the copy does not have. Another run into the same copy is refused meanwhile. */
export const run = (options: Options): Effect.Effect<Summary, MediaError, Copy.Current> =>
  Effect.scoped(running(options)).pipe(
    Effect.provide(FetchHttpClient.layer),
    // Each address is checked before it is requested, also after redirects.
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual", credentials: "omit" })
  )

const running = Effect.fnUntraced(function*(
  {
    folder: given,
    hosts = serviceHosts,
    maxBytes = defaultMaxBytes,
    onFile = () => Effect.void,
    stop = Effect.never,
    timeLimit = "15 minutes"
  }: Options
): Effect.fn.Return<Summary, MediaError, Copy.Current | HttpClient | Scope.Scope> {
  const copy = yield* Copy.hold(yield* Copy.Current)
  const folder = yield* makeFolder(copy, given)
  const problems: Record<string, number> = {}
  let totals = { files: 0, bytes: 0, problems }
  const all = Stream.paginate(
    "",
    (after) =>
      Effect.map(missing(copy, after), (rows) => [rows, Option.fromUndefinedOr(rows.at(-1)?.media_key)] as const)
  ).pipe(
    Stream.mapEffect(
      (row) =>
        fetchFile(copy, folder, row, { hosts, maxBytes, timeLimit }).pipe(
          Effect.map((bytes) => {
            totals = { ...totals, files: totals.files + 1, bytes: totals.bytes + bytes }
          }),
          Effect.catchTag("NotFetched", ({ reason }) =>
            Effect.sync(() => {
              problems[reason] = (problems[reason] ?? 0) + 1
            })),
          Effect.andThen(Effect.suspend(() => onFile({ status: "done", ...totals })))
        ),
      { concurrency, unordered: true }
    ),
    Stream.runDrain,
    Effect.as("done" as const)
  )
  const status = yield* Effect.raceFirst(all, Effect.as(stop, "interrupted" as const))
  return { status, ...totals }
})

/** A medium without its file. */
interface Row {
  readonly media_key: string
  readonly type: string | null
  readonly url: string | null
  readonly variants: string | null
  readonly validator: string | null
  /** The file of an archive. */
  readonly former: string | null
}

/** A condition: a post or message that is left refers to a medium. */
const isReferred = (key: string): string =>
  `EXISTS (SELECT 1 FROM edges e WHERE e.kind = 'media' AND e.to_id = ${key} AND e.gone_at IS NULL)`

const rowsOfQuery = 500

/** The next media that have no file, in the order of their keys. */
const missing = ({ dialect, sql }: Copy.Copy, after: string): Effect.Effect<ReadonlyArray<Row>, SqlError> =>
  sql.unsafe<Row & { readonly [column: string]: string | null }>(
    `SELECT m.media_key, m.type, m.url, m.variants, f.validator, f.file AS former FROM media m
      LEFT JOIN media_files f ON f.media_key = m.media_key
      WHERE m.media_key > ${
      layout.parameters(dialect, 1)
    } AND f.fetched_at IS NULL AND coalesce(f.attempts, 0) < ${maxAttempts}
        AND (m.url IS NOT NULL OR m.variants IS NOT NULL) AND ${isReferred("m.media_key")}
      ORDER BY m.media_key LIMIT ${rowsOfQuery}`,
    [after]
  )

const partOf = (folder: string, key: string): string =>
  join(folder, `${createHash("sha256").update(key).digest("hex")}.part`)

/** Fetches the file of a medium and records it, or why it has none. Returns its length. */
const fetchFile = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  folder: string,
  row: Row,
  bounds: Bounds
): Effect.fn.Return<number, NotFetched | ExportError | SqlError, HttpClient> {
  const { media_key: key, validator } = row
  const variant = best(row)
  const part = partOf(folder, key)
  const fetched = variant === undefined
    ? Effect.fail(final("it has no file"))
    : download({ ...variant, folder, part, validator }, bounds, (validator) => record(copy, key, { validator }))
  const file = yield* fetched.pipe(
    Effect.tapErrorTag("NotFetched", ({ attempts, reason }) =>
      Effect.andThen(
        attempts < maxAttempts ? Effect.void : Disk.remove(part),
        record(copy, key, { problem: reason, attempts })
      ))
  )
  const at = new Date(yield* Clock.currentTimeMillis).toISOString()
  yield* recordFile(copy, key, file, { fetched_at: at, problem: null })
  if (row.former !== null) yield* removeUnused(copy, join(folder, row.former), row.former)
  return file.bytes
})

/** Removes a file that no medium has any longer. */
const removeUnused = Effect.fnUntraced(function*({ dialect, sql }: Copy.Copy, path: string, file: string) {
  const users = yield* sql.unsafe(`SELECT 1 FROM media_files WHERE file = ${layout.parameters(dialect, 1)}`, [file])
  if (users.length === 0) yield* Disk.remove(path)
})

const recordFile = (
  copy: Copy.Copy,
  key: string,
  { bytes, contentType, file, sha256 }: File,
  more: Parameters<typeof record>[2] = {}
) => record(copy, key, { file, sha256, bytes, content_type: contentType, ...more })

/**
 * Keeps a file of a post that an archive has, as far as no better one was fetched: archives have photos in a smaller size. `name` is
 * the last part of its address. Returns whether it was kept.
 */
export const adopt = Effect.fnUntraced(function*<E>(
  copy: Copy.Copy,
  post: string,
  name: string,
  content: Stream.Stream<Uint8Array, E>
): Effect.fn.Return<boolean, NotFetched | ExportError | SqlError | CopyUnusable | E, Scope.Scope> {
  const [a, b] = layout.placeholders(copy.dialect, 2)
  const [found] = yield* copy.sql.unsafe<{ readonly media_key: string }>(
    `SELECT m.media_key FROM edges e JOIN media m ON m.media_key = e.to_id
      LEFT JOIN media_files f ON f.media_key = m.media_key
      WHERE e.kind = 'media' AND e.from_id = ${a} AND e.gone_at IS NULL AND f.sha256 IS NULL
        AND (m.url LIKE ${b} OR m.variants LIKE ${b})`,
    [post, `%/${name}%`]
  )
  if (found === undefined) return false
  const folder = yield* makeFolder(copy)
  const part = partOf(folder, found.media_key)
  yield* write(part, 0, content, { maxBytes: defaultMaxBytes })
  yield* recordFile(copy, found.media_key, yield* keep(folder, part))
  return true
})

/** Changes columns of a row of files; attempts are added. */
const record = (
  { dialect, sql }: Copy.Copy,
  key: string,
  values: Readonly<Record<string, string | number | null | undefined>>
): Effect.Effect<void, SqlError> => {
  const names = Object.keys(values)
  const set = names.map((name) =>
    `${name} = ${name === "attempts" ? "coalesce(media_files.attempts, 0) + " : ""}excluded.${name}`
  )
  return Effect.asVoid(sql.unsafe(
    `INSERT INTO media_files (media_key, ${names.join(", ")}) VALUES (${layout.parameters(dialect, names.length + 1)})
      ON CONFLICT (media_key) DO UPDATE SET ${set.join(", ")}`,
    [key, ...Object.values(values).map((value) => value ?? null)]
  ))
}

/** Removes the files of media to which no post or message that is left refers. */
export const removeUnreferred = Effect.fnUntraced(function*(
  copy: Copy.Copy
): Effect.fn.Return<void, ExportError | SqlError | CopyUnusable> {
  const rows = yield* copy.sql.unsafe<
    { readonly media_key: string; readonly file: string | null; readonly shared: unknown }
  >(
    `SELECT f.media_key, f.file, EXISTS (SELECT 1 FROM media_files o WHERE o.sha256 = f.sha256 AND ${
      isReferred("o.media_key")
    }) AS shared FROM media_files f WHERE NOT ${isReferred("f.media_key")}`
  )
  for (const { file, media_key, shared } of rows) {
    const folder = yield* folderOf(copy)
    // A row that is left after a crash finds the file gone, whereas a file without a row would stay for ever.
    if (file !== null && Number(shared) === 0) yield* Disk.remove(join(folder, file))
    yield* Disk.remove(partOf(folder, media_key))
    yield* copy.sql.unsafe(`DELETE FROM media_files WHERE media_key = ${layout.parameters(copy.dialect, 1)}`, [
      media_key
    ])
  }
})

/** Makes the folder of the files of a copy, if it does not exist. The copy remembers another one than its own. */
export const makeFolder = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  given?: string
): Effect.fn.Return<string, SqlError | CopyUnusable | ExportError> {
  if (given !== undefined) yield* remember(copy, resolve(given))
  const folder = yield* folderOf(copy)
  yield* Disk.attempt(folder, () => fs.mkdir(folder, { recursive: true, mode: 0o700 }))
  return folder
})

const remember = ({ dialect, sql }: Copy.Copy, folder: string): Effect.Effect<unknown, SqlError> =>
  sql.unsafe(
    `INSERT INTO meta VALUES ('media', ${layout.parameters(dialect, 1)})
      ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [folder]
  )

/** The folder of the files of a copy. */
export const folderOf = Effect.fnUntraced(function*(
  { dialect, sql, where }: Copy.Copy
): Effect.fn.Return<string, SqlError | CopyUnusable> {
  const [named] = yield* sql.unsafe<{ readonly value: string }>("SELECT value FROM meta WHERE key = 'media'")
  if (named !== undefined) return named.value
  if (dialect === "sqlite") return `${where}.media`
  return yield* new CopyUnusable({ path: where, reason: "media need a folder" })
})

/**
 * A copy of resources of the service in a database, SQLite or PostgreSQL. Each page of a source is one transaction: its objects,
 * its relations, and the progress of the source. A resource is one row; its earlier values and its metrics over time are kept.
 */
import * as Metrics from "@postwire/core/runtime/Metrics"
import type { ExportError } from "@postwire/export/files/ExportErrors"
import * as Lock from "@postwire/export/files/Lock"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { type CopyUnusable, SyncRunning } from "./CopyErrors.ts"
import * as edges from "./Edges.ts"
import * as layout from "./Layout.ts"
import * as merge from "./Merge.ts"
import * as Sqlite from "./Sqlite.ts"
import { type TableName, tables } from "./Tables.ts"
import type { Copy, Writing } from "./Transaction.ts"

export type { Copy } from "./Transaction.ts"

/** A relation of two resources: `likes` from a user to a post, `follows` from a user to a user. */
export interface Edge extends edges.Edge {}

/** The contents of one transaction. */
export interface Batch {
  /** Objects in the names of Postwire, by table; long posts with their whole text. */
  readonly objects: { readonly [Name in TableName]?: ReadonlyArray<object> | undefined }
  readonly edges?: ReadonlyArray<Edge> | undefined
  /** True if texts may be cut, as in other programs' lists: they do not replace whole ones. Default false. */
  readonly isPreview?: boolean | undefined
  /** True for objects that others refer to: what they refer to in turn is not theirs to complete. Default false. */
  readonly isContext?: boolean | undefined
  /** True for what the service has archived: it does not replace what is known, and nothing it refers to is looked up. Default false. */
  readonly isArchived?: boolean | undefined
  /** The progress after the batch. */
  readonly progress?: Progress | undefined
}

/** The progress of a subject of a source: one user, list, query or the account itself. */
export interface Progress {
  readonly source: string
  readonly subject: string
  /** JSON. */
  readonly state: string
}

/** The changes of a transaction. */
export interface Written {
  /** The number of the transaction. */
  readonly commit: number
  /** Resources that were new, and that differed. */
  readonly added: number
  readonly changed: number
  /** The transactions that had added the edges, in their order; `undefined` for new ones. */
  readonly knownSince: ReadonlyArray<number | undefined>
}

/** The copy. */
export class Current extends Context.Service<Current, Copy>()("@postwire/archive/copy/Copy/Current") {}

/** A copy in an SQLite file, which is made if it does not exist. */
export const layerSqlite = (path: string): Layer.Layer<Current | SqlClient.SqlClient, SqlError | CopyUnusable> =>
  Layer.provideMerge(layer(path), Sqlite.layer({ path }))

/** A copy in the database of an `SqlClient` (SQLite or PostgreSQL). `where` names it in messages. */
export const layer = (where: string): Layer.Layer<Current, SqlError | CopyUnusable, SqlClient.SqlClient> =>
  Layer.effect(
    Current,
    Effect.gen(function*() {
      const copy = yield* open(where)
      yield* copy.sql.withTransaction(layout.prepare(copy.sql, copy.dialect, where))
      return copy
    })
  )

/** The copy in an existing SQLite file, which is only read. */
export const layerSqliteReader = (
  path: string
): Layer.Layer<Current | SqlClient.SqlClient, SqlError | CopyUnusable> =>
  Layer.provideMerge(layerReader(path), Sqlite.layer({ path, isReadOnly: true }))

/** The existing copy in the database of an `SqlClient`. Nothing of it is made or brought to the current layout. */
export const layerReader = (where: string): Layer.Layer<Current, SqlError | CopyUnusable, SqlClient.SqlClient> =>
  Layer.effect(
    Current,
    Effect.gen(function*() {
      const copy = yield* open(where)
      yield* layout.verify(copy.sql, copy.dialect, where)
      return copy
    })
  )

const open = (where: string): Effect.Effect<Copy, never, SqlClient.SqlClient> =>
  Effect.map(SqlClient.SqlClient, (sql) => ({
    sql,
    dialect: sql.onDialectOrElse({ pg: () => "pg" as const, orElse: () => "sqlite" as const }),
    where
  }))

/** Excludes other syncs into the copy until the scope ends. The lock of a killed process is gone with it. */
export const hold = (copy: Copy): Effect.Effect<Copy, ExportError | SqlError | SyncRunning, Scope.Scope> => {
  const { dialect, sql, where } = copy
  return dialect === "pg"
    ? Effect.gen(function*() {
      const connection = yield* sql.reserve
      const statement = "SELECT pg_try_advisory_lock(hashtext('postwire.copy ' || current_schema())) AS held"
      const [row] = yield* connection.executeUnprepared(statement, [], undefined)
      if (row?.["held"] !== true) return yield* new SyncRunning({ path: where })
      yield* Effect.addFinalizer(() =>
        Effect.ignore(connection.executeUnprepared("SELECT pg_advisory_unlock_all()", [], undefined))
      )
      const holder = globalThis.crypto.randomUUID()
      const note =
        `INSERT INTO meta VALUES ('holder', '${holder}') ON CONFLICT (key) DO UPDATE SET value = excluded.value`
      yield* connection.executeUnprepared(note, [], undefined)
      return { ...copy, holder }
    })
    : where === ":memory:"
    ? Effect.succeed(copy)
    : Lock.hold(`${where}.lock`, where).pipe(
      Effect.catchTag("AlreadyRunning", () => Effect.fail(new SyncRunning({ path: where }))),
      Effect.as(copy)
    )
}

/** Fails if another holds the copy: a lock ends with its connection. No other can hold it before the end of the transaction. */
const checkHolder = Effect.fnUntraced(function*({ holder, sql, where }: Copy) {
  if (holder === undefined) return
  const [row] = yield* sql.unsafe<{ readonly value: string }>("SELECT value FROM meta WHERE key = 'holder' FOR SHARE")
  if (row?.value === holder) return
  const message = `The connection with the lock of ${where} was lost, and another process has the lock`
  return yield* new SqlError({ reason: new ConnectionError({ cause: undefined, message }) })
})

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())

/** Writes a batch in one transaction. */
export const write = (copy: Copy, batch: Batch): Effect.Effect<Written, SqlError> =>
  Effect.tap(copy.sql.withTransaction(writing(copy, batch)), ({ added, changed }) =>
    Effect.andThen(
      Metric.update(Metrics.archiveRows.of({ "postwire.change": "added" }), added),
      Metric.update(Metrics.archiveRows.of({ "postwire.change": "changed" }), changed)
    ))

const writing = Effect.fnUntraced(function*(copy: Copy, batch: Batch): Effect.fn.Return<Written, SqlError> {
  const { isArchived = false, isPreview = false } = batch
  const context = { ...yield* begin(copy), isArchived, isPreview }
  let added = 0
  let changed = 0
  const related: Array<Edge> = []
  for (const table of Object.values(tables)) {
    const objects = batch.objects[table.name] ?? []
    if (objects.length === 0) continue
    const counts = yield* merge.put(context, table, objects)
    added += counts.added
    changed += counts.changed
    if (table.name === "posts" || table.name === "messages") related.push(...edges.ofPosts(objects, batch.isContext))
  }
  const knownSince = yield* edges.put(context, batch.edges ?? [])
  yield* edges.put(context, related)
  if (batch.progress !== undefined) yield* save(copy, batch.progress)
  return { commit: context.commit, added, changed, knownSince }
})

/** Takes the number of this transaction. Its row also makes concurrent transactions take turns. */
const next = ({ sql }: Copy): Effect.Effect<number, SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly value: string }>(
      `INSERT INTO meta VALUES ('commit', '1') ON CONFLICT (key)
        DO UPDATE SET value = CAST(CAST(meta.value AS INTEGER) + 1 AS TEXT) RETURNING value`
    ),
    ([row]) => Number(row?.value)
  )

/** Begins to write in a transaction. */
export const begin = (copy: Copy): Effect.Effect<Writing, SqlError> =>
  Effect.zipWith(
    Effect.andThen(checkHolder(copy), next(copy)),
    now,
    (commit, at) => ({ ...copy, commit, at, isPreview: false, isArchived: false })
  )

const numberIn = ({ sql }: Copy, key: "commit" | "created"): Effect.Effect<number, SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly value: string }>(`SELECT value FROM meta WHERE key = '${key}'`),
    ([row]) => Number(row?.value ?? 0)
  )

/** The number of the last transaction. */
export const lastCommit = (copy: Copy): Effect.Effect<number, SqlError> => numberIn(copy, "commit")

/** When the copy was made, in milliseconds since the epoch: it distinguishes a copy from a later one in its place. */
export const createdAt = (copy: Copy): Effect.Effect<number, SqlError> => numberIn(copy, "created")

/** Makes the copy a later one, which its readers read from the beginning. */
export const renew = ({ dialect, sql }: Copy): Effect.Effect<void, SqlError> =>
  Effect.flatMap(Clock.currentTimeMillis, (millis) =>
    Effect.asVoid(
      sql.unsafe(`UPDATE meta SET value = ${layout.parameters(dialect, 1)} WHERE key = 'created'`, [String(millis)])
    ))

/** The time at which the last run began: it distinguishes the copy from a backup of it that was put back and has gone on. */
export const lastRun = ({ sql }: Copy): Effect.Effect<string | undefined, SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly started_at: string }>("SELECT started_at FROM runs ORDER BY id DESC LIMIT 1"),
    ([row]) => row?.started_at
  )

/** Tests whether the copy has the run that began at this time. */
export const hasRun = ({ dialect, sql }: Copy, startedAt: string): Effect.Effect<boolean, SqlError> =>
  Effect.map(
    sql.unsafe(`SELECT 1 FROM runs WHERE started_at = ${layout.parameters(dialect, 1)}`, [startedAt]),
    (rows) => rows.length > 0
  )

/** Brings every transaction of the copy to the disk. SQLite may lose the last ones in a power failure until then. */
export const flush = ({ dialect, sql }: Copy): Effect.Effect<void, SqlError> =>
  dialect === "sqlite" ? Effect.asVoid(sql.unsafe("PRAGMA wal_checkpoint(FULL)")) : Effect.void

const save = ({ dialect, sql }: Copy, { source, state, subject }: Progress): Effect.Effect<unknown, SqlError> =>
  sql.unsafe(
    `INSERT INTO progress VALUES (${layout.parameters(dialect, 3)})
      ON CONFLICT (source, subject) DO UPDATE SET state = excluded.state`,
    [source, subject, state]
  )

/** The progress of the subjects of a source. */
export const progressOf = (
  { dialect, sql }: Copy,
  source: string
): Effect.Effect<ReadonlyMap<string, string>, SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly subject: string; readonly state: string }>(
      `SELECT subject, state FROM progress WHERE source = ${layout.parameters(dialect, 1)}`,
      [source]
    ),
    (rows) => new Map(rows.map(({ state, subject }) => [subject, state]))
  )

/**
 * Marks as gone the edges of a kind at one end that no transaction since `since` has met: the complete list was read and does not
 * have them. Saves the progress with it, if there is any. With `most`, nothing is marked where there are more edges: the list may have
 * ended before them.
 */
export const sweep = (
  copy: Copy,
  { end, id, kind, most, progress, since }: {
    readonly kind: string
    readonly end: "from_id" | "to_id"
    readonly id: string
    readonly since: number
    readonly most?: number | undefined
    readonly progress?: Progress | undefined
  }
): Effect.Effect<number, SqlError> =>
  copy.sql.withTransaction(Effect.gen(function*() {
    const { at, commit } = yield* begin(copy)
    const [a, b, c, d, e] = layout.placeholders(copy.dialect, 5)
    const gone = yield* copy.sql.unsafe(
      `UPDATE edges SET gone_at = ${a}, changed_in = ${b}
        WHERE kind = ${c} AND ${end} = ${d} AND seen_in < ${e} AND gone_at IS NULL${
        most === undefined
          ? ""
          : ` AND (SELECT count(*) FROM edges WHERE kind = ${c} AND ${end} = ${d} AND gone_at IS NULL) <= ${most}`
      } RETURNING to_id`,
      [at, commit, kind, id, since]
    )
    if (progress !== undefined) yield* save(copy, progress)
    return gone.length
  }))

/** Puts rows of an id and a text into a table of such: the latest name of a folder, or the figures of a post at this time. */
export const note = (
  { dialect, sql }: Copy,
  table: keyof typeof layout.noted,
  rows: ReadonlyArray<readonly [id: string, value: string]>
): Effect.Effect<void, SqlError> =>
  Effect.flatMap(now, (at) => {
    const { key, value } = layout.noted[table]
    return Effect.asVoid(sql.unsafe(
      `INSERT INTO ${table} (id, ${value}, at) SELECT v.value->>0, v.value->>1, CAST(${
        layout.placeholders(dialect, 2)[1]
      } AS TEXT)
        FROM ${layout.elements(dialect, 1)} WHERE true ON CONFLICT (${key}) DO UPDATE SET ${value} = excluded.${value}`,
      [JSON.stringify(rows.map(([id, value]) => [id, layout.storable(value)])), at]
    ))
  })

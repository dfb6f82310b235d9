/**
 * The tables of exports, in PostgreSQL or SQLite: the exports, the state of each part, and the resources. A page and the position
 * after it are written in one transaction, and only if the part is still at that page.
 */
import type { Partition } from "@postwire/export/Partitions"
import type { Anomalies, Page } from "@postwire/export/sources/Source"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { migrations } from "./internal/migrations.ts"
import * as Records from "./internal/records.ts"
import type { Cursor, ExportStatus, Job, Overview, PartKey } from "./internal/status.ts"
import { fingerprint, type Query } from "./Query.ts"
import { anomaliesOf, beginOf, endOf, type PagePlace, type Row } from "./Rows.ts"

export type {
  Cursor,
  ExportStatus,
  Job,
  Overview,
  PartKey,
  PartStatus,
  State,
  UnreadableRow
} from "./internal/status.ts"

/** The tables. */
export class Tables extends Context.Service<Tables, {
  /** Adds an export. If it exists, its failed parts may run again. */
  readonly add: (query: Query, wanted: number) => Effect.Effect<ExportStatus, SqlError>
  /** Adds the parts of an export, unless it has some. */
  readonly plan: (id: string, parts: ReadonlyArray<Partition | undefined>) => Effect.Effect<void, SqlError>
  /** Records the reason why an export could not be planned. */
  readonly refuse: (id: string, problem: string) => Effect.Effect<void, SqlError>
  /** Starts a part; `undefined` if there is no such part. */
  readonly begin: (key: PartKey, worker: string) => Effect.Effect<Job | undefined, SqlError>
  readonly cursor: (key: PartKey) => Effect.Effect<Cursor, SqlError>
  /** Writes the page after `after` pages. `false`, and nothing written, if the part is no longer at that page. */
  readonly commit: (
    key: PartKey,
    after: number,
    page: Page,
    rows: ReadonlyArray<Row>,
    worker: string
  ) => Effect.Effect<boolean, SqlError>
  /** Records the reason why a part makes no progress after `after` pages, or has failed. `false` if it is no longer at that page. */
  readonly note: (
    key: PartKey,
    after: number,
    problem: string,
    state: "running" | "failed"
  ) => Effect.Effect<boolean, SqlError>
  /** The rows of a page that no page before it had. */
  readonly page: (id: string, place: PagePlace) => Effect.Effect<ReadonlyArray<Row>, SqlError>
  /** True if an export has resources without a known position, from earlier versions. */
  readonly hasUnplaced: (id: string) => Effect.Effect<boolean, SqlError>
  /** The number of malformed or missing fields by path; `undefined` if there are none. */
  readonly anomalies: (id: string) => Effect.Effect<Anomalies | undefined, SqlError>
  /** The exports, or one of them. A row that cannot be read is a defect. */
  readonly status: (id?: string) => Effect.Effect<ReadonlyArray<ExportStatus>, SqlError>
  /** As `status`, beside the rows that cannot be read. */
  readonly overview: (id?: string) => Effect.Effect<Overview, SqlError>
  /** The time by the clock of the database, in milliseconds. */
  readonly now: Effect.Effect<number, SqlError>
  /** Ended parts whose messages still exist. */
  readonly uncleared: Effect.Effect<ReadonlyArray<PartKey & { readonly attempt: number }>, SqlError>
  readonly setCleared: (key: PartKey) => Effect.Effect<void, SqlError>
}>()("@postwire/cluster/Tables") {}

/** The tables of a database, created if they do not exist. Workers may start at the same time. */
export const layer: Layer.Layer<Tables, SqlError | Migrator.MigrationError, SqlClient.SqlClient> = Layer.effect(
  Tables,
  Effect.gen(function*() {
    yield* Migrator.make({})({ loader: migrations, table: "postwire_migrations" })
    return make(yield* SqlClient.SqlClient)
  })
)

/** Beyond all positions. */
const nowhere = Number.MAX_SAFE_INTEGER

/** The clock of the database, the same for all workers. */
const clockOf = (sql: SqlClient.SqlClient) =>
  sql.literal(
    isPostgres(sql)
      ? "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
      : "CAST(unixepoch('subsec') * 1000 AS integer)"
  )

const isPostgres = (sql: SqlClient.SqlClient): boolean => sql.onDialectOrElse({ pg: () => true, orElse: () => false })

const make = (sql: SqlClient.SqlClient): Tables["Service"] => ({
  ...exportsIn(sql),
  ...partsIn(sql),
  ...resourcesIn(sql),
  now: Effect.map(sql<{ readonly now: unknown }>`SELECT ${clockOf(sql)} AS now`, ([row]) => Number(row?.now))
})

const exportsIn = (
  sql: SqlClient.SqlClient
): Pick<Tables["Service"], "status" | "overview" | "add" | "plan" | "refuse"> => {
  const now = clockOf(sql)

  const overview = Effect.fnUntraced(function*(id?: string) {
    const exports = yield* sql<Records.ExportRow>`
      SELECT * FROM postwire_exports ${id === undefined ? sql.literal("") : sql`WHERE id = ${id}`}
      ORDER BY created, id`
    const parts = yield* sql<Records.PartRow>`
      SELECT * FROM postwire_parts ${id === undefined ? sql.literal("") : sql`WHERE export = ${id}`}
      ORDER BY export, part`
    return Records.overviewOf(exports, parts)
  })

  const status = (id?: string) =>
    Effect.flatMap(overview(id), ({ exports, unreadable: [first] }) =>
      first === undefined
        ? Effect.succeed(exports)
        : Effect.die(new Error(`A row of the export ${first.export} cannot be read: ${first.reason}`)))

  return {
    status,
    overview,
    add: (query, wanted) =>
      sql.withTransaction(Effect.gen(function*() {
        const id = fingerprint(query)
        const added = yield* sql`
          INSERT INTO postwire_exports (id, query, wanted, state, created)
          VALUES (${id}, ${JSON.stringify(query)}, ${wanted}, 'planning', ${now})
          ON CONFLICT (id) DO NOTHING RETURNING id`
        if (added.length === 0) {
          yield* sql`
            UPDATE postwire_exports
            SET attempt = attempt + 1, problem = NULL, state = CASE state WHEN 'failed' THEN 'planning' ELSE state END
            WHERE id = ${id} AND (state = 'failed' OR EXISTS (
              SELECT 1 FROM postwire_parts WHERE export = ${id} AND state = 'failed'
            ))`
          yield* sql`
            UPDATE postwire_parts
            SET state = 'waiting', attempt = attempt + 1, problem = NULL, cleared = false, updated = ${now}
            WHERE export = ${id} AND state = 'failed'`
        }
        const [standing] = yield* status(id)
        return standing ?? (yield* Effect.die(new Error(`The export ${id} is gone`)))
      })),
    plan: (id, parts) =>
      sql.withTransaction(Effect.gen(function*() {
        const moved = yield* sql`
          UPDATE postwire_exports SET state = 'planned' WHERE id = ${id} AND state = 'planning' RETURNING id`
        if (moved.length === 0) return
        yield* Effect.forEach(parts, (partition, part) =>
          sql`
            INSERT INTO postwire_parts (export, part, span, state, updated)
            VALUES (${id}, ${part}, ${partition === undefined ? null : JSON.stringify(partition)}, 'waiting', ${now})`)
      })),
    refuse: (id, problem) =>
      Effect.asVoid(sql`
        UPDATE postwire_exports SET state = 'failed', problem = ${problem} WHERE id = ${id} AND state = 'planning'`)
  }
}

const partsIn = (
  sql: SqlClient.SqlClient
): Pick<Tables["Service"], "begin" | "cursor" | "commit" | "note" | "uncleared" | "setCleared"> => {
  const now = clockOf(sql)
  return {
    begin: Effect.fnUntraced(function*(key, worker) {
      yield* sql`
        UPDATE postwire_parts SET state = 'running', worker = ${worker}, updated = ${now}
        WHERE export = ${key.export} AND part = ${key.part} AND state IN ('waiting', 'running')`
      const [row] = yield* sql<Records.PartRow & { readonly query: string }>`
        SELECT p.*, e.query FROM postwire_parts p JOIN postwire_exports e ON e.id = p.export
        WHERE p.export = ${key.export} AND p.part = ${key.part}`
      if (row === undefined) return undefined
      return {
        ...key,
        partition: Records.partOf(row).partition,
        query: Records.decodeQuery(row.query),
        cursor: Records.cursorOf(row)
      }
    }),
    cursor: ({ export: id, part }) =>
      Effect.map(
        sql<Records.PartRow>`SELECT * FROM postwire_parts WHERE export = ${id} AND part = ${part}`,
        ([row]) => row === undefined ? { pages: 0, token: undefined, state: "failed" } : Records.cursorOf(row)
      ),
    commit: (key, after, page, rows, worker) =>
      sql.withTransaction(Effect.gen(function*() {
        const moved = yield* sql`
          UPDATE postwire_parts
          SET token = ${page.next ?? null}, pages = pages + 1, items = items + ${page.items.length},
            errors = errors + ${page.errors.length}, state = ${page.next === undefined ? "done" : "running"},
            worker = ${worker}, updated = ${now}, problem = NULL
          WHERE export = ${key.export} AND part = ${key.part} AND pages = ${after} AND state = 'running'
          RETURNING pages`
        if (moved.length === 0) return false
        if (rows.length > 0) yield* insert(sql, key, rows)
        return true
      })),
    note: (key, after, problem, state) =>
      Effect.map(
        sql`
        UPDATE postwire_parts SET problem = ${problem}, state = ${state}, updated = ${now}
        WHERE export = ${key.export} AND part = ${key.part} AND pages = ${after} AND state = 'running'
        RETURNING pages`,
        (moved) => moved.length > 0
      ),
    uncleared: sql<PartKey & { readonly attempt: number }>`
      SELECT export, part, attempt FROM postwire_parts WHERE state IN ('done', 'failed') AND NOT cleared
      ORDER BY export, part LIMIT 1000`,
    setCleared: ({ export: id, part }) =>
      Effect.asVoid(sql`UPDATE postwire_parts SET cleared = true WHERE export = ${id} AND part = ${part}`)
  }
}

/** For an existing resource, the first position counts, and the body of a requested item. */
const conflict = `
    ON CONFLICT (export, kind, id) DO UPDATE SET
      wanted = kept.wanted OR excluded.wanted,
      listed = CASE WHEN excluded.listed < coalesce(kept.listed, ${nowhere}) THEN excluded.listed ELSE kept.listed END,
      included = CASE
        WHEN excluded.included < coalesce(kept.included, ${nowhere}) THEN excluded.included ELSE kept.included END,
      body = CASE
        WHEN excluded.listed < coalesce(kept.listed, ${nowhere}) THEN excluded.body
        WHEN kept.listed IS NULL AND excluded.included < coalesce(kept.included, ${nowhere}) THEN excluded.body
        ELSE kept.body END
    WHERE excluded.listed < coalesce(kept.listed, ${nowhere})
      OR excluded.included < coalesce(kept.included, ${nowhere})`

const insert = (sql: SqlClient.SqlClient, key: PartKey, rows: ReadonlyArray<Row>) =>
  isPostgres(sql)
    ? sql`
      INSERT INTO postwire_resources AS kept (export, kind, id, wanted, listed, included, body)
      SELECT ${key.export}, row->>'kind', row->>'id', row->>'listed' IS NOT NULL, (row->>'listed')::bigint,
        (row->>'included')::bigint, row->'body'
      FROM jsonb_array_elements(${storable(rows)}::text::jsonb) AS row
      ORDER BY 2, 3
      ${sql.literal(conflict)}`
    : sql`
      INSERT INTO postwire_resources AS kept (export, kind, id, wanted, listed, included, body)
      SELECT ${key.export}, value ->> '$.kind', value ->> '$.id', value ->> '$.listed' IS NOT NULL,
        value ->> '$.listed', value ->> '$.included', value -> '$.body'
      FROM json_each(${storable(rows)}) WHERE true
      ${sql.literal(conflict)}`

const resourcesIn = (sql: SqlClient.SqlClient): Pick<Tables["Service"], "page" | "hasUnplaced" | "anomalies"> => ({
  page: (id, place) => {
    const [begin, end] = [beginOf(place), endOf(place)]
    return Effect.map(
      sql<Records.ResourceRow>`
        SELECT kind, id, listed, included, body FROM postwire_resources
        WHERE export = ${id} AND listed >= ${begin} AND listed < ${end}
        UNION ALL
        SELECT kind, id, listed, included, body FROM postwire_resources
        WHERE export = ${id} AND included >= ${begin} AND included < ${end}
          AND (listed IS NULL OR listed < ${begin} OR listed >= ${end})`,
      (rows) => rows.map(Records.resourceOf)
    )
  },
  hasUnplaced: (id) =>
    Effect.map(
      sql`
        SELECT 1 FROM postwire_resources WHERE export = ${id} AND listed IS NULL AND included IS NULL LIMIT 1`,
      (rows) => rows.length > 0
    ),
  anomalies: (id) =>
    Effect.map(
      sql<Pick<Records.ResourceRow, "body">>`SELECT body FROM postwire_anomalies WHERE export = ${id}`,
      (rows) => anomaliesOf(rows.map(({ body }) => Records.decodeBody(body)))
    )
})

/** `jsonb` allows neither U+0000 nor lone surrogates: both become U+FFFD, in SQLite too. */
const storable = (rows: ReadonlyArray<Row>): string => {
  const text = JSON.stringify(rows)
  return /\\u(0000|d[89a-f])/.test(text)
    ? JSON.stringify(
      rows,
      (_, value) => typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : value
    )
    : text
}

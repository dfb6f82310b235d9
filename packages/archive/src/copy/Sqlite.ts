/** An Effect `SqlClient` on `node:sqlite`. One connection; statements and transactions take turns. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import * as SqlError from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { closeSync, openSync } from "node:fs"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"

/** Settings of the client. */
export interface Options {
  /** The file, created if it does not exist; `:memory:` for none. */
  readonly path: string
  /** True for a file that is only read. Integers are read as `bigint`. Default false. */
  readonly isReadOnly?: boolean | undefined
}

/** The client. The file is closed with the layer. */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))

const make = Effect.fnUntraced(function*({ isReadOnly = false, path }: Options) {
  const database = yield* Effect.acquireRelease(
    Effect.try({ try: () => open(path, isReadOnly), catch: (cause) => failure(cause, `Cannot open ${path}`) }),
    (database) => Effect.sync(() => database.close())
  )
  return yield* SqlClient.make({
    ...SqlClient.makeSqliteAcquirers({
      connection: Effect.succeed(connect(database)),
      semaphore: yield* Semaphore.make(1),
      isTransaction: () => database.isTransaction
    }),
    compiler: Statement.makeCompilerSqlite(),
    driver: "node-sqlite",
    spanAttributes: [["db.system.name", "sqlite"]],
    // Acquires the lock immediately: a transaction that needs it later, to write, cannot wait for it.
    beginTransaction: isReadOnly ? "BEGIN" : "BEGIN IMMEDIATE",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
})

/** The longest wait for the lock of another process. */
const lockTimeoutMillis = 5_000

/** Between attempts the thread is free, so that a worker can end: blocking statements would run one after the other. */
const untilUnlocked = Schedule.min([Schedule.exponential("5 millis", 1.5), Schedule.spaced("100 millis")]).pipe(
  Schedule.upTo({ duration: lockTimeoutMillis })
)

/** Makes a file that only its owner can read, unless it exists: copies hold direct messages. SQLite gives its other files the same mode. */
const makePrivate = (path: string): void => {
  try {
    closeSync(openSync(path, "a", 0o600))
  } catch {
    // SQLite says why.
  }
}

const open = (path: string, isReadOnly: boolean): DatabaseSync => {
  // Not imported: Node warns every program that loads it that it is experimental.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  if (!isReadOnly && path !== ":memory:") makePrivate(path)
  const database = new DatabaseSync(path, {
    timeout: lockTimeoutMillis,
    readOnly: isReadOnly,
    readBigInts: isReadOnly
  })
  // Commits survive a crash of the process. Only a crash of the machine can lose the last ones.
  if (!isReadOnly) database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
  database.exec("PRAGMA busy_timeout = 2")
  return database
}

/** The limit of the statement cache, which is cleared when it is full. */
const maxPreparedStatements = 200

const connect = (database: DatabaseSync): Connection => {
  const prepared = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    let statement = prepared.get(sql)
    if (statement === undefined) {
      if (prepared.size >= maxPreparedStatements) prepared.clear()
      prepared.set(sql, statement = database.prepare(sql))
    }
    return statement
  }
  const run = <A>(sql: string, use: (statement: StatementSync) => A): Effect.Effect<A, SqlError.SqlError> =>
    Effect.retry(Effect.try({ try: () => use(prepare(sql)), catch: (cause) => failure(cause) }), {
      while: ({ reason }) => reason._tag === "LockTimeoutError",
      schedule: untilUnlocked
    })
  const rows = (sql: string, params: ReadonlyArray<unknown>) =>
    run(sql, (statement) => {
      statement.setReturnArrays(false)
      return statement.all(...params.map(valueOf))
    })
  const values = (sql: string, params: ReadonlyArray<unknown>) =>
    run(sql, (statement): ReadonlyArray<ReadonlyArray<unknown>> => {
      statement.setReturnArrays(true)
      // The declared type is that of rows as objects.
      return statement.all(...params.map(valueOf)).map((row) => Array.isArray(row) ? row : Object.values(row))
    })
  const execute: Connection["execute"] = (sql, params, transform) =>
    transform === undefined ? rows(sql, params) : Effect.map(rows(sql, params), transform)
  return {
    execute,
    executeUnprepared: execute,
    executeRaw: (sql, params) => run(sql, (statement) => statement.run(...params.map(valueOf))),
    executeValues: values,
    executeValuesUnprepared: values,
    executeStream: (sql, params, transform) => Stream.fromIterableEffect(execute(sql, params, transform))
  }
}

/** A parameter as SQLite stores it. */
const valueOf = (value: unknown): SQLInputValue => {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
      return value
    case "boolean":
      return value ? 1 : 0
    case "undefined":
      return null
    default:
      if (value === null || value instanceof Uint8Array) return value
      if (value instanceof Date) return value.toISOString()
      throw new Cause.IllegalArgumentError("SQLite stores text, numbers and bytes")
  }
}

const failure = (cause: unknown, message = cause instanceof Error ? cause.message : "SQLite failed") =>
  new SqlError.SqlError({
    reason: SqlError.classifySqliteError(
      // Node puts SQLite's own number in `errcode`.
      cause instanceof Error && "errcode" in cause
        ? Object.assign(new Error(cause.message, { cause }), { code: cause.errcode })
        : cause,
      { message, operation: "execute" }
    )
  })

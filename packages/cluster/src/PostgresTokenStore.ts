/**
 * The accounts of several machines, in the PostgreSQL database that they share, version 14 or later. The texts are not encrypted.
 *
 * The lock is an advisory lock of its own connection, through which the holder also writes, so that a write cannot succeed after
 * the lock was lost. The server releases it with the connection, which it closes when the holder has died or was silent for ten
 * seconds. A transaction would hide the new text until its end, and a row that names the holder could change between the check and
 * the write. A pooler that assigns connections per statement cannot keep such a lock.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { TokenStoreFailure, type TokenStoreFault } from "@postwire/core/errors/Errors"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as DatabaseProblem from "./DatabaseProblem.ts"
import * as SharedTable from "./internal/sharedTable.ts"
import * as Steps from "./internal/steps.ts"

// The number goes up when its columns change.
const table = "postwire_accounts_1"

/** The longest wait for the lock of an account. */
const lockTimeoutMillis = 30_000

/** The longest silence of a holder. */
const leaseMillis = 10_000

/** The time limit of a step. */
const stepTimeoutMillis = 5_000

/** An idle connection is often broken: the next one works. */
const again = Schedule.upTo(Schedule.spaced(100), { times: 2 })

type Action = TokenStoreFailure["action"]

/** The store. Its table is created if it does not exist. */
export const layer: Layer.Layer<TokenStore.TokenStore, SqlError, PgClient.PgClient> = Layer.effect(
  TokenStore.TokenStore,
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    yield* SharedTable.open(sql, table, "name text PRIMARY KEY, account text NOT NULL")
    return make(sql)
  })
)

const make = (sql: PgClient.PgClient): TokenStore.Store => {
  const place = placeOf(sql.config)
  /** The connections whose locks this store holds, by account name. */
  const held = new Map<string, SqlClient>()
  /** Only one fiber of this store at a time requests a lock: the others need no connection. */
  const turns = TokenStore.makeMemory()
  const describe = (name: string) => `account ${name} in ${place}`

  const answered = <A>(store: string, action: Action, step: Effect.Effect<A, SqlError>) =>
    Effect.mapError(Steps.within(sql, step, stepTimeoutMillis), (error) =>
      error._tag === "TimeoutError"
        ? failure(store, action, "unavailable", "The database takes too long")
        : failureOf(store, action)(error))

  const lock = Effect.fnUntraced(function*(name: string): Effect.fn.Return<void, TokenStoreFailure, Scope.Scope> {
    const take = Effect.gen(function*() {
      const own = yield* PgClient.makeClient({
        ...sql.config,
        multiplex: false,
        startupParameters: {
          ...sql.config.startupParameters,
          idle_session_timeout: String(leaseMillis),
          lock_timeout: String(lockTimeoutMillis),
          // Acknowledged writes are durable, whatever the setting of the database.
          synchronous_commit: "on"
        }
      })
      yield* own`SELECT pg_advisory_lock(hashtext(${table}), hashtext(${name}))`
      yield* Effect.acquireRelease(
        Effect.sync(() => void held.set(name, own)),
        () => Effect.sync(() => held.delete(name))
      )
      yield* Effect.forkScoped(
        Effect.forever(Effect.andThen(Effect.sleep(leaseMillis / 5), Effect.ignore(own`SELECT`)))
      )
    })
    yield* Effect.andThen(turns.lock(name), Effect.mapError(take, failureOf(describe(name), "lock"))).pipe(
      Effect.provide(Reactivity.layer),
      Effect.timeoutOrElse({
        duration: lockTimeoutMillis,
        orElse: () => Effect.fail(failure(describe(name), "lock", "locked", `for ${lockTimeoutMillis / 1000} s`))
      })
    )
  })

  const write = (name: string, text: string | undefined): Effect.Effect<void, TokenStoreFailure> =>
    Effect.suspend(() => {
      const own = held.get(name)
      if (own === undefined) return Effect.scoped(Effect.andThen(lock(name), write(name, text)))
      return answered(
        describe(name),
        "write",
        text === undefined
          ? own`DELETE FROM ${own(table)} WHERE name = ${name}`
          : own`INSERT INTO ${own(table)} VALUES (${name}, ${text}) ON CONFLICT (name) DO UPDATE SET account = ${text}`
      ).pipe(
        Effect.asVoid,
        Effect.mapError((error) =>
          error.fault === "unavailable"
            ? failure(error.store, "write", "locked", `our lock is lost, and another may have it: ${error.detail}`)
            : error
        )
      )
    })

  return {
    describe,
    read: (name) =>
      answered(
        describe(name),
        "read",
        Effect.retry(sql<{ readonly account: string }>`SELECT account FROM ${sql(table)} WHERE name = ${name}`, again)
      ).pipe(Effect.map(([row]) => row?.account)),
    write,
    lock,
    names: answered(
      place,
      "read",
      Effect.retry(sql<{ readonly name: string }>`SELECT name FROM ${sql(table)}`, again)
    ).pipe(Effect.map((rows) => rows.map(({ name }) => name).sort()))
  }
}

/** An address without the user and the password. */
const placeOf = ({ database = "", host = "localhost", port = 5432, url }: PgClient.PgClientConfig): string => {
  if (url === undefined || !URL.canParse(Redacted.value(url))) return `postgres://${host}:${port}/${database}`
  const { host: authority, pathname } = new URL(Redacted.value(url))
  return `postgres://${authority}${pathname}`
}

const failure = (store: string, action: Action, fault: TokenStoreFault, detail?: string) =>
  new TokenStoreFailure({ store, action, fault, detail })

const failureOf = (store: string, action: Action) => (error: SqlError): TokenStoreFailure =>
  failure(
    store,
    action,
    faults[codeOf(error) ?? ""] ?? tagged[error.reason._tag] ?? "unavailable",
    DatabaseProblem.of(error)?.reason ?? error.reason.message
  )

const tagged: Readonly<Record<string, TokenStoreFault>> = {
  AuthenticationError: "forbidden",
  AuthorizationError: "forbidden",
  LockTimeoutError: "locked"
}

/** By SQLSTATE. */
const faults: Readonly<Record<string, TokenStoreFault>> = {
  "25006": "forbidden",
  "42501": "forbidden",
  "53100": "full"
}

/** The SQLSTATE among the causes of an error. */
const codeOf = (error: unknown): string | undefined =>
  !Predicate.isObject(error)
    ? undefined
    : "code" in error && typeof error.code === "string"
    ? error.code
    : codeOf("cause" in error ? error.cause : "reason" in error ? error.reason : undefined)

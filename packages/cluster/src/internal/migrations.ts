/** The migrations of the tables. A released migration is never changed. */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"

export const migrations = Migrator.fromRecord({
  "0001_create_tables": Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const json = sql.literal(sql.onDialectOrElse({ pg: () => "jsonb", orElse: () => "text" }))
    yield* sql`
      CREATE TABLE postwire_exports (
        id text PRIMARY KEY,
        query text NOT NULL,
        wanted integer NOT NULL,
        state text NOT NULL,
        attempt integer NOT NULL DEFAULT 1,
        created bigint NOT NULL,
        problem text
      )`
    yield* sql`
      CREATE TABLE postwire_parts (
        export text NOT NULL REFERENCES postwire_exports,
        part integer NOT NULL,
        span text,
        state text NOT NULL,
        attempt integer NOT NULL DEFAULT 1,
        token text,
        pages integer NOT NULL DEFAULT 0,
        items bigint NOT NULL DEFAULT 0,
        errors bigint NOT NULL DEFAULT 0,
        worker text,
        updated bigint NOT NULL,
        problem text,
        cleared boolean NOT NULL DEFAULT false,
        PRIMARY KEY (export, part)
      )`
    yield* sql`
      CREATE TABLE postwire_resources (
        export text NOT NULL REFERENCES postwire_exports,
        kind text NOT NULL,
        id text NOT NULL,
        wanted boolean NOT NULL,
        body ${json} NOT NULL,
        PRIMARY KEY (export, kind, id)
      )`
    for (const kind of ["posts", "users", "media", "places", "polls", "spaces", "lists", "topics", "errors"]) {
      yield* sql`
        CREATE VIEW ${sql(`postwire_${kind}`)} AS
        SELECT export, id, wanted, body FROM postwire_resources WHERE kind = ${sql.literal(`'${kind}'`)}`
    }
  }),
  // The position of each resource in its export.
  "0002_add_places": Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    for (const place of ["listed", "included"]) {
      yield* sql`ALTER TABLE postwire_resources ADD COLUMN ${sql(place)} bigint`
      yield* sql`
        CREATE INDEX ${sql(`postwire_resources_${place}`)} ON postwire_resources (export, ${sql(place)})
        WHERE ${sql(place)} IS NOT NULL`
    }
  }),
  // The number of malformed or missing fields of each page, by path.
  "0003_add_anomalies": Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      CREATE VIEW postwire_anomalies AS
      SELECT export, id, wanted, body FROM postwire_resources WHERE kind = 'anomalies'`
  }),
  "0004_add_syncs": Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      CREATE TABLE postwire_syncs (
        name text PRIMARY KEY,
        file text NOT NULL,
        run integer NOT NULL,
        state text NOT NULL,
        worker text,
        due bigint,
        problem text
      )`
  }),
  // The spending of the run, in millionths of a dollar.
  "0005_add_spent": Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE postwire_syncs ADD COLUMN spent bigint NOT NULL DEFAULT 0`
  })
})

/** What apps were charged, by day and operation, and the resources that they need not pay for again on that day. */
import type { Name } from "@postwire/core/Catalogue"
import type { Database } from "./Database.ts"
import * as Snowflake from "./Snowflake.ts"

/** What one operation was charged on one day. */
export interface Charge {
  readonly appId: string
  /** As `2026-11-22`, UTC. */
  readonly day: string
  readonly operation: Name
  /** The requests that were answered. */
  readonly requests: number
  /** The resources that were charged; where requests are charged, those. */
  readonly charged: number
  /** The resources that had been charged on that day before. */
  readonly repeated: number
  /** Millionths of a dollar. */
  readonly micros: number
}

/** A resource in an answer, and what it costs. */
export interface Resource {
  /** The row of the prices: what falls under two is charged for both. */
  readonly row: string
  readonly id: string
  readonly micros: number
}

/** An answer that is charged for. */
export interface Answer extends Pick<Charge, "appId" | "day" | "operation"> {
  /** What the request itself costs, in millionths of a dollar; none where only resources are charged. */
  readonly request: number | undefined
  /** Whether it is more of an answer that was charged for before. */
  readonly continues: boolean
  readonly resources: ReadonlyArray<Resource>
}

/** What apps were charged. */
export interface Charges {
  /** Charges an app for an answer. */
  readonly add: (answer: Answer) => void
  /** Everything, by app, day and operation. */
  readonly all: () => ReadonlyArray<Charge>
  /** What an app was charged from a day on and before another one, in millionths of a dollar. */
  readonly between: (appId: string, from: string, to: string) => number
  readonly clear: () => void
}

/** The charges in a database. */
export const make = (database: Database): Charges => {
  const read = database.command(
    "INSERT OR IGNORE INTO charged_resources (app_id, day, kind, id) VALUES (:app, :day, :kind, :id)"
  )
  const add = database.command(`
    INSERT INTO charges (app_id, day, operation, requests, charged, repeated, micros)
    VALUES (:app, :day, :operation, :requests, :charged, :repeated, :micros)
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, charged = charged + excluded.charged,
      repeated = repeated + excluded.repeated, micros = micros + excluded.micros`)
  const all = database.query<Charge>(`
    SELECT CAST(app_id AS TEXT) AS appId, day, operation, requests, charged, repeated, micros
    FROM charges ORDER BY app_id, day, operation`)
  const between = database.query<{ readonly micros: number }>(
    "SELECT coalesce(sum(micros), 0) AS micros FROM charges WHERE app_id = :app AND day >= :from AND day < :to"
  )
  return {
    add: ({ appId, continues, day, operation, request, resources }) =>
      database.transaction(() => {
        const app = Snowflake.parse(appId)
        let charged = request === undefined ? 0 : 1
        let micros = request ?? 0
        for (const { id, micros: each, row } of resources) {
          if (read({ app, day, kind: row, id }) === 0) continue
          charged++
          micros += each
        }
        const repeated = resources.length + (request === undefined ? 0 : 1) - charged
        add({ app, day, operation, requests: Number(!continues), charged, repeated, micros })
      }),
    all: () => all.all(),
    between: (appId, from, to) => between.get({ app: Snowflake.parse(appId), from, to })?.micros ?? 0,
    clear: () => {
      database.transaction(() => database.exec("DELETE FROM charges; DELETE FROM charged_resources"))
    }
  }
}

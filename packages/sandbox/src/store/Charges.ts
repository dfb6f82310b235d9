/** The charges of apps, by day and operation, and the resources that are already paid for on a day. */
import type { Name } from "@postwire/core/Catalogue"
import type { Database } from "./Database.ts"
import * as Snowflake from "./Snowflake.ts"

/** The charges of one operation on one day. */
export interface Charge {
  readonly appId: string
  /** Formatted as `2026-11-22`, UTC. */
  readonly day: string
  readonly operation: Name
  /** The number of successful requests. */
  readonly requests: number
  /** The number of charged resources, or of charged requests where the price is per request. */
  readonly charged: number
  /** The number of resources that were already charged on that day. */
  readonly repeated: number
  /** Millionths of a dollar. */
  readonly micros: number
}

/** A resource in a response, and its price. */
export interface Resource {
  /** The row of the price list. A resource that matches two rows is charged for both. */
  readonly row: string
  readonly id: string
  readonly micros: number
}

/** A response to charge for. */
export interface Answer extends Pick<Charge, "appId" | "day" | "operation"> {
  /** The price of the request itself, in millionths of a dollar; undefined if only resources are charged. */
  readonly request: number | undefined
  /** True for a further part of a response whose request was already counted. */
  readonly continues: boolean
  readonly resources: ReadonlyArray<Resource>
}

export interface Charges {
  /** Charges an app for a response. */
  readonly add: (answer: Answer) => void
  /** All charges, by app, day and operation. */
  readonly all: () => ReadonlyArray<Charge>
  /** The charges of an app from one day (inclusive) to another (exclusive), in millionths of a dollar. */
  readonly between: (appId: string, from: string, to: string) => number
  readonly clear: () => void
}

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

/** The charges of apps, by day and operation, and the resources that are already paid for on a day. */
import type { Name } from "@postwire/core/Catalogue"
import type { Database } from "./Database.ts"
import * as Records from "./Records.ts"

const charge = Records.record("c", {
  appId: Records.id("app_id"),
  /** Formatted as `2026-11-22`, UTC. */
  day: Records.text(),
  operation: Records.text<Name>(),
  /** The number of successful requests. */
  requests: Records.number(),
  /** The number of charged resources, or of charged requests where the price is per request. */
  charged: Records.number(),
  /** The number of resources that were already charged on that day. */
  repeated: Records.number(),
  /** Millionths of a dollar. */
  micros: Records.number()
})

/** The charges of one operation on one day. */
export type Charge = Records.Of<typeof charge>

/** Resources in a response that have the same price. */
export interface Resources {
  /** The row of the price list. A resource that matches two rows is charged for both. */
  readonly row: string
  /** The price of each, in millionths of a dollar. */
  readonly micros: number
  readonly ids: ReadonlyArray<string>
}

/** A response to charge for. */
export interface Answer extends Pick<Charge, "appId" | "day" | "operation"> {
  /** The price of the request itself, in millionths of a dollar; undefined if only resources are charged. */
  readonly request: number | undefined
  /** True for a further part of a response whose request was already counted. */
  readonly continues: boolean
  readonly resources: ReadonlyArray<Resources>
}

export const make = (database: Database) => {
  const add = database.command(`
    INSERT INTO charges (app_id, day, operation, requests, charged, repeated, micros)
    VALUES (:app, :day, :operation, :requests, :charged, :repeated, :micros)
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, charged = charged + excluded.charged,
      repeated = repeated + excluded.repeated, micros = micros + excluded.micros`)
  const resources = `${database.bulkIn}.charged_resources`
  const remember = database.command(`
    INSERT OR IGNORE INTO ${resources} (app_id, day, kind, id)
    SELECT :app, :day, :kind, value FROM json_each(:ids)`)
  const all = database.select(charge, "FROM charges c ORDER BY app_id, day, operation")
  const between = database.query<{ readonly micros: number }>(
    "SELECT coalesce(sum(micros), 0) AS micros FROM charges WHERE app_id = :app AND day >= :from AND day < :to"
  )
  return {
    /** Charges an app for a response. */
    add: ({ appId: app, continues, day, operation, request, resources }: Answer): void =>
      database.transaction(() => {
        let charged = request === undefined ? 0 : 1
        let repeated = 0
        let micros = request ?? 0
        for (const { ids, micros: each, row: kind } of resources) {
          const added = remember({ app, day, kind, ids: JSON.stringify(ids) })
          charged += added
          repeated += ids.length - added
          micros += added * each
        }
        add({ app, day, operation, requests: Number(!continues), charged, repeated, micros })
      }),
    /** All charges, by app, day and operation. */
    all: () => all.all(),
    /** The charges of an app from one day (inclusive) to another (exclusive), in millionths of a dollar. */
    between: (app: string, from: string, to: string): number => between.get({ app, from, to })?.micros ?? 0,
    clear: (): void => database.transaction(() => database.exec(`DELETE FROM charges; DELETE FROM ${resources}`))
  }
}
